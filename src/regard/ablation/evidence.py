"""Evidence: the sentences of a prompt that an answer came from, by attention, by contributions and by worth.

Enters: a causal language model, a prompt and an answer. Leaves: an `Evidence`: a score of every sentence by three
measures, and the heads that fetched it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.ablation.evidence_check import check_sentences, said_of
from regard.ablation.fetching import MEASURES, EvidenceScores
from regard.ablation.passages import Passage, passage_of, passages_of, sentences_in, shown_prompt
from regard.base.errors import UserError
from regard.corpus.sums import Array
from regard.models.answering import (
    GENERATED,
    ReadPrompt,
    answer_row,
    encode_answer,
    require_causal,
    written_prompt,
)
from regard.models.base import Target, Text
from regard.models.conversation import Conversation, lay_out
from regard.models.prepare import Encoded
from regard.trace.heads import Head, Heads, all_heads, names_of, parse_heads
from regard.trace.records import Tabular, columns_of
from regard.trace.sentences import Message
from regard.trace.tokens import Token

if TYPE_CHECKING:
    from regard.models.engine import Engine
    from regard.models.model import Model

FETCHING = 3  # heads that are named for a sentence


@dataclass(frozen=True)
class FetchingHead:
    """A head, its mean weight on a sentence over the rows of the answer, and the worth of these lines in nats."""

    name: str
    attention: float
    worth: float | None


@dataclass(frozen=True)
class EvidenceSentence:
    """A sentence of the prompt, at `start` to `end` of its characters, and its scores.

    `attention` and `contribution` are shares among the sentences, `worth` is in nats; None where it is not available.
    `chance` is the sentence's share of their tokens. `heads` fetched it: those of the largest worth.
    """

    text: str
    start: int
    end: int
    chance: float
    attention: float
    contribution: float | None
    worth: float | None
    heads: tuple[FetchingHead, ...]


@dataclass(frozen=True)
class EvidenceToken:
    """A token of the prompt, at `start` to `end` of its characters, and its scores, as those of sentences."""

    start: int
    end: int
    attention: float
    contribution: float | None
    worth: float | None


@dataclass(frozen=True, eq=False)
class Evidence(Tabular):
    """Which sentences of a prompt an answer came from.

    `logs` are the log probabilities of the answer's tokens, whose texts are `tokens`. `heads` names the heads that
    count, all unless told. `check` says how worth of sentences agrees with cutting them off the answer for real.
    """

    model: str
    prompt: str
    question: str | None
    answer: str
    tokens: tuple[str, ...]
    logs: tuple[float, ...]
    heads: tuple[str, ...] | None
    sentences: tuple[EvidenceSentence, ...]
    tint: tuple[EvidenceToken, ...]
    check: dict[str, Any] | None
    notes: tuple[Message, ...]

    def ranked(self, by: str = "worth") -> list[EvidenceSentence]:
        """The sentences, best evidence first, by one of the measures."""
        if by not in MEASURES:
            raise UserError(f"there is no measure {by!r}; choose from {', '.join(MEASURES)}")
        if any(getattr(one, by) is None for one in self.sentences):
            raise UserError(f"{by} cannot be computed for {self.model}; rank by attention")
        return sorted(self.sentences, key=lambda one: -getattr(one, by))

    @property
    def best_measure(self) -> str:
        """Worth where it is available, else attention."""
        return "attention" if self.sentences[0].worth is None else "worth"

    def as_record(self) -> dict[str, Any]:
        """What a script reads."""
        return {**asdict(self), "coded": [one.record for one in self.notes]}

    def save_html(self, path: str | Path) -> Path:
        """Write a page that shows the prompt tinted by its evidence; it needs no network."""
        from regard.studies.evidence_page import save_page

        return save_page(self, path)

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        rows = ({**vars(one), "heads": [head.name for head in one.heads]} for one in self.sentences)
        return columns_of(rows, EvidenceSentence.__dataclass_fields__)

    def __rich_console__(self, *_: Any) -> Iterator[Any]:
        from regard.printing.evidence import evidence_report

        yield from evidence_report(self)


def evidence(
    model: Model,
    prompt: str,
    answer: str | None = None,
    *,
    question: str | None = None,
    chat: bool = False,
    heads: Heads | None = None,
    generate: int = GENERATED,
    check: bool = True,
) -> Evidence:
    """The sentences of a prompt that an answer came from.

    Parameters
    ----------
    prompt
        The text whose sentences are asked about.
    answer
        What was answered; without it, what the model answers (greedily, at most `generate` tokens).
    question
        Put after the prompt, and not among the sentences that are asked about.
    chat
        Put prompt and question into the model's chat template, as what the user says.
    heads
        The heads that count, all unless given; as in `Model.ablate`.
    check
        Also cut sentences off the answer for real, and compare with their worth.
    """
    engine = model._engine
    require_causal(engine)
    text, begin = written_prompt(engine, prompt, question, chat)
    row = encode_answer(engine, text, answer, generate)
    return _row_evidence(engine, row, [Passage(prompt, begin, 0)], question, heads, check)


def answer_evidence(
    model: Model,
    text: Text,
    target: Target = None,
    *,
    generate: int = GENERATED,
    truncate: bool = False,
    check: bool = True,
) -> Evidence:
    """The same for a text or a conversation with its answer, as `Model.trace` reads them.

    The answer is `target`, or the end of the conversation, or else what the model says (`generate` tokens at most).
    """
    engine = model._engine
    require_causal(engine)
    answered = target is not None or (isinstance(text, Conversation) and text.is_answered)
    if answered:
        row, _ = engine.read(text, target=target, truncate=truncate)
    else:
        row = engine.continue_text(text, generate, truncate=truncate)
    if isinstance(text, Conversation):
        passages = passages_of(text, lay_out(engine.tokenizer, text).prompt)
    else:
        passages = [Passage(text, 0, 0)]
    return _row_evidence(engine, answer_row(engine, row), passages, None, None, check)


def _row_evidence(
    engine: Engine,
    row: Encoded,
    passages: Sequence[Passage],
    question: str | None,
    heads: Heads | None,
    check: bool,
) -> Evidence:
    """The evidence in some passages of what a model read before it answered."""
    chosen = None if heads is None else parse_heads(heads, engine.layout())
    read = ReadPrompt(engine, row)
    run = read.answer()
    prompt, spans = shown_prompt(passages), sentences_in(passages)
    if not spans:
        raise UserError("the prompt has no sentence; pass the text that the answer came from")
    tokens = row.side.tokens
    owner = np.array([sentence_of(token, spans, passages) for token in tokens[: run.keys]])
    owner[row.side.segments[0].end :] = -1
    scores = EvidenceScores(engine, run, tokens, owner, len(spans))
    counted = all_heads(engine.layout()) if chosen is None else chosen
    checked = check_sentences(read, run, counted, owner, scores.sentences(counted)["worth"]) if check else None
    own = slice(run.first + 1, None)
    return Evidence(
        engine.name,
        prompt,
        question,
        "".join(token.text for token in tokens[own]).strip(),
        tuple(token.text for token in tokens[own]),
        tuple(run.logs.tolist()),
        None if chosen is None else tuple(names_of(chosen, engine.layout())),
        _sentences(prompt, spans, owner, scores, counted, engine),
        _tint(tokens, owner, passages, scores, counted),
        checked,
        said_of(checked),
    )


def sentence_of(token: Token, spans: Sequence[tuple[int, int]], passages: Sequence[Passage]) -> int:
    """The sentence that a token is in, by its last character; -1 for none."""
    passage = passage_of(token, passages)
    if passage is None or token.end is None:
        return -1
    last = token.end - 1 + passage.shift
    return next((number for number, (start, end) in enumerate(spans) if start <= last < end), -1)


def _sentences(
    prompt: str,
    spans: Sequence[tuple[int, int]],
    owner: Array,
    scores: EvidenceScores,
    heads: Sequence[Head],
    engine: Engine,
) -> tuple[EvidenceSentence, ...]:
    sums = scores.sentences(heads)
    shares = {name: values if name == "worth" else _shares(values) for name, values in sums.items()}
    weights = scores.heads("attention", heads) / scores.rows  # (heads, S)
    worth = scores.heads("worth", heads) if "worth" in scores.measures else None
    order = weights if worth is None else worth
    kinds = len({kind for kind, _ in engine.layout()}) > 1
    found = []
    for number, (start, end) in enumerate(spans):
        best = np.argsort(-order[:, number], kind="stable")[:FETCHING]
        fetching = tuple(
            FetchingHead(
                str(heads[index]) if kinds else f"{heads[index].layer}.{heads[index].head}",
                float(weights[index, number]),
                None if worth is None else float(worth[index, number]),
            )
            for index in best
            if order[index, number] > 0
        )
        by = {name: None if values is None else float(values[number]) for name, values in shares.items()}
        chance = float(scores.counts[number] / max(1, scores.counts.sum()))
        found.append(EvidenceSentence(prompt[start:end], start, end, chance, **by, heads=fetching))  # type: ignore[arg-type]
    return tuple(found)


def _shares(values: Array | None) -> Array | None:
    if values is None:
        return None
    total = values.sum()
    return np.asarray(values / total if total > 0 else np.zeros_like(values))


def _tint(
    tokens: Sequence[Token],
    owner: Array,
    passages: Sequence[Passage],
    scores: EvidenceScores,
    heads: Sequence[Head],
) -> tuple[EvidenceToken, ...]:
    sums = scores.tokens(heads)
    inside = owner >= 0
    totals = {name: 1.0 if name == "worth" else float(values[inside].sum()) or 1.0 for name, values in sums.items()}
    found = []
    for place in np.flatnonzero(inside).tolist():
        token, passage = tokens[place], passage_of(tokens[place], passages)
        assert passage is not None  # it is in a sentence
        values = [float(sums[name][place] / totals[name]) if name in sums else None for name in MEASURES]
        start, end = (token.start or 0) + passage.shift, (token.end or 0) + passage.shift
        found.append(EvidenceToken(start, end, *values))  # type: ignore[arg-type]
    return tuple(found)
