"""The next word over the layers: every row is the model's own final norm and map to words, applied by hand."""

import json

import numpy as np
import pytest
import torch
from transformers import Gemma2Config, Gemma2ForCausalLM

import regard
from regard.models.lens import lens_logits
from tests.tiny import made, tiny_llama

TEXT = "the cat sat on the mat"


def by_hand(model, position=-1, text=TEXT):
    """final_norm(h_l) @ W_U for every layer l, from the model's hidden states and the last block's output."""
    module = model.module
    base, gpt2 = module.base_model, module.config.model_type == "gpt2"
    norm, blocks = (base.ln_f, base.h) if gpt2 else (base.norm, base.layers)
    ids = torch.tensor([model.tokenizer(text)["input_ids"]])
    last = []
    hook = blocks[-1].register_forward_hook(lambda _m, _a, out: last.append(out[0] if isinstance(out, tuple) else out))
    with torch.no_grad():
        output = module(input_ids=ids, output_hidden_states=True, use_cache=False)
        hook.remove()
        states = torch.stack([*output.hidden_states[:-1], last[0]])[:, 0, position]
        logits = norm(states) @ module.get_output_embeddings().weight.T
        cap = getattr(module.config, "final_logit_softcapping", None)
        return (logits if cap is None else cap * torch.tanh(logits / cap)), output.logits[0, position]


def gemma2(tokenizer):
    config = Gemma2Config(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=40, head_dim=8, max_position_embeddings=64, final_logit_softcapping=3.0,
        attn_implementation="eager", bos_token_id=0, eos_token_id=0, pad_token_id=0,
    )  # fmt: skip
    return made(Gemma2ForCausalLM, config, tokenizer)


@pytest.mark.parametrize("kind", ["gpt2", "llama", "gemma2"])
@pytest.mark.parametrize("position", [-1, 2])
def test_each_row_is_the_final_norm_and_the_map_to_words(request, bytelevel, kind, position):
    model = gemma2(bytelevel) if kind == "gemma2" else request.getfixturevalue(kind)
    engine = model._engine
    inputs, book = engine.collate([engine.encode(TEXT)], [None])
    found, error = lens_logits(engine, inputs, len(book.sides[0]["text"]) + position if position < 0 else position)
    expected, own = by_hand(model, position)
    np.testing.assert_allclose(found, expected, atol=1e-5 * float(expected.abs().max()))
    np.testing.assert_allclose(found[-1], own, atol=1e-4 * float(own.abs().max()))
    assert error <= 1e-4 and len(found) == model.module.config.num_hidden_layers + 1


def test_the_words_and_ranks_are_those_of_the_logits(llama):
    found, (logits, own) = llama.lens(TEXT, top=3), by_hand(llama)
    answer = int(own.argmax())
    assert found.answer.id == answer
    for row, values in zip(found.rows, logits, strict=True):
        shares = values.softmax(-1)
        assert [word.id for word in row.words] == values.topk(3).indices.tolist()
        assert row.words[0].probability == pytest.approx(float(shares.max()), abs=1e-6)
        assert row.rank == int((values > values[answer]).sum())
        assert row.probability == pytest.approx(float(shares[answer]), abs=1e-6)


def test_the_answer_leads_from_where_no_later_layer_has_another_first(bytelevel):
    for seed in range(6):
        found = tiny_llama(bytelevel, seed=seed, num_hidden_layers=6).lens(TEXT)
        first = [row.words[0].id == found.answer.id for row in found.rows]
        assert all(first[found.leads :])
        assert found.leads == 0 or not first[found.leads - 1]


def test_a_decoder_that_reads_an_encoder_has_a_lens(t5):
    found = t5.lens("the cat sat", target="the dog")
    assert len(found.rows) == 4  # three layers
    assert found.error <= 1e-4


def test_a_continued_text_is_read_at_the_end_of_its_prompt(gpt2):
    prompt = len(gpt2.trace(TEXT).tokens)
    assert gpt2.lens(TEXT, generate=3).position == prompt - 1
    assert gpt2.lens(TEXT, -1, generate=3).position == prompt + 2


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_the_parts_of_the_answer_add_up_to_its_logit(request, kind):
    model = request.getfixturevalue("sharp")(kind)
    found, (_, own) = model.lens(TEXT, parts=True), by_hand(model)
    total = sum(logit for _, logit in found.parts)
    assert total == pytest.approx(float(own.max() - own.mean()), abs=1e-4 * float(own.abs().max()))
    assert {"0.0", "1.2", "MLP 1", "word embedding"} <= {name for name, _ in found.parts}
    assert not model.lens(TEXT).parts


def test_an_encoder_is_refused(bert):
    with pytest.raises(regard.base.errors.UserError, match="its layers cannot be read as words"):
        bert.lens(TEXT)


def test_no_hook_stays(gpt2):
    def hooks():
        return [len(module._forward_hooks) + len(module._forward_pre_hooks) for module in gpt2.module.modules()]

    before = hooks()  # transformers leaves some of its own
    gpt2.lens(TEXT)
    assert hooks() == before


@pytest.mark.models
def test_smollm_is_read_after_each_of_its_layers(smollm):
    text = "The capital of France is"
    found, (logits, own) = smollm.lens(text), by_hand(smollm, text=text)
    assert found.answer.token == " Paris" and found.answer.id == int(own.argmax())
    assert [row.words[0].id for row in found.rows] == logits.argmax(-1).tolist()
    behind = [layer for layer, best in enumerate(logits.argmax(-1).tolist()) if best != found.answer.id]
    assert found.leads == behind[-1] + 1
    assert found.error <= 1e-4


def test_the_command_prints_every_layer_and_from_where_on_the_answer_leads(command, llama, tmp_path):
    from tests.tiny import saved

    folder = saved(llama, tmp_path / "llama")
    shown = command("lens", TEXT, "-m", folder, width=200)
    found = llama.lens(TEXT)
    assert shown.returncode == 0
    for row in found.rows:
        assert f"{row.probability:.3f}" in shown.stdout
    assert "leads and stays first from here on" in shown.stdout and "a lens:" in shown.stdout
    record = json.loads(command("lens", TEXT, "-m", folder, "--json").stdout)
    assert record["leads"] == found.leads and len(record["rows"]) == len(found.rows)
