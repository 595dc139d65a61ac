"""Examples to click: a sentence, the head to look at, and what to look for. tests/app checks that it can be seen.

Enters: the models on the list. Leaves: records as described in docs/reference/app.md: examples for these models, and
one for each family of models, which says what to look for but not where.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from regard.models.packaged import DEFAULT

_STORE = ("I went to the store.", "At the store, I bought fresh strawberries.")
_AGAIN = "The cat sat on the mat. The dog lay on the rug. The cat sat on the mat. The dog"


def _example(
    name: str, text: str, pair: str | None, place: tuple[str, int, int], en: str, zh: str, *, model: str = DEFAULT
) -> dict[str, Any]:
    kind, layer, head = place
    return {
        "id": name,
        "model": model,
        "family": None,
        "text": text,
        "pair": pair,
        "target": None,
        "open": {"view": "heads", "kind": kind, "layer": layer, "heads": [head]},
        "look": {"en": en, "zh": zh},
    }


def _opening(family: str, text: str, pair: str | None, en: str, zh: str) -> dict[str, Any]:
    return {
        "id": f"any-{family}",
        "model": None,
        "family": family,
        "text": text,
        "pair": pair,
        "target": None,
        "open": {"view": "atlas", "kind": None, "layer": None, "heads": None},
        "look": {"en": en, "zh": zh},
    }


EXAMPLES = [
    _example(
        "previous",
        *_STORE,
        ("encoder", 0, 2),
        "Head 0.2: every token looks at the token before it.",
        "头 0.2：每个词元都看向它前面的词元。",
    ),
    _example(
        "next",
        *_STORE,
        ("encoder", 1, 8),
        "Head 1.8: most tokens look at the token after them.",
        "头 1.8：大多数词元看向它后面的词元。",
    ),
    _example(
        "resting",
        *_STORE,
        ("encoder", 2, 7),
        "Head 2.7: nearly all attention rests on [CLS]. Such a head has little to do here.",
        "头 2.7：几乎所有注意力都停在 [CLS] 上。这样的头在这里几乎无事可做。",
    ),
    _example(
        "same-word",
        "The cat sat on the mat.",
        "The cat lay on the rug.",
        ("encoder", 2, 9),
        "Head 2.9: words look for themselves in the other sentence; follow “cat” and “on”.",
        "头 2.9：词语在另一句中寻找自己；请看 “cat” 和 “on”。",
    ),
    _example(
        "pronoun",
        "The animal didn't cross the street because it was too tired.",
        None,
        ("encoder", 3, 1),
        "Head 3.1: “it” looks at “animal”. Replace “tired” with “wide”, and it does so much less.",
        "头 3.1：“it” 看向 “animal”。把 “tired” 换成 “wide”，它就看得少多了。",
    ),
    _example(
        "word-order",
        "I like the red house.",
        None,
        ("cross", 2, 4),
        "Cross head 2.4: after “la” the translator looks at “house”, and only then at “red”: the "
        "noun comes first in Spanish.",
        "交叉注意力，头 2.4：写完 “la” 后翻译器先看 “house”，再看 “red”：西班牙语名词在前。",
        model="translator",
    ),
    _example(
        "induction",
        _AGAIN,
        None,
        ("decoder", 17, 5),
        "Head 17.5: the last “dog” looks at “lay”, the word that came after “dog” the first time.",
        "头 17.5：最后一个 “dog” 看向 “lay”，即 “dog” 第一次出现时后面的词。",
        model="SmolLM2-135M-Instruct",
    ),
]

OPENINGS = [
    _opening(
        "encoder",
        *_STORE,
        "All heads at once. Which look at the word before or after, which at the same word in the other sentence?",
        "所有的头都在这里。哪些看前一个或后一个词，哪些看另一句中的同一个词？",
    ),
    _opening(
        "decoder",
        _AGAIN,
        None,
        "All heads at once; a word sees itself and what came before. Which heads look from the last “dog” at “lay”?",
        "所有的头都在这里；每个词只看得到自己和前面的词。哪些头从最后一个 “dog” 看向 “lay”？",
    ),
    _opening(
        "encoder-decoder",
        "I like the red house.",
        None,
        "All heads at once. In cross attention: which words of the sentence does each word of the answer look at?",
        "所有的头都在这里。看交叉注意力：回答中的每个词看向句子的哪些词？",
    ),
]


def examples_for(models: Collection[str]) -> list[dict[str, Any]]:
    """The examples for these models, and those that suit any model of a family."""
    return [one for one in EXAMPLES if one["model"] in models] + OPENINGS
