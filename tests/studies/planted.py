"""A real BERT whose heads do what they are told, and a treebank in its own small language.

In every sentence the dependents "d0".."d4" hang on the heads "h0".."h4" of the same number, and each head on the one
before it; the order is random. Head 0 attends to the syntactic head (it finds the word of that name), head 1 to the
position to the left; both so sharply that nothing else gets anything.
"""

from __future__ import annotations

import random
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

import regard

COUNT = 5
WORDS = [f"{kind}{n}" for n in range(COUNT) for kind in "dh"]
_SIZE = 64  # of a head: words and positions are one-hot vectors of it
_SHARP = 40.0  # scores are so far apart that all but one key get exactly nothing


def planted_tokenizer() -> PreTrainedTokenizerFast:
    vocab = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])}
    backend = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    return PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=_SIZE, **names)


def planted_model() -> regard.Model:
    tokenizer = planted_tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=2 * _SIZE,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=_SIZE,
    )
    module = BertModel(config).eval()
    words, positions = slice(0, _SIZE), slice(_SIZE, 2 * _SIZE)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
        embeddings, attention = module.embeddings, module.encoder.layer[0].attention.self
        embeddings.LayerNorm.weight.fill_(1)
        embeddings.word_embeddings.weight[:, words] = torch.eye(_SIZE)[: len(tokenizer)]
        embeddings.position_embeddings.weight[:, positions] = torch.eye(_SIZE)
        attention.key.weight[words, words] = torch.eye(_SIZE)
        attention.key.weight[positions, positions] = torch.eye(_SIZE)
        for word, head in tree_of_words().items():
            place, target = (tokenizer.convert_tokens_to_ids(name) for name in (word, head))
            attention.query.weight[target, place] = _SHARP
        attention.query.weight[positions, positions] = _SHARP * torch.eye(_SIZE).roll(-1, dims=0)
        attention.query.weight[2 * _SIZE - 1, _SIZE] = 0  # nothing is to the left of the first
    return regard.load((module, tokenizer))


def tree_of_words() -> dict[str, str]:
    """The head of every word but the root, "h0"."""
    heads = {f"h{n}": f"h{n - 1}" for n in range(1, COUNT)}
    return heads | {f"d{n}": f"h{n}" for n in range(COUNT)}


def write_planted(path: Path, count: int, seed: int = 0) -> Path:
    """A treebank of `count` sentences in the planted language."""
    chooser = random.Random(seed)
    lines = []
    for _ in range(count):
        kept = chooser.randint(1, COUNT)  # heads h0.. of this sentence, each with its dependent
        order = [word for word in WORDS if int(word[1]) < kept]
        chooser.shuffle(order)
        for number, word in enumerate(order, 1):
            head = tree_of_words().get(word)
            place = 0 if head is None else order.index(head) + 1
            relation = "root" if head is None else "nsubj" if word[0] == "d" else "conj"
            lines.append(f"{number}\t{word}\t{word}\tX\t_\t_\t{place}\t{relation}\t_\t_")
        lines.append("")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path
