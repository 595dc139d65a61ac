"""Does the head word of a mention attend most to an antecedent's head word? Clark et al. (2019), section 4.3.

Enters: texts with coreference. Leaves: per head and document, how many mentions there are, and how many
attend most to a right word; what rules and chance give on the same mentions.

A mention is asked about if its window holds at least one right and one wrong candidate that it may look at.
Two sets of words can be chosen from: all words but the mention's own head word, and the candidates' head words alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.corpus.aligning import WordMaps, word_pieces
from regard.corpus.readers.coreference import Document, document_of
from regard.corpus.sums import Array
from regard.studies.base import Batch
from regard.studies.coref.questions import BASELINES, GROUPS, CorefQuestion, baselines_of, questions_of
from regard.studies.taking import LayerView, Taker

if TYPE_CHECKING:
    from regard.capture import Layer

SETS = ("all words", "mention heads")
# What happens to a mention; only the first kind is asked about.
FATES = ("asked", "no antecedent in the window", "no wrong candidate", "head word without a piece")
_ASKED, _ALONE, _SURE, _LOST = range(len(FATES))
NOWHERE = -1  # no word that may be chosen gets attention


@dataclass(eq=False)
class CorefBatch:
    """The questions of a batch, N at most in an input of W words at most.

    `questions` are the questions of each input; `rows` (B, N, T) averages over the pieces of the asking word, `summing`
    (B, T, W) sums over those of the attended ones; `allowed` (B, 2, N, W) are the words that may be chosen and
    `right` (B, N, W) those that are right; `counts` (B, N, G, 2) say what a question counts for, by half of the
    documents.
    """

    questions: list[list[CorefQuestion]]
    rows: torch.Tensor
    summing: torch.Tensor
    allowed: torch.Tensor
    right: torch.Tensor
    counts: torch.Tensor

    def choices(self, attention: torch.Tensor) -> torch.Tensor:
        """(B, H, 2, N) the word each question's word attends to most, in either set; `NOWHERE` without attention."""
        rows = torch.einsum("bnq,bhqk->bhnk", self.rows, attention)
        words = rows @ self.summing[:, None]  # (B, H, N, T) @ (B, 1, T, W) -> (B, H, N, W)
        value, place = words[:, :, None].masked_fill(~self.allowed[:, None], 0).max(dim=-1)
        return torch.where(value > 0, place, NOWHERE)

    def hits(self, choices: torch.Tensor) -> torch.Tensor:
        """(B, H, 2, N) whether these are right."""
        right = self.right[:, None, None].expand(*choices.shape, -1)
        return right.gather(-1, choices.clamp(min=0)[..., None])[..., 0] & (choices != NOWHERE)


class Finder(Taker["CorefBatch | None"]):
    """One batch."""

    def __init__(self, batch: Batch, rows: str) -> None:
        super().__init__(batch)
        self.rows = rows
        self.documents = [document_of(item.example) for item in batch.items]
        self.pieces = [
            word_pieces(item.encoded.side.tokens, document.spans)
            for item, document in zip(batch.items, self.documents, strict=True)
        ]
        self._noted: dict[bool, CorefBatch | None] = {}

    def make(self, view: LayerView) -> CorefBatch | None:
        """The batch's questions; None for a decoder's own words, for cross attention, and if nothing is asked.

        A causal model chooses among the words up to its own; layers that see fewer get the same questions.
        """
        if not view.same or view.query != self.batch.items[0].encoded.side.name:
            return None
        if view.causal not in self._noted:
            self._noted[view.causal] = self._ask(view)
        return self._noted[view.causal]

    def take(self, layer: Layer, attention: torch.Tensor, questions: CorefBatch | None) -> None:
        assert questions is not None  # layers without questions are skipped
        hits = questions.hits(questions.choices(attention)).to(questions.counts.dtype)
        self.add(layer, "correct", torch.einsum("bhsn,bngf->bhsgf", hits, questions.counts))

    def _ask(self, view: LayerView) -> CorefBatch | None:
        """The questions as arrays; records what does not depend on the heads."""
        lengths = [len(document.words) for document in self.documents]
        maps = WordMaps(self.pieces, lengths, view.visible.shape[-1], rows=self.rows, device=view.device)
        fates = np.zeros(len(FATES))
        seen = [_seen(present, view.causal) for present in maps.present]
        questions = [
            list(_open_questions(document, mine, fates)) for document, mine in zip(self.documents, seen, strict=True)
        ]
        averaging = maps.averaging.cpu().numpy()
        shape = len(questions), max(map(len, questions)), averaging.shape[1]
        rows = np.zeros((*shape[:2], averaging.shape[2]), np.float32)
        allowed, right = np.zeros((shape[0], len(SETS), *shape[1:]), bool), np.zeros(shape, bool)
        counts = np.zeros((*shape[:2], len(GROUPS), 2), np.float32)
        rules = np.zeros((*shape[:2], len(BASELINES)))
        for b, (item, document) in enumerate(zip(self.batch.items, self.documents, strict=True)):
            for n, question in enumerate(questions[b]):
                rows[b, n] = averaging[b, question.word]
                allowed[b, 0, n] = seen[b][question.word]
                allowed[b, 0, n, question.word] = False
                allowed[b, 1, n, list(question.words)] = True
                right[b, n, list(question.right)] = True
                counts[b, n, [GROUPS.index(group) for group in question.groups], item.number % 2] = 1
                rules[b, n] = baselines_of(document, question)
        chance = right.sum(axis=-1)[:, None] / np.maximum(allowed.sum(axis=-1), 1)  # (B, 2, N)
        kind = "decoder" if view.causal else "encoder"
        self.batch.total(f"{kind}/fates", fates)
        self.batch.add(f"{kind}/asked", counts.sum(axis=1))  # (B, G, 2)
        self.batch.add(f"{kind}/baselines", np.einsum("bnr,bngf->brgf", rules, counts))
        self.batch.add(f"{kind}/chance", np.einsum("bsn,bngf->bsgf", chance, counts))
        if not shape[1]:
            return None
        return CorefBatch(questions, view.tensor(rows), maps.summing, *map(view.tensor, (allowed, right, counts)))


def _seen(present: Array, causal: bool) -> Array:
    """(W, W) which words with a piece a word may look at."""
    seen = np.broadcast_to(present, (len(present), len(present))) & present[:, None]
    return np.tril(seen) if causal else seen


def _open_questions(document: Document, seen: Array, fates: Array) -> Iterator[CorefQuestion]:
    """The questions that have an answer and a choice; counts what happens to the others."""
    for question in questions_of(document):
        visible = question.among(np.flatnonzero(seen[question.word]).tolist())
        if not seen[question.word, question.word]:
            fates[_LOST] += 1
        elif not visible.right:
            fates[_ALONE] += 1
        elif visible.right == visible.words:
            fates[_SURE] += 1
        else:
            fates[_ASKED] += 1
            yield visible
