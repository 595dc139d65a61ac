"""Rules: what they mean, by plain loops over queries and keys, and what is said of those that cannot be read."""

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.base.errors import UserError
from regard.patterns.definitions import PATTERNS, Part
from regard.patterns.rules import parse_rule
from regard.trace.places import Grammar, context_between

TEXT = "the cat sat on the mat, unbeliev it sat on 2 store."
PAIR = "it bought the strawberries!"
# Words, tags, heads and relations of TEXT as a treebank has them.
TREE = [
    *(("the", "DET", 1, "det"), ("cat", "NOUN", 2, "nsubj"), ("sat", "VERB", -1, "root"), ("on", "ADP", 5, "case")),
    *(("the", "DET", 5, "det"), ("mat", "NOUN", 2, "obl"), (",", "PUNCT", 2, "punct")),
    *(("unbeliev", "ADV", 9, "advmod"), ("it", "PRON", 9, "nsubj:pass"), ("sat", "VERB", 2, "parataxis")),
    *(("on", "ADP", 12, "case"), ("2", "NUM", 12, "nummod"), ("store", "NOUN", 9, "obl"), (".", "PUNCT", 2, "punct")),
]


def text_for(causal):
    """The tiny encoder knows no digits."""
    return TEXT if causal else TEXT.replace("2", "a")


def grammar_of(side, text):
    """The tree by token, from where its words stand in the text."""
    spans, place = [], 0
    for form, *_ in TREE:
        place = text.index(form if form in text else "a", place)
        spans.append(range(place, place := place + len(form)))
    pieces = [next((n for n, span in enumerate(spans) if token.start in span), -1) for token in side.tokens]
    pieces = [-1 if token.segment else piece for token, piece in zip(side.tokens, pieces, strict=True)]
    tags, heads, relations = (np.array(column) for column in list(zip(*TREE, strict=True))[1:])
    return Grammar(np.array(pieces), tags, heads, relations)


@pytest.fixture(scope="module")
def contexts(bert, llama):
    """Two sentences for an encoder, one for a decoder, with their tree."""
    found = []
    for model, causal in ((bert, False), (llama, True)):
        side = model.trace(text_for(causal), None if causal else PAIR).side()
        found.append(replace(context_between(side, side, True, causal), grammar=grammar_of(side, text_for(causal))))
    return found


def part_of(context, start=0, stop=None):
    n = len(context.keys.words)
    visible = np.tri(n, dtype=bool) if context.causal else np.ones((n, n), bool)
    rows = slice(start, n if stop is None else stop)
    return Part(context, context.queries.part(rows), start, visible[rows])


class Seen:
    """A token as a loop sees it."""

    def __init__(self, context, place):
        side, grammar = context.sides[0], context.grammar
        token = side.tokens[place]
        self.place, self.token, self.special = place, token, token.special
        self.text = token.text.strip().removeprefix("##").lower()
        group = [t for t in side.tokens if t.word == token.word and t.segment == token.segment]
        text = PAIR if token.segment else text_for(context.causal)
        self.word = "" if token.word is None else text[group[0].start : group[-1].end].strip()
        self.number = grammar.pieces[place]
        self.tag, self.head, self.relation = TREE[self.number][1:] if self.number >= 0 else ("", None, "")


def opens(context, seen):
    tokens = context.sides[0].tokens
    return not any(t.segment == seen.token.segment and not t.special for t in tokens[: seen.place])


def followed(context, q, k, *, last):
    """Whether the key stands after an earlier place of the query's token, or after the last of them."""
    ids = [token.id for token in context.sides[0].tokens]
    before = [j for j in range(q.place) if ids[j] == q.token.id]
    wanted = before[-1:] if last else before
    return k.place - 1 in wanted and k.place < q.place and k.token.id != q.token.id


RULES = {
    "offset = -1": lambda c, q, k: k.place == q.place - 1,
    "offset >= −3 and offset != 0 and not offset > 2": lambda c, q, k: (
        -3 <= k.place - q.place <= 2 and k.place != q.place
    ),
    "key is \"the\" or key is 'SAT'": lambda c, q, k: k.text in ("the", "sat"),
    "key is “t”": lambda c, q, k: k.text == "t",
    "key ~ /^[0-9]+$/": lambda c, q, k: k.word.isdigit(),
    "key ~ /at$/ and query ~ /^.{2}$/": lambda c, q, k: k.word.endswith("at") and len(q.word) == 2,
    r"key ~ /^[.,!\/]$/": lambda c, q, k: k.word in (".", ",", "!"),
    "key is punctuation": lambda c, q, k: k.word != "" and not any(map(str.isalnum, k.word)),
    "key is number": lambda c, q, k: any(map(str.isdigit, k.word)),
    "key is not number and query is later piece": lambda c, q, k: (
        not any(map(str.isdigit, k.word))
        and q.place > 0
        and q.token.word is not None
        and c.sides[0].tokens[q.place - 1].word == q.token.word
        and c.sides[0].tokens[q.place - 1].segment == q.token.segment
    ),
    "same word and not same position": lambda c, q, k: (
        q.word.lower() == k.word.lower() and any(map(str.isalnum, q.word)) and q.place != k.place
    ),
    "same token": lambda c, q, k: q.token.id == k.token.id,
    "induction": lambda c, q, k: followed(c, q, k, last=False),
    "key follows the last occurrence of query": lambda c, q, k: followed(c, q, k, last=True),
    "key is first in segment": lambda c, q, k: opens(c, k),
    "same segment": lambda c, q, k: q.token.segment == k.token.segment,
    "other segment": lambda c, q, k: q.token.segment != k.token.segment,
    "query position < 4": lambda c, q, k: q.place < 4,
    "key position = 5": lambda c, q, k: k.place == 5,
    "query is PRON and key is noun and offset < 0": lambda c, q, k: (
        q.tag == "PRON" and k.tag == "NOUN" and k.place < q.place
    ),
    "key is head of query": lambda c, q, k: q.head is not None and q.head == k.number >= 0,
    "key is head of query by nsubj": lambda c, q, k: q.relation.startswith("nsubj") and q.head == k.number,
    "key is head of query by nsubj:pass": lambda c, q, k: q.relation == "nsubj:pass" and q.head == k.number,
    "query is head of key by obl": lambda c, q, k: k.relation == "obl" and k.head == q.number,
    "relation is det": lambda c, q, k: (
        (q.relation == "det" and q.head == k.number) or (k.relation == "det" and k.head == q.number)
    ),
    "not (query is NOUN or key is NOUN) and offset = 1": lambda c, q, k: (
        "NOUN" not in (q.tag, k.tag) and k.place == q.place + 1
    ),
}


def by_loops(context, whole, holds):
    """(n, n) targets outside the resting places, and (n,) ordinary tokens."""
    seen = [Seen(context, place) for place in range(len(context.keys.words))]
    found = np.zeros((len(seen), len(seen)), bool)
    for q in seen:
        for k in seen:
            rests = k.special or (context.causal and k.place == 0)
            found[q.place, k.place] = whole.visible[q.place, k.place] and not rests and holds(context, q, k)
    return found, np.array([not one.special for one in seen])


@pytest.mark.parametrize("text", RULES)
def test_a_rule_means_what_a_loop_over_queries_and_keys_finds(contexts, text):
    rule, count = parse_rule(text), 0
    for context in contexts:
        assert rule.missing(context) == ""
        whole = part_of(context)
        expected, ordinary = by_loops(context, whole, RULES[text])
        targets, rows = rule.targets(whole)
        np.testing.assert_array_equal(rows, ordinary)
        np.testing.assert_array_equal(targets[rows], expected[ordinary])
        some, _ = rule.targets(part_of(context, 5, 11))  # a few rows of a long text
        np.testing.assert_array_equal(some, targets[5:11])
        count += expected[ordinary].sum()
    assert count


@pytest.mark.parametrize(("text", "name"), [("offset = -1", "previous token"), ("induction", "induction")])
def test_a_rule_that_says_what_a_pattern_does_has_its_targets(llama, text, name):
    side = llama.trace(TEXT).side()
    part = part_of(context_between(side, side, True, True))
    pattern = next(pattern for pattern in PATTERNS if pattern.name == name)
    np.testing.assert_array_equal(parse_rule(text).targets(part)[0], pattern.targets(part)[0])


def test_and_binds_closer_than_or_and_not_closest(contexts):
    part = part_of(contexts[1])

    def targets(text):
        return parse_rule(text).targets(part)[0]

    one = "key is number or key is punctuation and offset < -2"
    np.testing.assert_array_equal(targets(one), targets("key is number or (key is punctuation and offset < -2)"))
    assert (targets(one) != targets("(key is number or key is punctuation) and offset < -2")).any()
    np.testing.assert_array_equal(targets("not same word and offset = -1"), targets("(not same word) and offset = -1"))


def test_what_cannot_be_asked_has_a_reason(bert, t5):
    side = bert.trace(TEXT).side()
    plain = context_between(side, side, True, False)
    assert parse_rule("key is NOUN or offset = 1").missing(plain) == "no_tree"
    assert parse_rule("offset = 1").missing(plain) == ""
    sides = t5.trace(TEXT, target="the cat sat").sides
    cross = context_between(sides["decoder"], sides["encoder"], False, False)
    assert parse_rule("offset = 1").missing(cross) == parse_rule("key is head of query").missing(cross) == "two_texts"
    assert parse_rule("same word").missing(cross) == parse_rule("key is punctuation").missing(cross) == ""


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("query is PRON NOUN", 15, "expected and, or, or the end of the rule, not NOUN"),
        ("key is FOO", 8, "a tag such as NOUN, first in segment, or head of query, not FOO"),
        ("key ~ abc", 7, "a regular expression between slashes"),
        ("key ~ /a[b/", 9, "unterminated character set"),
        ("key ~ /a", 7, "the other end of this regular expression"),
        ('key is "the', 8, "the other end of this text"),
        ("offset = x", 10, "a whole number such as -1, not x"),
        ("offset -1", 8, "expected one of =, !=, <"),
        ("same thing", 6, "one of word, token, segment, position, not thing"),
        ("(key is common", 15, "expected ), not the end of the rule"),
        ("key is head of key", 16, "expected query, not key"),
        ("offset = 1 && same word", 12, "a rule's own words and signs"),
        ("not " * 60 + "induction", 201, "at most 50 brackets"),
        ("key is '中文' and key foo", 21, "expected is, ~, position or follows, not foo"),
        ("key ~ /((a{99}){99}){99}/", 7, "at most 1,000 together"),
        ("key ~ /(?R)/", 9, "unknown extension"),
        (f"key ~ /{'a' * 201}/", 7, "at most 200 characters"),
    ],
)
def test_a_rule_that_cannot_be_read_is_shown_with_the_character(text, place, expected):
    with pytest.raises(UserError) as error:
        parse_rule(text)
    first, line, caret = str(error.value).splitlines()
    assert first.startswith(f"the rule cannot be read at {place}: ") and expected in first
    assert line == f"  {text}"
    wide = len(re.findall(r"[\u4e00-\u9fff]", text[: place - 1]))  # of two columns each
    assert caret == " " * (2 + place - 1 + wide) + "^"


@pytest.mark.parametrize(("text", "expected"), [(" ", "is empty"), ("offset = 1 or " * 100, "at most 1,000")])
def test_an_empty_or_endless_rule_is_refused(text, expected):
    with pytest.raises(UserError, match=expected):
        parse_rule(text)


PIECES = (
    *"query key is not and or ( ) offset = < -1 position 3 same word segment other first in head of by nsubj".split(),
    *("NOUN", "common", "later", "piece", '"the"', '"', "/a+/", "/(/", "~", "induction", "follows", "{", "é", "0" * 12),
)


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from(["", " "]))
@settings(max_examples=300, deadline=None)
def test_whatever_is_typed_is_a_rule_or_a_sentence_about_it(pieces, between):
    with suppress(UserError):
        parse_rule(between.join(pieces))


def test_an_expression_that_would_run_forever_is_stopped(bert):
    side = bert.trace("a" * 40).side()
    token = replace(side.tokens[1], text="a" * 5_000 + "!")
    side = replace(side, tokens=(side.tokens[0], token, *side.tokens[2:]))
    part = part_of(context_between(side, side, True, False))
    with pytest.raises(UserError, match=r"/\(a\|a\?\)\+\$/ takes more than 1 s for words such as 'aaa"):
        parse_rule("key ~ /(a|a?)+$/").targets(part)


def test_every_rule_on_the_page_can_be_read():
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "rules.md").read_text("utf-8")
    rows = [line.partition("|")[2].partition(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    rules = [rule for row in rows for rule in re.findall("`([^`]+)`", row)]
    assert len(rules) == 17
    assert [parse_rule(rule).name for rule in rules] == rules
    shown = re.search(r"```text\n(.*)\n```", page, flags=re.DOTALL)[1]
    with pytest.raises(UserError, match=re.escape(shown)):
        parse_rule("query is PRON NOUN")
