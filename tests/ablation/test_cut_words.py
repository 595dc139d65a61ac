"""What a cut says, the random lines beside it, and how lines are named."""

import json
import re
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from regard.ablation.controls import CutEdges, like
from regard.ablation.cut_words import _beside, _figures, brief, said_of, same
from regard.ablation.cutting import CutChange, CutControl
from regard.cli import app
from regard.patterns.resting import rests_of
from regard.trace.edges import parse_edges
from regard.trace.heads import Head
from regard.trace.pool import pool_of
from regard.trace.trace import Trace
from tests.ablation.cut_by_hand import result
from tests.tiny import saved


def test_a_cut_says_what_it_changes_in_words_and_beside_random_lines(family):
    model, inputs, *_ = family("gpt2")
    made = model.cut("the cats", edges="1.1:s→*", position=6, token="s", controls=8)
    before = result(model, inputs)[0, 6].log_softmax(-1)
    index = model.tokenizer("s", add_special_tokens=False)["input_ids"][0]
    assert made.change.before == pytest.approx(float(before[index].exp()), rel=1e-4)
    assert (made.lines, made.position, made.actual) == (8, 6, "s")
    assert made.change.after == made.change.before  # a causal model: position 6 does not see position 7
    assert made.sentence.startswith("Cutting s → * in head 1.1 leaves P(“s”) at")
    control = made.control
    weights = f"({control.weight:.2f} on average, these {made.weight:.2f})"
    assert f"; 8 random lines of the nearest weights {weights} change it by" in made.sentence
    assert f"n = 8 sets, as much or more: {control.larger})" in made.sentence
    assert control.lines == 8
    assert made.control.count == 8 and made.control.mean > 0 and made.control.larger == 8
    assert made.as_record()["said"][0] == {"code": "cut_head", "values": {"lines": "s → *", "heads": "1.1"}}


def test_a_cut_without_random_lines_runs_the_model_twice(family):
    """Once as it is, for the trace and what it says, and once cut: a click should not wait for more."""
    model, inputs, *_ = family("gpt2")
    ran = []
    hook = model.module.register_forward_hook(lambda *_: ran.append(1))
    made = model.cut("the cats", edges="1.1:5→3", position=6, controls=0)
    hook.remove()
    assert len(ran) == 2 and len(model.module._forward_hooks) == 0
    before = result(model, inputs)[0, 6].softmax(-1)
    assert made.rows[0].before == pytest.approx(float(before.max()), rel=1e-5)


def test_a_line_break_and_all_heads_are_named_so_that_the_sentence_stays_one_line(family):
    trace = family("gpt2")[2]
    blocks = parse_edges("*.*:5→3", trace)
    change = CutChange("probability", "\n", 0.5, 0.25)
    what, result = said_of(blocks, trace, change, None, CutEdges(blocks, trace))
    assert str(what).endswith("in heads *.*") and str(result).startswith("lowers P(“⏎”) from")


def test_random_lines_have_the_weight_of_the_cut_and_are_elsewhere(family):
    trace = family("gpt2")[2]
    blocks = parse_edges("1.1:5→3", trace)
    pool = pool_of(trace, 6, rests_of)
    weight = trace.attention(1, 1)[5, 3]
    partners = like(CutEdges(blocks, trace), pool, 16)
    sets = partners.sets
    assert len(sets) == 16 and partners.lines == 1
    for (one,) in sets:
        (head,), (query,), (key,) = one.heads, one.queries, one.keys
        assert (head.layer, head.head, query) != (1, 1, 5)
        assert key != 0 and key <= query <= 6
        assert head.layer == 0 or query == 6  # in the last layer only the row of the prediction can reach it
    weights = [trace.attention(one.heads[0].layer, one.heads[0].head)[one.queries[0], one.keys[0]] for (one,) in sets]
    assert partners.weight == pytest.approx(np.mean(weights), abs=1e-6)
    spread = np.sort(np.abs(pool.weight - weight))
    assert np.abs(np.array(weights) - weight).max() <= spread[80]  # 64 nearest, besides those of the same row


def test_positions_and_blocks_that_are_named_twice_are_cut_once(family):
    trace = family("gpt2")[2]
    once = parse_edges((1, 1, [5, 6], [2]), trace)
    assert parse_edges([(1, 1, [5, 6, 5, 5], [2, 2]), (1, 1, [5, 6], [2])], trace) == once


def test_lines_of_overlapping_blocks_are_counted_once(family):
    trace = family("gpt2")[2]
    edges = CutEdges(parse_edges(["1.1:5→*", "1.1:*→3", "0.2:4→1"], trace), trace)
    heads = {(1, 1): {(5, key) for key in range(6)} | {(query, 3) for query in range(3, 8)}, (0, 2): {(4, 1)}}
    weights = [trace.attention(*head)[edge] for head, own in heads.items() for edge in own]
    assert edges.count == len(weights)
    assert edges.weight == pytest.approx(np.mean(weights), abs=1e-6)
    np.testing.assert_allclose(sorted(edges.sample(256, np.random.default_rng(0))), sorted(weights), atol=1e-6)
    assert len(edges.sample(3, np.random.default_rng(0))) == 3


def test_many_lines_are_counted_without_a_record_of_each():
    size = 512
    trace = Trace.from_maps(np.full((1, 2, size, size), 1 / size, np.float32), ["a"] * size)
    tracemalloc.start()
    edges = CutEdges(parse_edges("0.*:*→*", trace), trace)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert edges.count == 2 * size * size
    assert peak < 24 * edges.count  # a record of each line would be ten times that


def test_rounded_numbers_add_up():
    assert _figures(0.604, 0.708) == {"before": "0.604", "after": "0.708", "difference": "+0.104"}
    assert _figures(0.0071, 0.00752) == {"before": "0.00710", "after": "0.00752", "difference": "+0.00042"}
    assert _figures(0.9, 0.4) == {"before": "0.90", "after": "0.40", "difference": "−0.50"}
    assert [brief(value) for value in (0, 0.5, 0.0021, 0.00012, 3e-6)] == ["0", "0.50", "0.0021", "0.00012", "3.0e-06"]


def test_a_small_probability_that_changes_much_is_not_called_the_same():
    small = CutChange("probability", "young", 0.0071, 0.00752)
    assert not same(small, small.after - small.before)
    assert same(small, 5e-5) and same(CutChange("probability", "far", 0.6, 0.6003), 0.0003)


def test_lines_that_have_no_like_say_what_their_partners_weigh():
    control = CutControl(16, 0.002, 0.001, 1, (), 256, 0.84)
    cut = SimpleNamespace(count=4096, weight=0.988)
    found = _beside(CutChange("probability", "far", 0.6, 0.4), control, cut)
    assert "256 random lines of the nearest weights do" in found and "weights 0.84 on average, these 0.99" in found


def test_hiding_the_first_token_of_a_causal_model_comes_with_a_caution(family):
    model = family("gpt2")[0]
    assert [one.code for one in model.cut("the cats", edges="0.1:*→0", controls=0).notes] == ["first_cut"]
    assert not model.cut("the cats", edges="0.1:*→0", how="zero", controls=0).notes


def test_two_sentences_are_judged_by_their_similarity_and_one_by_how_far_it_turns(family):
    bert = family("bert")[0]
    two = bert.cut("the cat sat", "a dog", edges="0.1:cat→dog", controls=4)
    assert two.change.unit == "similarity" and "similarity of the two sentences" in two.sentence
    one = bert.cut("the cat sat", edges="0.1:cat→sat", controls=0)
    assert one.change.unit == "turn" and one.change.before == pytest.approx(1, abs=1e-5)
    assert one.change.after == pytest.approx(one.rows[-1].after["mask"], abs=1e-5)
    with pytest.raises(ValueError, match="one sentence has nothing to be similar to; give it a second"):
        bert.trace("the cat sat", worth=True)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("0.1", "'0.1' names no edge; write"),
        ("0.1:zebra→c", "the text has no token 'zebra'"),
        ("0.1:t→c", "'t' can mean 2 tokens; say which: t@0, t@6"),
        ("0.1:t@1→c", "the token at position 1 is 'h', not 't'"),
        ("0.1:70→c", "there is no position 70"),
        ("0.9:5→2", "has no head 9"),
        ("0.1:2→5", "the model hides this key from this query"),
        ([], "no edges were named"),
        ((0, 1, "x" * 3, 2), "the text has no token 'xxx'"),
    ],
)
def test_what_names_no_line_is_refused_with_the_way_out(family, edges, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_edges(edges, family("gpt2")[2])


def test_lines_are_named_by_tokens_words_positions_and_blocks():
    tokens = ["[CLS]", "straw", "##berries", "it", "is", "it", "5", "[SEP]"]
    trace = Trace.from_maps(np.full((2, 3, 8, 8), 1 / 8), tokens)
    block = parse_edges(["1.2:strawberries→is"], trace)[0]
    assert (block.queries, block.keys, block.label) == ((1, 2), (4,), "strawberries → is")
    assert parse_edges("1.*:it@5->*", trace)[0].heads == tuple(Head("encoder", 1, head) for head in range(3))
    assert parse_edges("0.0:@5→3-5", trace)[0][1:] == ((5,), (3, 4, 5), "it@5 → 3-5")
    assert parse_edges("0.0:4→3-5", trace)[0].queries == (4,)
    with pytest.raises(ValueError, match="'5' can mean 2 tokens; say which: 5@6, it@5"):
        parse_edges("0.0:5→is", trace)
    assert parse_edges("0.0:5@6→is", trace)[0].queries == (6,)
    assert parse_edges(("encoder", 0, None, [1, -1], None), trace)[0].queries == (1, 7)
    assert [one.single for one in parse_edges([(0, 1, 2, 3), "0.1:is→*"], trace)] == [True, False]


def test_the_command_prints_the_sentence_and_the_same_record_as_json(family, tmp_path):
    model = family("gpt2")[0]
    folder = str(saved(model, tmp_path / "gpt2"))
    runner = CliRunner()
    made = runner.invoke(app, ["cut", "the cats", "-m", folder, "--edge", "1.1:s→c", "--json", "--controls", "2"])
    assert made.exit_code == 0, made.output
    record = json.loads(made.stdout)
    assert record["edges"] == ["1.1: s → c"]
    assert record["change"]["after"] == pytest.approx(model.cut("the cats", edges="1.1:s→c").change.after, abs=1e-6)
    shown = runner.invoke(app, ["cut", "the cats", "-m", folder, "-e", "1.1:s->c", "--how", "zero"])
    assert "Cutting s → c in head 1.1" in shown.stdout
