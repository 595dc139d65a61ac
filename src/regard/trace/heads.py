"""Heads by name: one notation for heads, for the API, the command line and the views.

Enters: (layer, head), (kind, layer, head), "5.4", "2.*", "cross:1.3", or the name of a pattern. Leaves: the `Head`s,
checked against the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from regard.base.errors import OutOfRangeError, UserError
from regard.trace.site import KINDS

MODES = ("zero", "uniform", "mean")  # ways to switch a head off; see `Model.ablate`

ALL = "*"
_NAME = re.compile(r"(?:(?P<kind>[a-z]+):)?(?P<layer>\d+|\*)(?:\.(?P<head>\d+|\*))?")
_WAYS = 'write "5.4" (layer 5, head 4), "2.*" (all of layer 2), "cross:1.3" (kind first), or the name of a pattern'


class Head(NamedTuple):
    """One head: the kind of its attention (encoder, decoder or cross), its layer and its number, both from 0."""

    kind: str
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.layer}.{self.head}"


Layout = Mapping[tuple[str, int], int]  # (kind, layer) -> number of heads
Heads = str | Sequence[Any]  # what `parse_heads` reads


class Shows(Protocol):
    """A finding: which head shows which pattern."""

    @property
    def kind(self) -> str: ...
    @property
    def layer(self) -> int: ...
    @property
    def head(self) -> int: ...
    @property
    def pattern(self) -> str: ...


def parse_heads(heads: Heads, layout: Layout, patterns: Iterable[Shows] | None = None) -> tuple[Head, ...]:
    """The named heads, each once, in the order of the model.

    Parameters
    ----------
    heads
        One or several of (layer, head), (kind, layer, head), "5.4", "2.*", "*.3", "cross:1.3", "encoder:0.*", or names
        of patterns ("previous token": every head that shows it); strings may hold several, separated by commas.
        Without a kind, the model's first one is used. A head of None or "*" means all heads of the layer.
    layout
        How many heads each (kind, layer) has.
    patterns
        Findings (`trace.patterns()`) in which pattern names are looked up.

    Examples
    --------
    >>> [str(head) for head in parse_heads(["1.*", (0, 2)], {("encoder", 0): 3, ("encoder", 1): 2})]
    ['encoder:0.2', 'encoder:1.0', 'encoder:1.1']
    """
    items = list(_items(heads))
    if not items:
        raise UserError(f"no heads were named; {_WAYS}")
    found = {head for item in items for head in _heads(item, layout, patterns)}
    return tuple(head for head in all_heads(layout) if head in found)


def all_heads(layout: Layout) -> tuple[Head, ...]:
    """Every head of a model: encoder first, then decoder, then cross attention."""
    places = sorted(layout, key=lambda place: (KINDS.index(place[0]), place[1]))
    return tuple(Head(kind, layer, head) for kind, layer in places for head in range(layout[kind, layer]))


def refuse_all(heads: Iterable[Head], layout: Layout) -> None:
    """Refuse to remove every head of every layer."""
    if len(set(heads)) == sum(layout.values()):
        raise UserError(f"these are all {sum(layout.values())} heads of the model; leave at least one on")


def looks_like_heads(text: str) -> bool:
    """Whether a word is written like heads ("5.4", "2.*", "cross:1.3")."""
    return all(_NAME.fullmatch(part.strip()) for part in text.split(","))


def names_patterns(heads: Heads) -> bool:
    """Whether some of the heads are named by a pattern."""
    return any(isinstance(item, str) and not looks_like_heads(item) for item in _items(heads))


def names_of(heads: Iterable[Head], layout: Layout) -> list[str]:
    """Heads as people write them: the kind only if the model has several, "2.*" for a whole layer, "*.*" for all."""
    several = len({kind for kind, _ in layout}) > 1
    found: dict[tuple[str, int], list[int]] = {}
    for head in heads:
        found.setdefault((head.kind, head.layer), []).append(head.head)
    names = []
    for (kind, layer), numbers in found.items():
        layers = [place for place in layout if place[0] == kind]
        if len(layers) > 1 and all(len(found.get(place, ())) == layout[place] for place in layers):
            names.append(f"{kind}:" * several + f"{ALL}.{ALL}")
            continue
        whole = len(numbers) == layout[kind, layer] > 1
        names += [f"{kind}:" * several + f"{layer}.{one}" for one in ([ALL] if whole else numbers)]
    return list(dict.fromkeys(names))


def _items(heads: Any) -> Iterator[Any]:
    if isinstance(heads, str):
        yield from (part.strip() for part in heads.split(",") if part.strip())
    elif isinstance(heads, tuple) and len(heads) in (2, 3) and all(isinstance(x, int) for x in heads[-2:-1]):
        yield heads
    elif isinstance(heads, Iterable):
        for item in heads:
            yield from _items(item)
    else:
        raise UserError(f"{heads!r} names no heads; {_WAYS}")


def _heads(item: Any, layout: Layout, patterns: Iterable[Shows] | None) -> Iterator[Head]:
    if not isinstance(item, str):
        kind, layer, head = item if len(item) == 3 else (None, *item)
        yield from _expanded(kind, layer, ALL if head is None else head, layout)
        return
    match = _NAME.fullmatch(item)
    if match is None:
        yield from _showing(item, patterns)
        return
    layer, head = (part if part in (None, ALL) else int(part) for part in match.group("layer", "head"))
    yield from _expanded(match["kind"], layer, ALL if head is None else head, layout)


def _expanded(kind: str | None, layer: Any, head: Any, layout: Layout) -> Iterator[Head]:
    """The heads behind a name, checked against the model."""
    kinds = [known for known in KINDS if any(place[0] == known for place in layout)]
    if kind is None:
        kind = kinds[0]
    if kind not in kinds:
        raise UserError(f"there is no {kind!r} attention in this model; it has {', '.join(kinds)}")
    layers = [number for known, number in layout if known == kind]
    if layer != ALL and layer not in layers:
        raise OutOfRangeError(f"there is no {kind} layer {layer}; layers are {min(layers)} to {max(layers)}")
    for number in layers if layer == ALL else [layer]:
        count = layout[kind, number]
        if head != ALL and head not in range(count):
            raise OutOfRangeError(f"{kind} layer {number} has no head {head}; its {count} heads count from 0")
        yield from (Head(kind, number, one) for one in (range(count) if head == ALL else [head]))


def _showing(pattern: str, patterns: Iterable[Shows] | None) -> Iterator[Head]:
    from regard.patterns import names

    if pattern not in names():
        raise UserError(f"{pattern!r} names no heads; {_WAYS}: {', '.join(names())}")
    if patterns is None:
        raise UserError(f"which heads show {pattern!r} depends on a text; pass patterns=trace.patterns() of one")
    found = [Head(f.kind, f.layer, f.head) for f in patterns if f.pattern == pattern]
    if not found:
        raise UserError(f"no head shows the pattern {pattern!r} on this text")
    yield from found
