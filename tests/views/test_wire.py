"""The wire format: what leaves comes back, as exactly as docs/reference/wire.md says."""

from __future__ import annotations

import numpy as np
import pytest
from golden import PATH, golden, golden_trace

from regard import Trace
from regard.site import Site
from regard.tokens import Segment, Side, Token, plain_side
from regard.views import Attribution, decode, encode, header_of


def vectors_trace(tokens: int, layers: int = 2, heads: int = 4, d: int = 64, spread: float = 1.0) -> Trace:
    rng = np.random.default_rng(0)
    sites = tuple(
        Site(
            "encoder",
            layer,
            "encoder",
            "encoder",
            tuple(range(heads)),
            scale=d**-0.5,
            q=spread * rng.standard_normal((heads, tokens, d), dtype=np.float32),
            k=rng.standard_normal((heads, tokens, d), dtype=np.float32),
        )
        for layer in range(layers)
    )
    return Trace({"encoder": plain_side([f"t{i}" for i in range(tokens)])}, sites)


def test_short_inputs_cross_exactly():
    trace = vectors_trace(12)
    back = decode(encode(trace))
    np.testing.assert_array_equal(back.q(1, 3), trace.q(1, 3))
    np.testing.assert_allclose(back.attention(0, 2), trace.attention(0, 2), atol=1e-7)


@pytest.mark.parametrize(("spread", "dtype"), [(1.0, "i12"), (8.0, "i2")])
def test_packed_vectors_keep_three_digits_of_every_weight_worth_showing(spread, dtype):
    trace = vectors_trace(700, layers=6, spread=spread)
    data = encode(trace)
    assert header_of(data)["sites"][0]["q"]["dtype"] == dtype
    back, weights = decode(data).attention(2, 1), trace.attention(2, 1)
    seen = weights > 1e-4
    error = np.abs(back - weights)[seen] / weights[seen]
    assert np.sqrt((error**2).mean()) < 1.5e-3


def test_packed_maps_are_right_to_a_seventh_of_a_percent():
    maps = vectors_trace(300, layers=1, heads=8).attention(0)
    back = decode(encode(Trace.from_maps(maps[None], [str(i) for i in range(300)]))).attention(0)
    seen = maps > 2.0**-15
    assert (np.abs(back - maps)[seen] / maps[seen]).max() < 0.0014
    assert back[~seen].max() < 2.0**-14


def test_tokens_segments_masks_and_facts_cross():
    trace, _ = golden_trace()
    back = decode(encode(trace))
    assert [t.text for t in back.tokens] == [t.text for t in trace.tokens]
    assert back.tokens == trace.tokens
    assert back.segments == trace.segments
    assert back.facts == trace.facts
    assert [s.mask.rule for s in back.sites] == [s.mask.rule for s in trace.sites]
    assert back.site(0, kind="encoder").kv_heads == 2


def test_an_image_crosses():
    image = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    tokens = tuple(Token(f"{r},{c}", row=r, column=c) for r in range(2) for c in range(3))
    side = Side("encoder", tokens, (Segment("image", 0, 6),), image)
    maps = np.full((1, 6, 6), 1 / 6, np.float32)
    trace = Trace({"encoder": side}, (Site("encoder", 0, "encoder", "encoder", (0,), maps=maps),))
    back = decode(encode(trace)).side()
    np.testing.assert_array_equal(back.image, image)
    assert back.tokens == tokens


def test_without_vectors_the_smaller_thing_travels():
    short, long = vectors_trace(30), vectors_trace(200)
    assert "maps" in header_of(encode(short, vectors=False))["sites"][0]
    assert "q" in header_of(encode(long, vectors=False))["sites"][0]
    np.testing.assert_allclose(decode(encode(short, vectors=False)).attention(1, 1), short.attention(1, 1), atol=1e-6)


def test_long_rows_carry_their_log_sum_exp():
    trace = vectors_trace(1100, layers=1, heads=1)
    assert header_of(encode(trace))["sites"][0]["lse"]["shape"] == [1, 1100]


def test_tiles_agree_with_whole_rows_of_packed_vectors():
    back = decode(encode(vectors_trace(1100, layers=8, heads=2)))
    np.testing.assert_allclose(back.attention(3, 1, keys=slice(40, 60)), back.attention(3, 1)[:, 40:60], rtol=1e-5)


def test_arrays_are_aligned():
    data = encode(golden_trace()[0])
    assert int.from_bytes(data[:8], "little") % 8 == 0
    for site in header_of(data)["sites"]:
        for record in site.values():
            if isinstance(record, dict) and "offset" in record:
                assert record["offset"] % 8 == 0


def test_the_golden_file_is_what_this_code_writes():
    assert PATH.read_bytes() == golden(), "run python tests/views/golden.py, and say why in docs/reference/wire.md"


def test_the_golden_file_holds_its_own_attention():
    data = PATH.read_bytes()
    trace = decode(data)
    for site, reference in zip(trace.sites, header_of(data)["facts"]["reference"]["attention"], strict=True):
        for index in range(site.heads):
            np.testing.assert_allclose(site.attention(index), reference[index], atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:5], "damaged"),
        (lambda data: data[:40], "damaged"),
        (lambda data: data[:8] + b"x" * (len(data) - 8), "damaged"),
        (lambda data: data.replace(b'"format":"regard"', b'"format":"other!"'), "not one of regard's"),
        (lambda data: data.replace(b'"version":1', b'"version":9'), "wire version 9"),
    ],
)
def test_a_damaged_payload_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        decode(change(encode(vectors_trace(4))))


def test_what_is_opened_first_must_exist():
    trace = vectors_trace(4)
    with pytest.raises(ValueError, match="choose from heads, atlas, matrix, neurons"):
        encode(trace, view="tree")
    with pytest.raises(IndexError, match="holds layers 0, 1"):
        encode(trace, layer=7)
    with pytest.raises(IndexError, match="not 9"):
        encode(trace, heads=[9])


def test_attribution_must_fit_its_site():
    wrong = Attribution(("word",), np.zeros((1, 4, 3, 64)), np.zeros((1, 4, 4, 64)))
    with pytest.raises(ValueError, match="attribution of layer 0"):
        encode(vectors_trace(4), attribution={0: wrong})
