"""Rankings of tokens judged by deletion."""

import numpy as np
import pytest
import torch
from transformers import BertForSequenceClassification, OPTConfig, OPTForCausalLM

import regard
from regard.base.errors import UserError
from regard.studies.deletion.lowering import Lowering
from regard.studies.deletion.reduce import RANKINGS, SHARES, falls_of
from tests.tiny import enlarged, made, tiny_bert

TEXT = "the cat sat on the mat . the dog went to the store"
LETTERS = "ab cab cabdacba"


@torch.no_grad()
def by_hand(model, ids, order, about, label=None):
    """The falls of one order, with an attention mask and the model's own output alone."""
    module, whole, falls = model.module, None, []
    for count in (0, *(max(1, round(share * len(order))) for share in SHARES)):
        mask = torch.ones_like(ids)
        mask[0, order[:count]] = 0
        output = module(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        if about == "vector":
            vector = output.hidden_states[-1][0][mask[0].bool()].mean(0)
            whole = vector if whole is None else whole
            falls.append(1 - float(torch.cosine_similarity(vector, whole, dim=0)))
            continue
        logits = output.logits[0, -1] if about == "next token" else output.logits[0]
        label = int(logits.argmax()) if label is None else label
        number = float(logits.softmax(-1)[label])
        whole = number if whole is None else whole
        falls.append(whole - number)
    return falls[1:]


@pytest.fixture(scope="module")
def readers(request, wordpiece):
    """A model of each kind, with attention far from uniform, and a text for it."""
    from copy import deepcopy

    def copied(name):
        model = request.getfixturevalue(name)
        return enlarged(regard.load((deepcopy(model.module), model.tokenizer)), 6)

    return {
        "vector": (copied("bert"), TEXT),
        "next token": (copied("llama"), LETTERS),
        "label": (enlarged(tiny_bert(wordpiece, BertForSequenceClassification), 6), TEXT),
    }


@pytest.mark.parametrize("about", ["vector", "next token", "label"])
def test_falls_are_those_of_the_model_with_an_edited_mask(readers, about):
    model, text = readers[about]
    row = model._engine.encode(text)
    outcome = Lowering(model, row)
    assert outcome.about == about
    trace = model.trace(text)
    table = trace.attention(1).mean(0)
    scores = {"vector": table.mean(0), "next token": table[-1], "label": table[0]}[about]
    tokens = trace.tokens
    removable = [i for i, token in enumerate(tokens) if not token.special]
    if about == "next token":
        removable = removable[1:-1]
    assert outcome.removable.tolist() == removable
    order = sorted(removable, key=lambda i: -scores[i])
    falls = falls_of(outcome, row, np.random.default_rng(0))
    assert falls.shape == (len(RANKINGS), len(SHARES)) and np.isfinite(falls).all()
    expected = by_hand(model, torch.tensor([row.ids]), order, about)
    np.testing.assert_allclose(falls[1], expected, atol=1e-5)


def test_a_regression_is_judged_by_its_score_and_several_labels_each_by_its_own_chance(wordpiece):
    kept = np.ones((2, 15), bool)
    kept[1, 3:9] = False
    several = {"num_labels": 3, "problem_type": "multi_label_classification"}
    for about, more in (("score", {"num_labels": 1}), ("label", several)):
        model = enlarged(tiny_bert(wordpiece, BertForSequenceClassification, **more), 6)
        row = model._engine.encode(TEXT)
        outcome = Lowering(model, row)
        assert (outcome.about, outcome.length) == (about, 15)
        ids = torch.tensor([row.ids, row.ids])
        with torch.no_grad():
            logits = model.module(input_ids=ids, attention_mask=torch.from_numpy(kept).long()).logits
        expected = logits[:, 0] if about == "score" else logits[:, int(logits[0].argmax())].sigmoid()
        np.testing.assert_allclose(outcome.values(kept), expected.numpy(), atol=1e-5)
        assert abs(expected[0] - expected[1]) > 1e-3


def test_tokens_that_stay_keep_their_positions_where_a_model_counts_them_in_the_mask(bytelevel):
    shape = {"hidden_size": 24, "ffn_dim": 32, "num_hidden_layers": 2, "num_attention_heads": 3}
    config = OPTConfig(vocab_size=len(bytelevel), max_position_embeddings=64, word_embed_proj_dim=24, **shape)
    model = enlarged(made(OPTForCausalLM, config, bytelevel), 4)
    row = model._engine.encode(LETTERS)
    kept = np.ones((1, len(row.ids)), bool)
    kept[0, 4:9] = False
    ids, mask = torch.tensor([row.ids]), torch.from_numpy(kept).long()
    with torch.no_grad():
        plain = model.module(input_ids=ids).logits[0, -1]
        places = torch.arange(len(row.ids))[None]
        still = model.module(input_ids=ids, attention_mask=mask, position_ids=places).logits[0, -1]
        moved = model.module(input_ids=ids, attention_mask=mask).logits[0, -1]
    word = int(plain.argmax())
    found = Lowering(model, row).values(kept)[0]
    assert found == pytest.approx(float(still.softmax(-1)[word]), abs=1e-6)
    assert found != pytest.approx(float(moved.softmax(-1)[word]), abs=1e-4)


def test_gradient_times_input_is_that_of_autograd(readers):
    model, text = readers["next token"]
    row = model._engine.encode(text)
    ids = torch.tensor([row.ids])
    embedded = model.module.get_input_embeddings()(ids).detach().requires_grad_()
    chances = model.module(inputs_embeds=embedded).logits[0, -1].softmax(-1)
    chances.max().backward()
    expected = (embedded.grad * embedded).sum(-1)[0].detach().numpy()
    np.testing.assert_allclose(Lowering(model, row).gradient_times_input(), expected, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("about", ["vector", "next token", "label"])
def test_worth_of_all_lines_to_a_token_is_the_slope_of_taking_its_values_out(readers, about):
    """By finite differences in plain torch: every head, in every layer, takes a little less from one token."""
    model, text = readers[about]
    row = model._engine.encode(text)
    outcome = Lowering(model, row)
    found, position, step = outcome.worth_of_lines(), 3, 1e-2
    slope = (number(model, row, outcome, position, -step) - number(model, row, outcome, position, step)) / (2 * step)
    assert found is not None and found.shape == (len(row.ids),)
    np.testing.assert_allclose(found[position], slope, rtol=1e-3, atol=1e-6)


@torch.no_grad()
def number(model, row, outcome, position, less):
    """The number of the study in double precision, with what every head takes from a position scaled by 1 - less."""
    from copy import deepcopy

    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    module = deepcopy(model.module).double()
    module.set_attn_implementation("eager")

    def attend(layer, query, key, value, attention_mask, scaling, **_):
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        scores = scaling * query @ key.transpose(-1, -2)
        if attention_mask is not None:
            scores = scores + attention_mask
        weights = scores.softmax(-1).clone()
        weights[..., position] *= 1 - less
        return (weights @ value).transpose(1, 2), weights

    ALL_ATTENTION_FUNCTIONS.register("scaled_by_hand", attend)
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

    ALL_MASK_ATTENTION_FUNCTIONS.register("scaled_by_hand", ALL_MASK_ATTENTION_FUNCTIONS["eager"])
    module.set_attn_implementation("scaled_by_hand")
    ids = torch.tensor([row.ids])
    output = module(input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True)
    if outcome.about == "vector":
        return float(output.hidden_states[-1][0].mean(0) @ outcome.reference.double())
    logits = output.logits[0, -1] if outcome.about == "next token" else output.logits[0]
    return float(logits.softmax(-1)[outcome.reference])


def test_the_study_ranks_rankings_and_calls_none_an_explanation(readers, tmp_path):
    model, _ = readers["vector"]
    words = "cat dog mat store".split()
    lines = [f"the {one} sat on a {other} ." for one in words for other in words]
    (tmp_path / "corpus.txt").write_text("\n".join([*lines, "a"]))
    result = regard.study.deletion(model, tmp_path / "corpus.txt", output=tmp_path / "out")
    assert set(result.table["ranking"]) == set(RANKINGS)
    assert (result.table["low"] <= result.table["area"]).all() and result.table["area"].is_monotonic_decreasing
    shares = result.table[[name for name in result.table if name.startswith("removed_")]]
    np.testing.assert_allclose(shares.mean(axis=1), result.table["area"])
    assert result.findings[0].startswith(f"Best here: {result.table['ranking'][0]}.")
    assert "16 texts" in result.findings[-1] and not any("explanation" in one for one in result.findings)
    assert (tmp_path / "out" / "falls.png").exists()


def test_what_cannot_be_judged_is_refused(t5, readers, tmp_path):
    (tmp_path / "short.txt").write_text("a\ncat")
    with pytest.raises(UserError, match="4 tokens"):
        regard.study.deletion(readers["vector"][0], tmp_path / "short.txt")
    with pytest.raises(UserError, match="one text"):
        Lowering(t5, t5._engine.encode(TEXT))


def test_controls_are_reported_as_areas_above_random_order(readers, tmp_path):
    model, _ = readers["vector"]
    (tmp_path / "corpus.txt").write_text("\n".join(f"the {one} sat on a mat ." for one in "cat dog mat store".split()))
    result = regard.study.deletion(model, tmp_path / "corpus.txt", control=True, control_seeds=2)
    (table,) = result.tables.values()
    mine = result.table.set_index("ranking")["above_random"].drop("random order")
    np.testing.assert_allclose(table.set_index("ranking")["model"][mine.index], mine)
    assert {"random weights", "lowest", "highest", "shuffled weights"} <= set(table)
    assert (table["lowest"] < table["highest"]).any() and np.isfinite(table["shuffled weights"]).all()
