"""The Transformer of Vaswani et al. (2017) and BERT of Devlin et al. (2019), to be read from top to bottom.

Enters: token ids. Leaves: logits over the vocabulary (Translator) or one vector per token and two heads (Bert).

Letters at line ends: B sentences, T positions of the query side, S positions of the key side, D width,
H heads, d = D / H, V words of the vocabulary. Long on purpose, so that it can be read in one go.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import torch
import torch.nn.functional as F  # noqa: N812 (everybody's name for it)
from torch import Tensor, nn

from regard.base.errors import UserError
from regard.transformer.config import Config
from regard.transformer.masks import Cache, causal_mask, padding_mask

ACTIVATION_OF: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
}


# -- positions and masks -----------------------------------------------------------------------------------


def sinusoids(length: int, width: int) -> Tensor:
    """PE(p, 2i) = sin(p / 10000^(2i/D)), PE(p, 2i+1) = cos of the same: PE(p + k) is a rotation of PE(p)."""
    place = torch.arange(length)[:, None]  # (T, 1)
    rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))  # (D/2,)
    table = torch.zeros(length, width)
    table[:, 0::2] = torch.sin(place * rate)
    table[:, 1::2] = torch.cos(place * rate[: width // 2])
    return table  # (T, D)


# -- attention ---------------------------------------------------------------------------------------------


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """softmax(q kᵀ / √d + mask) v; the mask enters before the softmax, so that what remains sums to 1."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, d) @ (B, H, d, S) -> (B, H, T, S)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1) @ v  # (B, H, T, S) @ (B, H, S, d) -> (B, H, T, d)


class Attention(nn.Module):
    """Multi-head attention: H small attentions side by side, each on its own d columns of q, k and v."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads, self.attend = config.heads, F.scaled_dot_product_attention if config.fused else attention
        self.query, self.key, self.value, self.output = (nn.Linear(config.width, config.width) for _ in range(4))

    def forward(
        self, x: Tensor, memory: Tensor | None = None, mask: Tensor | None = None, cache: Cache | None = None
    ) -> Tensor:
        """Self attention of x, or cross attention from x to memory (the encoder's output)."""
        q = self.split(self.query(x))  # (B, T, D) -> (B, H, T, d)
        k, v = self.keys_values(x, memory, cache)  # (B, H, S, d) each
        mixed = self.attend(q, k, v, mask)  # (B, H, T, d)
        joined = mixed.transpose(1, 2).flatten(2)  # (B, H, T, d) -> (B, T, H, d) -> (B, T, D)
        return cast(Tensor, self.output(joined))  # (B, T, D)

    def split(self, x: Tensor) -> Tensor:
        """Cut the width into heads."""
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)  # (B, T, D) -> (B, T, H, d) -> (B, H, T, d)

    def keys_values(self, x: Tensor, memory: Tensor | None, cache: Cache | None) -> tuple[Tensor, Tensor]:
        held = None if cache is None else cache.held.get(self)
        if memory is not None and held is not None:
            return held  # the source does not change while the target grows
        source = x if memory is None else memory
        k, v = self.split(self.key(source)), self.split(self.value(source))
        if held is not None:
            k, v = torch.cat([held[0], k], 2), torch.cat([held[1], v], 2)
        if cache is not None:
            cache.held[self] = (k, v)
        return k, v


# -- the other parts of a block ----------------------------------------------------------------------------


class AddNorm(nn.Module):
    """Residual connection and LayerNorm, per token, with a learned scale and shift.

    post: norm(x + f(x)), as published in 2017. pre: x + f(norm(x)), which leaves a clear path from end to start.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.pre = config.norm == "pre"
        self.norm, self.dropout = nn.LayerNorm(config.width, config.epsilon), nn.Dropout(config.dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.pre:
            return x + cast(Tensor, self.dropout(sublayer(self.norm(x))))
        return cast(Tensor, self.norm(x + self.dropout(sublayer(x))))


class FeedForward(nn.Module):
    """Two linear maps with a nonlinearity between them, the same at every position: D -> hidden -> D."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.widen, self.narrow = nn.Linear(config.width, config.hidden), nn.Linear(config.hidden, config.width)
        self.activation = ACTIVATION_OF[config.activation]

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.narrow(self.activation(self.widen(x))))  # (B, T, D)


class Embedding(nn.Module):
    """A vector per token, plus one per position, plus one per segment where the model has segments."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.scale = math.sqrt(config.width) if config.embedding_scale else 1.0
        width = config.table or config.width
        # The same for all parts, so that none drowns another. If a norm scales them to 1 later, they may begin small,
        # and so do the logits, which also come from the word table.
        std = 0.02 if config.embedding_norm else width**-0.5
        self.word = nn.Embedding(config.vocabulary, width, padding_idx=config.pad)
        nn.init.normal_(self.word.weight, std=std)
        self.segment = nn.Embedding(config.segments, width) if config.segments else None
        if self.segment is not None:
            nn.init.normal_(self.segment.weight, std=std)
        self.position: Tensor | nn.Parameter
        if config.position == "learned":
            self.position = nn.Parameter(torch.randn(config.length, width) * std)
        else:
            self.register_buffer("position", sinusoids(config.length, width))
        self.norm = nn.LayerNorm(width, config.epsilon) if config.embedding_norm else nn.Identity()
        self.widen = nn.Linear(width, config.width) if config.table else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids: Tensor, segments: Tensor | None = None, start: int = 0) -> Tensor:
        length = ids.shape[1]
        if start + length > self.position.shape[0]:
            most = self.position.shape[0]
            raise UserError(f"there are {start + length} tokens but the model has {most} positions; shorten the text")
        x = self.word(ids) * self.scale + self.position[start : start + length]  # (B, T, D) + (T, D)
        if self.segment is not None:
            x = x + self.segment(torch.zeros_like(ids) if segments is None else segments)  # (B, T, D)
        return cast(Tensor, self.dropout(self.widen(self.norm(x))))


# -- blocks ------------------------------------------------------------------------------------------------


class EncoderLayer(nn.Module):
    """Every token looks at every token, then each is processed alone."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.self_attention, self.self_norm = Attention(config), AddNorm(config)
        self.feed_forward, self.feed_norm = FeedForward(config), AddNorm(config)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.self_norm(x, lambda y: self.self_attention(y, mask=mask))
        return cast(Tensor, self.feed_norm(x, self.feed_forward))  # (B, S, D)


class DecoderLayer(nn.Module):
    """Every token looks at the earlier ones, then at the source, then each is processed alone."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.self_attention, self.self_norm = Attention(config), AddNorm(config)
        self.cross_attention, self.cross_norm = Attention(config), AddNorm(config)
        self.feed_forward, self.feed_norm = FeedForward(config), AddNorm(config)

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None, memory_mask: Tensor | None, cache: Cache | None = None
    ) -> Tensor:
        x = self.self_norm(x, lambda y: self.self_attention(y, mask=mask, cache=cache))
        x = self.cross_norm(x, lambda y: self.cross_attention(y, memory, memory_mask, cache))
        return cast(Tensor, self.feed_norm(x, self.feed_forward))  # (B, T, D)


class Stack(nn.Module):
    """Layers one after another; with pre-norm the sum that comes out is normalised once more."""

    def __init__(self, config: Config, layer: Callable[[Config], nn.Module], count: int) -> None:
        super().__init__()
        distinct = [layer(config) for _ in range(config.distinct or count)]
        self.layers = nn.ModuleList(distinct[i * len(distinct) // count] for i in range(count))
        self.norm = nn.LayerNorm(config.width, config.epsilon) if config.norm == "pre" else nn.Identity()

    def forward(self, x: Tensor, *given: Any) -> Tensor:
        for layer in self.layers:
            x = layer(x, *given)
        return cast(Tensor, self.norm(x))


# -- models ------------------------------------------------------------------------------------------------


class Translator(nn.Module):
    """Encoder and decoder; the word table is shared by source, target and output."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.capitals: tuple[str, ...] = ()  # names, where the vocabulary is in lower case
        self.source, self.target = Embedding(config), Embedding(config)
        self.encoder = Stack(config, EncoderLayer, config.layers)
        self.decoder = Stack(config, DecoderLayer, config.decoder_layers)
        self.output = nn.Linear(config.width, config.vocabulary)
        self.apply(_initialise)
        self.target.word = self.source.word
        self.output.weight = self.source.word.weight

    def forward(
        self,
        input_ids: Tensor,
        decoder_input_ids: Tensor,
        attention_mask: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
    ) -> Tensor:
        """(B, T, V) logits of the word that follows each target position; their softmax is the prediction."""
        memory_mask = padding_mask(attention_mask)
        memory = self.encode(input_ids, memory_mask)  # (B, S) -> (B, S, D)
        mask = causal_mask(decoder_input_ids.shape[1], decoder_input_ids.shape[1], input_ids.device)  # (T, T)
        padding = padding_mask(decoder_attention_mask)
        if padding is not None:
            # a padded row would see nothing, and softmax of nothing is NaN: it may see itself
            mask = (mask & padding) | torch.eye(mask.shape[0], dtype=torch.bool, device=mask.device)
        return cast(Tensor, self.output(self.decode(decoder_input_ids, memory, mask, memory_mask)))

    def encode(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        return cast(Tensor, self.encoder(self.source(ids), mask))  # (B, S, D)

    def decode(
        self, ids: Tensor, memory: Tensor, mask: Tensor | None, memory_mask: Tensor | None, cache: Cache | None = None
    ) -> Tensor:
        x: Tensor = self.target(ids, start=0 if cache is None else cache.length)  # (B, T, D)
        x = self.decoder(x, memory, mask, memory_mask, cache)
        if cache is not None:
            cache.length += ids.shape[1]
        return x

    def can_generate(self) -> bool:
        return True

    @torch.no_grad()
    def generate(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        *,
        max_new_tokens: int | None = None,
        num_beams: int = 1,
        use_cache: bool = True,
        **_ignored: Any,
    ) -> Tensor:
        """(B, T) ids of the translation, from the start token to the end token: greedy, or the best of some beams."""
        from regard.transformer.decoding import beam, greedy

        limit = min(max_new_tokens or self.config.length, self.config.length) - 1
        if num_beams == 1:
            return greedy(self, input_ids, attention_mask, limit, use_cache=use_cache)
        return beam(self, input_ids, attention_mask, limit, beams=num_beams)


class Bert(nn.Module):
    """The encoder alone, with the two tasks it is trained on: hidden words, and whether B follows A."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config)
        self.encoder = Stack(config, EncoderLayer, config.layers)
        self.pool = nn.Linear(config.width, config.width)
        self.follows = nn.Linear(config.width, 2)
        width = config.table or config.width
        self.transform, self.transform_norm = nn.Linear(config.width, width), nn.LayerNorm(width, config.epsilon)
        self.activation = ACTIVATION_OF[config.activation]
        self.output = nn.Linear(width, config.vocabulary)
        self.apply(_initialise)
        self.output.weight = self.embedding.word.weight

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None
    ) -> Tensor:
        x = self.embedding(input_ids, token_type_ids)  # (B, T) -> (B, T, D)
        return cast(Tensor, self.encoder(x, padding_mask(attention_mask)))  # (B, T, D)

    def masked_words(self, states: Tensor) -> Tensor:
        """(..., D) -> (..., V) logits of the word at each position."""
        return cast(Tensor, self.output(self.transform_norm(self.activation(self.transform(states)))))

    def next_sentence(self, states: Tensor) -> Tensor:
        """(B, T, D) -> (B, 2) logits, from the first token: 0 follows, 1 does not."""
        return cast(Tensor, self.follows(torch.tanh(self.pool(states[:, 0]))))


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)


def cross_entropy(logits: Tensor, targets: Tensor, *, smoothing: float = 0.0, ignore: int = -100) -> Tensor:
    """-Σ_w p(w) log softmax(logits)_w over real targets: p gives the right word 1 - ε, and ε/V to every word."""
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=ignore, label_smoothing=smoothing)
