"""Why a head looks there: shares of what made the query and the key.

Long on purpose: its tests share one split of a real model, checked from several sides.
"""

import json
from copy import deepcopy

import numpy as np
import pytest
import torch
from rich.text import Text
from transformers import Gemma2Config, Gemma2ForCausalLM, Gemma3ForCausalLM, Gemma3TextConfig

import regard
from regard.base.errors import OutOfRangeError, UserError
from regard.models.reread import Reread
from regard.printing.split import why_report
from regard.trace.picking import position_of
from regard.trace.tokens import Token
from tests.docs.scripts import script
from tests.docs.test_numbers import FOLDER
from tests.models import split_by_hand
from tests.tiny import enlarged, made, tiny_mpnet

TEXT = "the cat sat on the mat ."
LETTERS = "ab cab cabd"
GEMMA = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "query_pre_attn_scalar": 8,
}


@torch.no_grad()
def lively(model):
    """The model itself with norm gains and biases that are not 1 and 0."""
    generator = torch.Generator().manual_seed(1)
    for parameter in model.module.parameters():
        if parameter.ndim == 1:
            parameter += 0.3 * torch.randn(parameter.shape, generator=generator)
    return model


@pytest.fixture(scope="module")
def lively_of(bytelevel, request):
    """A function from a family to a tiny model in which every bias, gain and weight matters."""

    def of(family):
        if family.startswith("gemma"):
            config, kind = (
                (Gemma2Config, Gemma2ForCausalLM) if family == "gemma2" else (Gemma3TextConfig, Gemma3ForCausalLM)
            )
            model = made(kind, config(vocab_size=len(bytelevel), **GEMMA), bytelevel)
        else:
            known = request.getfixturevalue(family)
            model = regard.load((deepcopy(known.module), known.tokenizer))
        return lively(enlarged(model, 2 if family == "t5" else 4))

    return of


BY_HAND = {
    "bert": (split_by_hand.bert_keys, TEXT, 3),
    "gpt2": (split_by_hand.gpt2_keys, LETTERS, 3),
    "llama": (split_by_hand.rotary_keys, LETTERS, 4),
    "gemma2": (split_by_hand.rotary_keys, LETTERS, 4),
}


@pytest.mark.parametrize("family", BY_HAND)
def test_the_share_of_an_earlier_head_is_that_of_plain_torch(lively_of, family):
    keys_by_hand, text, heads = BY_HAND[family]
    model = lively_of(family)
    trace = model.trace(text)
    site = trace.site(1)
    ids = torch.tensor([[token.id for token in trace.tokens]])
    query, key = site.queries - 2, 1
    found = {one.name: one for one in model.why(text, "1.1", query, key, check=False).key.components}
    seen = np.isfinite(site.scores(1, query)[0])
    for head in range(heads):
        added = keys_by_hand(model.module, ids, head, heads)[:, 1].numpy()  # (K, d)
        shares = site.scale * added @ site.q[1, query]
        np.testing.assert_allclose(found[f"0.{head}"].score, shares[key], rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(found[f"0.{head}"].centred, shares[key] - shares[seen].mean(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "gemma2", "gemma3", "t5", "bart"])
def test_shares_of_both_sides_add_up_to_the_score(lively_of, family):
    model = lively_of(family)
    text = TEXT if family in ("bert", "t5", "bart") else LETTERS
    more = {"target": "a dog went"} if model.is_encoder_decoder else {}
    trace = model.trace(text, **more)
    for kind in trace.kinds:
        site = trace.site(1, kind=kind)
        look = model.why(text, (kind, 1, 2), 2, 1, check=False, **more)
        scores = site.scores(2, 2)[0].astype(float)
        seen = np.isfinite(scores)
        if site.softcap is not None:
            scores[seen] = site.softcap * np.arctanh(scores[seen] / site.softcap)
        largest = float(np.abs(scores[seen]).max())
        assert look.error <= 1e-4
        assert look.weight == pytest.approx(site.attention(2, 2)[0, 1], abs=1e-5)
        assert abs(sum(one.score for one in look.key.components) - scores[1]) <= 1e-4 * largest
        centred = scores[1] - scores[seen].mean()
        assert look.centred == pytest.approx(centred, abs=1e-4 * largest)
        assert sum(one.centred for one in look.key.components) == pytest.approx(centred, abs=2e-4 * largest)
        bias = sum(one.centred for one in look.key.components if one.kind == "bias")  # belongs to no query
        assert sum(one.centred for one in look.query.components) == pytest.approx(centred - bias, abs=2e-4 * largest)


def test_the_share_of_a_head_is_the_sum_of_what_it_read(lively_of):
    model = lively_of("llama")
    look = model.why("abc", "1.3", 2, 1, check=False)  # at most three tokens can be read
    heads = [one for side in (look.key, look.query) for one in side.components if one.kind == "head"]
    assert len(heads) == 8
    for one in heads:
        assert sum(source.score for source in one.sources) == pytest.approx(one.score, abs=1e-5)


def test_the_first_layer_is_made_of_embeddings_alone(lively_of):
    look = lively_of("bert").why(TEXT, "0.0", 3, 2, check=False)
    assert {one.name for one in look.key.components} == {
        "word embedding", "position embedding", "segment embedding", "biases"
    }  # fmt: skip
    assert len(look.chain()) == 1


@torch.no_grad()
def test_removing_a_part_is_compared_with_a_model_that_lacks_it(lively_of):
    """By hand: the key of a model whose head 0.h gives nothing at that one position."""
    from scipy.stats import spearmanr

    model = lively_of("llama")
    trace = model.trace(LETTERS)
    ids = torch.tensor([[token.id for token in trace.tokens]])
    query, key, first = 6, 3, model.module.model.layers[0]
    look = model.why(LETTERS, "1.0", query, key)
    shares, worth = [], []
    for one in look.key.components:

        def without(_module, args, one=one):
            given = args[0].clone()
            chosen = slice(one.head * 8, one.head * 8 + 8) if one.kind == "head" else slice(None)
            given[:, key, chosen] = 0
            return (given,)

        part = {"head": first.self_attn.o_proj, "mlp": first.mlp.down_proj}.get(one.kind)
        if part is None:
            handle = model.module.model.embed_tokens.register_forward_hook(
                lambda _m, _a, out: out.index_fill(1, torch.tensor([key]), 0)
            )
        else:
            handle = part.register_forward_pre_hook(without)
        k = model.trace_inputs({"input_ids": ids})[0].k(1, 0)
        handle.remove()
        shares.append(one.score)
        worth.append((trace.k(1, 0)[key] - k[key]) @ trace.q(1, 0)[query])
    assert look.key.agreement.parts == len(shares) == 6
    assert look.key.agreement.spearman == pytest.approx(spearmanr(shares, worth).statistic, abs=1e-6)
    most = int(np.argmax(np.array(worth) * trace.site(1).scale))
    assert look.key.agreement.first.name == look.key.components[most].name
    assert look.key.agreement.fall == pytest.approx(worth[most] * trace.site(1).scale, rel=1e-3)


@pytest.mark.parametrize("family", ["gpt2", "llama", "gemma2", "gemma3"])
def test_parts_removed_on_top_of_what_was_read_are_those_of_the_whole_text(lively_of, family, monkeypatch):
    model = lively_of(family)
    quick, read = model.why(LETTERS, "1.1", 7, 4), []
    monkeypatch.setattr(Reread, "of", lambda *_: read.append(1))
    whole = model.why(LETTERS, "1.1", 7, 4)
    assert len(read) == 2  # once for each side
    for one, other in ((quick.key, whole.key), (quick.query, whole.query)):
        assert one.agreement.spearman == pytest.approx(other.agreement.spearman, abs=1e-6)
        assert one.agreement.first == other.agreement.first
        assert one.agreement.fall == pytest.approx(other.agreement.fall, rel=1e-3, abs=1e-5)


def test_a_model_that_reads_a_token_alone_otherwise_is_read_whole(lively_of, monkeypatch):
    """What a cache gives is believed only where it gives the model's own vector."""
    model = lively_of("llama")
    expected = model.why(LETTERS, "1.1", 7, 4)
    rows = Reread.inputs
    monkeypatch.setattr(
        Reread, "inputs", lambda self, count: {**rows(self, count), "input_ids": torch.ones(count, 1).long()}
    )
    found = model.why(LETTERS, "1.1", 7, 4)
    assert found.key.agreement.spearman == pytest.approx(expected.key.agreement.spearman, abs=1e-6)
    assert found.query.agreement.fall == pytest.approx(expected.query.agreement.fall, rel=1e-3)


def test_nothing_stays_on_the_model(lively_of):
    model = lively_of("gpt2")
    before = [len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.module.modules()]
    logits = model.module(input_ids=torch.tensor([[1, 2, 3]])).logits
    model.why(LETTERS, "1.1")
    assert before == [len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.module.modules()]
    assert torch.equal(logits, model.module(input_ids=torch.tensor([[1, 2, 3]])).logits)
    assert all(parameter.grad is None for parameter in model.module.parameters())


def test_a_norm_or_a_sum_that_is_not_linear_is_refused(lively_of, wordpiece):
    model = lively_of("llama")

    class Squared(torch.nn.Module):
        def forward(self, x):
            return x * x.abs()

    model.module.model.layers[0].self_attn.o_proj = torch.nn.Sequential(
        Squared(), model.module.model.layers[0].self_attn.o_proj
    )
    fresh = regard.load((model.module, model.tokenizer))
    with pytest.raises(UserError, match="do not add up") as refused:
        fresh.why(LETTERS, "1.1")
    assert refused.value.args[0].code == "split_sum"
    odd = lively_of("llama")

    class OddNorm(torch.nn.Module):
        def forward(self, x):
            return torch.tanh(x)

    odd.module.model.layers[1].input_layernorm = OddNorm()
    with pytest.raises(UserError, match="OddNorm") as refused:
        odd.why(LETTERS, "1.1")
    assert refused.value.args[0].code == "split_norm"
    with pytest.raises(UserError, match="attention interface") as refused:
        tiny_mpnet(wordpiece).why(TEXT, "1.1")
    assert refused.value.args[0].code == "split_outside"


def test_what_is_asked_is_checked(bert, llama):
    with pytest.raises(UserError, match="name one head"):
        bert.why(TEXT, "1.*")
    with pytest.raises(UserError, match="cannot see"):
        llama.why(LETTERS, "1.1", 2, 5)
    with pytest.raises(OutOfRangeError, match="no position 99"):
        bert.why(TEXT, "1.1", 99)


def test_sources_of_a_head_are_tokens_that_it_can_see(lively_of):
    look = lively_of("llama").why(LETTERS, "1.0", 6, 1, check=False)
    heads = [one for one in look.key.components if one.kind == "head"]
    assert heads and all(source.position <= 1 for one in heads for source in one.sources)
    assert all(one.sources for one in heads)


def test_a_look_below_the_mean_of_its_row_is_said_to_be_drawn_by_nothing(lively_of):
    looks = [lively_of("llama").why(LETTERS, "1.0", 6, key, check=False) for key in range(7)]
    for look in looks:
        said = " ".join(str(line) for line in why_report(look) if isinstance(line, Text))
        assert ("Nothing draws 1.0" in said) == (look.centred <= 0)
    assert {look.centred > 0 for look in looks} == {True, False}


def test_a_token_that_sees_itself_alone_looks_there_whatever_made_the_score(lively_of):
    look = lively_of("llama").why(LETTERS, "1.0", 0, check=False)
    said = " ".join(str(line) for line in why_report(look) if isinstance(line, Text))
    assert look.visible == 1 and "it may see this token alone" in said and "Nothing draws" not in said


def test_a_text_that_the_model_goes_on_with_is_split_as_well(lively_of):
    model = lively_of("llama")
    trace = model.trace(LETTERS, generate=3)
    last = len(trace.tokens) - 1
    look = model.why(LETTERS, "1.0", last, 0, generate=3, check=False)
    assert look.weight == pytest.approx(float(trace.attention(1, 0)[last, 0]), abs=1e-5)
    with pytest.raises(OutOfRangeError):
        model.why(LETTERS, "1.0", last, 0, check=False)


def test_tokens_are_named_by_text_position_or_both():
    tokens = [Token("the"), Token(" cat"), Token(" the"), Token("7")]
    assert [position_of(tokens, one) for one in (1, -1, "cat", "the@2", "@1", "1", "7")] == [1, 3, 1, 2, 1, 1, 3]
    with pytest.raises(UserError, match="the@0, the@2"):
        position_of(tokens, "the")
    pieces = [Token("straw", word=0), Token("##berries", word=0), Token("1", word=1)]
    with pytest.raises(UserError, match="the word 'strawberries' is 2 tokens; say which: straw@0, ##berries@1"):
        position_of(pieces, "strawberries")
    with pytest.raises(UserError, match="'1' can mean 2 tokens; say which: 1@2, ##berries@1"):
        position_of(pieces, "1")
    with pytest.raises(UserError, match="is 'cat', not 'dog'"):
        position_of(tokens, "dog@1")
    with pytest.raises(UserError, match="no token 'dog'; name one of its tokens, or a position from 0: the@0, cat@1"):
        position_of(tokens, "dog")


@pytest.fixture(scope="module")
def measuring():
    yield from script(FOLDER, "why")


def test_the_previous_token_head_makes_the_keys_of_induction_heads(smollm, measuring):
    """On random words, written twice; no head but the one that looks is named. docs/numbers/why.py has 100 texts."""
    for look in measuring.looks(smollm, 0).values():
        first, second = look.key.components[:2]
        assert first.name == "16.0" and first.centred > abs(second.centred)
        assert first.sources[0].position == look.key.position - 1
        assert look.chain()[1] | {"layer": 16, "head": 0, "into": 0, "side": "key"} == look.chain()[1]
        assert look.error < 1e-4


def test_the_command_prints_the_shares_and_their_sum(command, tmp_path, lively_of):
    from tests.tiny import saved

    folder = saved(lively_of("gpt2"), tmp_path / "model")
    done = command("why", LETTERS, "--model", folder, "--head", "1.1", "--query", "d", "--key", "@0", width=120)
    assert done.returncode == 0, done.stderr
    assert "1.1 looks from d@10 to a@0" in done.stdout and "position embedding" in done.stdout
    assert "sum of the" in done.stdout and "rank correlation with the column" in " ".join(done.stdout.split())
    assert "the score falls most without" in " ".join(done.stdout.split())
    told = command("why", LETTERS, "--model", folder, "--head", "1.1", "--no-check", "--json", "-n", 2)
    record = json.loads(told.stdout)
    assert len(record["key"]["components"]) == 2 and record["key"]["rest"]["count"] == 5
    assert record["error"] < 1e-4
