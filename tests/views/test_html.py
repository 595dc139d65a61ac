"""The one-file page: what is in it, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from test_wire import vectors_trace

from regard import Trace
from regard.trace.blocks import block_shares
from regard.views import decode, header_of, save_html
from regard.views.arrays import read
from regard.views.html import DIGITS, _fitting, _least_size


@pytest.fixture
def maps_trace():
    return Trace.from_maps(np.full((3, 2, 4, 4), 0.25), ["a", "</script><script>alert(1)</script>", "c", "d"])


def payload_of(page: str) -> bytes:
    text = np.frombuffer("".join(re.findall(r'<script type="text/plain">([^<]*)<', page)).encode(), np.uint8)
    digits = np.searchsorted(np.frombuffer(DIGITS, np.uint8), text).reshape(-1, 5).astype(np.uint64)
    return (digits @ (np.uint64(85) ** np.arange(5, dtype=np.uint64))).astype("<u4").tobytes()


def test_the_page_holds_the_trace(tmp_path, maps_trace):
    page = save_html(maps_trace, tmp_path / "page.html").read_text("utf-8")
    back = decode(payload_of(page))
    assert back.layers() == (0, 1, 2)
    assert back.tokens[1].text == "</script><script>alert(1)</script>"


def test_tokens_and_titles_never_become_markup(tmp_path, maps_trace):
    page = save_html(maps_trace, tmp_path / "page.html", title="<b>&</b>").read_text("utf-8")
    assert "alert(1)" not in page
    assert "<title>&lt;b&gt;&amp;&lt;/b&gt;</title>" in page
    assert page.count("<script>") == 1
    assert page.count("<script") == 3  # one with the layer that is opened, one with the others


def test_the_policy_allows_only_the_bundle(tmp_path, maps_trace):
    page = save_html(maps_trace, tmp_path / "page.html").read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"(?:src|href)=\"https?:", page)


def test_chosen_layers_alone_travel(tmp_path, maps_trace):
    page = save_html(maps_trace, tmp_path / "page.html", layers=[2]).read_text("utf-8")
    assert decode(payload_of(page)).layers() == (2,)


def test_a_page_of_twelve_layers_and_128_tokens_with_norms_stays_below_five_megabytes(tmp_path):
    trace = vectors_trace(128, layers=12, heads=12, spread=1.4)
    norms = np.random.default_rng(0).lognormal(size=(12, 128)).astype(np.float32)
    whole = replace(trace, sites=tuple(replace(site, known_norms=norms.copy()) for site in trace.sites))
    path = save_html(whole, tmp_path / "page.html")
    assert path.stat().st_size <= 5_000_000


def test_a_page_too_large_says_its_size_and_how_to_choose_layers(tmp_path):
    trace = vectors_trace(64, layers=8)
    with pytest.raises(ValueError, match=r"would be 1 MB, more than the limit of 0 MB; choose layers, .*range\(0, "):
        save_html(trace, tmp_path / "page.html", limit=300_000)
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_page(tmp_path, maps_trace):
    path = tmp_path / "page.html"
    path.write_text("old")
    with pytest.raises(IndexError):
        save_html(maps_trace, path, layer=9)
    assert path.read_text() == "old"


def test_layers_of_a_page_are_spread_over_all_and_every_kind_has_one():
    trace = vectors_trace(64, layers=30)
    size = _least_size(trace)
    assert _fitting(trace, None, None, size) is None
    assert sorted(_fitting(trace, None, 0, size // 10)) == [("encoder", layer) for layer in (0, 8, 22)]
    assert sorted(_fitting(trace, None, 0, size * 29 // 30 + 1))[-1] == ("encoder", 29)
    more = tuple(replace(site, kind="decoder") for site in trace.sites)
    both = replace(trace, sites=(*trace.sites, *more))
    assert {kind for kind, _ in _fitting(both, None, None, size // 30)} == {"encoder", "decoder"}


def test_the_page_of_a_long_text_holds_some_layers_and_pictures_of_all(tmp_path):
    trace = vectors_trace(1100, layers=8, heads=2)
    whole = save_html(trace, tmp_path / "whole.html")
    part = save_html(trace, tmp_path / "part.html", layer=5, aim=whole.stat().st_size // 2)
    payload = payload_of(part.read_text("utf-8"))
    header, start = header_of(payload), 8 + int.from_bytes(payload[:8], "little")
    held = [site["layer"] for site in header["sites"] if "q" in site]
    assert held == [1, 3, 5, 6] and header["selection"]["layer"] == 5
    assert part.stat().st_size < 0.6 * whole.stat().st_size
    for site in header["sites"]:
        blocks = block_shares(trace.site(site["layer"]), site["block"])
        found = read(site["blocks"], memoryview(payload)[start:])
        seen = blocks > 1e-4
        np.testing.assert_allclose(found[seen], blocks[seen], rtol=2e-3)


def test_layers_that_are_named_are_all_in_the_page(tmp_path):
    trace = vectors_trace(1100, layers=4, heads=2)
    path = save_html(trace, tmp_path / "page.html", layers=[1, 3], aim=1)
    assert ["q" in site for site in header_of(payload_of(path.read_text("utf-8")))["sites"]] == [True, True]
