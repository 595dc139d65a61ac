"""`regard chat`: talk to a model in the terminal, and see what it looked at.

Enters: what is typed. Leaves: answers, token by token; pages of the conversation where they are asked for.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.base.errors import UserError
from regard.commands.shared import Loading, err, expand_options, out, size_of, working

if TYPE_CHECKING:
    from regard.models.model import Model
    from regard.models.sampling import Sampling

_MARK = "While you talk:"


@dataclass
class _Chat:
    """A conversation in progress: its messages, and the ids of the last answer."""

    model: Model
    count: int
    sampling: Sampling
    messages: list[dict[str, Any]] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    chat: str = ""  # "plain" where the model has no template

    def say(self, text: str) -> None:
        """Add a message of the user and print the answer to it."""
        self.messages.append({"role": "user", "content": text})
        self.answer()

    def answer(self) -> None:
        """Print an answer to the messages, token by token; a conversation that cannot be answered loses the last."""
        from regard.models.conversation import conversation_of

        engine = self.model._engine
        try:
            prompt = engine.prompt(conversation_of(self.messages), self.count)
        except UserError:
            self.messages.pop()
            raise
        if prompt.chat == "plain" and not self.chat:
            err.print("the model has no chat template: messages are laid out as plain text", style="dim")
        self.chat = prompt.chat or ""
        speech = engine.speak(prompt, self.count, self.sampling, each=lambda _, text: _write(text), interruptible=True)
        _write(speech.finish() + "\n")
        if not speech.ids:  # stopped before it said anything
            self.messages.pop()
            return
        if speech.interrupted:
            err.print("stopped", style="dim")
        elif not speech.closed:
            err.print(f"cut off after {self.count} tokens; --tokens allows more", style="dim")
        self.ids = speech.ids
        self.messages.append({"role": "assistant", "content": speech.text})

    def back(self) -> str:
        """Take back the last message of the user and what was answered."""
        while self.messages and self.messages[-1]["role"] == "assistant":
            self.messages.pop()
        if not self.messages or self.messages[-1]["role"] != "user":
            raise UserError("nothing has been said yet")
        return str(self.messages.pop()["content"])

    def trace(self, place: str) -> None:
        """Write the conversation up to its last answer, with the very tokens that were generated."""
        if not place or not self.ids or self.messages[-1]["role"] != "assistant":
            raise UserError("say something first, then name a file: /trace chat.html")
        with working("running the model"):
            trace = self.model.trace(messages=self.messages[:-1], target=self.ids)
        path = trace.save(place) if place.endswith(".safetensors") else trace.save_html(place)
        out.print(f"{path} ({size_of(Path(path))})", markup=False, soft_wrap=True)


@expand_options
def chat(
    *,
    model: Annotated[
        str, typer.Option("--model", "-m", help="Hub name, folder or .gguf file of a chat model.")
    ] = "SmolLM2-135M-Instruct",
    system: Annotated[str | None, typer.Option(help="What the model is told before everything.")] = None,
    tokens: Annotated[int, typer.Option(help="Longest answer, in tokens.", min=1)] = 256,
    temperature: Annotated[
        float,
        typer.Option(help="0 takes the likeliest token each time; 1 draws as the model weighs them.", min=0, max=2),
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed for drawing; the same seed gives the same answers.")] = 0,
    loading: Loading,
) -> None:
    """Talk to a model, and see what it looked at: `regard chat -m SmolLM2-135M-Instruct`.

    Answers come token by token. While you talk:

    \b
    /trace FILE     write what the model looked at: a page (.html) or a trace file (.safetensors)
    /edit TEXT      say your last message differently, and get another answer
    /again [SEED]   another answer to the last message, drawn with another seed
    /system TEXT    what the model is told before everything
    /new            begin again
    /quit           end (also Ctrl-D)

    Ctrl-C stops an answer and keeps what was said. /trace runs the very tokens that were generated through the model
    once: the maps are those that it had while it wrote them.
    """
    from regard.models.sampling import Sampling

    loaded = loading.load(model)
    if not loaded._engine.is_causal:
        raise UserError(f"{loaded.name} does not answer messages; name a causal language model with -m")
    talk = _Chat(loaded, tokens, Sampling(temperature, seed))
    if system:
        talk.messages.append({"role": "system", "content": system})
    if sys.stdin.isatty():
        import readline  # noqa: F401  # typed lines can be edited and called back

        out.print(f"{loaded.name}; /help lists what you can do, /quit ends", markup=False, style="dim")
    while (line := _read()) is not None:
        if line == "/quit":
            return
        try:
            _do(talk, line)
        except UserError as error:
            err.print(f"regard: {error}", markup=False, soft_wrap=True)


def _do(talk: _Chat, line: str) -> None:
    """Do what a line says."""
    from regard.models.sampling import Sampling

    if not line.startswith("/"):
        if line:
            talk.say(line)
        return
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    if word == "/trace":
        talk.trace(rest)
    elif word == "/edit":
        if not rest:
            raise UserError("write your message after /edit")
        talk.back()
        talk.say(rest)
    elif word == "/again":
        said = talk.back()
        seed = int(rest) if rest.isdecimal() else (talk.sampling.seed or 0) + 1
        talk.sampling = Sampling(talk.sampling.temperature or 1.0, seed)
        err.print(f"temperature {talk.sampling.temperature:g}, seed {seed}", style="dim")
        talk.say(said)
    elif word == "/system":
        talk.messages = [one for one in talk.messages if one["role"] != "system"]
        talk.messages[:0] = [{"role": "system", "content": rest}] if rest else []
    elif word == "/new":
        talk.messages = [one for one in talk.messages if one["role"] == "system"]
        talk.ids = []
    elif word == "/help":
        told = cleandoc(chat.__doc__ or "").partition(_MARK)[2]
        out.print(told.replace("\b", "").strip(), markup=False)
    else:
        raise UserError(f"there is no {word}; /help lists what you can do")


def _read() -> str | None:
    """A line that was typed; None at the end. Ctrl-C at an empty prompt is said to be no way out."""
    while True:
        try:
            return input("> " if sys.stdin.isatty() else "").strip()
        except EOFError:
            return None
        except KeyboardInterrupt:
            err.print("\n/quit ends", style="dim")


def _write(text: str) -> None:
    out.file.write(text)
    out.file.flush()
