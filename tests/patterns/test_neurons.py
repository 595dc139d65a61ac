"""Which neurons make a pattern: found where they were planted, and adding up to the scores."""

import json
import sys
from math import isnan, pi

import numpy as np
import pytest

from regard.cli import main
from regard.patterns import neurons_of
from regard.trace.mask import Mask
from regard.trace.site import Site
from regard.trace.tokens import Segment, Side, Token
from regard.trace.trace import Trace

D = 8
WIDE = 32


def side(length: int) -> Side:
    words = [Token(f"w{i}", id=10 + i, word=i) for i in range(length - 2)]
    tokens = (Token("[CLS]", special=True), *words, Token("[SEP]", special=True))
    return Side("encoder", tokens, (Segment("A", 0, length),))


def trace_of(q, k, scale=1.0, **more) -> Trace:
    """One layer of one head."""
    vectors = {"q": q[None].astype(np.float32), "k": k[None].astype(np.float32)}
    site = Site("encoder", 0, "encoder", "encoder", (0,), scale=scale, **vectors, **more)
    return Trace({"encoder": side(len(q))}, (site,), {})


def noisy(rng, length, d=D):
    return 0.1 * rng.standard_normal((length, d)), 0.1 * rng.standard_normal((length, d))


def one_neuron(seed: int) -> Trace:
    """Neuron 3 alone sends every query to [SEP]."""
    q, k = noisy(np.random.default_rng(seed), 9 + seed % 3)
    q[:, 3], k[:, 3] = 3, 0
    k[-1, 3] = 3
    return trace_of(q, k)


def every_neuron(seed: int) -> Trace:
    """Positions as waves: all neurons together send each query to the token before it."""
    length = 9 + seed % 3
    rate = 0.4 + 2 * np.arange(WIDE // 2) / WIDE
    waves = np.arange(length)[:, None] * rate
    k = np.concatenate([np.cos(waves), np.sin(waves)], 1)
    q = np.concatenate([np.cos(waves - rate), np.sin(waves - rate)], 1)
    return trace_of(3 * q, 3 * k)


def test_a_planted_neuron_is_found_and_carries_nearly_everything():
    found = neurons_of([one_neuron(seed) for seed in range(8)], 0, 0, "[SEP]")
    number, share = found.shares[0]
    assert number == 3
    assert share.low > 0.95
    assert found.few.value > 0.95
    assert found.participation.value < 2
    assert found.makers.value < 1.5
    assert found.weight.value > 0.9


def test_what_the_head_does_most_is_asked_where_no_pattern_is_named():
    assert neurons_of([one_neuron(0)], 0, 0).pattern in ("[SEP]", "delimiter")
    assert neurons_of([every_neuron(0)], 0, 0).pattern == "previous token"


def test_a_pattern_of_many_neurons_is_spread_over_them():
    found = neurons_of([every_neuron(seed) for seed in range(8)], 0, 0, "previous token")
    assert found.weight.value > 0.9
    assert found.few.value < 0.3
    assert found.participation.value > 0.3 * WIDE
    assert found.makers.value > 0.5 * WIDE


def test_shares_add_up_to_the_whole_score_difference():
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((10, D)), rng.standard_normal((10, D))
    q, k[-1] = q + 1, k[-1] + 2
    trace = trace_of(q, k, scale=0.5)
    scores = trace.scores(0, 0)
    rows = range(1, 9)
    expected = np.mean([scores[i, -1] - scores[i].mean() for i in rows])
    found = trace.neurons(0, 0, "[SEP]")
    assert found.above.value == pytest.approx(expected, rel=1e-5)
    assert expected > 0
    assert sum(share.value for _, share in found.shares) == pytest.approx(1, rel=1e-5)


def test_participation_is_1_for_one_neuron_and_d_for_equal_ones():
    one, equal = np.zeros((8, D)), np.ones((8, D))
    one[:, 2] = 5
    assert trace_of(one, one).neurons(0, 0, "[SEP]").participation.value == pytest.approx(1)
    assert trace_of(equal, -equal).neurons(0, 0, "[SEP]").participation.value == pytest.approx(D)


def test_participation_of_random_vectors_is_what_the_report_says():
    rng = np.random.default_rng(1)
    traces = [trace_of(rng.standard_normal((40, 512)), rng.standard_normal((40, 512))) for _ in range(4)]
    found = neurons_of(traces, 0, 0, "[SEP]")
    assert found.participation.value == pytest.approx(4 / pi**2 * 512, rel=0.02)


def test_one_text_has_no_intervals_and_no_choice_on_other_texts():
    found = one_neuron(0).neurons(0, 0, "[SEP]")
    assert isnan(found.above.low)
    assert isnan(found.few.value)
    assert found.as_record()["few"] == [None, None, None]
    assert "n/a, pass 8 texts or more" in "\n".join(found.lines())


def test_a_head_that_avoids_the_keys_has_no_shares():
    q, k = np.ones((8, D)), np.zeros((8, D))
    k[-1] = -1
    found = trace_of(q, k).neurons(0, 0, "[SEP]")
    assert found.above.value < 0
    assert all(isnan(share.value) for _, share in found.shares)
    assert "does not favour these keys" in "\n".join(found.lines())


def test_keys_that_the_mask_hides_do_not_count():
    q, k = noisy(np.random.default_rng(3), 8)
    found = trace_of(q, k, mask=Mask(right=0)).neurons(0, 0, "previous token")
    assert found.chance == pytest.approx(np.mean([1 / (i + 1) for i in range(2, 7)]))


def test_texts_in_which_a_pattern_cannot_be_asked_are_counted():
    short = trace_of(np.ones((3, D)), np.ones((3, D)))  # one word has no earlier neighbour
    found = neurons_of([*(every_neuron(seed) for seed in range(4)), short], 0, 0, "previous token")
    assert (found.texts, found.skipped) == (4, 1)


def test_what_cannot_be_asked_is_said_in_a_sentence():
    with pytest.raises(ValueError, match="there is no pattern 'sep'; choose from 'previous token'"):
        one_neuron(0).neurons(0, 0, "sep")
    with pytest.raises(ValueError, match="the pattern 'induction' cannot be asked of these texts"):
        one_neuron(0).neurons(0, 0, "induction")
    maps = Trace.from_maps(np.full((1, 1, 3, 3), 1 / 3), ["a", "b", "c"])
    with pytest.raises(ValueError, match="q of layer 0 is not available"):
        maps.neurons(0, 0)


@pytest.mark.models
def test_the_command_answers_for_the_default_model(monkeypatch, capsys):
    texts = ["The cat sat on the mat.", "I went to the store.", "Nobody knew what he had seen.", "It rained all day."]

    def said(*arguments):
        monkeypatch.setattr(sys, "argv", ["regard", "neurons", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    code, answer, _ = said(*texts, "--layer", "0", "--head", "2", "--json")
    record = json.loads(answer)
    assert code == 0
    assert record["pattern"] == "previous token"
    assert record["texts"] == 4
    assert record["parts"]["position × position"][0] > 0.9 * record["above"][0]
    assert "previous token (4 texts)" in said(*texts, "--layer", "0", "--head", "2")[1]
    code, _, problem = said("--layer", "0", "--head", "2")
    assert code == 2
    assert "pass either texts in quotes, or a corpus with --data" in problem
    assert "layer 0 has heads 0 to 11 here, not 40" in said("a b c", "--layer", "0", "--head", "40")[2]
