"""Maps so small that the diagonals cover all that is left beside the strongest columns have no type."""

import io

import numpy as np
from rich.console import Console

import regard
from regard.measures import shape_features
from regard.measures.types import TYPES, type_probabilities
from regard.patterns.findings import head_report
from regard.printing.patterns import report
from regard.trace.mask import Mask
from regard.trace.pieces import side_of_texts
from regard.trace.sentences import reason
from regard.trace.site import Site
from regard.trace.trace import Trace
from regard.views.wire import encode, header_of
from tests.tiny import enlarged, tiny_llama

NO_ROOM = reason("no_room")

SEEN = np.tri(6, dtype=bool)
EARLY, LATE = [1, 1, 1, 0.02, 0.01, 0.01], [0.01, 0.02, 0.05, 1, 1, 1]  # weights of keys; what is left of the first is
# within two steps of every query that sees it, of the second not


def to_keys(*weights):
    """(H, 6, 6) causal maps with these weights of the keys."""
    maps = np.where(SEEN, np.array(weights, np.float32)[:, None, :], 0)
    return maps / maps.sum(axis=-1, keepdims=True)


def traced(maps):
    site = Site("decoder", 0, "text", "text", tuple(range(len(maps))), mask=Mask(None, 0), maps=maps)
    return Trace({"text": side_of_texts(list("abcdef"), "text")}, (site,))


def printed(trace):
    console = Console(file=io.StringIO(), width=200)
    for part in report(trace.patterns(), console):
        console.print(part)
    return console.file.getvalue()


def exactly(site, dtype):
    """(H, Q, K) maps of a causal site, computed from q and k in one precision throughout."""
    k = np.repeat(site.k, site.heads // site.kv_heads, axis=0).astype(dtype)
    scores = np.where(SEEN, site.q.astype(dtype) @ k.transpose(0, 2, 1) * dtype(site.scale), dtype(-np.inf))
    odds = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)


def types(maps):
    """(H,) numbers of the types, -1 for none."""
    found = type_probabilities(shape_features(maps, visible=SEEN))
    return np.where(np.isnan(found).any(axis=-1), -1, found.argmax(axis=-1))


def test_types_of_six_tokens_do_not_hang_on_the_precision(smollm):
    trace = smollm.trace("The cat sat on the mat")
    assert len(trace.tokens) == 6
    single, double = (np.concatenate([types(exactly(s, t)) for s in trace.sites]) for t in (np.float32, np.float64))
    np.testing.assert_array_equal(single, double)
    assert (single >= 0).any()


def test_a_map_without_room_has_no_type():
    np.testing.assert_array_equal(types(to_keys(EARLY, LATE)) == -1, [True, False])


def test_a_window_of_three_keys_leaves_no_room():
    window = SEEN & ~np.tri(6, k=-3, dtype=bool)
    maps = (window / window.sum(axis=-1, keepdims=True)).astype(np.float32)
    assert np.isnan(type_probabilities(shape_features(maps, visible=window))).all()


def test_a_head_without_a_type_is_reported_without_one():
    first, second = head_report(traced(to_keys(EARLY, LATE)))
    assert first["type"] is None and first["probabilities"] is None
    assert second["type"] in TYPES


def test_the_reason_is_given_where_no_head_has_a_type():
    found = traced(to_keys(EARLY, EARLY)).patterns()
    assert found.missing["type"] == NO_ROOM
    assert found.measured[0].types is None


def test_heads_without_a_type_are_counted_as_such():
    assert "n/a 1" in printed(traced(to_keys(EARLY, LATE)))
    assert f"types: n/a ({NO_ROOM})" in printed(traced(to_keys(EARLY, EARLY))).replace("\n", " ")


def test_words_without_room_have_no_type():
    assert traced(to_keys(EARLY, LATE)).words().patterns().measured[0].types is not None
    assert traced(to_keys(EARLY)).words().patterns().missing["type"] == NO_ROOM


def test_pages_hold_heads_without_a_type():
    assert header_of(encode(traced(to_keys(EARLY, LATE))))["sites"][0]["types"]["shape"] == [2, len(TYPES)]


def test_shares_of_types_over_a_corpus_are_of_maps_that_have_one(bytelevel, tmp_path):
    llama, lines = enlarged(tiny_llama(bytelevel)), ["abcdef", "fedcba", "the cat sat", "zzz aa"]
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(lines))
    shares = regard.study.atlas(llama, corpus).tables["Types of maps"].set_index("type")["share"]
    typed = [record["probabilities"] for line in lines for record in head_report(llama.trace(line))]
    known = [one for one in typed if one is not None]
    assert 0 < len(known) < len(typed)
    for name in TYPES:
        np.testing.assert_allclose(shares[name], np.mean([one[name] for one in known]), atol=1e-3)


def test_a_corpus_without_a_type_has_no_shares(llama, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("abcdef\n")  # random weights: nearly uniform, so the first three columns are the strongest
    assert "Types of maps" not in regard.study.atlas(llama, corpus).tables
