"""Mean head outputs by default: the sentences that come with regard, and the means over them.

Enters: a `Model`. Leaves: mean outputs of its heads, for mode "mean".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.capture import Means
    from regard.models.model import Model

# Everyday English: statements, questions, requests, speech, numbers, names; 5 to 17 words each.
SENTENCES = (
    "The children ran home because it had started to rain.",
    "Where did you put the keys to the car?",
    "My sister works in a small hospital near the river.",
    "Please close the window before you go to bed.",
    "In 1998 the town had fewer than two thousand people.",
    "He said that he would call, but he never did.",
    "Fresh bread smells best early in the morning.",
    '"I have never seen so many stars," she whispered.',
    "The train to Boston leaves at half past seven.",
    "Nobody in the office knew who had written the letter.",
    "If the weather is good, we will eat in the garden tomorrow.",
    "What a beautiful old house!",
    "The price of coffee rose by twelve percent last year.",
    "Tom gave his brother the book that he had bought in Paris.",
    "You should not drive when you are tired.",
    "The dog that lives next door barks at everyone who walks past.",
    "Two plus three is five.",
    "She opened the box, looked inside, and laughed.",
    "Water turns into ice when it gets cold enough.",
    "Do you think that the new teacher is too strict?",
    "The committee will meet again on Thursday to discuss the plan.",
    "I'm sorry, I can't hear you very well.",
    "After a long winter, the first flowers came up through the snow.",
    "Their team lost the game although they had played well.",
    "The doctor told Maria to rest and to drink plenty of water.",
    "Most of the people who came to the concert were young.",
    "It was dark, and the road was wet.",
    "Could you help me carry this table upstairs?",
    "The old bridge was built by farmers more than three hundred years ago.",
    "Neither of them wanted to be the first to leave.",
    "Mr. Green sells apples, pears and plums at the market every Saturday.",
    "When the music stopped, everybody began to clap, and even the quiet man in the corner smiled.",
)
NAME = f"{len(SENTENCES)} sentences that come with regard"


def standard_means(model: Model) -> Means:
    """Mean outputs of a model's heads over `SENTENCES`; computed once and kept, as in `Model.head_means`.

    In an encoder-decoder model the decoder reads the model's answer to each sentence; if it cannot generate, the
    sentence itself.
    """
    silent = model.is_encoder_decoder and not model.can_generate
    return model.head_means(SENTENCES, targets=SENTENCES if silent else None)
