"""Scores of a classifier with heads off, one run of the model at a time."""

import numpy as np
import pandas as pd

LABELS = ("bad", "good", "odd")


def by_hand(model, rows, score, mode="zero"):
    """The score with every head off, one model run at a time."""
    found = {}
    means = model.head_means([text for text, *_ in rows]) if mode == "mean" else None
    for (kind, layer), heads in model.layout().items():
        for head in range(heads):
            with model.ablate([(kind, layer, head)], mode=mode, means=means):
                found[layer, head] = score(model, rows)
    return found


def read_rows(table):
    frame = pd.read_csv(table, sep="\t")
    return list(frame[["text", "pair", "label", "score"]].itertuples(index=False, name=None))


def accuracy(model, rows):
    right = [
        int(model._engine.run(model._engine.collate([model._engine.encode(text)])[0]).logits.argmax())
        == LABELS.index(label)
        for text, _, label, _ in rows
    ]
    return float(np.mean(right))
