"""Logs of chats: what was said to a model and what it answered, one JSON object per line.

Enters: a file as OpenAI-compatible servers and fine-tuning write it. Leaves: prompts or conversations with their
answers; lines that cannot be read are given with the reason.

A line has `messages`, or `prompt` and `completion`, or a request and its response: `request` and `response` (each
perhaps inside `body`), or the fields of both side by side, with `choices` for the answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from regard.base.errors import UserError
from regard.corpus.readers.lines import open_bytes
from regard.models.base import Text
from regard.models.conversation import conversation_of


@dataclass(frozen=True)
class LoggedAnswer:
    """An answer of a log: the line, which of its choices, what was said before, and the answer.

    `answer` is None where it is the last message of the conversation, or there is none.
    """

    line: int
    choice: int
    text: Text
    answer: str | None


@dataclass(frozen=True)
class UnreadLine:
    """A line of a log that cannot be replayed, and why."""

    line: int
    why: str


def read_log(place: str) -> Iterator[LoggedAnswer | UnreadLine]:
    """The answers of a log (also .gz, - for standard input), line by line; empty lines are passed over."""
    with open_bytes(place) as file:
        for line, raw in enumerate(file, 1):
            if not raw.strip():
                continue
            try:
                yield from _answers(line, json.loads(raw.decode("utf-8-sig")))
            except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
                yield UnreadLine(line, f"not JSON: {error}")
            except UserError as error:
                yield UnreadLine(line, str(error))


def _answers(line: int, record: Any) -> Iterator[LoggedAnswer]:
    if not isinstance(record, Mapping):
        raise UserError("not a JSON object")
    asked, told = _inside(record, "request"), _inside(record, "response")
    choices = told.get("choices")
    if isinstance(choices, list) and choices:
        prompt = asked.get("messages", asked.get("prompt"))
        yield from (_of_choice(line, number, prompt, choice) for number, choice in enumerate(choices))
    elif "messages" in asked:
        yield LoggedAnswer(line, 0, conversation_of(asked["messages"]), None)
    elif "prompt" in asked:
        yield LoggedAnswer(line, 0, _text(asked["prompt"], "prompt"), _text(asked.get("completion"), "completion"))
    else:
        raise UserError("has neither messages, nor prompt and completion, nor choices")


def _inside(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A request or response, which may be inside a body; the record itself where it has none."""
    part = record.get(name, record)
    part = part.get("body", part) if isinstance(part, Mapping) else part
    if not isinstance(part, Mapping):
        raise UserError(f"{name} is not a JSON object")
    return part


def _of_choice(line: int, number: int, prompt: Any, choice: Any) -> LoggedAnswer:
    if prompt is None:
        raise UserError("has choices, but neither messages nor a prompt that they answer")
    if not isinstance(choice, Mapping):
        raise UserError(f"choice {number} is not a JSON object")
    if isinstance(prompt, list):
        message = choice.get("message")
        if not isinstance(message, Mapping):
            raise UserError(f"choice {number} has no message")
        return LoggedAnswer(line, number, conversation_of([*prompt, {"role": "assistant", **message}]), None)
    return LoggedAnswer(
        line, number, _text(prompt, "prompt"), _text(choice.get("text"), f"the text of choice {number}")
    )


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise UserError(f"{name} must be a text with something in it")
    return value
