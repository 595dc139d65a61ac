"""Pictures of long maps: block by block what the whole map gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from regard.trace import blocks
from regard.trace.blocks import MOST, block_shares, block_size
from regard.trace.mask import Mask
from regard.trace.site import Site

HEADS, GROUPS, WIDTH = 4, 2, 8


def site_of(queries, keys, **more):
    draw = np.random.default_rng(0)
    q, k = (draw.standard_normal((n, t, WIDTH), dtype=np.float32) for n, t in ((HEADS, queries), (GROUPS, keys)))
    return Site("decoder", 0, "a", "b", tuple(range(HEADS)), scale=1.5, q=q, k=k, **more)


def by_hand(site, size):
    """Every block of the whole map: its sum, by tables of which row and which column belongs to which block."""
    maps = np.stack([site.attention(head) for head in range(site.heads)]).astype(np.float64)
    rows, columns = (np.arange(-(-length // size))[:, None] == np.arange(length) // size for length in maps.shape[1:])
    return rows.astype(float) @ maps @ columns.T.astype(float) / rows.sum(1)[:, None]


DRAWN = np.random.default_rng(1)
CASES = {
    "causal": site_of(301, 301, mask=Mask(None, 0)),
    "full": site_of(150, 301),
    "window": site_of(301, 301, mask=Mask(40, 0)),
    "both sides": site_of(301, 301, mask=Mask(40, 25)),
    "table": site_of(90, 90, mask=Mask(table=np.tril(DRAWN.random((90, 90)) > 0.2))),
    "bias by distance": site_of(120, 120, mask=Mask(None, 0), bias=DRAWN.random((HEADS, 239), dtype=np.float32)),
    "bias": site_of(120, 120, mask=Mask(None, 0), bias=DRAWN.random((1, 120, 120), dtype=np.float32)),
    "sink": site_of(200, 200, mask=Mask(None, 0), sink=np.array([1, 2, -np.inf, 0], np.float32)),
    "soft cap": site_of(200, 200, mask=Mask(None, 0), softcap=2.0),
}


@pytest.mark.parametrize("size", [1, 7, 64, 100])
@pytest.mark.parametrize("name", CASES)
def test_every_block_is_that_of_the_whole_map(name, size):
    site = CASES[name]
    np.testing.assert_allclose(block_shares(site, size), by_hand(site, size), atol=2e-6)


def test_maps_from_elsewhere_have_the_same_picture():
    site = CASES["causal"]
    maps = np.stack([site.attention(head) for head in range(HEADS)])
    np.testing.assert_allclose(
        block_shares(replace(site, q=None, k=None, maps=maps), 50), block_shares(site, 50), atol=1e-6
    )


@pytest.mark.parametrize("size", [1, 7, 64, 100])
@pytest.mark.parametrize("name", CASES)
def test_the_log_sum_exp_of_the_kernel_gives_the_same_picture(name, size):
    site = CASES[name]
    found = block_shares(replace(site, known_lse=site.lse), size)
    np.testing.assert_allclose(found, by_hand(site, size), atol=1e-5)


@pytest.mark.parametrize("name", ["causal", "window", "both sides", "full"])
def test_keys_are_summed_a_few_at_a_time(name, monkeypatch):
    monkeypatch.setattr(blocks, "_KEYS", 64)
    site = CASES[name]
    found = block_shares(replace(site, known_lse=site.lse), 10)
    np.testing.assert_allclose(found, by_hand(site, 10), atol=1e-5)


def test_half_of_a_causal_map_is_not_computed(monkeypatch):
    site = site_of(600, 600, mask=Mask(None, 0))
    site = replace(site, known_lse=site.lse)
    computed, real = [], np.matmul
    monkeypatch.setattr(np, "matmul", lambda a, b, out: computed.append(out.size) or real(a, b, out=out))
    block_shares(site, 20)
    assert sum(computed) < 0.55 * HEADS * 600 * 600


def test_vectors_of_16_bits_and_rows_that_see_nothing_have_pictures():
    site = CASES["causal"]
    halved = replace(site, q=site.q.astype(np.float16), k=site.k.astype(np.float16))
    known = replace(halved, known_lse=halved.lse)
    np.testing.assert_allclose(block_shares(known, 50), by_hand(halved, 50), atol=1e-5)
    unseen = replace(site_of(120, 60, mask=Mask(20, 0)), known_lse=site_of(120, 60, mask=Mask(20, 0)).lse)
    assert np.isneginf(unseen.known_lse).any()
    np.testing.assert_allclose(block_shares(unseen, 16), by_hand(unseen, 16), atol=1e-5)


def test_a_picture_has_few_blocks():
    for tokens in (3, 72, 73, 4096, 8192):
        assert -(-tokens // block_size(tokens, tokens)) <= MOST
