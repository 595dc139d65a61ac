"""What the server was started with.

Enters: the options of `regard serve`. Leaves: limits and settings that everything in the app reads.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

PORT = 8765


@dataclass(frozen=True)
class Limits:
    """What one request, and all of them together, may take."""

    text: int = 100_000  # characters of a text
    body: int = 1_000_000  # bytes of a request
    medium: int = 20_000_000  # bytes of a picture or a sound
    tokens: int = 8192  # of one input
    generate: int = 256  # tokens a model may generate
    answer: int = 1024  # tokens of an answer to messages, or to a client of the OpenAI interface
    messages: int = 256  # of a conversation
    clients: int = 64  # answers that are waited for at a time, beside the one that is being given
    answers: int = 1000  # given answers that are kept for their links: what was asked, and ids
    answers_memory: int = 64_000_000  # bytes of them
    answers_seconds: float = 86_400.0  # for which they are kept
    predictive: int = 64  # of an input for which a model is asked which words predict which: up to 2,080 runs
    split: int = 512  # tokens of an input whose scores are split by what made them: all of a run is kept for gradients
    worth: int = 2048  # of an input whose lines are judged: a backward pass keeps every layer
    traces: int = 512  # kept for reports, layers and exports
    memory: int = 2_000_000_000  # bytes of traces kept
    queue: int = 32  # requests waiting for the model
    models: int = 4  # loaded at a time
    seconds: float = 120.0  # before an answer is abandoned
    corpus: int = 300_000  # characters of a study's text; in JSON they must fit into a body
    examples: int = 1000  # of a study
    found: int = 200  # inputs of a study's corpus that a rule is asked of
    study_seconds: float = 1800.0  # before a study is stopped

    @property
    def record(self) -> dict[str, float]:
        return asdict(self)


@dataclass(frozen=True)
class AppSettings:
    """How the server was started."""

    host: str = "127.0.0.1"
    port: int = PORT
    models: tuple[str, ...] = ()  # names and folders given at the start; the first is the default
    studies: Path | None = None
    download: bool = False  # whether the page may name models that are not on the list
    offline: bool = False  # whether the hub is never asked
    device: str | None = None
    token: str | None = None  # required of everyone; None admits anyone who reaches the server
    ticket: str | None = None  # valid once, for the browser that is started: others can see its command line
    openai: bool = False  # whether it answers clients of the OpenAI interface
    names: tuple[str, ...] = ()  # further host names under which it can be reached
    limits: Limits = field(default_factory=Limits)
    save_rules: bool | None = None  # whether the page may change the saved rules; None: where only this machine gets in

    @property
    def saves_rules(self) -> bool:
        """Whether the page may change the saved rules, which belong to whoever started the server."""
        local = self.host in ("127.0.0.1", "::1", "localhost") and not self.names
        return local if self.save_rules is None else self.save_rules
