"""The models that the page may choose among, and those that are loaded.

Enters: names. Leaves: models, loaded one at a time beside the running ones; what is not on the list is refused.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.app.log import note
from regard.app.memory import check_model
from regard.app.problems import Problem, busy, of_failure
from regard.app.settings import Settings
from regard.catalogue import known_models
from regard.loading import DEFAULT

if TYPE_CHECKING:
    from regard.model import Model

_FRESH = 20.0  # seconds for which a look into the cache of downloaded models holds


@dataclass
class Entry:
    """A model by its name, and how far it is."""

    name: str
    note: str
    state: str = "available"  # loading, ready, failed
    message: str = ""
    since: float = 0.0  # when loading began
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
            "bytes": _downloaded(self.name) if loading else None,
            "message": self.message,
            "about": None if self.model is None else about(self.model),
        }


class Models:
    """Models by name. Loading runs in a thread of its own, one at a time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._entries: dict[str, Entry] = {}
        self._looked = float("-inf")
        self._lock = threading.RLock()
        for name in settings.models:
            self._entries[name] = Entry(name, "given at the start")
        self._look()

    @property
    def default(self) -> str | None:
        """The model for requests that name none: the first one given, or the built-in one."""
        given = (*self._settings.models, DEFAULT)
        return next((name for name in given if name in self._entries), None)

    def records(self) -> list[dict[str, Any]]:
        with self._lock:
            self._look()
            return [entry.record for entry in self._entries.values()]

    def start(self, name: str) -> Entry:
        """Begin to load a model, unless it is here or on its way."""
        with self._lock:
            entry = self._entry(name)
            if entry.state in ("ready", "loading"):
                entry.used = time.monotonic()
                return entry
            other = next((one for one in self._entries.values() if one.state == "loading"), None)
            if other is not None:
                raise busy(f"{other.name} is being loaded; try again when it is here")
            self._entries[name] = entry
            entry.state, entry.message, entry.since, entry.arriving = "loading", "", time.monotonic(), Future()
            threading.Thread(target=self._load, args=(entry,), name="regard-loading", daemon=True).start()
            return entry

    def arriving(self, name: str | None) -> Future[Model]:
        """The model of a name, now or when it is loaded; without a name the default one."""
        chosen = self.default if name is None else name
        if chosen is None:
            raise Problem(422, "input", "there is no default model; name one, or run: pip install 'regard[demo]'")
        return self.start(chosen).arriving

    def _entry(self, name: str) -> Entry:
        self._look()
        known = self._entries.get(name)
        if known is not None:
            return known
        if not self._settings.download:
            raise Problem(
                403,
                "refused",
                f"{name} is not on this server's list of models; start it with --model {name}, or with "
                "--allow-download to name any model here",
            )
        return Entry(name, "named in the page")

    def _look(self) -> None:
        """Put on the list what has come into the cache since the last look."""
        with self._lock:
            if time.monotonic() - self._looked < _FRESH:
                return
            self._looked = time.monotonic()
            for known in known_models():
                if known.installed:
                    self._entries.setdefault(known.name, Entry(known.name, known.note))

    def _load(self, entry: Entry) -> None:
        try:
            model = _loaded(entry.name, self._settings)
        except BaseException as error:  # the thread's end must reach whoever waits
            problem = of_failure(error)
            if problem.status == 500:
                note("model failed", model=entry.name, error=repr(error))
            with self._lock:
                entry.state, entry.message = "failed", problem.message
            entry.arriving.set_exception(problem)
            return
        with self._lock:
            entry.model, entry.state, entry.used = model, "ready", time.monotonic()
            self._make_room(entry)
        note("model loaded", model=entry.name, seconds=round(time.monotonic() - entry.since, 1))
        entry.arriving.set_result(model)

    def _make_room(self, newest: Entry) -> None:
        ready = sorted((e for e in self._entries.values() if e.model is not None), key=lambda e: e.used)
        for entry in ready[: max(0, len(ready) - self._settings.limits.models)]:
            if entry is not newest:
                entry.model, entry.state, entry.arriving = None, "available", Future()


def about(model: Model) -> dict[str, Any]:
    """What a model is, and what can be asked of it."""
    from regard.ablation import modes_of
    from regard.views.walk import can_walk

    kinds = sorted({kind for kind, _ in model.layout})
    family = "encoder-decoder" if model.is_encoder_decoder else kinds[0]
    return {
        "kinds": kinds,
        "family": family,
        "parameters": model.parameters,
        "limit": model.limit,
        "pair": not model.is_encoder_decoder,
        "target": model.is_encoder_decoder,
        "generate": model.can_generate and not model.is_encoder_decoder,
        "walk": can_walk(model.module),
        "modes": list(modes_of(model)),
    }


def _loaded(name: str, settings: Settings) -> Model:
    """A model, run once: how its attention is seen is known then, and a model that has none is told at once."""
    from regard.model import load

    place = _snapshot(name) if name not in settings.models else None
    check_model(place or name)
    model = load(place or name, device=settings.device)
    if place is not None:
        model.name = name
    if model.tokenizer is None:
        raise ValueError(
            f"{name} has no tokenizer{model.no_tokenizer}; the app reads text. For images: regard view --image"
        )
    if not model.layout:
        raise ValueError(f"{name} ran no attention that regard can see")
    return model


def _snapshot(name: str) -> str | None:
    """The folder of a downloaded model; loading from it asks no hub. None for models of other kinds."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    if Path(name).exists() or "/" not in name:
        return None
    try:
        return str(snapshot_download(name, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError, HfHubHTTPError, OSError):
        return None


def _downloaded(name: str) -> int | None:
    """Bytes of a model that have come from the hub so far."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    if Path(name).exists() or "/" not in name:
        return None
    blobs = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=name, repo_type="model") / "blobs"
    return _total(blobs.glob("*")) or None


def _total(paths: Iterable[Path]) -> int:
    total = 0
    for path in paths:
        try:
            total += path.stat().st_size
        except OSError:  # renamed when complete
            continue
    return total
