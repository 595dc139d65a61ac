"""The features of a probe: what a model does with every sentence, over words, in a file that is read back in parts.

Enters: a model and batches of a treebank. Leaves: `Collected`: per sentence the attention of all heads between its
words, and the hidden states of its words, in half precision.

A probe reads its features once per epoch. Running the model again each time would cost a forward pass per epoch and
probe; the file costs two bytes per number and is read at disk speed, and memory holds one batch. The file has no
name: it disappears with the process, however that ends.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.base.errors import UserError
from regard.capture.finite import require_finite_output
from regard.capture.tiers import undisturbed
from regard.corpus.aligning import NONE, WordMaps, have_pieces, word_pieces
from regard.corpus.batches import Item
from regard.corpus.readers.treebank import Sentence
from regard.corpus.readers.treebank import tree_of as sentence_of
from regard.corpus.sums import Array, Sums
from regard.studies.base import naming
from regard.studies.probe.trees import Tree, document_of, tree_of
from regard.trace.places import places_of

if TYPE_CHECKING:
    from regard.capture import Layer
    from regard.models.model import Model

SPECIAL = 2  # places after the words: the special token that opens the input ([CLS]), and all others ([SEP])
READ = "read"  # in the sums: words, words without a piece, sentences with fewer than two words with pieces
OTHER = 1 << 32  # numbers of the sentences of a test treebank begin here
_FEWEST_WORDS = 2


class Spill:
    """Half-precision arrays in an unnamed file, by key."""

    def __init__(self, folder: str | Path | None = None) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (open as long as the spill is)
        self._closing = weakref.finalize(self, self._file.close)
        self._places: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._end = 0
        self._map: Array | None = None

    def put(self, key: int, array: Array) -> None:
        """Keep an array."""
        half = np.ascontiguousarray(array, np.float16)
        try:
            self._file.write(half.data)
        except OSError as error:
            raise OSError(
                f"the features of the probes could not be written ({error}); set TMPDIR or --output to a disk with "
                "more room, or use --limit"
            ) from None
        self._places[key] = self._end, half.shape
        self._end += half.size
        self._map = None

    def get(self, key: int) -> Array:
        """An array mapped from the file; only the parts that are read are loaded."""
        if self._map is None:
            self._file.flush()
            self._map = np.memmap(self._file, np.float16, "r") if self._end else np.empty(0, np.float16)
        start, shape = self._places[key]
        return self._map[start : start + int(np.prod(shape))].reshape(shape)

    def __len__(self) -> int:
        return len(self._places)

    def close(self) -> None:
        """Close the file."""
        self._map = None
        self._closing()


@dataclass(eq=False)
class Features:
    """Per sentence: `attention` (n + 2, n + 2, heads of all layers) and `hidden` (1 + layers, n, d).

    Sentences are keyed by their number. After the n words come two places for the special tokens.
    """

    attention: Spill
    hidden: Spill | None
    heads: tuple[tuple[int, int], ...] = ()  # (layer, head) along the last axis of the attention

    def close(self) -> None:
        self.attention.close()
        if self.hidden is not None:
            self.hidden.close()


class Collected:
    """A model's features on the sentences of a treebank, and trees of the words that have pieces, by number.

    Parameters
    ----------
    hidden
        Also keep hidden states.
    folder
        Where to put the unnamed files; the system's temporary folder unless given.
    """

    def __init__(self, *, hidden: bool = True, folder: str | Path | None = None) -> None:
        self.features = Features(Spill(folder), Spill(folder) if hidden else None)
        self.trees: dict[int, Tree] = {}
        self.documents: dict[int, str] = {}

    def take(self, model: Model, items: Sequence[Item], sums: Sums) -> None:
        """Run one batch and keep its features; the sums count the words and sentences that were lost."""
        sentences = [sentence_of(item.example) for item in items]
        present, pieces = zip(*(_places(s, item) for s, item in zip(sentences, items, strict=True)), strict=True)
        features = self.features
        # a decoder is given the text, so that nothing is generated
        targets = [item.example.text for item in items] if model.is_encoder_decoder else None
        inputs, book = model._engine.collate([item.encoded for item in items], targets)
        taker = _Taker(
            WordMaps(pieces, [len(k) + SPECIAL for k in present], inputs["input_ids"].shape[1], device=None), model
        )
        if features.hidden is not None and _gives_hidden(model):
            inputs["output_hidden_states"] = True
        with naming(items):
            output = model._engine.stream(inputs, book, taker, output=True)
            states = None if features.hidden is None else _hidden(model, output, inputs, taker.words)
        maps = taker.stacked(model)  # (B, W, W, heads)
        features.heads = tuple(taker.heads)
        if features.hidden is not None and states is None:
            features.hidden.close()
            features.hidden = None
        for n, (sentence, words) in enumerate(zip(sentences, present, strict=True)):
            short = len(words) < _FEWEST_WORDS
            sums.add(READ, np.array([len(sentence.words), len(sentence.words) - len(words), short]))
            if short:
                continue
            end = len(words) + SPECIAL
            features.attention.put(sentence.number, maps[n, :end, :end])
            if states is not None and features.hidden is not None:
                features.hidden.put(sentence.number, states[:, n, : len(words)])
            self.trees[sentence.number] = tree_of(sentence.number, sentence, words, items[n].example.cluster)
            self.documents[sentence.number] = document_of(sentence)


def _places(sentence: Sentence, item: Item) -> tuple[tuple[int, ...], Array]:
    """The words that have pieces, and the place of every token: among those words, or after them if it is special."""
    pieces = word_pieces(item.encoded.side.tokens, sentence.spans)
    present = np.flatnonzero(have_pieces(pieces, len(sentence.words)))
    among = np.full(len(sentence.words) + 1, NONE, np.int64)  # the last for NONE
    among[present] = np.arange(len(present))
    places = among[pieces]
    delimiters = places_of(item.encoded.side, {})
    places[delimiters.first], places[delimiters.later] = len(present), len(present) + 1
    return tuple(int(n) for n in present), places


class _Taker:
    """Takes each layer of self-attention over the text, over words."""

    def __init__(self, words: WordMaps, model: Model) -> None:
        self.words = words
        self.kind = "encoder" if model.is_encoder_decoder else None
        self.heads: list[tuple[int, int]] = []
        self._maps: list[torch.Tensor] = []

    def __call__(self, layer: Layer) -> None:
        operation = layer.named.operation
        length = self.words.summing.shape[1]
        whole = not operation.part and (operation.queries, operation.keys) == (length, length)
        if layer.kind == "cross" or (self.kind is not None and layer.kind != self.kind) or not whole:
            return
        self.heads += [(layer.layer, head) for head in range(layer.heads)]
        self._maps.append(self.words(layer.attention().cpu()).permute(0, 2, 3, 1).half())  # (B, W, W, H)

    def stacked(self, model: Model) -> Array:
        if not self._maps:
            raise UserError(f"no layer of {model.name} attends over all its tokens, so there is nothing to probe")
        return torch.cat(self._maps, dim=-1).numpy()


def _gives_hidden(model: Model) -> bool:
    parameters = signature(model.module.forward).parameters
    return "output_hidden_states" in parameters or any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())


def _hidden(model: Model, output: Any, inputs: Mapping[str, Any], words: WordMaps) -> Array | None:
    """(1 + layers, B, W, d) hidden states of words, the mean over their pieces; None if the model returns none."""
    if output is None and "output_hidden_states" in inputs:  # attention was captured another way
        device = next(model.module.parameters()).device
        moved = {name: value.to(device) if isinstance(value, torch.Tensor) else value for name, value in inputs.items()}
        with undisturbed(model.module):
            output = model.module(**moved)
    states = getattr(output, "encoder_hidden_states" if model.is_encoder_decoder else "hidden_states", None)
    if not states or any(state.ndim != 3 for state in states):
        return None
    found = torch.stack([words.averaging @ state.float().cpu() for state in states], dim=1)  # (B, 1 + layers, W, d)
    for layer in range(found.shape[1]):
        require_finite_output(found[:, layer], f"the hidden state after layer {layer} of {len(states) - 1}")
    return found.transpose(0, 1).numpy()
