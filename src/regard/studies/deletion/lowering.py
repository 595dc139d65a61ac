"""What a model makes of a text, as one number that removing tokens can lower.

Enters: a model and one encoded text. Leaves: the number for any set of removed tokens, which positions it is read from,
its gradient times the input, and the worth of all lines to each token.

A causal model: the probability of its own next word. A classifier: that of its own label; a regression: its score.
Others: the cosine of the mean of the last hidden states with that of the whole text. Removed tokens are hidden from
attention, as padding is, and the others keep their positions: some models (OPT) would count them in the mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.base.errors import UserError
from regard.capture.copies import repeated
from regard.capture.tiers import undisturbed
from regard.corpus.sums import Array
from regard.models.cutting import cuts_of, kept_logits
from regard.models.outcome import about_of, outcome_of, output_of
from regard.models.worth import gradient_trace
from regard.trace.site import Site

if TYPE_CHECKING:
    from regard.models.model import Model
    from regard.models.prepare import Encoded

ABOUT = {
    "next token": "probability of the model's own next word",
    "label": "probability of the model's own label",
    "score": "the model's own score",
    "vector": "cosine of the text's mean hidden state",
}
AT_ONCE = 4096  # tokens of all rows that run together
_POSITIONS = "position_ids"


class Lowering:
    """One text, and the number that removing its tokens can lower."""

    def __init__(self, model: Model, row: Encoded) -> None:
        engine = model._engine
        if engine.is_encoder_decoder:
            raise UserError("deletion needs a model that reads one text: an encoder, a classifier or a causal model")
        self.engine = engine
        inputs, self.book = engine.collate([row])
        self.row = row
        self.inputs = engine.ready(inputs)
        self.length = len(row.ids)
        self.causal = engine.can_generate
        kind, _ = about_of(engine)
        self.about = {"labels": "label"}.get(kind, kind if kind in ABOUT else "vector")
        self.positions: torch.Tensor | None = None
        whole = self._run(np.ones((1, self.length), bool))
        self.positions = self._counted(whole)
        self.outcome = None
        if self.about == "vector":
            self.reference = self._read(whole)[0]
        else:
            plain, place = output_of(engine, kind, whole)[0], self.length - 1 if self.causal else None
            self.outcome = outcome_of(engine, kind, row.side, place, plain)
            assert self.outcome is not None
            self.reference = torch.tensor(self.outcome.index)
        special = np.array([token.special for token in row.side.tokens])
        ends = np.isin(np.arange(self.length), (0, self.length - 1) if self.causal else ())
        self.removable = np.flatnonzero(~special & ~ends)  # without its first token a causal model is another one

    def rows(self, table: Array) -> Array:
        """(T,) of a (T, T) table: the row that the number is read from, or the mean over rows."""
        if self.about == "vector":
            return np.asarray(table.mean(axis=0))
        return np.asarray(table[-1 if self.about == "next token" else 0])

    def values(self, kept: Array) -> Array:
        """(n,) the number for n sets of kept tokens, (n, T) booleans."""
        step = max(1, AT_ONCE // self.length)
        found = [self._values(kept[start : start + step]) for start in range(0, len(kept), step)]
        return np.concatenate(found)

    def gradient_times_input(self) -> Array:
        """(T,) how the number changes along each token's embedding, to first order."""
        seen: list[torch.Tensor] = []

        def note(_module: torch.nn.Module, _args: Any, output: torch.Tensor) -> torch.Tensor:
            seen.append(output.detach().requires_grad_())
            return seen[-1].clone()

        module: Any = self.engine.module
        handle = module.get_input_embeddings().register_forward_hook(note)
        try:
            with undisturbed(module), torch.enable_grad():
                output = module(**self._given(np.ones((1, self.length), bool)))
                number = self._number(output)[0]
                (gradient,) = torch.autograd.grad(number, seen[0])
        finally:
            handle.remove()
        return np.asarray((gradient * seen[0]).sum(-1)[0].detach().float().cpu().numpy())

    def worth_of_lines(self) -> Array | None:
        """(T,) the worth of all lines to each token: the sum of A g.v over layers, heads and queries.

        To first order what the number loses if no head takes anything from that token in any layer, the others keeping
        their weights; None where lines of this model cannot be judged.
        """
        if not cuts_of(self.engine):
            return None
        given = self._given(np.ones((1, self.length), bool))
        trace = gradient_trace(self.engine, self.row, given, self.book, lambda output: self._number(output)[0])
        return np.asarray(sum(_column_sums(site) for site in trace.sites))

    def _values(self, kept: Array) -> Array:
        with undisturbed(self.engine.module):
            output = self.engine.module(**self._given(kept))
            if self.outcome is not None:
                return np.asarray(self._number(output).float().cpu().numpy())
            means = self._read(output, torch.from_numpy(kept).to(output.hidden_states[-1].device))
            return np.asarray(torch.cosine_similarity(means, self.reference[None]).float().cpu().numpy())

    def _number(self, output: Any) -> torch.Tensor:
        """(n,) what is differentiated: a cosine has no slope at its own reference, a product does."""
        if self.outcome is None:
            return self._read(output) @ self.reference
        found = self.outcome.of(getattr(output, "logits", output))
        return found.exp() if self.outcome.is_probability else found

    def _run(self, kept: Array) -> Any:
        with undisturbed(self.engine.module):
            return self.engine.module(**self._given(kept))

    def _given(self, kept: Array) -> dict[str, Any]:
        count = len(kept)
        mask = self.inputs["attention_mask"]
        positions = {} if self.positions is None else {_POSITIONS: self.positions.expand(count, -1)}
        return {
            **repeated(self.inputs, count),
            **positions,
            "attention_mask": torch.from_numpy(kept).to(mask.device, mask.dtype),
            "output_hidden_states": True,
            **(kept_logits(self.engine, "next token", self.length - 1) if self.causal else {}),
        }

    def _counted(self, whole: Any) -> torch.Tensor | None:
        """(1, T) positions to give, so that none is counted in the mask; None if the model counts in another way."""
        if _POSITIONS in self.inputs or not self.engine.takes(_POSITIONS):
            return None
        self.positions = torch.arange(self.length, device=self.inputs["attention_mask"].device)[None]
        given = self._run(np.ones((1, self.length), bool)).hidden_states[-1]
        return self.positions if torch.allclose(given, whole.hidden_states[-1], rtol=1e-4, atol=1e-5) else None

    def _read(self, output: Any, kept: torch.Tensor | None = None) -> torch.Tensor:
        """(n, d) mean of the last hidden states over the kept tokens."""
        states: torch.Tensor = output.hidden_states[-1].float()
        weights = torch.ones_like(states[..., :1]) if kept is None else kept[..., None].to(states.dtype)
        return (states * weights).sum(1) / weights.sum(1)


def _column_sums(site: Site) -> Array:
    """(K,) worth of the lines to each key, in all heads and rows of a site."""
    return np.asarray(sum(site.worth(head, how="zero").sum(axis=0, dtype=np.float64) for head in range(site.heads)))
