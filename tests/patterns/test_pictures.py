"""What heads do with the patches of a picture."""

import numpy as np
import pytest

from regard import Trace
from regard.measures.patches import by_chance
from regard.patterns.cautions import warnings_for
from regard.patterns.definitions import NO_PICTURE
from regard.trace.tiles import Tile, picture_side

SIZE = 8
CELLS = [(row, column) for row in range(SIZE) for column in range(SIZE)]
PLACES = [
    "patch to the left", "patch to the right", "patch above", "patch below", "same row", "same column",
    "centre of the picture", "border of the picture",
]  # fmt: skip
LOOKS = {
    "patch to the left": lambda r, c, r2, c2: (r2, c2) == (r, c - 1),
    "patch to the right": lambda r, c, r2, c2: (r2, c2) == (r, c + 1),
    "patch above": lambda r, c, r2, c2: (r2, c2) == (r - 1, c),
    "patch below": lambda r, c, r2, c2: (r2, c2) == (r + 1, c),
    "same row": lambda r, c, r2, c2: r == r2,
    "same column": lambda r, c, r2, c2: c == c2,
    "centre of the picture": lambda r, c, r2, c2: r2 in (3, 4) and c2 in (3, 4),
    "border of the picture": lambda r, c, r2, c2: r2 in (0, SIZE - 1) or c2 in (0, SIZE - 1),
    "itself": lambda r, c, r2, c2: (r2, c2) == (r, c),
    None: lambda r, c, r2, c2: True,
}


def side():
    place = np.array([[1 / 64, 0, 0], [0, 1 / 64, 0]])
    return picture_side([Tile(place, np.ones((64, 64), bool), (8, 8))], None, 1 + SIZE * SIZE, 0)


def looking(*names, own=0.7):
    """A trace with a head for each name: so much of its attention goes there, the rest is uniform."""
    maps = []
    for name in names:
        table = np.array([[0.0, *(LOOKS[name](*one, *other) for other in CELLS)] for one in CELLS])
        table = np.concatenate([np.ones((1, len(CELLS) + 1)), table])
        some = table.sum(1, keepdims=True)
        even = np.full_like(table, 1 / table.shape[1])
        maps.append(np.where(some > 0, own * table / np.maximum(some, 1) + (1 - own) * even, even))
    whole = Trace.from_maps(np.stack(maps)[None], ["x"] * (len(CELLS) + 1))
    (name,) = whole.sides
    return Trace({name: side()}, whole.sites, whole.facts)


@pytest.mark.parametrize("name", [name for name in LOOKS if name])
def test_a_head_is_named_for_where_it_looks_in_a_picture(name):
    found = looking(name).patterns()
    assert [finding.pattern for finding in found] == [name]


def test_shares_and_chance_are_those_of_the_grid():
    (found,) = looking("patch above").patterns()
    assert found.rows == SIZE * (SIZE - 1)  # the first row has nothing above it
    assert found.chance == pytest.approx(1 / 64, abs=1e-4)  # [CLS] is a resting place
    even = 0.3 / 65
    assert found.mass == pytest.approx((0.7 + even) / (1 - even), abs=1e-4)
    assert found.hits == found.rows


def test_even_attention_has_no_name():
    found = looking(None).patterns()
    assert not len(found) and not set(PLACES) & set(found.missing)
    lifts = [found.measured[0].awake[name].lift[0] for name in PLACES]
    np.testing.assert_allclose(lifts, 0, atol=1e-6)


def test_texts_have_no_patches_and_do_not_speak_of_them(bert):
    found = bert.trace("the cat sat").patterns()
    assert {found.missing[name].code for name in PLACES} == {NO_PICTURE}
    assert not set(PLACES) & set(found.worth_saying)


def test_one_picture_is_said_to_be_only_one():
    trace = looking("centre of the picture")
    told = [one.code for one in warnings_for(trace.patterns(), heads=1)]
    assert "one_picture" in told
    assert "one_picture" not in [one.code for one in warnings_for(looking("patch above").patterns(), heads=1)]


def stripes(received):
    """A trace with a head for each of some (heads, patches) tables: all rows look alike."""
    table = np.concatenate([np.zeros((len(received), 1)), received], axis=1)
    table = 0.8 * table / table.sum(1, keepdims=True) + 0.2 / table.shape[1]
    maps = np.repeat(table[:, None], len(CELLS) + 1, axis=1)
    whole = Trace.from_maps(maps[None], ["x"] * (len(CELLS) + 1))
    (name,) = whole.sides
    return Trace({name: side()}, whole.sites, whole.facts)


def test_heads_that_look_at_things_anywhere_are_rarely_named_for_a_place():
    """Blobs at random places: a quarter of them lie in the centre, and as many touch the border."""
    rng = np.random.default_rng(0)
    places = np.array(CELLS)
    apart = np.abs(places[None] - rng.integers(0, SIZE, (400, 1, 2)))
    wide = rng.choice([0.3, 0.8, 1.5], (400, 1, 1))  # patches
    received = np.exp(-((np.minimum(apart, SIZE - apart) / wide) ** 2).sum(-1) / 2)
    trace = stripes(received)
    found = trace.patterns()
    placed = [one for one in found if one.pattern in PLACES[-2:]]
    assert len(placed) <= 0.02 * 400
    inside = [found.measured[0].awake[name].lift > 0.5 for name in PLACES[-2:]]
    assert (inside[0] | inside[1]).mean() > 0.3  # their shares alone would name them


def test_chance_moves_what_patches_get_over_the_grid():
    spans = np.array([[c / 4, r / 3, (c + 1) / 4, (r + 1) / 3] for r in range(3) for c in range(4)])
    rng = np.random.default_rng(0)
    received, away = rng.random(12), rng.random(12)
    table = received.reshape(3, 4)
    far = [
        sum(table[(r - down) % 3, (c - across) % 4] * away[4 * r + c] for r in range(3) for c in range(4))
        for down in range(3)
        for across in range(4)
    ]
    assert by_chance(received, spans, away) == np.mean(np.array(far) <= far[0] + 1e-12)
    mixed = rng.permutation(12)  # whatever their order
    assert by_chance(received[mixed], spans[mixed], away[mixed]) == np.mean(np.array(far) <= far[0] + 1e-12)
    loose = by_chance(received[:11], spans[:11], away[:11])  # no grid: exchanged at random
    exact = np.mean([rng.permutation(received[:11]) @ away[:11] <= received[:11] @ away[:11] for _ in range(4000)])
    assert loose == pytest.approx(exact, abs=0.04)
