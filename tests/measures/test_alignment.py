"""Word times from maps: the path by brute force, and planted onsets."""

import numpy as np
import pytest

from regard.measures.alignment import median_filter, sharpen, warped_starts


def paths(tokens, frames):
    """Every path from the first cell to the last."""
    if (tokens, frames) == (1, 1):
        return [[(0, 0)]]
    found = []
    for back in ((1, 1), (1, 0), (0, 1)):
        if tokens - back[0] >= 1 and frames - back[1] >= 1:
            found += [[*path, (tokens - 1, frames - 1)] for path in paths(tokens - back[0], frames - back[1])]
    return found


@pytest.mark.parametrize(("tokens", "frames"), [(1, 1), (1, 5), (3, 3), (3, 6), (4, 5), (5, 3)])
def test_the_path_has_the_highest_sum_of_all(tokens, frames):
    scores = np.random.default_rng(tokens * 10 + frames).normal(size=(3, tokens, frames)).astype(np.float32)
    for found, one in zip(warped_starts(scores), scores, strict=True):
        best = max(paths(tokens, frames), key=lambda path: sum(float(one[cell]) for cell in path))
        assert found.tolist() == [min(j for i, j in best if i == token) for token in range(tokens)]


def test_planted_onsets_are_found():
    onsets = [0, 12, 20, 41, 55]
    maps = np.full((2, 5, 70), 0.001)
    for token, (start, end) in enumerate(zip(onsets, [*onsets[1:], 70], strict=True)):
        maps[:, token, start:end] = 0.1
    assert warped_starts(sharpen(maps)).tolist() == [onsets, onsets]


def test_single_peaks_are_smoothed_as_openai_does():
    import torch

    values = np.random.default_rng(0).normal(size=(2, 3, 20)).astype(np.float32)
    padded = torch.nn.functional.pad(torch.from_numpy(values), (3, 3), mode="reflect")
    np.testing.assert_array_equal(median_filter(values), padded.unfold(-1, 7, 1).sort()[0][..., 3].numpy())
    np.testing.assert_array_equal(median_filter(values[..., :3]), values[..., :3])


def test_what_all_tokens_share_is_taken_out():
    maps = np.random.default_rng(1).random((1, 6, 40))
    shared = np.zeros(40)
    shared[10] = 50
    found = sharpen(np.concatenate([maps, maps + shared]))
    assert abs(found[1, :, 10]).max() < 4  # not the strongest by far, as in the map itself
    even = np.full((1, 4, 9), 0.1)
    assert not sharpen(even).any()
