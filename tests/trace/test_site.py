"""The maths of one site: masks, tiles, log-sum-exps, grouped heads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.trace.mask import Mask
from regard.trace.site import Site

RNG = np.random.default_rng(0)


def make(queries=7, keys=7, heads=4, groups=2, mask=None, **extra):
    rng = np.random.default_rng(queries * 100 + keys)
    return Site(
        kind="encoder",
        layer=0,
        query_side="a",
        key_side="a",
        head_ids=tuple(range(heads)),
        scale=0.5,
        mask=mask or Mask(),
        q=rng.normal(size=(heads, queries, 8)).astype(np.float32),
        k=rng.normal(size=(groups, keys, 8)).astype(np.float32),
        **extra,
    )


def softmax(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_attention_is_the_softmax_of_scaled_dot_products():
    site = make()
    expected = softmax(0.5 * site.q[3] @ site.k[1].T)
    np.testing.assert_allclose(site.attention(3), expected, atol=1e-6)


def test_heads_share_keys_in_order_of_their_groups():
    assert [make(heads=6, groups=2).group(i) for i in range(6)] == [0, 0, 0, 1, 1, 1]


masks = st.one_of(
    st.just(Mask()),
    st.just(Mask(None, 0)),
    st.integers(0, 5).map(lambda w: Mask(w, 0)),
    st.integers(0, 5).map(lambda w: Mask(w, w)),
)


@given(masks, st.integers(1, 12))
def test_rows_sum_to_one_under_any_mask_and_hidden_keys_get_nothing(mask, length):
    site = make(length, length, mask=mask)
    attention = site.attention(1)
    np.testing.assert_allclose(attention.sum(-1), 1, atol=1e-5)
    allowed = mask.allowed(np.arange(length), np.arange(length), 0)
    if allowed is not None:
        assert (attention[~allowed] == 0).all()


@given(masks, st.integers(2, 12), st.data())
def test_a_tile_equals_that_part_of_the_map(mask, length, data):
    site = make(length, length, mask=mask, softcap=2.0)
    rows = sorted(data.draw(st.sets(st.integers(0, length - 1), min_size=1)))
    columns = sorted(data.draw(st.sets(st.integers(0, length - 1), min_size=1)))
    tile = site.attention(2, rows, columns)
    np.testing.assert_allclose(tile, site.attention(2)[np.ix_(rows, columns)], atol=1e-6)


@given(masks, st.integers(2, 12))
def test_a_mask_read_from_its_table_is_the_same_mask(mask, length):
    everything = np.arange(length)
    table = mask.allowed(everything, everything, 0)
    table = np.ones((length, length), bool) if table is None else table
    found = Mask.from_table(table)
    assert found.rule != "explicit"
    again = found.allowed(everything, everything, 0)
    np.testing.assert_array_equal(np.ones_like(table) if again is None else again, table)


def test_an_irregular_table_stays_explicit():
    table = np.ones((4, 4), bool)
    table[2, 1] = False
    assert Mask.from_table(table).rule == "explicit"


def test_a_sink_takes_its_share_and_rows_are_not_renormalised():
    site = make(sink=np.full(4, 3.0, np.float32))
    scores = np.concatenate([0.5 * site.q[0] @ site.k[0].T, np.full((7, 1), 3.0)], axis=1)
    np.testing.assert_allclose(site.attention(0), softmax(scores)[:, :-1], atol=1e-6)
    assert (site.attention(0).sum(-1) < 1).all()


def test_a_relative_bias_equals_the_full_one():
    from regard.capture.record import _relative

    line = RNG.normal(size=(4, 13)).astype(np.float32)
    index = np.arange(7)[None, :] - np.arange(7)[:, None] + 6
    full = line[:, index]
    assert _relative(full).shape == (4, 13)
    np.testing.assert_allclose(make(bias=_relative(full)).attention(2), make(bias=full).attention(2), atol=1e-7)


def test_a_bias_that_is_not_relative_is_kept_whole():
    from regard.capture.record import _relative

    bias = RNG.normal(size=(2, 3, 4)).astype(np.float32)
    assert _relative(bias) is bias


def test_known_log_sum_exps_make_tiles_without_the_row():
    site = make(64, 64)
    known = make(64, 64, known_lse=np.stack([site.row_lse(i) for i in range(4)]))
    np.testing.assert_allclose(known.attention(1, slice(3, 9), slice(50, 60)), site.attention(1)[3:9, 50:60], atol=1e-6)


def test_norms_are_lengths_of_projected_values():
    v, weight = RNG.normal(size=(2, 7, 5)), RNG.normal(size=(4, 5, 9))
    site = make(v=v.astype(np.float32), gram=(weight @ weight.transpose(0, 2, 1)).astype(np.float32))
    expected = np.linalg.norm(np.stack([v[i // 2] @ weight[i] for i in range(4)]), axis=-1)
    np.testing.assert_allclose(site.norms, expected, rtol=1e-4)


def test_selected_heads_keep_their_numbers_and_their_maps():
    site = make()
    part = site.select([3, 0])
    np.testing.assert_allclose(part.attention(part.index(3)), site.attention(3), atol=1e-7)
    with pytest.raises(IndexError, match="heads 3, 0 here, not 1"):
        part.index(1)


def test_a_position_out_of_range_is_named():
    with pytest.raises(IndexError, match="position 9 is out of range: there are 7"):
        make().attention(0, queries=9)
