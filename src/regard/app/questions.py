"""What a request asks for, checked on arrival.

Enters: a request's body. Leaves: frozen records of the right types, or a Problem that names the field.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.requests import Request

from regard.app.fields import PLACE, PLACES, Fields, refuse_type
from regard.app.problems import Problem, bad, large
from regard.app.settings import Limits
from regard.trace.edges import CUTS
from regard.views.wire import VIEWS

if TYPE_CHECKING:
    from regard.models.base import Target, Text

_CLIENT = re.compile(r"[\w.-]{1,64}", re.ASCII)
NAME = 300  # characters of a model's name
_HEADS = 4096  # heads one request may name
_EDGES = 256  # blocks of edges that one request may cut
_CONTROLS = 64  # random sets of edges beside them
_CHECK = 256  # edges that are cut for real beside estimates
_TOKEN = 300  # characters of a token


@dataclass(frozen=True)
class Open:
    """What the page opens with."""

    view: str = "heads"
    kind: str | None = None
    layer: int | None = None
    heads: tuple[int, ...] | None = None
    worth: bool = False  # with what lines are worth rather than with weights


@dataclass(frozen=True)
class Off:
    """Heads to switch off, (kind, layer, head) or (layer, head), and how (None: every mode, or the first)."""

    heads: tuple[tuple[Any, ...], ...]
    mode: str | None


@dataclass(frozen=True)
class CutLines:
    """Edges to cut, (kind, layer, head, query, key) or without the kind, how, and how many random ones beside them."""

    edges: tuple[tuple[Any, ...], ...]
    how: str
    controls: int


@dataclass(frozen=True)
class Question:
    """A text or conversation for a model, and what to do with it."""

    text: Text
    pair: str | None
    model: str | None
    target: Target
    generate: int | None
    truncate: bool
    predictive: bool
    layer: int
    count: int
    position: int | None
    off: Off | None
    open: Open | None
    token: str | None = None
    lines: CutLines | None = None
    worth: dict[str, Any] | None = None


@dataclass(frozen=True)
class AskedLook:
    """A look that is asked about: the head, the token that looks, and the one it looks at (None: the most)."""

    head: tuple[Any, ...]
    query: int
    key: int | None
    check: bool


def question_of(fields: Fields, limits: Limits, *, textless: bool = False) -> Question:
    """A text for a model, or messages in its place; `textless` where a file is enough."""
    text = fields.conversation("messages", limits) or fields.text("text", limits.text)
    if text is None and textless:
        text = ""
    if text is None:
        raise bad("text is missing")
    first = fields.part("open")
    return Question(
        text=text,
        pair=fields.text("pair", limits.text) or None,
        model=model_of(fields, "model"),
        target=fields.ids("target", limits.tokens) or fields.text("target", limits.text) or None,
        generate=fields.number("generate", 1, limits.generate),
        truncate=bool(fields.get("truncate", bool)),
        predictive=bool(fields.get("predictive", bool)),
        layer=fields.number("layer", 0, 10_000) or 0,
        count=fields.number("count", 1, 100) or 5,
        position=fields.number("position", -limits.text, limits.text),
        off=_off(fields),
        open=None if first is None else open_in(first),
        token=fields.text("token", _TOKEN) or None,
        lines=_lines(fields),
        worth=_worth(fields, limits),
    )


def look_of(fields: Fields) -> AskedLook:
    """A look: a head, and the positions it looks from and at."""
    query = fields.number("query", 0, PLACE)
    if query is None:
        raise bad("query is missing: the position that the head looks from")
    return AskedLook(head_of(fields), query, fields.number("key", 0, PLACE), bool(fields.get("check", bool)))


def head_of(fields: Fields) -> tuple[Any, ...]:
    """The one head that is asked about: under `head` a layer and a head, and perhaps the kind."""
    head = fields.part("head")
    if head is None:
        raise bad("head is missing: the layer and the head")
    return _head(head)


def model_name(fields: Fields) -> str:
    """The name of a model to load."""
    name = model_of(fields, "name")
    if name is None:
        raise bad("name must be the name or folder of a model")
    return name


def model_of(fields: Fields, field: str) -> str | None:
    """The name of a model; an impossible one is refused before it is looked up."""
    name = fields.text(field, NAME)
    if name and not name.isprintable():
        raise Problem(422, "input", f"{field} contains characters that no model name has")
    return name or None


def client_of(request: Request) -> str | None:
    """Who is asking: requests from one client to one endpoint replace each other."""
    name = request.headers.get("x-regard-client")
    if name is not None and not _CLIENT.fullmatch(name):
        raise bad("X-Regard-Client must be up to 64 letters, digits, '-', '_' or '.'")
    return name


def open_in(fields: Fields) -> Open:
    """What a page opens with."""
    view = fields.get("view", str) or "heads"
    if view not in VIEWS:
        raise bad(f"view must be one of {', '.join(VIEWS)}")
    heads = fields.get("heads", list)
    if heads is not None and not all(isinstance(head, int) and not isinstance(head, bool) for head in heads):
        refuse_type("heads", list)
    layer = fields.number("layer", 0, 10_000)
    return Open(view, fields.text("kind", 20), layer, None if heads is None else tuple(heads[:_HEADS]))


def _off(fields: Fields) -> Off | None:
    """Heads to switch off: under `ablate` for a trace, as `heads` and `mode` for an ablation."""
    own = fields.part("ablate") or fields
    heads = own.get("heads", list)
    if not heads:
        return None
    if len(heads) > _HEADS:
        raise large(f"at most {_HEADS:,} heads can be switched off at once")
    return Off(tuple(_head(Fields(head, "each of heads")) for head in heads), own.text("mode", 40))


def _head(fields: Fields) -> tuple[Any, ...]:
    layer, head, kind = fields.number("layer", 0, 10_000), fields.number("head", 0, 10_000), fields.text("kind", 20)
    if layer is None or head is None:
        raise bad("a head needs a layer and a head")
    return (layer, head) if kind is None else (kind, layer, head)


def _lines(fields: Fields) -> CutLines | None:
    """Edges to cut."""
    edges = fields.get("edges", list)
    if not edges:
        return None
    if len(edges) > _EDGES:
        raise large(f"at most {_EDGES:,} edges can be cut at once; name several tokens in one as a list")
    how = _how(fields)
    controls = fields.number("controls", 0, _CONTROLS)
    read = tuple(_edge(Fields(edge, "each of edges")) for edge in edges)
    named = sum(len(places) for edge in read for places in edge[-2:] if places is not None)
    if named > PLACES:
        raise large(f"the edges name {named:,} positions, at most {PLACES:,} can be; leave out query or key for all")
    return CutLines(read, how, 16 if controls is None else controls)


def _how(fields: Fields) -> str:
    """How edges are cut."""
    how = fields.text("how", 40) or CUTS[0]
    if how not in CUTS:
        raise bad(f"how must be one of {', '.join(CUTS)}")
    return how


def _worth(fields: Fields, limits: Limits) -> dict[str, Any] | None:
    """What worth is asked of: true, or a position, a token, how lines are cut and how many for real."""
    own = fields.flag_or_part("worth")
    if own is None:
        return None
    how = _how(own)
    position = own.number("position", -limits.text, limits.text)
    return {
        "position": position,
        "token": own.text("token", _TOKEN) or None,
        "how": how,
        "check": own.number("check", 0, _CHECK) or 0,
    }


def check_of(fields: Fields, limits: Limits) -> int:
    """How many lines of a trace are to be cut for real; 0 where that is left open."""
    asked = _worth(fields, limits)
    return 0 if asked is None else int(asked["check"])


def _edge(fields: Fields) -> tuple[Any, ...]:
    layer, kind = fields.number("layer", 0, 10_000), fields.text("kind", 20)
    if layer is None:
        raise bad("each of edges needs a layer")
    place = (layer, fields.number("head", 0, 10_000), fields.places("query"), fields.places("key"))
    return place if kind is None else (kind, *place)
