"""Rules that somebody saved under a name: patterns like those of the list, in every view.

Enters: a file of names and rules. Leaves: `SavedRule`s; the file again, when one is added or removed.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from regard.base.errors import UserError
from regard.base.files import write_atomic
from regard.measures.types import TYPES
from regard.patterns.definitions import BAG, NAMES, OF_TRACES
from regard.patterns.levels import LEVELS
from regard.patterns.rules import Rule, parse_rule

FILE = "REGARD_RULES"  # the variable that names another file
MOST = 32  # rules in one file: each is asked of every text
# None of these is a pattern's colour, nor one of another's greys.
COLOURS = ("#E7298A", "#66A61E", "#17A2B8", "#8C564B", "#FF7F5C", "#6A3D9A", "#B8860B", "#4D9DE0")
_LONGEST = 40  # characters of a name
_BYTES = 200_000  # of the file
_WAIT = 10  # seconds that saving waits for somebody else who saves
# Words, and nothing that a page or a terminal could take for markup.
_NAME = re.compile(r"[^\W\d_][\w'()+-]*( [\w'()+-]+)*")
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_TAKEN = {*(p.name for p in OF_TRACES), BAG, *NAMES, *(level.name for level in LEVELS), *TYPES, "type", "none", "sink"}


@dataclass(frozen=True)
class SavedRule(Rule):
    """A rule with a name of its own, and the colour that views give it."""

    text: str = ""
    colour: str = COLOURS[0]

    @property
    def phrase(self) -> str:
        """What a head does, in a sentence."""
        return f"attends to keys for which {self.text}"

    @property
    def record(self) -> dict[str, str]:
        """As it is stored."""
        return {"name": self.name, "rule": self.text, "colour": self.colour}


def named_rule(name: str, text: str, colour: str = COLOURS[0]) -> SavedRule:
    """A rule under a name; both are checked.

    Examples
    --------
    >>> named_rule("two back", "offset = -2").phrase
    'attends to keys for which offset = -2'
    """
    called = " ".join(name.split())
    if len(called) > _LONGEST or not _NAME.fullmatch(called):
        raise UserError(
            f"{called[:60]!r} is no name for a rule; write up to {_LONGEST} letters, digits, spaces, - or ', beginning "
            "with a letter, such as: two back"
        )
    if called.lower() in {taken.lower() for taken in _TAKEN}:
        raise UserError(f"{called!r} is the name of a pattern or measure already; choose another")
    if not _COLOUR.fullmatch(colour):
        raise UserError(f"{colour!r} is no colour; write six digits, such as {COLOURS[0]}")
    rule = parse_rule(text)
    same = {field.name: getattr(rule, field.name) for field in fields(rule)}
    return SavedRule(**{**same, "name": called}, text=rule.name, colour=colour)


def rules_file() -> Path:
    """Where rules are saved: the file named by REGARD_RULES, or regard/rules.json in the user's configuration."""
    named = os.environ.get(FILE)
    if named:
        return Path(named).expanduser()
    home = os.environ.get("XDG_CONFIG_HOME") or (os.environ.get("APPDATA") if os.name == "nt" else None) or "~/.config"
    return Path(home).expanduser() / "regard" / "rules.json"


def saved_rules() -> tuple[SavedRule, ...]:
    """The saved rules, in their order; none if nothing has been saved."""
    path = rules_file()
    try:
        known = path.stat()
    except OSError:
        return ()
    return _read(path, known.st_mtime_ns, known.st_size)


def usable_rules() -> tuple[SavedRule, ...]:
    """The saved rules for measuring heads; a file that cannot be read is told of, and there are none."""
    try:
        return saved_rules()
    except UserError as error:
        warnings.warn(f"heads are named without saved rules: {error}", stacklevel=2)
        return ()


def names() -> tuple[str, ...]:
    """What heads may be named for: the saved rules, then the patterns."""
    return (*(rule.name for rule in usable_rules()), *NAMES)


def add_rule(name: str, text: str) -> SavedRule:
    """Save a rule; one of the same name is replaced and keeps its colour."""
    made = named_rule(name, text)
    with _changing() as rules:
        return _added(rules, made)


def _added(rules: dict[str, SavedRule], made: SavedRule) -> SavedRule:
    if made.name not in rules and len(rules) >= MOST:
        raise UserError(f"{MOST} rules are saved, and no more are kept; remove one with: regard rules remove NAME")
    used = [rule.colour for rule in rules.values()]
    free = min(COLOURS, key=used.count)  # the first of those that are used least
    colour = rules[made.name].colour if made.name in rules else free
    rules[made.name] = replace(made, colour=colour)
    return rules[made.name]


def remove_rule(name: str) -> SavedRule:
    """Forget a rule."""
    with _changing() as rules:
        if name not in rules:
            known = f"there are {', '.join(rules)}" if rules else "none is saved"
            raise UserError(f"there is no rule {name[:60]!r}; {known}")
        return rules.pop(name)


@contextmanager
def _changing() -> Iterator[dict[str, SavedRule]]:
    """The saved rules by name, to be changed and written; others who save at the same time wait."""
    from filelock import FileLock, Timeout

    path = rules_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f".{path.name}.lock"), timeout=_WAIT):
            rules = {rule.name: rule for rule in saved_rules()}
            yield rules
            _write(rules)
    except (OSError, Timeout) as error:
        why = getattr(error, "strerror", None) or error
        raise UserError(f"{path} cannot be written ({why}); name another file in {FILE}") from None


@lru_cache(maxsize=4)
def _read(path: Path, changed: int, size: int) -> tuple[SavedRule, ...]:
    """The rules of a file, as it was at a time."""
    del changed
    way_out = "mend it, or remove the file"
    if size > _BYTES:
        raise UserError(f"{path} has more than {_BYTES:,} bytes, too many for saved rules; {way_out}")
    try:
        listed = json.loads(path.read_text("utf-8"))["rules"]
        entries = [dict[str, Any](one) for one in listed]
        found = [named_rule(str(one["name"]), str(one["rule"]), str(one.get("colour", COLOURS[0]))) for one in entries]
    except UserError as error:
        raise UserError(f"{path} has a rule that cannot be used ({error}); {way_out}") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{path} is no file of saved rules ({type(error).__name__}: {error}); {way_out}") from None
    unique = {rule.name: rule for rule in found}
    if len(found) > MOST or len(unique) < len(found):
        raise UserError(f"{path} has more than {MOST} rules, or two of one name; {way_out}")
    return tuple(found)


def _write(rules: Mapping[str, SavedRule]) -> None:
    text = json.dumps({"rules": [rule.record for rule in rules.values()]}, ensure_ascii=False, indent=2)
    write_atomic(rules_file(), lambda path: Path(path).write_text(text + "\n", "utf-8"))
