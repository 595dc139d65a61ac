"""Rules: a pattern that someone writes down, such as `query is PRON and key is NOUN and offset < 0`.

Enters: a line of text. Leaves: a `Rule`, which measures like any pattern; or a `UserError` that shows the character.

    rule  = all {"or" all}
    all   = one {"and" one}
    one   = "not" one | "(" rule ")" | term
    term  = END "is" ["not"] what | END "~" /expression/ | END "position" COMPARED NUMBER | "offset" COMPARED NUMBER
          | "same" ("word" | "token" | "segment" | "position") | "other" "segment" | "relation" "is" RELATION
          | "induction" | "key" "follows" "the" "last" "occurrence" "of" "query"
    what  = "text" | KIND | TAG | "first" "in" "segment" | "head" "of" END ["by" RELATION]
    END   = "query" | "key"        COMPARED = "=" | "!=" | "<" | "<=" | ">" | ">="
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, NoReturn

import regex
from rich.cells import cell_len

from regard.base.errors import UserError
from regard.patterns import terms
from regard.patterns.definitions import Part, Pattern, Targets
from regard.patterns.terms import KINDS, SAME, TAGS, TREE, Term
from regard.trace.places import Array

LONGEST = 1_000  # characters of a rule
_DEEPEST = 50  # brackets and nots inside each other
_EXPRESSION = 200  # characters of a regular expression
_REPEATED = 1_000  # product of its counted repetitions: an engine writes them all out
_COMPARED: dict[str, Callable[[Array, int], Array]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ENDS = ("query", "key")
_LEXEME = re.compile(
    r"""(?P<text>"[^"]*"|'[^']*'|“[^”]*”) | (?P<expression>/(?:\\.|[^/\\])*/) | (?P<number>[-−]?\d{1,9}(?!\w))
    | (?P<sign><=|>=|!=|[=<>~()]) | (?P<word>[^\W\d]+(?::[^\W\d]+)*) | (?P<open>["'“/])""",
    re.VERBOSE,
)
_WHAT = f"a text in quotes, a kind of word ({', '.join(KINDS)}), a tag such as NOUN, first in segment, or head of"
_TERM = "query, key, offset, same, other, relation, induction, not or ("


@dataclass(frozen=True)
class Rule(Pattern):
    """A pattern with the rule's text as its name."""

    needs: frozenset[str] = frozenset()

    @property
    def phrase(self) -> str:
        """What a head does, in a sentence."""
        return f"attends to keys for which {self.name}"

    @property
    def needs_trees(self) -> bool:
        """Whether it asks for tags or relations, which only a treebank has."""
        return TREE in self.needs


def parse_rule(text: str) -> Rule:
    """The rule that a text states.

    Examples
    --------
    >>> parse_rule("offset = -1").phrase
    'attends to keys for which offset = -1'
    """
    line = " ".join(text.split())
    if not line:
        raise UserError("the rule is empty; write one such as: offset = -1")
    if len(line) > LONGEST:
        raise UserError(f"the rule has {len(line):,} characters, and at most {LONGEST:,} are read; write a shorter one")
    term = _Parser(line).whole()

    def choose(part: Part) -> Targets:
        return term.ask(part), part.queries.content

    return Rule(line, choose, terms.missing_for(term.needs), "no_target", needs=term.needs)


def _other(end: str) -> str:
    return _ENDS[1 - _ENDS.index(end)]


class _Lexeme(NamedTuple):
    kind: str
    text: str
    place: int


class _Parser:
    """Recursive descent: a method for each line of the grammar."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.lexemes = self._lexemes()
        self.next = 0
        self.depth = 0

    def whole(self) -> Term:
        term = self._rule()
        if self._seen.kind != "end":
            self._fail("and, or, or the end of the rule")
        return term

    # -- the grammar ---------------------------------------------------------------------------------------------

    def _rule(self) -> Term:
        term = self._all()
        while self._take("or"):
            term = term | self._all()
        return term

    def _all(self) -> Term:
        term = self._one()
        while self._take("and"):
            term = term & self._one()
        return term

    def _one(self) -> Term:
        self.depth += 1
        if self.depth > _DEEPEST:
            self._fail(f"at most {_DEEPEST} brackets and nots inside each other", came="")
        if self._take("not"):
            term = ~self._one()
        elif self._take("("):
            term = self._rule()
            self._need(")")
        else:
            term = self._term()
        self.depth -= 1
        return term

    def _term(self) -> Term:
        for end in _ENDS:
            if self._take(end):
                return self._of_end(end)
        if self._take("offset"):
            return terms.offset(self._comparison(), self._number())
        if self._take("same"):
            return SAME[self._choice(SAME)]
        if self._take("other"):
            self._need("segment")
            return terms.OTHER_SEGMENT
        if self._take("relation"):
            self._need("is")
            return terms.related(self._relation())
        if self._take("induction"):
            return terms.INDUCTION
        return self._fail(_TERM)

    def _of_end(self, end: str) -> Term:
        if self._take("position"):
            return terms.of_end(end, terms.at_position(self._comparison(), self._number()))
        if self._take("~"):
            return terms.of_end(end, terms.matching(self._expression()))
        if end == "key" and self._take("follows"):
            for word in "the last occurrence of query".split():
                self._need(word)
            return terms.FOLLOWS_LAST
        if not self._take("is"):
            self._fail("is, ~, position or follows" if end == "key" else "is, ~ or position")
        return ~self._what(end) if self._take("not") else self._what(end)

    def _what(self, end: str) -> Term:
        seen = self._seen
        if seen.kind == "text":
            self.next += 1
            return terms.of_end(end, terms.written(seen.text[1:-1]))
        if self._take("first"):
            self._need("in")
            self._need("segment")
            return terms.of_end(end, terms.first_in_segment)
        if self._take("head"):
            self._need("of")
            self._need(_other(end))
            return terms.head_of(end, self._relation() if self._take("by") else None)
        kind = next((kind for kind in KINDS if self._take(*kind.split())), None)
        if kind is not None:
            return terms.of_end(end, KINDS[kind])
        if seen.kind == "word" and seen.text.upper() in TAGS:
            self.next += 1
            return terms.of_end(end, terms.tagged(seen.text.upper()), TREE)
        return self._fail(f"{_WHAT} {_other(end)}")

    def _comparison(self) -> Callable[[Array, int], Array]:
        return _COMPARED[self._choice(_COMPARED)]

    def _number(self) -> int:
        seen = self._seen
        if seen.kind != "number":
            self._fail("a whole number such as -1")
        self.next += 1
        return int(seen.text.replace("−", "-"))

    def _relation(self) -> str:
        seen = self._seen
        if seen.kind != "word":
            self._fail("a relation such as nsubj")
        self.next += 1
        return seen.text.lower()

    def _expression(self) -> regex.Pattern[str]:
        """A regular expression that Python reads, too, and that cannot grow without bound.

        `regex` compiles it, which can be given a time limit for each word, but writes counted repetitions out.
        """
        seen = self._seen
        if seen.kind != "expression":
            self._fail("a regular expression between slashes, such as /^[0-9]+$/")
        found = seen.text[1:-1].replace(r"\/", "/")
        if len(found) > _EXPRESSION:
            self._fail(f"a regular expression of at most {_EXPRESSION} characters", came="")
        counts = [int(count) for some in re.findall(r"\{([\d,]*)\}", found) for count in some.split(",") if count]
        if prod(max(1, count) for count in counts) > _REPEATED:
            self._fail(f"counted repetitions of at most {_REPEATED:,} together", came="")
        self.next += 1
        try:
            re.compile(found)
            return regex.compile(found)
        except (re.error, regex.error, OverflowError, RecursionError) as error:
            place, why = getattr(error, "pos", None) or 0, getattr(error, "msg", error)
            self._fail(f"a regular expression ({why})", at=seen.place + 1 + place, came="")

    # -- lexemes -------------------------------------------------------------------------------------------------

    def _lexemes(self) -> list[_Lexeme]:
        found, place = list[_Lexeme](), 0
        while place < len(self.line):
            if self.line[place] == " ":
                place += 1
                continue
            match = _LEXEME.match(self.line, place)
            if match is None:
                self._fail("a rule's own words and signs", at=place, came=self.line[place])
            if match.lastgroup == "open":
                what = "regular expression" if match[0] == "/" else "text"
                self._fail(f"the other end of this {what}", at=place, came="")
            found.append(_Lexeme(str(match.lastgroup), match[0], place))
            place = match.end()
        return [*found, _Lexeme("end", "", len(self.line))]

    @property
    def _seen(self) -> _Lexeme:
        return self.lexemes[self.next]

    def _take(self, *words: str) -> bool:
        """Whether these words and signs come next; then they are taken."""
        coming = self.lexemes[self.next : self.next + len(words)]
        taken = [one.text.lower() for one in coming if one.kind in ("word", "sign")] == list(words)
        self.next += len(words) * taken
        return taken

    def _need(self, word: str) -> None:
        if not self._take(word):
            self._fail(word)

    def _choice(self, known: Mapping[str, Any]) -> str:
        found = next((name for name in known if self._take(name)), None)
        return self._fail(f"one of {', '.join(known)}") if found is None else found

    def _fail(self, expected: str, *, at: int | None = None, came: str | None = None) -> NoReturn:
        """Say what was expected where, and what came unless that is no help; a caret is below the place."""
        place = self._seen.place if at is None else at
        came = (self._seen.text or "the end of the rule") if came is None else came
        what = f"expected {expected}, not {came}" if came else f"expected {expected}"
        caret = " " * cell_len(self.line[:place]) + "^"
        raise UserError(f"the rule cannot be read at {place + 1}: {what}\n  {self.line}\n  {caret}")
