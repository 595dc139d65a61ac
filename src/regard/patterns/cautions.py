"""What to keep in mind beside a result: short sentences, only those that apply, each once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from regard.patterns.entries import CAUTIONS, RESTING_PLACES
from regard.trace.sentences import Message, caution

_WORTH = {"worth_unreliable", "worth_unchecked"}
_OF_PATTERNS = tuple(dict.fromkeys(CAUTIONS.values()))
_OF_ONE_INPUT = {"one_picture"}  # cautions that several inputs make needless


class NamedPattern(Protocol):
    """A head of some layer that was found to do something."""

    @property
    def pattern(self) -> str: ...
    @property
    def layer(self) -> int: ...


def warnings_for(
    findings: Iterable[NamedPattern], *, facts: Mapping[str, Any] | None = None, heads: int = 0, inputs: int = 1
) -> list[Message]:
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
    told = {CAUTIONS.get(name) for name in names}
    facts = facts or {}
    cut, worth = facts.get("truncated"), facts.get("worth") or {}
    rules = [
        (True, caution("faithful")),
        (bool(names & RESTING_PLACES), caution("resting")),
        (bool(shown) and inputs == 1 and heads > 1, caution("best_of", heads=heads)),
        (any(finding.layer > 1 for finding in shown), caution("mixture")),
        *((code in told and (inputs == 1 or code not in _OF_ONE_INPUT), caution(code)) for code in _OF_PATTERNS),
        (bool(cut), caution("truncated", tokens=str(cut))),
        (facts.get("segment_ids") == "all 0" and "pair" in facts, caution("segments")),
        (facts.get("chat") == "plain", caution("plain_chat")),
        (facts.get("level") == "word", caution("words")),
        *((True, one) for one in precision_of(facts)),
        *((True, caution(one["code"], **one["values"])) for one in worth.get("coded", ()) if one["code"] in _WORTH),
    ]
    return [sentence for applies, sentence in rules if applies]


def precision_of(facts: Mapping[str, Any]) -> list[Message]:
    """What to keep in mind where a trace is kept in fewer bits than the model computed."""
    return [caution("half", error=f"{facts['half']:.1g}")] if "half" in facts else []
