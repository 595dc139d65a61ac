"""The text that a trace read, put together from its tokens."""

from __future__ import annotations

import pytest

from regard.trace.tokens import Segment, Side, Token, text_of


def side(*tokens: Token, names: tuple[str, ...] = ("A",)) -> Side:
    return Side("x", tokens, tuple(Segment(name, 0, 0) for name in names))


def pieces(*texts: str, segment: int = 0, spans: tuple[tuple[int, int], ...] = ()) -> list[Token]:
    places = spans or ((None, None),) * len(texts)
    return [
        Token(text, start=start, end=end, segment=segment) for text, (start, end) in zip(texts, places, strict=True)
    ]


def test_spaces_are_where_the_text_had_them_and_sentences_are_apart():
    spans = ((0, 5), (6, 11), (11, 15), (15, 16))
    first = pieces("fresh", "straw", "##ries", ".", spans=spans)
    second = pieces("yes", "!", segment=1, spans=((0, 3), (3, 4)))
    special = Token("[SEP]", special=True)
    assert text_of(side(*first, special, *second, names=("A", "B"))) == "fresh strawries. / yes!"


def test_tokens_with_their_own_spaces_are_joined_and_an_answer_goes_on():
    told = [*pieces("The", " cat", "."), *pieces(" It", " slept", segment=1)]
    assert text_of(side(*told, names=("prompt", "answer"))) == "The cat. It slept"


@pytest.mark.parametrize(
    ("texts", "written"), [(("a", "b", "."), "a b."), (("un", "##do"), "undo"), ((), ""), (("界", "₂"), "界₂")]
)
def test_without_places_words_are_apart_and_marks_follow_them(texts, written):
    assert text_of(side(*pieces(*texts))) == written
