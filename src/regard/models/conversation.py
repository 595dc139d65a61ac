"""Conversations: messages with roles, laid out by the model's own chat template, with a turn for each message.

Enters: OpenAI-style messages and a tokenizer. Leaves: the text that the model reads, where each turn of it ends, and
the answer, if the last message is one. A tokenizer without a template gives plain text: "role: content", a line each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.base.errors import UserError, WrongTypeError

ROLES = ("system", "developer", "user", "assistant", "tool")
_ANSWERS = "assistant"


@dataclass(frozen=True)
class Conversation:
    """Checked messages of a chat, in order."""

    messages: tuple[dict[str, Any], ...]

    @property
    def is_answered(self) -> bool:
        """Whether the last message is the model's."""
        return bool(self.messages[-1]["role"] == _ANSWERS)


@dataclass(frozen=True)
class Turn:
    """A part of a text that somebody said: its name, and the character before which it ends."""

    name: str
    end: int


@dataclass(frozen=True)
class LaidOut:
    """What a model reads of a conversation.

    `prompt` has a turn for each message before the answer, `answer` is the text of the last message if it is one, with
    what closes it; `plain` says that there was no template.
    """

    prompt: str
    turns: tuple[Turn, ...]
    answer: str | None
    plain: bool


def conversation_of(messages: Any) -> Conversation:
    """Messages, checked: each has a role and a text."""
    if isinstance(messages, (str, Mapping)) or not isinstance(messages, Sequence):
        raise WrongTypeError('messages must be a list of {"role": ..., "content": ...}')
    if not messages:
        raise UserError("the conversation has no messages; pass at least one from the user")
    checked = tuple(_message(number, one) for number, one in enumerate(messages, 1))
    if len(checked) == 1 and checked[0]["role"] == _ANSWERS:
        raise UserError("the conversation has an answer only; pass the message that it answers before it")
    return Conversation(checked)


def lay_out(tokenizer: Any, conversation: Conversation) -> LaidOut:
    """The prompt of a conversation by the model's template, and the answer, if it has one."""
    messages = list(conversation.messages)
    plain = not getattr(tokenizer, "chat_template", None)
    if not conversation.is_answered:
        prompt, answer = _render(tokenizer, messages, opening=True), None
    else:
        prompt, answer = _split(tokenizer, messages)
        messages = messages[:-1]
    return LaidOut(prompt, _turns(tokenizer, messages, prompt), answer, plain)


def contents_in(laid: LaidOut, messages: Sequence[Mapping[str, Any]]) -> list[range]:
    """Which characters of a prompt are the text of each message; none where a template leaves it out."""
    found = []
    starts = [0, *(turn.end for turn in laid.turns)][-len(messages) - 1 : -1]  # the template may speak first
    for message, start in zip(messages, starts, strict=True):
        content = message["content"]
        bare = content.strip()
        place = laid.prompt.find(bare, start) if bare else -1
        begins = place - content.index(bare)
        found.append(range(begins, place + len(bare)) if place >= 0 else range(0))
    return found


def _message(number: int, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise WrongTypeError(f'message {number} must be a {{"role": ..., "content": ...}}')
    role = given.get("role")
    if role not in ROLES:
        raise UserError(f"message {number} has the role {role!r}; choose from {', '.join(ROLES)}")
    calls = given.get("tool_calls")
    more = {name: given[name] for name in ("name", "tool_calls", "tool_call_id") if given.get(name)}
    return {"role": role, "content": _content(number, given.get("content"), bool(calls)), **more}


def _content(number: int, content: Any, calls: bool) -> str:
    """The text of a message, which may come in parts; a message that only calls tools has none."""
    if content is None and calls:
        return ""
    if isinstance(content, list):
        strange = next((part for part in content if not isinstance(part, Mapping) or "text" not in part), None)
        if strange is not None:
            kind = strange.get("type") if isinstance(strange, Mapping) else type(strange).__name__
            raise UserError(f"message {number} has a part of type {kind!r}; only text can be traced")
        content = "".join(str(part["text"]) for part in content)
    if not isinstance(content, str):
        raise WrongTypeError(f"the content of message {number} must be a text, not {type(content).__name__}")
    return content


def _render(tokenizer: Any, messages: Sequence[Mapping[str, Any]], *, opening: bool) -> str:
    """The text of messages; `opening` adds what stands before an answer."""
    if not getattr(tokenizer, "chat_template", None):
        lines = [f"{one['role']}: {one['content']}" for one in messages]
        return "\n".join([*lines, f"{_ANSWERS}:"] if opening else lines)
    try:
        return str(tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=opening))
    except Exception as error:  # a template is code of the model's makers and may raise anything
        raise UserError(f"the model's chat template refuses this conversation: {error}") from error


def _split(tokenizer: Any, messages: list[dict[str, Any]]) -> tuple[str, str]:
    """Prompt and answer of messages that end with an answer; what closes it stays, white space after that does not."""
    whole, content = _render(tokenizer, messages, opening=False), messages[-1]["content"]
    prompt = _render(tokenizer, messages[:-1], opening=True)
    if not whole.startswith(prompt):  # a template that opens answers in another way than it writes them down
        place = whole.rfind(content)
        prompt = whole[: place if place >= 0 else _shared(whole, prompt)]
    answer = whole[len(prompt) :]
    end = answer.find(content) + len(content) if content in answer else 0
    return prompt, answer[:end] + answer[end:].rstrip()


def _turns(tokenizer: Any, messages: list[dict[str, Any]], prompt: str) -> tuple[Turn, ...]:
    """The turns of a prompt, by where the text of the messages up to each one ends.

    Where that text lacks the content (templates put the system's message into the user's), a turn ends with its
    content. What the template says before the first message by itself is the system's.
    """
    names = _names([one["role"] for one in messages])
    lead = _lead(tokenizer, messages[0], prompt)
    found = [Turn("system", lead)] if lead else []
    done = lead
    for number, (name, message) in enumerate(zip(names, messages, strict=True), 1):
        end, content = max(done, _end(tokenizer, messages[:number], prompt)), message["content"].strip()
        place = prompt.find(content, done)
        done = max(end, place + len(content)) if place >= 0 else end
        found.append(Turn(name, done))
    return (*found[:-1], Turn(found[-1].name, len(prompt)))


def _end(tokenizer: Any, messages: Sequence[Mapping[str, Any]], prompt: str) -> int:
    """Up to which character a prompt is the text of these messages alone."""
    try:
        return _shared(_render(tokenizer, messages, opening=False), prompt)
    except UserError:
        return 0


def _lead(tokenizer: Any, first: dict[str, Any], prompt: str) -> int:
    """Characters that the template writes before the first message of a user by itself, if they are words.

    It is what the first of two equal messages has before the text that both have.
    """
    if first["role"] != "user":
        return 0
    answer = {"role": _ANSWERS, "content": "a"}
    try:
        texts = [_render(tokenizer, some, opening=False) for some in ([first], [first, answer], [first, answer, first])]
    except UserError:
        return 0
    alone, answered, both = texts
    again = both[len(answered) :]
    if not (both.startswith(answered) and again and alone.endswith(again) and prompt.startswith(alone)):
        return 0
    lead = alone[: len(alone) - len(again)]
    for special in tokenizer.all_special_tokens:
        lead = lead.replace(special, "")
    return len(alone) - len(again) if lead.strip() else 0


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _names(roles: Sequence[str]) -> list[str]:
    """Roles with a number from the second time on."""
    return [
        role if roles[:n].count(role) == 0 else f"{role} {roles[:n].count(role) + 1}" for n, role in enumerate(roles)
    ]
