"""A vocabulary with known neighbours, and a model that has it."""

from itertools import product

import numpy as np
import torch

import regard

HERE, ACROSS = "related word", "related word in the other sentence"
UNKNOWN = "it is not known which words are related; trace the text with a model that has a word embedding"
# 150 words of no meaning, and some with neighbours: dog's row is near cat's, the pieces of playing lie around toy.
MADE = ["".join(letters) for letters in product("bdfgk", "aeiou", "lmnrst")]
MEANT = "the a cat dog sat on toy play ##ing sky . , [unused1] 7".split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def planted(tokenizer, module):
    """The module with a random embedding in which some words have known neighbours."""
    weight = module.get_input_embeddings().weight
    rows = np.random.default_rng(3).normal(size=tuple(weight.shape)).astype(np.float32)
    at = tokenizer.convert_tokens_to_ids
    rows[at("dog")] = rows[at("cat")] + 0.3 * rows[at("dog")]
    rows[at("sky")] = -rows[at("cat")]
    rows[at("play")], rows[at("##ing")] = rows[at("toy")] + rows[at("on")], rows[at("toy")] - rows[at("on")]
    with torch.no_grad():
        weight.copy_(torch.from_numpy(rows))
    return regard.load((module.eval(), tokenizer))


def words_of(side):
    return {frozenset(side.tokens[i].text for i in pair) for pair in side.related.tolist()}
