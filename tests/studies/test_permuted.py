"""Permuted queries: the control in which every ordinary token asks with the q of another one."""

import numpy as np
import pytest
import torch

import regard
from regard.corpus.batches import Item
from regard.corpus.readers.source import Example
from regard.studies.atlas.permuting import Permuting, permutation
from regard.studies.atlas.study import Atlas
from regard.studies.base import Batch

TEXTS = ("the cat sat on the mat , it sat on the store .", "a dog bought strawberries", "the store")


def batch_of(model, texts):
    return Batch(model, [Item(n, model._engine.encode(text, None), Example(n, text)) for n, text in enumerate(texts)])


def maps_of(model, batch, change):
    """Maps of each layer, as they are or with permuted queries, and the operations they come from."""
    found = []

    def take(layer):
        seen = change(layer)
        found.append((seen.attention().clone(), layer.named.operation))

    model._engine.stream(batch.inputs, batch.book, take)
    return found


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_rows_are_those_of_plain_torch_with_another_query(name, request):
    model = request.getfixturevalue(name)
    batch = batch_of(model, TEXTS)
    for maps, operation in maps_of(model, batch, Permuting(batch, 7)):
        for number, sides in enumerate(batch.book.sides):
            (side,) = sides.values()
            (keep,) = batch.book.keep.values()
            places = np.flatnonzero(keep[number])
            order = permutation(np.array([not token.special for token in side.tokens]), [7, number])
            for row, other in enumerate(order):
                q = operation.q[number, :, places[other]] * operation.scale  # (H, d)
                seen = places[: row + 1] if name == "gpt2" else places
                scores = torch.stack([(q * operation.k[number, :, place]).sum(-1) for place in seen], dim=-1)
                mine = maps[number, :, places[row], seen]
                torch.testing.assert_close(mine, scores.softmax(dim=-1), rtol=1e-5, atol=1e-6)


def test_no_ordinary_token_keeps_its_query_and_special_ones_do():
    ordinary = np.array([False, True, True, True, True, False])
    order = permutation(ordinary, [0, 3])
    assert sorted(order) == list(range(6))
    assert (order == np.arange(6)).tolist() == (~ordinary).tolist()
    assert permutation(ordinary, [0, 3]).tolist() == order.tolist()
    assert permutation(np.array([True]), [0, 0]).tolist() == [0]


def test_an_input_is_permuted_in_the_same_way_in_any_batch(bert):
    whole = batch_of(bert, TEXTS)
    alone = Batch(bert, whole.items[1:2])
    for (maps, _), (mine, _) in zip(
        maps_of(bert, whole, Permuting(whole, 0)), maps_of(bert, alone, Permuting(alone, 0)), strict=True
    ):
        n = mine.shape[-1]
        torch.testing.assert_close(maps[1:2, :, :n, :n], mine, rtol=1e-5, atol=1e-6)


def test_the_atlas_runs_it_as_a_control_and_says_so(bert, corpus):
    result = regard.study.atlas(bert, corpus, limit=8, control=True, control_seeds=1)
    assert "permuted queries" in result.findings[-1]
    assert any("permuted queries" in title for title in result.tables)


def test_a_run_with_permuted_queries_is_not_taken_for_one_without():
    assert Atlas().settings != Atlas().permuted().settings
    assert Atlas(**Atlas().permuted().arguments).settings == Atlas().permuted().settings


@pytest.mark.models
def test_permuted_queries_leave_what_rests_and_take_the_names(minilm, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text(
        "\n".join(f"Number {n} of the twelve old lamps hung in the long hall by the sea." for n in range(12))
    )
    result = regard.study.atlas(minilm, path, control=True, control_seeds=1)
    table = next(table for title, table in result.tables.items() if "permuted queries" in title)
    named = result.tables["Named heads"]
    assert {(0, 2), (1, 8)} <= set(zip(named["layer"], named["head"], strict=True))
    permuted = table[(table["weights"] == "permuted queries") & table["measure"].isin(["previous token", "next token"])]
    assert permuted.empty
