"""Tiny models that answer, and one whose words have known neighbours."""

from copy import deepcopy

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertModel,
    PreTrainedTokenizerFast,
)

from tests.models.related_words import MADE, MEANT, SPECIAL, planted
from tests.models.talkers import FAMILIES, NAMED
from tests.tiny import SIZES, enlarged, made


@pytest.fixture(scope="module")
def chatting(bytelevel):
    """A function from a template to a tokenizer that has it."""

    def of(template):
        tokenizer = deepcopy(bytelevel)
        tokenizer.model_max_length, tokenizer.chat_template = 256, template
        return tokenizer

    return of


@pytest.fixture(scope="module")
def talker(chatting):
    """A function from a family and a template to a tiny model whose attention is far from uniform."""
    known = {}

    def of(family="llama", template=NAMED):
        if (family, template) not in known:
            kind, config, sizes = FAMILIES[family]
            tokenizer = chatting(template)
            same = {"vocab_size": len(tokenizer), "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
            known[family, template] = enlarged(made(kind, config(**same, **sizes), tokenizer), 12)
        return known[family, template]

    return of


@pytest.fixture(scope="module")
def many():
    """A WordPiece tokenizer with words enough to draw pairs from."""
    backend = Tokenizer(models.WordPiece({w: i for i, w in enumerate([*SPECIAL, *MEANT, *MADE])}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    return PreTrainedTokenizerFast(tokenizer_object=backend, model_input_names=inputs, model_max_length=64, **names)


@pytest.fixture(scope="module")
def relating(many):
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(many), max_position_embeddings=64, **SIZES)
    return planted(many, enlarged(made(BertModel, config, many)).module)
