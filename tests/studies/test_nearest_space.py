"""The space in which queries and keys are near each other: distances, turns taken back, the joint map."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from regard.capture.rotary import turns_of
from regard.measures.joint import NEIGHBOURS, joined, plane, quality
from regard.measures.nearness import apart, distances_to, nearest_of, nearness_map, position_means
from tests.tiny import tiny_bert, tiny_llama


def test_turning_back_leaves_nothing_behind_and_needs_a_rotation(bytelevel, wordpiece):
    for model, rotary in ((tiny_llama(bytelevel), True), (tiny_bert(wordpiece), False)):
        with turns_of(model.module) as turns:
            assert turns.rotary == rotary
            hooks = sum(len(module._forward_pre_hooks) for module in model.module.modules())
            assert (hooks > 0) == rotary
        assert not any(module._forward_pre_hooks for module in model.module.modules())


@pytest.mark.parametrize("factor", [1.0, 1.2])
def test_turns_are_undone_also_where_cosines_and_sines_are_scaled(bytelevel, factor):
    """The score at distance 0 stays: with YaRN's factor on cosines and sines, its square is part of it."""
    module = tiny_llama(bytelevel).module
    attention = module.model.layers[0].self_attn
    rng = torch.Generator().manual_seed(0)
    q, k = torch.randn(1, 4, 6, 8, generator=rng), torch.randn(1, 2, 6, 8, generator=rng)
    cos, sin = (factor * part for part in module.model.rotary_emb(q, torch.arange(6)[None]))
    turned = apply_rotary_pos_emb(q, k, cos, sin)
    with turns_of(module) as turns:
        turns.note(attention, (), {"position_embeddings": (cos, sin)})
        found = turns.undone(SimpleNamespace(q=turned[0], k=turned[1], module=attention))
    assert found[2]
    torch.testing.assert_close(found[0], factor * q, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found[1], factor * k, atol=1e-5, rtol=1e-5)


def test_distances_are_how_much_scores_differ():
    rng = np.random.default_rng(0)
    q, k, scale = rng.normal(size=(30, 8)), rng.normal(size=(50, 8)) + 3, 0.35
    scores = scale * q @ k.T
    by_query = (scores - scores[4]).std(axis=1)
    np.testing.assert_allclose(distances_to(q[4], q, nearness_map(q, k, scale, "q")), by_query, atol=1e-5)
    by_key = np.sqrt(np.square(scores - scores[:, [7]]).mean(axis=0))
    np.testing.assert_allclose(distances_to(k[7], k, nearness_map(q, k, scale, "k")), by_key, atol=1e-5)
    moved = nearness_map(2 * q, (k + 5) / 2, scale, "q")  # what leaves softmax unchanged leaves distances
    np.testing.assert_allclose(distances_to(2 * q[4], 2 * q, moved), by_query, atol=1e-5)
    np.testing.assert_array_equal(nearest_of(np.array([3.0, 1.0, 2.0, 1.0]), 3), [1, 3, 2])


def test_positions_are_taken_out():
    rng = np.random.default_rng(1)
    place = np.tile(np.arange(5), 40)
    content, position = rng.normal(size=(200, 6)), 20 * rng.normal(size=(5, 6))
    vectors = content + position[place]
    left = apart(vectors, place, position_means(vectors, place))
    near = nearest_of(distances_to(left[3], left, np.eye(6, dtype=np.float32)), 40)
    assert len(set(place[near])) == 5
    raw = nearest_of(distances_to(vectors[3], vectors, np.eye(6, dtype=np.float32)), 40)
    assert set(place[raw]) == {3}
    np.testing.assert_allclose(position_means(content, place), np.tile(content.mean(0), (5, 1)), atol=0.1)


def test_softmax_is_unchanged_in_the_joint_space():
    rng = np.random.default_rng(2)
    q, k = 3 * rng.normal(size=(40, 16)) + 1, 0.5 * rng.normal(size=(60, 16)) - 2
    joint = joined(q, k)

    def softmax(scores):
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True)

    np.testing.assert_allclose(softmax(joint.q @ joint.k.T / 4), softmax(q @ k.T / 4), atol=1e-5)
    np.testing.assert_allclose(joint.q.mean(0), joint.k.mean(0), atol=1e-9)
    spread = [np.linalg.norm(one - one.mean(0), axis=1).mean() for one in (joint.q, joint.k)]
    assert spread[0] == pytest.approx(spread[1])
    np.testing.assert_allclose(joint.k, (k + joint.c) / joint.a)
    flat_q, flat_k, shown = plane(joint)
    both = np.concatenate([joint.q, joint.k])
    u, s, _ = np.linalg.svd(both - both.mean(0), full_matrices=False)
    np.testing.assert_allclose(np.abs(np.concatenate([flat_q, flat_k])), np.abs(u[:, :2] * s[:2]), atol=1e-8)
    assert shown == pytest.approx((s[:2] ** 2).sum() / (s**2).sum())


def test_the_quality_is_the_overlap_of_neighbours_and_strongest_keys():
    rng = np.random.default_rng(4)
    q, k = rng.normal(size=(70, 12)), rng.normal(size=(90, 12))
    flat_q, flat_k, _ = plane(joined(q, k))
    found = quality(q, k, flat_q, flat_k)
    shares = [
        len(
            set(np.argsort(np.linalg.norm(flat_k - place, axis=1))[:NEIGHBOURS])
            & set(np.argsort(-(k @ one))[:NEIGHBOURS])
        )
        / NEIGHBOURS
        for one, place in zip(q, flat_q, strict=True)
    ]
    assert found.overlap == pytest.approx(np.mean(shares)) and found.queries == 70
    assert found.chance == pytest.approx(NEIGHBOURS / 90)
    random = [quality(q, k, flat_q, rng.permutation(flat_k)).overlap for _ in range(30)]
    assert np.mean(random) == pytest.approx(found.chance, abs=0.03)
    flat = rng.normal(size=(50, 2))  # in the plane already, on a circle: nearest is strongest
    circle = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    assert quality(circle, circle, circle, circle).overlap == 1
