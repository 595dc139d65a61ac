"""What heads do when awake: by hand, on made-up maps and on real ones, by weights and by contributions."""

import re

import numpy as np
import pytest
import torch
from transformers import AutoModel

import regard
from regard import Trace
from regard.base.errors import UserError
from regard.patterns import head_report
from regard.patterns.definitions import THRESHOLDS

from ..conftest import ARTICLE

WORDS = [f"w{n}" for n in range(20)]


def by_hand(attention, content, offset, *, causal):
    """Share and chance of a neighbour in what does not rest, as plain loops over rows."""
    mass = awake = expected = 0.0
    n = len(attention)
    for i in range(n):
        visible = [j for j in range(n) if not causal or j <= i]
        rests = {j for j in visible if not content[j]} | ({visible[0]} if causal else set())
        free = [j for j in visible if j not in rests]
        j = i + offset
        if not content[i] or j not in free or not 1 / len(free) < 0.5:
            continue
        own = sum(attention[i][k] for k in free)
        mass, awake, expected = mass + attention[i][j], awake + own, expected + own / len(free)
    return mass / awake, expected / awake


@pytest.mark.parametrize("causal", [False, True])
def test_the_reading_is_that_of_plain_loops(causal):
    rng = np.random.default_rng(0)
    tokens = WORDS if causal else ["[CLS]", *WORDS[:18], "[SEP]"]
    maps = rng.dirichlet(np.ones(20), size=(3, 20)) * (np.tri(20) if causal else 1)
    maps[:, :, 0] *= 20
    maps /= maps.sum(axis=-1, keepdims=True)
    site = Trace.from_maps(maps[None], tokens, causal=causal).patterns().measured[0]
    content = [not token.startswith("[") for token in tokens]
    for head in range(3):
        share, chance = by_hand(maps[head], content, -1, causal=causal)
        reading = site.awake["previous token"]
        assert reading.share[head] == pytest.approx(share, rel=1e-5)
        assert reading.chance[head] == pytest.approx(chance, rel=1e-5)
        rows = [maps[head][i] for i in range(20) if content[i] and (i or not causal)]
        rest = np.mean([row[0] if causal else row[0] + row[19] for row in rows])
        assert site.rest[head] == pytest.approx(rest, rel=1e-5)


def resting(share, offset=-1, size=20):
    """A causal head that rests on the first token with a share of each row and looks one back with the rest."""
    maps = (1 - share) * np.eye(size, k=offset)
    maps[:, 0] += share
    maps[0, 0] = 1
    return maps / maps.sum(axis=-1, keepdims=True)


def test_a_head_is_named_for_what_it_does_when_awake():
    maps = np.stack([resting(0.0), resting(0.9), resting(0.99)])
    found = Trace.from_maps(maps[None], WORDS, causal=True).patterns()
    assert [{f.pattern for f in found.of(0, head)} for head in range(3)] == [
        {"previous token"},
        {"previous token"},
        {"always rests"},
    ]
    finding = found.of(0, 1)[0]
    assert finding.score == pytest.approx(1) and finding.rest == pytest.approx(0.9, abs=0.02)
    assert re.search(r"rests for 0\.9\d, mostly on the first token", finding.sentence)


def test_where_a_causal_head_rests_is_where_most_of_it_is():
    maps = resting(0.1)
    maps[6:] *= 0.4
    maps[6:, 5] += 0.6
    found = Trace.from_maps(maps[None, None], [*WORDS[:5], "[SEP]", *WORDS[6:]], causal=True).patterns()
    (finding,) = [one for one in found if one.pattern == "previous token"]
    assert finding.sentence.endswith("mostly on [SEP]")


def test_one_row_that_is_awake_is_no_name():
    maps = resting(0.97)
    maps[9] = np.eye(20)[8]
    tail = np.random.default_rng(0).dirichlet(np.full(20, 0.2), size=20) * np.tri(20)
    maps[10:] = 0.999 * np.eye(20)[0] + 0.001 * tail[10:]
    maps[:9] = 0.999 * np.eye(20)[0] + 0.001 * tail[:9]
    assert not Trace.from_maps(maps[None, None], WORDS, causal=True).patterns().of(0, 0)[1:]
    assert "previous token" not in {f.pattern for f in Trace.from_maps(maps[None, None], WORDS, causal=True).patterns()}


def test_contributions_are_read_as_their_maps_would_be(bert):
    trace = bert.trace("the cat sat on the mat , it sat on the store .", "a dog bought strawberries .")
    found = trace.patterns(by="contributions")
    assert found.by == "contributions"
    for site in found.measured:
        norms = trace.contributions(site.layer)
        shares = norms / norms.sum(axis=-1, keepdims=True)
        made = Trace.from_maps(shares[None], trace.side().texts, kind=site.kind)
        again = Trace({name: trace.side() for name in made.sides}, made.sites).patterns().measured[0]
        for name, reading in site.awake.items():
            np.testing.assert_allclose(again.awake[name].share, reading.share, rtol=1e-4, atol=1e-5, err_msg=name)
        np.testing.assert_allclose(again.rest, site.rest, rtol=1e-4)


def test_a_report_has_both_and_where_heads_rest(bert):
    trace = bert.trace("the cat sat on the mat , it sat on the store .")
    records, arriving = head_report(trace), trace.patterns(by="contributions")
    for record in records:
        site = next(s for s in arriving.measured if s.layer == record["layer"])
        assert record["contributions"]["rest"]["share"] == pytest.approx(site.rest[record["head"]], abs=1e-4)
        assert record["rest"]["place"] in ("[CLS]", "[SEP]")


def test_maps_alone_have_no_contributions():
    trace = Trace.from_maps(resting(0.5)[None, None], WORDS, causal=True)
    with pytest.raises(UserError, match="not available"):
        trace.patterns(by="contributions")
    with pytest.raises(UserError, match="weights or contributions"):
        trace.patterns(by="worth")
    assert head_report(trace)[0]["contributions"] is None


@pytest.mark.models
@pytest.mark.parametrize("by", ["weights", "contributions"])
def test_known_heads_keep_their_names_and_random_ones_get_none(minilm, by):
    found = minilm.trace(*ARTICLE).patterns(by=by)
    assert "previous token" in {f.pattern for f in found.of(0, 2)}
    assert "next token" in {f.pattern for f in found.of(1, 8)}
    named = heads = 0
    for seed in range(3):
        torch.manual_seed(seed)
        model = regard.load((AutoModel.from_config(minilm.config).eval(), minilm.tokenizer))
        found = model.trace(*ARTICLE).patterns(by=by)
        named += len({(f.layer, f.head) for f in found if f.pattern in THRESHOLDS})
        heads += found.heads
    assert named <= 0.02 * heads


@pytest.mark.models
def test_a_small_decoder_does_more_than_rest(smollm):
    ids = torch.from_numpy(np.random.default_rng(0).integers(1000, 20000, 30))
    inputs = {"input_ids": torch.cat([ids, ids])[None], "attention_mask": torch.ones(1, 60).long()}
    found = smollm.trace_inputs(inputs)[0].patterns()
    assert "induction" in {f.pattern for f in found.of(18, 6)}
    named = {(f.layer, f.head) for f in found if f.pattern in THRESHOLDS}
    assert len(named) >= 60  # of 270
