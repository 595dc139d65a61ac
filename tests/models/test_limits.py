"""How many tokens a model takes: as many as run, and not one more."""

import pytest
import torch
from transformers import CONFIG_MAPPING, AutoModel, RobertaConfig, RobertaModel

import regard
from tests.fidelity.build import tiny
from tests.fidelity.sizes import FAMILIES
from tests.tiny import SIZES, made

AFTER_PADDING = (
    *("camembert", "data2vec-text", "esm", "ibert", "longformer", "luke", "mpnet", "roberta", "roberta-prelayernorm"),
    *("xlm-roberta", "xlm-roberta-xl", "xmod"),
)
FROM_ZERO = ("albert", "bert", "distilbert", "electra", "gpt2")
WITH_AN_OFFSET = ("bart", "biogpt", "mbart", "opt")  # in tables that are as much longer


def of_type(name, length=24):
    """A tiny model with a table of positions of this length."""
    field = "n_positions" if name == "gpt2" else "max_position_embeddings"
    more = {"esm": {"position_embedding_type": "absolute"}, "luke": {"entity_vocab_size": 8}}.get(name, {})
    config = tiny(CONFIG_MAPPING[name], {**FAMILIES.get(name, {}), field: length, "pad_token_id": 1, **more})
    torch.manual_seed(0)
    return regard.load((AutoModel.from_config(config).eval(), None))


def run(model, length):
    ids = torch.full((1, length), 5)
    given = {"decoder_input_ids": ids} if model.is_encoder_decoder else {}
    return model._engine.run({"input_ids": ids, **given})


@pytest.mark.parametrize("name", [*AFTER_PADDING, *FROM_ZERO, *WITH_AN_OFFSET])
def test_a_text_as_long_as_the_limit_runs_and_a_longer_one_does_not(name):
    model = of_type(name)
    run(model, model.limit)
    if name == "longformer":  # pads to whole windows, with positions of padding
        return
    with pytest.raises((IndexError, RuntimeError, ValueError)):
        run(model, model.limit + 1)


@pytest.mark.parametrize("name", AFTER_PADDING)
def test_positions_that_begin_after_the_padding_leave_less_room(name):
    assert of_type(name).limit == 22


def test_a_long_text_is_cut_to_what_roberta_takes(wordpiece):
    config = RobertaConfig(vocab_size=len(wordpiece), max_position_embeddings=24, pad_token_id=1, **SIZES)
    trace = made(RobertaModel, config, wordpiece).trace("the cat sat on the mat . " * 9, truncate=True)
    assert len(trace.tokens) == 22
