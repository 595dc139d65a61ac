"""Seven small models whose lines are cut, random lines of their traces, and one model cut in plain torch."""

from copy import deepcopy

import numpy as np
import torch
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    GptOssConfig,
    GptOssForCausalLM,
    MistralConfig,
    MistralForCausalLM,
)

import regard
from regard.trace.edges import EdgeBlock
from regard.trace.heads import Head
from regard.trace.trace import Trace
from tests.tiny import enlarged, made

EDGES = 10
SHAPE = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 32, "max_position_embeddings": 64, "head_dim": 8,
}  # fmt: skip


def mistral(tokenizer):
    config = MistralConfig(vocab_size=len(tokenizer), sliding_window=4, **SHAPE)
    return enlarged(made(MistralForCausalLM, config, tokenizer), 4)


def gemma2(tokenizer):
    config = Gemma2Config(vocab_size=len(tokenizer), sliding_window=5, attn_logit_softcapping=2.0, **SHAPE)
    return enlarged(made(Gemma2ForCausalLM, config, tokenizer), 2)


def gpt_oss(tokenizer):
    more = {"num_local_experts": 2, "num_experts_per_tok": 1, "sliding_window": 5}
    config = GptOssConfig(vocab_size=len(tokenizer), **SHAPE, **more)
    return enlarged(made(GptOssForCausalLM, config, tokenizer), 4)


MADE = {"mistral": mistral, "gemma2": gemma2, "gpt_oss": gpt_oss}
KINDS = {"bert": "encoder", "t5": "cross"}
SEVEN = ("bert", "gpt2", "llama", "t5", *MADE)


def sharpened(model, name):
    """A copy with larger weights: attention far from uniform."""
    return enlarged(regard.load((deepcopy(model.module), model.tokenizer)), 2 if name == "t5" else 6)


def random_edges(trace: Trace, kind: str, count=EDGES, seed=0):
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        site = trace.site(int(rng.choice(trace.layers(kind))), kind=kind)
        head, query, key = (int(rng.integers(n)) for n in (site.heads, site.queries, site.keys))
        if site.visible(head, [query], [key]).all():
            found.append(EdgeBlock((Head(kind, site.layer, head),), (query,), (key,)))
    return found


def result(model, inputs):
    with torch.no_grad():
        found = model.module(**inputs)
    return getattr(found, "logits", None) if getattr(found, "logits", None) is not None else found.last_hidden_state


class ByHand:
    """The built-in translator with one line cut in plain torch, or its weights kept for autograd."""

    def __init__(self, attention, head=0, query=0, key=0, how=None):
        self.attention, self.place, self.how = attention, (0, head, query, key), how

    def __enter__(self):
        self.before, self.attention.attend = self.attention.attend, self.attend
        return self

    def __exit__(self, *_):
        self.attention.attend = self.before

    def attend(self, q, k, v, mask=None):
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
        if self.how == "mask":
            scores = scores.index_put(tuple(map(torch.tensor, self.place)), torch.tensor(-torch.inf))
        weights = scores.softmax(-1).nan_to_num()
        if self.how == "zero":
            weights = weights.index_put(tuple(map(torch.tensor, self.place)), torch.tensor(0.0))
        self.weights = weights.detach().requires_grad_() if self.how is None else weights
        return self.weights @ v
