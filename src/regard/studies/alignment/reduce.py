"""One utterance through a speech model: when each word begins, by single cross heads and by sets of them.

Enters: a sound, its text, the onsets of its words. Leaves: for each way to tell, the error of every onset in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.errors import UserError
from regard.corpus.batches import Item
from regard.corpus.sums import Array
from regard.measures.alignment import sharpen, warped_starts
from regard.models.hearing import sound_inputs

if TYPE_CHECKING:
    from regard.capture import Layer
    from regard.models.model import Model

KEPT = 400_000_000  # bytes of maps that are kept between the two passes


@dataclass(eq=False)
class Heard:
    """What single heads and sets of them need of an utterance."""

    layers: int  # of cross attention
    maps: Array  # (heads of all layers, rows, frames) float16, sharpened; row r is where it is when it writes token r
    rows: Array  # (words,) the row that writes the first token of each word
    onsets: Array  # (words,) seconds
    line: Array  # (words,) seconds by the place of the word in the text
    step: float  # seconds per frame

    def errors(self, sets: list[list[int]]) -> Array:
        """(sets, words) seconds by which the onsets are missed, for mean maps of these heads."""
        mean = np.stack([self.maps[heads].astype(np.float32).mean(axis=0) for heads in sets])
        found = warped_starts(mean)[:, self.rows] * self.step
        return np.asarray(found - self.onsets)


def hear(model: Model, item: Item) -> Heard:
    """Run an utterance with its own text as what the decoder writes."""
    fields: Any = item.example.fields
    text = f" {item.example.text}"  # as Whisper writes it
    inputs, book, facts = sound_inputs(model._engine, fields["audio"], text)
    layers: list[Array] = []

    def take(layer: Layer) -> None:
        if layer.kind == "cross":
            layers.append(layer.attention()[0].cpu().numpy())

    model._engine.stream(inputs, book, take)
    if not layers or book.sound is None:
        raise UserError(
            f"{model.name} has no cross attention to a sound; name a speech model that writes, such as Whisper"
        )
    maps = np.concatenate(layers)  # (heads, decoder positions, frames)
    side = book.sound(maps.shape[-1])
    heard = side.segments[0].end
    tokens = book.sides[0]["decoder"].tokens
    first = next(place for place, token in enumerate(tokens) if not token.special)
    onsets = np.asarray(fields["onsets"], float)
    ends = [token.end or 0 for token in tokens]
    writes = np.array([next(p for p, end in enumerate(ends) if end > 1 + place) for place in onsets[:, 0]]) - first
    onsets, writes = onsets[writes > 0], writes[writes > 0]  # every path begins with the first word at the first frame
    spans = side.spans
    assert spans is not None
    seconds = facts["sound"]["seconds"]
    return Heard(
        len(layers),
        sharpen(maps[:, first - 1 :, :heard]).astype(np.float16),
        writes,
        onsets[:, 1],
        seconds * onsets[:, 0] / len(item.example.text),
        float(spans[0, 1]),
    )
