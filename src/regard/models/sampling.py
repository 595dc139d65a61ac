"""How the next token of an answer is chosen."""

from __future__ import annotations

from dataclasses import dataclass

from regard.base.errors import UserError


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen: at temperature 0 the likeliest, otherwise drawn from the likeliest `top_p`.

    The same seed draws the same tokens; None is another one each time.
    """

    temperature: float = 0.0
    seed: int | None = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature <= 100:
            raise UserError(f"temperature must be between 0 and 100, not {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise UserError(f"top_p must be above 0 and at most 1, not {self.top_p}")


GREEDY = Sampling()
