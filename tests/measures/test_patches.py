"""Neighbours, rows, columns, centre and border of patches, against loops over a grid."""

import numpy as np
import pytest

from regard.measures.patches import border_places, centre_places, column_targets, neighbour_targets, row_targets

ROWS, COLUMNS = 7, 9
CELLS = [(row, column) for row in range(ROWS) for column in range(COLUMNS)]
SPECIAL = np.full((2, 4), np.nan, np.float32)


def spans(rows=ROWS, columns=COLUMNS, clip=0.0):
    """Two special tokens, then a grid; its first column may be cut by the picture's edge."""
    found = [(c / columns, r / rows, (c + 1) / columns, (r + 1) / rows) for r in range(rows) for c in range(columns)]
    return np.concatenate([SPECIAL, np.clip(np.array(found, np.float32), [clip, 0, clip, 0], 1)])


def looped(related):
    found = np.zeros((len(CELLS) + 2,) * 2, bool)
    for i, one in enumerate(CELLS):
        for j, other in enumerate(CELLS):
            found[i + 2, j + 2] = related(*one, *other)
    return found


@pytest.mark.parametrize("clip", [0.0, 0.09])  # of a first column of 0.11
@pytest.mark.parametrize(("across", "down"), [(-1, 0), (1, 0), (0, -1), (0, 1)])
def test_neighbours_are_one_row_or_column_away(across, down, clip):
    found = neighbour_targets(spans(clip=clip), spans(clip=clip), across, down)
    np.testing.assert_array_equal(found, looped(lambda r, c, r2, c2: (r2 - r, c2 - c) == (down, across)))


def test_rows_and_columns_are_without_the_patch_itself():
    same = looped(lambda r, c, r2, c2: r == r2 and c != c2)
    np.testing.assert_array_equal(row_targets(spans(), spans()), same)
    same = looped(lambda r, c, r2, c2: c == c2 and r != r2)
    np.testing.assert_array_equal(column_targets(spans(), spans()), same)


def test_a_small_copy_of_the_picture_is_no_neighbour_of_its_tiles():
    both = np.concatenate([spans(), spans(4, 3)])
    for found in (row_targets(both, both), column_targets(both, both), neighbour_targets(both, both, 1, 0)):
        assert found[: len(CELLS) + 2, : len(CELLS) + 2].any()
        assert not found[: len(CELLS) + 2, len(CELLS) + 2 :].any()


def test_centre_and_border_are_counted_from_what_is_seen():
    seen = spans()
    seen[2:] = seen[2:] * 0.5 + 0.25  # the middle of the picture alone
    centre = {CELLS[i - 2] for i in np.flatnonzero(centre_places(seen))}
    assert centre == {(r, c) for r in (2, 3, 4) for c in (3, 4, 5)} | {(r, c) for r in (2, 3, 4) for c in (2, 6)}
    border = {CELLS[i - 2] for i in np.flatnonzero(border_places(seen))}
    assert border == {(r, c) for r, c in CELLS if r in (0, ROWS - 1) or c in (0, COLUMNS - 1)}


def test_words_have_no_place():
    assert not centre_places(SPECIAL).any() and not border_places(SPECIAL).any()
    assert not row_targets(SPECIAL, SPECIAL).any()
