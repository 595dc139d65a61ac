"""Sizes and choices of a model: all that model.py needs to know, and what a checkpoint keeps besides the weights."""

from __future__ import annotations

from dataclasses import dataclass

from regard.base.errors import UserError

ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu")


@dataclass(frozen=True)
class Config:
    """Sizes and choices of a model; the defaults are those of the built-in translator."""

    vocabulary: int = 6000
    width: int = 192
    heads: int = 6
    layers: int = 3
    distinct: int | None = None  # layers with their own weights; ALBERT repeats one
    decoder_layers: int = 3  # 0 makes an encoder only
    hidden: int = 512  # width inside the feed-forward network
    length: int = 64  # most positions
    segments: int = 0  # 2 for BERT's sentences A and B
    position: str = "sinusoidal"  # or "learned"
    norm: str = "pre"  # "post": as in 2017 and in BERT; "pre" trains without long warm-up
    activation: str = "relu"
    table: int | None = None  # width of the embedding tables, if a linear map widens it to D afterwards
    embedding_norm: bool = False
    embedding_scale: bool = True  # times √D, so that words are not drowned by positions
    epsilon: float = 1e-5  # inside the square root of LayerNorm
    dropout: float = 0.1
    fused: bool = True  # torch's one kernel for attention; False runs the formula written out below
    pad: int = 0
    start: int = 2
    end: int = 3
    name: str = "translator"

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise UserError(f"a width of {self.width} cannot be split into {self.heads} equal heads")
        if self.distinct is not None and (self.decoder_layers or not 1 <= self.distinct <= self.layers):
            raise UserError("layers can only be repeated in an encoder, and at most as many as it has can differ")
        choices = (("position", ("sinusoidal", "learned")), ("norm", ("pre", "post")), ("activation", ACTIVATIONS))
        for field, known in choices:
            if getattr(self, field) not in known:
                raise UserError(f"{field} must be one of {', '.join(known)}, not {getattr(self, field)!r}")

    # The names under which regard.Model looks these up in any model.

    @property
    def is_encoder_decoder(self) -> bool:
        return self.decoder_layers > 0

    @property
    def max_position_embeddings(self) -> int:
        return self.length

    @property
    def decoder_start_token_id(self) -> int:
        return self.start

    @property
    def pad_token_id(self) -> int:
        return self.pad

    @property
    def model_type(self) -> str:
        return f"regard-{'translator' if self.is_encoder_decoder else 'bert'}"

    @property
    def _name_or_path(self) -> str:
        return self.name
