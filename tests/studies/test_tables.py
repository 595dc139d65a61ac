"""Targets of a padded batch are made in one go: they are those of each input alone."""

import numpy as np
import pytest
import torch

from regard.corpus.batches import Item
from regard.corpus.readers.source import Example
from regard.studies.base import Batch
from regard.studies.tables import tables_of
from regard.studies.taking import LayerView

TEXTS = [
    ("the cat sat on the mat .", "a dog went to the store ."),
    ("the cat", None),
    ("a dog went to the store , the store , the store .", None),
    (".", None),
]


def tables(model, texts, causal):
    """The tables of some texts as one batch."""
    pairs = [(text, pair if not causal else None) for text, pair in texts]
    items = [
        Item(n, model._engine.encode(text, pair), Example(number=n, text=text, pair=pair))
        for n, (text, pair) in enumerate(pairs)
    ]
    batch = Batch(model, items)
    (side,) = batch.book.keep
    keep = batch.book.keep[side]
    visible = keep[:, :, None] & keep[:, None, :]
    visible = np.tril(visible) if causal else visible
    return tables_of(batch, LayerView(side, side, visible, causal, torch.device("cpu"))), keep


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_the_tables_of_a_batch_are_those_of_each_input(name, request):
    model = request.getfixturevalue(name)
    causal = name == "llama"
    whole, keep = tables(model, TEXTS, causal)
    size = keep.shape[1]
    assert len(set(keep.sum(axis=1))) > 1  # some are padded
    for number, text in enumerate(TEXTS):
        alone, _ = tables(model, [text], causal)
        count = int(keep[number].sum())
        among = np.searchsorted(whole.asked, alone.asked)
        np.testing.assert_array_equal(whole.asked[among], alone.asked)
        for table in ("targets", "whole", "awake"):
            found = getattr(whole, table)[number].reshape(size, size, -1).numpy()
            expected = getattr(alone, table)[0].reshape(count, count, -1).numpy()
            np.testing.assert_array_equal(found[:count, :count, among], expected, err_msg=table)
            others = np.delete(found, among, axis=-1)
            assert not others.any() and not found[count:].any() and not found[:, count:].any()
        np.testing.assert_array_equal(whole.rows[number], alone.rows[0])
        np.testing.assert_allclose(whole.chances[number], alone.chances[0], rtol=1e-6)
        for level, rows in alone.levels.items():
            np.testing.assert_array_equal(whole.levels[level].rows[number], rows.rows[0], err_msg=level)
            np.testing.assert_allclose(whole.levels[level].chance[number], rows.chance[0], rtol=1e-6, err_msg=level)
