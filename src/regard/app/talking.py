"""Answers that are told while they are made: to the chat of the page, and to clients of the OpenAI interface.

Enters: a text or a conversation and how to answer it. Leaves: tokens as they come, and the whole at the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regard.app.fields import Fields
from regard.app.memory import check_run
from regard.app.problems import Problem, busy, large, of_failure, slow, superseded
from regard.app.settings import Limits
from regard.app.worker import Job, ModelWorker

if TYPE_CHECKING:
    from regard.models.base import Text
    from regard.models.model import Model
    from regard.models.sampling import Sampling
    from regard.trace.tokens import Side, Token


_SEED = 2**63 - 1
_STOPS = 4  # texts that end an answer
_STOP = 300  # characters of one


@dataclass(frozen=True)
class Talk:
    """What is to be answered, with at most `count` tokens (None: as many as are allowed), how, and until."""

    text: Text
    count: int | None
    sampling: Sampling
    stop: tuple[str, ...]
    looks: bool = False  # whether each token is told with what it looked at


Place = tuple[int, int, int]  # a turn (that of the answer is the last), and from which character of it to which


@dataclass(frozen=True)
class ToldToken:
    """A token, the text that is complete with it, and what it was chosen with.

    `shares` are where all the attention went, None if that was not seen. `looks` are the strongest at what was said,
    outside the resting places and the template: positions, texts, weights, and where that was said.
    """

    id: int
    text: str
    shares: Mapping[str, float] | None = None
    looks: tuple[tuple[int, str, float, Place | None], ...] = ()


@dataclass(frozen=True)
class WholeAnswer:
    """An answer at its end: what was held back of the text, all ids, why it ended, and the tokens of the prompt."""

    rest: str
    text: str
    ids: tuple[int, ...]
    reason: str
    prompt: int


def talk_of(fields: Fields, limits: Limits, text: Text, *, temperature: float, looks: bool = False) -> Talk:
    """How a text or a conversation is to be answered, in the words of the OpenAI interface."""
    from regard.models.sampling import Sampling

    count = fields.number("max_completion_tokens", 1, limits.answer)
    count = count or fields.number("max_tokens", 1, limits.answer)
    hot, top = fields.real("temperature", 0, 2), fields.real("top_p", 1e-6, 1)
    seed = fields.number("seed", -_SEED, _SEED)
    sampling = Sampling(temperature if hot is None else hot, seed, 1.0 if top is None else top)
    return Talk(text, count, sampling, fields.texts("stop", _STOPS, _STOP), looks)


class AnswerTurns:
    """One answer at a time, in the order in which they were asked for; at most `most` wait."""

    def __init__(self, most: int) -> None:
        self._most, self._asked = most, 0
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def turn(self, patience: float) -> AsyncIterator[None]:
        """Wait for one's turn; it lasts until the block ends."""
        if self._asked > self._most:
            raise busy(f"{self._asked} answers are being waited for, which is all that this server takes; try again")
        self._asked += 1
        try:
            try:
                await asyncio.wait_for(self._lock.acquire(), patience)
            except TimeoutError:
                raise slow() from None
            try:
                yield
            finally:
                self._lock.release()
        finally:
            self._asked -= 1


async def told(
    worker: ModelWorker, limits: Limits, turns: AnswerTurns, model: Model, talk: Talk
) -> AsyncIterator[ToldToken | WholeAnswer]:
    """The tokens of an answer as they come, and the whole at the end; closing this stops the model.

    The turn ends with the answer, however slowly it is read.
    """
    events: asyncio.Queue[ToldToken | WholeAnswer | Problem] = asyncio.Queue()
    speaking = asyncio.ensure_future(_speak(worker, limits, turns, model, talk, events))
    try:
        while True:
            event = await events.get()
            if isinstance(event, Problem):
                raise event
            yield event
            if isinstance(event, WholeAnswer):
                return
    finally:
        speaking.cancel()


async def _speak(
    worker: ModelWorker, limits: Limits, turns: AnswerTurns, model: Model, talk: Talk, events: asyncio.Queue[Any]
) -> None:
    """Wait for a turn, and pass on what the worker's thread tells."""
    loop = asyncio.get_running_loop()

    def tell(event: ToldToken) -> None:
        with suppress(RuntimeError):  # the server has stopped meanwhile
            loop.call_soon_threadsafe(events.put_nowait, event)

    try:
        async with turns.turn(limits.seconds):
            job = worker.submit(lambda own: answer(own, model, talk, limits, tell))
            try:
                whole = await asyncio.wait_for(asyncio.wrap_future(job.future), limits.seconds)
            except TimeoutError:
                raise slow() from None
            finally:
                worker.drop(job, superseded())
        events.put_nowait(whole)
    except Exception as error:
        events.put_nowait(of_failure(error))


def answer(job: Job, model: Model, talk: Talk, limits: Limits, tell: Callable[[Any], None]) -> WholeAnswer:
    """Answer in the worker's thread, telling each token."""
    from regard.models.glances import Glances
    from regard.models.outcome import piece

    engine = model._engine
    count, prompt = talk.count or 1, engine.prompt(talk.text, talk.count or 1)
    tokens = len(prompt.ids)
    if talk.count is None:
        room = limits.tokens if engine.limit is None else min(engine.limit, limits.tokens)
        count = max(1, min(limits.answer, room - tokens))
    if tokens + count > limits.tokens:
        raise large(
            f"prompt and answer would have {tokens + count:,} tokens; this server takes at most {limits.tokens:,}",
            "long_here",
            tokens=tokens + count,
            limit=limits.tokens,
        )
    check_run(model, tokens + count)
    texts = [token.text for token in prompt.side.tokens]
    places = _places(model, talk.text, prompt.side)
    template = [place is None for place in places] if any(places) else None
    glances = Glances(engine, prompt, template) if talk.looks else None
    answering, said = len(getattr(talk.text, "messages", ())), 0

    def each(token: int, text: str) -> None:
        nonlocal said
        shares, looks = (None if glances is None else glances.at(token)) or (None, ())
        seen = tuple((at, texts[at], weight, places[at]) for at, weight in looks)
        told = ToldToken(token, text, shares and shares._asdict(), seen)
        texts.append(piece(model.tokenizer, token))
        places.append((answering, said, said + len(text)) if text else None)
        said += len(text)
        tell(told)

    with job.watching(model.module):
        if glances is None:
            speech = engine.speak(prompt, count, talk.sampling, talk.stop, each)
        else:
            with glances.watching():
                speech = engine.speak(prompt, count, talk.sampling, talk.stop, each)
    reason = "stop" if speech.closed else "length"
    return WholeAnswer(speech.finish(), speech.text, tuple(speech.ids), reason, tokens)


def _places(model: Model, text: Text, side: Side) -> list[Place | None]:
    """Where each token of a prompt was said."""
    from regard.models.conversation import Conversation, contents_in, lay_out

    if not isinstance(text, Conversation):
        return [None] * len(side.tokens)
    contents = contents_in(lay_out(model.tokenizer, text), text.messages)
    return [_place(token, contents) for token in side.tokens]


def _place(token: Token, contents: Sequence[range]) -> Place | None:
    """The first message with characters of a token, and which of its own they are."""
    own = range(token.start or 0, token.end or 0)
    for turn, there in enumerate(contents):
        start, end = max(own.start, there.start), min(own.stop, there.stop)
        if start < end:
            return turn, start - there.start, end - there.start
    return None
