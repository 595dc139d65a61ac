"""The wire format: what leaves comes back, as exactly as docs/reference/wire.md says.

Long on purpose: one format, written and read, with everything that may stand in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from golden import PATH, golden, golden_trace, reference_of

from regard import Trace
from regard.trace.medium import Medium
from regard.trace.pieces import side_of_texts
from regard.trace.site import Site
from regard.trace.tokens import Segment, Side, Token
from regard.views import decode, encode, header_of
from regard.views.arrays import read
from regard.views.packing import _to_bits, pack_site, unpack


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
    return Trace({"encoder": side_of_texts([f"t{i}" for i in range(tokens)])}, sites)


def test_short_inputs_cross_exactly():
    trace = vectors_trace(12)
    back = decode(encode(trace))
    np.testing.assert_array_equal(back.q(1, 3), trace.q(1, 3))
    np.testing.assert_allclose(back.attention(0, 2), trace.attention(0, 2), atol=1e-7)


@pytest.mark.parametrize(("spread", "least", "most"), [(1.0, 11, 12.5), (8.0, 14, 15.5)])
def test_packed_vectors_keep_three_digits_of_every_weight_worth_showing(spread, least, most):
    trace = vectors_trace(700, layers=6, spread=spread)
    data = encode(trace, report=False)
    numbers = 2 * 6 * 4 * 700 * 64
    assert least < 8 * len(data) / numbers < most
    back, weights = decode(data).attention(2, 1), trace.attention(2, 1)
    seen = weights > 1e-4
    error = np.abs(back - weights)[seen] / weights[seen]
    assert np.sqrt((error**2).mean()) < 1.5e-3


def test_packing_finds_its_width_for_every_dimension():
    trace = vectors_trace(300, layers=1, heads=2, d=8)
    site = trace.sites[0]
    site.k[..., 0] = 3.25  # constant: no bits at all
    site.k[..., 1] += 500  # far from zero: the offset costs nothing
    site.k[..., 2] *= 40
    _, k = pack_site(site)
    assert (k.width[:, 0] == 0).all()
    assert (k.values[..., 0] == 3.25).all()
    assert (k.width[:, 2] > k.width[:, 3]).all()
    np.testing.assert_allclose(k.values[..., 1], site.k[..., 1], atol=0.02)
    codes = np.frombuffer(k.bits, np.uint8)
    np.testing.assert_array_equal(unpack(codes, site.k.shape, k.low, k.step, k.width), k.values)


def test_packed_norms_are_right_to_a_fiftieth_of_a_percent():
    norms = np.random.default_rng(0).lognormal(size=(12, 128)).astype(np.float32)
    trace = vectors_trace(128, layers=4, heads=12)
    whole = Trace(trace.sides, tuple(replace(site, known_norms=norms) for site in trace.sites))
    back = decode(encode(whole, report=False)).sites[0].norms
    np.testing.assert_allclose(back, norms, rtol=0.0002)


def test_packed_maps_are_right_to_a_seventh_of_a_percent():
    maps = vectors_trace(300, layers=1, heads=8).attention(0)
    back = decode(encode(Trace.from_maps(maps[None], [str(i) for i in range(300)]))).attention(0)
    seen = maps > 2.0**-15
    assert (np.abs(back - maps)[seen] / maps[seen]).max() < 0.0014
    assert back[~seen].max() < 2.0**-14


def test_tokens_segments_masks_and_facts_cross():
    trace = golden_trace()
    back = decode(encode(trace))
    assert [t.text for t in back.tokens] == [t.text for t in trace.tokens]
    assert back.tokens == trace.tokens
    assert back.segments == trace.segments
    assert back.facts == trace.facts
    assert [s.mask.rule for s in back.sites] == [s.mask.rule for s in trace.sites]
    assert back.site(0, kind="encoder").kv_heads == 2


def test_an_image_crosses():
    medium = Medium("picture", "image/png", b"\x89PNG", (6, 4))
    spans = np.linspace(0, 1, 24, dtype=np.float32).reshape(6, 4)
    tokens = tuple(Token(f"{r},{c}", row=r, column=c) for r in range(2) for c in range(3))
    side = Side("encoder", tokens, (Segment("image", 0, 6),), medium=medium, spans=spans)
    maps = np.full((1, 6, 6), 1 / 6, np.float32)
    sites = tuple(Site("encoder", n, name, name, (0,), maps=maps) for n, name in enumerate(("encoder", "more")))
    trace = Trace({"encoder": side, "more": replace(side, name="more")}, sites)
    assert encode(trace).count(medium.data) == 1  # sides that share a picture share its bytes
    back = decode(encode(trace)).side()
    assert (back.medium.data, back.medium.size) == (medium.data, medium.size)
    np.testing.assert_array_equal(back.spans, spans)
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
    back = decode(encode(vectors_trace(1100, layers=8, heads=2), report=False))
    np.testing.assert_allclose(back.attention(3, 1, keys=slice(40, 60)), back.attention(3, 1)[:, 40:60], rtol=1e-5)


def test_arrays_are_aligned():
    data = encode(golden_trace())
    assert int.from_bytes(data[:8], "little") % 8 == 0
    for site in header_of(data)["sites"]:
        for record in site.values():
            if isinstance(record, dict) and "offset" in record:
                assert record["offset"] % 8 == 0


def test_only_the_layers_asked_for_carry_their_attention():
    trace = vectors_trace(12)
    data = encode(trace, report=False, weights={("encoder", 1)})
    first, second = header_of(data)["sites"]
    assert "q" not in first and first["norms"] is None and first["heads"] == second["heads"]
    np.testing.assert_array_equal(decode(encode(trace.select(layers=[1]), report=False)).q(1, 0), trace.q(1, 0))
    assert len(data) < 0.6 * len(encode(trace, report=False))


def test_long_inputs_cross_exactly_where_that_is_asked_for():
    trace = vectors_trace(1100, layers=1)
    back = decode(encode(trace, report=False, packed=False))
    np.testing.assert_array_equal(back.q(0, 3), trace.q(0, 3))
    np.testing.assert_allclose(back.attention(0, 2, queries=[7]), trace.attention(0, 2, queries=[7]), atol=1e-7)


# Where two processors differ in the last digit of a number, the code of its logarithm may round either way.
NEIGHBOURS = {"l12": 2 ** (1 / 256) - 1, "l16": 2 ** (1 / 2048) - 1}


def test_the_golden_file_is_what_this_code_writes():
    (header, arrays, _), (now, arrays_now, _) = parts(PATH.read_bytes()), parts(golden())
    assert header == now, "run python tests/views/golden.py, and say why in docs/reference/wire.md"
    for (dtype, one), (_, other) in zip(arrays, arrays_now, strict=True):
        if dtype in NEIGHBOURS:
            np.testing.assert_allclose(one, other, rtol=NEIGHBOURS[dtype] + 1e-6, atol=0)
        else:
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-6 * np.abs(np.nan_to_num(other)).max())


def test_the_golden_file_says_what_is_computed_from_it():
    data = PATH.read_bytes()
    _, _, stored = parts(data)
    found = leaves_of(reference_of(golden_trace(), decode(data)))
    last = np.finfo(np.float32).eps  # both are rounded to six digits, and some of them are float32
    np.testing.assert_allclose(list(found), stored, rtol=last, atol=1e-6)


def parts(data: bytes) -> tuple[dict[str, Any], list[tuple[str, np.ndarray]], list[float]]:
    """The header without the reference numbers, the arrays it describes with their types, and these numbers."""
    header = header_of(data)
    buffer = memoryview(data)[8 + int.from_bytes(data[:8], "little") :]
    arrays = [(one["dtype"], read(one, buffer)) for one in dicts_in(header) if "offset" in one]
    return header, arrays, list(leaves_of(header["facts"].pop("reference")))


def dicts_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from dicts_in(one)


def leaves_of(value: Any) -> Iterator[float]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    if inner is None:
        yield np.nan if value is None else value
    for one in inner or ():
        yield from leaves_of(one)


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
        (lambda data: data.replace(b'"format":"regard"', b'"format":"other!"'), "not regard's"),
        (lambda data: data.replace(b'"version":1', b'"version":9'), "wire version 9"),
    ],
)
def test_a_damaged_payload_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        decode(change(encode(vectors_trace(4))))


def test_what_is_opened_first_must_exist():
    trace = vectors_trace(4)
    with pytest.raises(ValueError, match="choose from atlas, heads, matrix, neurons"):
        encode(trace, view="tree")
    with pytest.raises(IndexError, match="holds layers 0, 1"):
        encode(trace, layer=7)
    with pytest.raises(IndexError, match="not 9"):
        encode(trace, heads=[9])


def test_parts_of_vectors_cross():
    trace = golden_trace()
    back = decode(encode(trace)).sites[3]
    assert back.parts == ("word", "position", "constant")
    np.testing.assert_allclose(back.qparts, trace.sites[3].qparts, atol=1e-6)
    np.testing.assert_allclose(back.kparts, trace.sites[3].kparts, atol=1e-6)


def previous_token_trace(tokens: int = 12) -> Trace:
    """Layer 1 head 1 looks at the previous token, all others everywhere."""
    maps = np.full((2, 2, tokens, tokens), 1 / tokens, np.float32)
    maps[1, 1] = np.eye(tokens, k=-1, dtype=np.float32)
    maps[1, 1, 0, 0] = 1
    return Trace.from_maps(maps, [f"t{i}" for i in range(tokens)])


def test_the_header_says_what_each_head_does():
    header = header_of(encode(previous_token_trace()))
    site = header["sites"][1]
    assert site["patterns"][0] == []
    (found,) = site["patterns"][1]
    assert found["name"] == "previous token"
    assert found["sentence"].startswith("attends to the previous token in ")
    assert "previous token" in site["measures"]
    assert site["missing"]["same word"]
    assert site["types"]["shape"] == [2, len(header["types"])]
    assert any("not why" in sentence for sentence in header["cautions"])


def test_without_a_report_nothing_is_measured():
    header = header_of(encode(previous_token_trace(), report=False))
    assert "patterns" not in header["sites"][0]
    assert header["sites"][0]["measures"] == {}
    assert header["cautions"] == []


def test_large_traces_are_measured_on_request_only(monkeypatch):
    monkeypatch.setattr("regard.views.report.MODERATE", 100)
    trace = previous_token_trace()
    assert "patterns" not in header_of(encode(trace))["sites"][0]
    assert "patterns" in header_of(encode(trace, report=True))["sites"][0]


def test_findings_made_elsewhere_travel_as_they_are():
    found = [{"name": "subject of", "score": 0.8, "sentence": "finds subjects in 400 texts"}]
    record = {
        "kind": "encoder",
        "layer": 0,
        "head": 1,
        "patterns": found,
        "probabilities": None,
        "measures": {"f1": 0.7},
    }
    header = header_of(encode(previous_token_trace(), report=[record]))
    assert header["sites"][0]["patterns"] == [[], found]
    assert header["selection"] | {"view": ""} == {"view": "", "kind": "encoder", "layer": 0, "part": 0, "heads": [1]}
    assert "f1" in header["sites"][0]["measures"]


def test_a_page_opens_on_the_head_with_the_clearest_pattern():
    trace = previous_token_trace()
    chosen = header_of(encode(trace))["selection"]
    assert (chosen["layer"], chosen["heads"]) == (1, [1])
    explicit = header_of(encode(trace, layer=0))["selection"]
    assert (explicit["layer"], explicit["heads"]) == (0, [0, 1])


@pytest.mark.parametrize("tokens", [1, 7, 8, 9, 100])
def test_codes_of_every_width_lie_bit_by_bit(tokens):
    rng = np.random.default_rng(0)
    width = np.arange(25, dtype=np.uint8)[None]  # 0 to 24 bits
    codes = rng.integers(0, 1 << width.astype(np.int64)[..., None], (1, 25, tokens)).astype(np.uint32)
    expected = b""
    for bits, run in zip(width[0], codes[0], strict=True):
        ones = [int(code) >> place & 1 for code in run for place in range(bits)]
        expected += np.packbits(np.array(ones, np.uint8), bitorder="little").tobytes()
    assert _to_bits(codes, width) == expected


def test_packed_rows_with_the_log_sum_exp_of_the_kernel_sum_to_one_within_the_error_of_scores():
    plain = vectors_trace(1100, layers=3, heads=2)
    trace = replace(plain, sites=tuple(replace(site, known_lse=site.lse) for site in plain.sites))
    back = decode(encode(trace, report=False, packed=True))
    np.testing.assert_array_equal(back.sites[1].known_lse, trace.sites[1].lse)
    rows = back.attention(1, 1, queries=slice(0, 50), keys=slice(0, 1100))
    np.testing.assert_allclose(rows.sum(1), 1, atol=1e-3)
