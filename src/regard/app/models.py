"""The models that the page may choose from, and those that are loaded.

Enters: names. Leaves: models, loaded while others run; names not on the list are refused. Downloads run in
parallel with each other and with local loading: a stuck one delays only those who asked for it.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.app.fetching import downloaded_bytes, fetch, is_hub_name, snapshot
from regard.app.log import note
from regard.app.media import media_of, reads_text
from regard.app.memory import check_model
from regard.app.problems import Problem, busy, of_failure
from regard.app.settings import AppSettings
from regard.base.errors import MissingFileError, UserError
from regard.models.catalogue import known_models
from regard.models.packaged import DEFAULT, PACKAGED
from regard.trace.sentences import refusal

if TYPE_CHECKING:
    from regard.models.model import Model

_FRESH = 20.0  # seconds before the cache of downloaded models is looked at again
_FAILED = 10.0  # seconds for which a name that failed stays on the list, so that the page can show why
_AT_ONCE = 8  # models that are downloaded at a time; as many may wait to be read from disk


@dataclass
class Entry:
    """A model by its name, and its state."""

    name: str
    note: str
    listed: bool = True  # rather than typed in the page
    state: str = "available"  # loading, ready, failed
    remote: bool = False  # whether it has to be downloaded
    problem: Problem | None = None  # why it failed
    since: float = 0.0  # when loading began, or failed
    used: float = 0.0
    model: Model | None = None
    arriving: Future[Model] = field(default_factory=Future)

    @property
    def record(self) -> dict[str, Any]:
        loading = self.state == "loading"
        return {
            "name": self.name,
            "note": self.note,
            "state": self.state,
            "seconds": round(time.monotonic() - self.since, 1) if loading else None,
            "bytes": downloaded_bytes(self.name) if loading and self.remote else None,
            "message": "" if self.problem is None else self.problem.message,
            "code": "" if self.problem is None else self.problem.code,
            "values": {} if self.problem is None else self.problem.values,
            "chat": self.chat,
            "about": None if self.model is None else about(self.model),
        }

    @property
    def chat(self) -> bool | None:
        """Whether it answers messages; None where that is not known before it is loaded."""
        if self.model is not None:
            return _answers(self.model)
        return PACKAGED[self.name].chat if self.name in PACKAGED else None


class Models:
    """Models by name. Each is loaded in its own thread; only one at a time is read into memory."""

    def __init__(self, settings: AppSettings) -> None:
        self._settings = settings
        self._entries: dict[str, Entry] = {}
        self._looked = float("-inf")
        self._lock = threading.RLock()
        self._reading = threading.Lock()
        self._given = tuple(map(_known, settings.models))
        for name in self._given:
            self._entries[name] = Entry(name, "given at the start")
        self._look()

    @property
    def default(self) -> str | None:
        """The model for requests that name none: the first one given, or the built-in one."""
        given = (*self._given, DEFAULT)
        return next((name for name in given if name in self._entries), None)

    @property
    def given(self) -> tuple[str, ...]:
        """The models that the server was started with."""
        return self._given or tuple(filter(None, (self.default,)))

    def speaking(self) -> list[str]:
        """The loaded models that continue a text."""
        with self._lock:
            return [one.name for one in self._entries.values() if one.model and one.model._engine.is_causal]

    def records(self) -> list[dict[str, Any]]:
        with self._lock:
            self._look()
            self._forget()
            return [entry.record for entry in self._entries.values()]

    def start(self, name: str) -> Entry:
        """Begin to load a model, unless it is loaded or loading."""
        with self._lock:
            entry = self._entry(name)
            if entry.state in ("ready", "loading"):
                entry.used = time.monotonic()
                return entry
            remote = self._is_of_hub(name) and snapshot(name) is None
            under_way = [one for one in self._entries.values() if one.state == "loading" and one.remote == remote]
            if len(under_way) >= _AT_ONCE:
                raise busy(f"{len(under_way)} models are being loaded; try again when they are ready")
            self._entries[name] = entry
            entry.state, entry.remote, entry.problem = "loading", remote, None
            entry.since, entry.arriving = time.monotonic(), Future()
            threading.Thread(target=self._load, args=(entry,), name="regard-loading", daemon=True).start()
            return entry

    def arriving(self, name: str | None) -> Future[Model]:
        """The model of a name, now or when it is loaded; without a name the default one."""
        chosen = self.default if name is None else name
        if chosen is None:
            raise Problem(422, "input", refusal("no_default"))
        return self.start(chosen).arriving

    def _entry(self, name: str) -> Entry:
        self._look()
        self._forget()
        known = self._entries.get(name)
        if known is not None:
            return known
        if not self._settings.download:
            raise Problem(403, "refused", refusal("unlisted", name=name))
        return Entry(name, "named in the page", listed=False)

    def _look(self) -> None:
        """Add to the list what has appeared in the cache since the last look."""
        with self._lock:
            if time.monotonic() - self._looked < _FRESH:
                return
            self._looked = time.monotonic()
            for known in known_models():
                if known.installed:
                    self._entries.setdefault(known.name, Entry(known.name, known.note))

    def _forget(self) -> None:
        """Remove typed names that failed and have been shown for long enough."""
        old = time.monotonic() - _FAILED
        for entry in list(self._entries.values()):
            if not entry.listed and entry.state == "failed" and entry.since < old:
                del self._entries[entry.name]

    def _load(self, entry: Entry) -> None:
        try:
            model = self._load_model(entry)
        except BaseException as error:  # whoever waits must hear of the thread's end
            note("model failed", model=entry.name, error=repr(error))
            problem = of_failure(error, model=entry.name)
            if not entry.listed and not is_hub_name(entry.name):
                problem = _no_model(entry.name)
            with self._lock:
                entry.state, entry.problem, entry.since = "failed", problem, time.monotonic()
            entry.arriving.set_exception(problem)
            return
        with self._lock:
            entry.model, entry.state, entry.used = model, "ready", time.monotonic()
            self._make_room(entry)
        note("model loaded", model=entry.name, seconds=round(time.monotonic() - entry.since, 1))
        entry.arriving.set_result(model)

    def _load_model(self, entry: Entry) -> Model:
        """A model, run once: this finds out how its attention is captured, and refuses a model without any."""
        from regard.models.load import load

        name = entry.name
        place = self._place(name)
        with self._reading:
            check_model(place)
            model = load(place, device=self._settings.device)
            if place != name:
                model._engine.name = name
            if model.tokenizer is None and not media_of(model):
                raise UserError(refusal("no_tokenizer", name=name, why=model._engine.missing.aside))
            if not model.layout():
                raise UserError(refusal("no_attention", name=name))
            return model

    def _is_of_hub(self, name: str) -> bool:
        """Whether a name is that of a hub model; whoever started the server may have meant a folder of that name."""
        return is_hub_name(name) and not (name in self._given and Path(name).exists())

    def _place(self, name: str) -> str:
        """Where to load from: a package, a folder, or the folder of a hub model, downloaded if that is allowed."""
        if not self._is_of_hub(name):
            return name
        if snapshot(name) is None and not self._settings.download and name not in self._given:
            raise MissingFileError(refusal("in_part", name=name))
        return str(fetch(name, self._settings.offline))

    def _make_room(self, newest: Entry) -> None:
        ready = sorted((e for e in self._entries.values() if e.model is not None), key=lambda e: e.used)
        for entry in ready[: max(0, len(ready) - self._settings.limits.models)]:
            if entry is not newest:
                entry.model, entry.state, entry.arriving = None, "available", Future()


def _no_model(name: str) -> Problem:
    """One answer for every path that is not a model, so that it reveals nothing about this machine."""
    return Problem(422, "input", refusal("unloadable", name=name))


def _answers(model: Model) -> bool:
    """Whether a model continues a text, and so answers messages."""
    return model.can_generate and not model.is_encoder_decoder


def about(model: Model) -> dict[str, Any]:
    """What a model is, and what it can do."""
    from regard.models.ablated import modes_of
    from regard.models.cutting import cuts_of
    from regard.models.predicting import no_gains
    from regard.views.walk import can_walk

    kinds = sorted({kind for kind, _ in model.layout()})
    family = "encoder-decoder" if model.is_encoder_decoder else kinds[0]
    return {
        "kinds": kinds,
        "family": family,
        "parameters": model.parameters,
        "limit": model.limit,
        "pair": not model.is_encoder_decoder and reads_text(model),
        "target": model.is_encoder_decoder,
        "generate": _answers(model),
        "walk": can_walk(model.module),
        "predictive": not no_gains(model._engine),
        "modes": list(modes_of(model)),
        "cuts": list(cuts_of(model._engine)),
        "media": media_of(model),
        "text": reads_text(model),
    }


def _known(name: str) -> str:
    """The proper spelling of a packaged model's name; other names as they are."""
    return next((one for one in PACKAGED if one.lower() == name.lower() and not Path(name).exists()), name)
