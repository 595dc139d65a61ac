"""Which words predict which: how much less likely a token is without each of the others.

Enters: an encoded text, its trace, and the model. Leaves: the trace with (n, n) gains in nats, or why it has none.

Masked language models, for ordinary tokens i and j, n + n (n - 1) / 2 inputs:

    gain_ij = log p(x_i | i hidden) - log p(x_i | i and j hidden)                                           j != i

where a hidden token is the mask token. Causal language models, for tokens i + 1 that are ordinary, n - 1 inputs:

    gain_ij = log p(x_{i+1} | x_0 ... x_i) - log p(x_{i+1} | x_0 ... x_i, key j cut)                         j < i

A key that is cut is 0 in the attention mask: no later token attends to it, in any layer; positions stay as they are.
This is all that j is worth to i, also by way of the tokens between them. It is not what one head or one layer takes
from j, and not what the text without j would be. The token i itself is never cut. Cutting the first token takes away
the place where heads rest: a shock to the model rather than a word that it misses. Its gains are there, and no pattern
counts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch

from regard.base.errors import UserError
from regard.capture.copies import repeated
from regard.capture.finite import require_finite_output
from regard.trace.places import Array, places_of
from regard.trace.trace import Trace
from regard.transformer.model import Bert

if TYPE_CHECKING:
    from regard.models.engine import Engine
    from regard.models.prepare import Encoded
    from regard.trace.tokens import Side

MASKED, NEXT = "masked token", "next token"
MOST = {MASKED: 128, NEXT: 512}  # tokens: 8,256 inputs of 128, or 511 of 512
_LOGITS = 1 << 24  # logits that are held at once
_TOKENS = 1024  # of a batch
_PATIENCE = 2.0  # seconds before progress is shown
T = TypeVar("T")


def predicted_token(engine: Engine) -> str:
    """What the output of a model predicts: "masked token", "next token", or nothing."""
    if "ForMaskedLM" in type(engine.module).__name__ and getattr(engine.tokenizer, "mask_token_id", None) is not None:
        return MASKED
    return NEXT if engine.can_generate else ""


def no_gains(engine: Engine) -> str:
    """The code of the reason why a model has no gains, if it has none."""
    if engine.is_encoder_decoder:
        return "two_sides"
    return "" if _asked(engine) else "no_head"


def with_gains(engine: Engine, row: Encoded, trace: Trace) -> Trace:
    """The trace of an encoded text with its gains, or with the code of the reason why it has none."""
    side, why = trace.side(), no_gains(engine)
    if not why and _asked(engine) == NEXT and not all(site.mask.causal for site in trace.sites):
        why = "no_head"  # it sees the next token
    found = replace(side, no_gains=why) if why else replace(side, gains=_gains(engine, row), no_gains="")
    return replace(trace, sides={**trace.sides, side.name: found})


def _asked(engine: Engine) -> str:
    return MASKED if isinstance(engine.module, Bert) else predicted_token(engine)


def _gains(engine: Engine, row: Encoded) -> Array:
    about = _asked(engine)
    _check_length(len(row.ids), about)
    inputs, _ = engine.collate([row])
    table = (_masked if about == MASKED else _cut)(engine, inputs, row.side)
    return np.asarray(table, np.float32)


def _check_length(tokens: int, about: str) -> None:
    """Refuse a text that would take too many runs of the model."""
    most = MOST[about]
    if tokens > most:
        runs = tokens * (tokens + 1) // 2 if about == MASKED else tokens - 1
        raise UserError(
            f"the text has {tokens} tokens, and which words predict which would take {runs:,} runs of the model; use "
            f"at most {most} tokens, or leave predictive words out"
        )


def _masked(engine: Engine, inputs: dict[str, Any], side: Side) -> Array:
    """(n, n) gains of a masked language model; NaN where nothing is asked."""
    ids = inputs["input_ids"][0]
    places = [int(i) for i in np.flatnonzero(places_of(side, {}).content)]
    hidden = [(i,) for i in places] + [(i, j) for i in places for j in places if i < j]
    alone = np.full(len(ids), np.nan)
    without = np.full((len(ids), len(ids)), np.nan)
    for sets in _batches(engine, hidden, len(ids)):
        rows = ids.repeat(len(sets), 1)
        for row, some in enumerate(sets):
            rows[row, list(some)] = engine.tokenizer.mask_token_id
        logits = _logits(engine, {**repeated(inputs, len(sets)), "input_ids": rows})
        for row, some in enumerate(sets):
            chances = torch.log_softmax(logits[row, list(some)].float(), dim=-1).cpu()
            require_finite_output(chances)
            found = [float(chance[ids[i]]) for i, chance in zip(some, chances, strict=True)]
            if len(some) == 1:
                alone[some[0]] = found[0]
            else:
                without[some], without[some[::-1]] = found
    return np.asarray(alone[:, None] - without)


def _cut(engine: Engine, inputs: dict[str, Any], side: Side) -> Array:
    """(n, n) gains of a causal language model; NaN where nothing is asked."""
    ids = inputs["input_ids"][0]
    count = len(ids)
    if engine.takes("position_ids"):  # some families would count them by the attention mask
        inputs = {**inputs, "position_ids": torch.arange(count)[None]}
    found = np.full((count, count), np.nan)  # (key that is cut, row)
    whole = np.full(count, np.nan)
    for keys in _batches(engine, [-1, *range(count - 2)], count):  # -1: none
        mask = torch.ones((len(keys), count), dtype=torch.long)
        for row, key in enumerate(keys):
            if key >= 0:
                mask[row, key] = 0
        logits = _logits(engine, {**repeated(inputs, len(keys)), "attention_mask": mask})[:, :-1].float()
        chosen = logits.gather(-1, ids[1:].to(logits.device).repeat(len(keys), 1)[..., None])[..., 0]
        for key, chances in zip(keys, (chosen - logits.logsumexp(-1)).cpu(), strict=True):
            require_finite_output(chances[key + 1 :])
            if key < 0:
                whole[:-1] = chances
            else:
                found[key, key + 1 : -1] = chances[key + 1 :]  # earlier rows do not see it anyway
    gains = whole[:, None] - found.T
    gains[:-1][~places_of(side, {}).content[1:]] = np.nan  # a special token is no word
    return np.asarray(gains)


def _batches(engine: Engine, runs: Sequence[T], tokens: int) -> Iterator[Sequence[T]]:
    """Runs of the model that go together, with progress if they take long."""
    from tqdm import tqdm

    vocabulary = max(len(engine.tokenizer), int(getattr(engine.config, "vocab_size", None) or 0))
    step = max(1, min(_TOKENS // tokens, _LOGITS // (tokens * vocabulary)))
    with tqdm(total=len(runs), desc="words that predict", delay=_PATIENCE, disable=None, leave=False) as bar:
        for start in range(0, len(runs), step):
            yield runs[start : start + step]
            bar.update(min(step, len(runs) - start))


def _logits(engine: Engine, inputs: dict[str, Any]) -> torch.Tensor:
    """(runs, n, vocabulary) of the model's language-model head."""
    found = engine.run(inputs)
    if isinstance(engine.module, Bert):  # its output is hidden states
        with torch.no_grad():
            found = engine.module.masked_words(found)
    logits: torch.Tensor = getattr(found, "logits", found)
    return logits
