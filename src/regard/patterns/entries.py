"""What patterns, types of maps and measures are called and how they look, in the terminal, in figures and on the page.

Enters: patterns.json, which the page's bundle holds too. Leaves: tables by name, in its order.

Colours stay apart for readers with every kind of colour blindness, on either ground (scales.test.ts of the page
measures it); a `twin` shares those of a name that no head has beside its own: texts are read at once or from left to
right, and patches of pictures are no words. Greys are for where attention merely rests. Patterns without a colour are
numbers beside a pattern: no head is named for them. A head with several names is coloured by the one of the lowest
rank, the most specific.
"""

import json
from collections.abc import Mapping
from importlib.resources import files

_STORED = json.loads(files("regard.patterns").joinpath("patterns.json").read_text(encoding="utf-8"))


def _column(table: str, field: str) -> dict[str, str]:
    return {entry["name"]: entry[field] for entry in _STORED[table] if field in entry}


def _lists(field: str) -> Mapping[str, tuple[str, ...]]:
    return {entry["name"]: tuple(entry[field]) for entry in _STORED["patterns"] if field in entry}


PHRASES = _column("patterns", "phrase")  # what a head does, in a sentence
DOES = {entry["name"]: entry["does"]["en"] for entry in _STORED["patterns"] if "does" in entry}  # after its number
_SHORT = {entry["name"]: entry["short"]["en"] for entry in _STORED["patterns"] if "short" in entry}
LETTERS = _column("patterns", "letter")  # for terminals without colour
RANKS = {entry["name"]: rank for rank, entry in enumerate(sorted(_STORED["patterns"], key=lambda e: e.get("rank", 99)))}
PATTERN_COLOURS = _column("patterns", "colour")
DARK_COLOURS = _column("patterns", "dark")  # the same on a dark ground
TYPE_COLOURS = _column("types", "colour")
BROAD = frozenset(_column("patterns", "broad"))  # names that many tokens answer to
RESTING_PLACES = frozenset(_column("patterns", "resting"))  # names that tell least: where attention rests
POSITIONAL = frozenset(_column("patterns", "positional"))  # names that are a distance themselves
AT_ANY_DISTANCE = frozenset(_column("patterns", "any_distance"))  # whose targets stand at any distance
ALSO = _column("patterns", "also")  # another pattern that a head of this one must reach too
MEASURE_NAMES = {entry["name"]: entry.get("en", entry["name"]) for entry in _STORED["measures"]}  # as people read them
CAUTIONS = _column("patterns", "caution")  # the code of what to keep in mind beside a head of this name
TARGETS_OF = _lists("targets_of")  # of a broad pattern, those of one of its targets, which is a name of its own
SIMPLER = _lists("simpler")  # patterns whose heads often reach this one too: one of its own does it more than those


def rank_of(name: str) -> int:
    """How specific a name is, the most specific first; names that somebody gave a rule come before all."""
    return RANKS.get(name, -1)


def does_of(name: str) -> str:
    """What a head of some name does, after its number."""
    return str(DOES.get(name, f"follows the rule “{name}”"))


def short_of(name: str) -> str:
    """A name that fits below a small map."""
    return str(_SHORT.get(name, name))
