"""What to keep in mind beside a result: short sentences, only those that apply, each once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

_RESTING = {"delimiter", "punctuation", "first token (sink)"}
_NEIGHBOURS = {"previous token", "next token"}
_RELATED = {"related word", "related word in the other sentence"}


class NamedPattern(Protocol):
    """A head of some layer that was found to do something."""

    @property
    def pattern(self) -> str: ...
    @property
    def layer(self) -> int: ...


def warnings_for(
    findings: Iterable[NamedPattern], *, facts: Mapping[str, Any] | None = None, heads: int = 0, inputs: int = 1
) -> list[str]:
    """Sentences that apply to these findings.

    Parameters
    ----------
    findings
        What was found.
    facts
        The facts of the trace: truncation, segment ids and merged words are worth a sentence.
    heads, inputs
        How many heads were searched, over how many inputs.
    """
    shown = list(findings)
    names = {finding.pattern for finding in shown}
    facts = facts or {}
    rules = [
        (True, "Attention shows where a head looks, not why the model answers: a plausible map need not be faithful."),
        (
            bool(names & _RESTING),
            "Attention that rests on special tokens, punctuation or the first token may carry almost nothing: "
            "compare the weights with the contributions.",
        ),
        (
            bool(shown) and inputs == 1 and heads > 1,
            f"The best of {heads} heads on one input: check on other inputs before calling it a habit.",
        ),
        (
            any(finding.layer > 1 for finding in shown),
            "Above layer 1 a position holds a mixture of tokens, not the word it is drawn at.",
        ),
        (
            bool(names & _NEIGHBOURS),
            "A head that looks at neighbours also scores well on syntax: English puts related words side by side.",
        ),
        (
            bool(names & _RELATED),
            "Related words are those the model's own input embedding puts close: 1 % of random pairs, but far more in "
            "running text, where short words (the, of, in) are mostly related to each other.",
        ),
        (
            bool(facts.get("truncated")),
            f"The text was cut: {facts.get('truncated')} tokens were left out.",
        ),
        (
            facts.get("segment_ids") == "all 0" and "pair" in facts,
            "Both sentences had segment id 0, unlike in the model's training.",
        ),
        (facts.get("level") == "word", "Pieces were merged into words: figures differ from those of tokens."),
    ]
    return [sentence for applies, sentence in rules if applies]
