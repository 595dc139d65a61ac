"""A small decoder that learns to continue what it has seen before: where an induction head is born.

Enters: how long and how fast. Leaves: a Hugging Face folder; the same seed gives the same weights.

Each sequence is a row of random words that begins again after a random number of them, so nothing but its own
beginning tells how it goes on, and no fixed distance does. Two layers are the least that can learn it: one head looks
one token back, a head above it looks for what followed (Olsson et al. 2022).
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from itertools import islice, product
from pathlib import Path
from typing import Any

import torch
import transformers
from rich.console import Console
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from regard import __version__
from regard.base.errors import UserError
from regard.transformer.training import TrainingSettings, adam, bar, learn

WORDS = 256
LENGTH = 64  # tokens of a sequence
PERIODS = 12, 32  # words after which a sequence begins again, from and to before
BATCH = 32
START, UNKNOWN = "<s>", "<unk>"
_IGNORED = -100  # the label of a token that cannot be known


def train_induction(
    output: str | Path,
    *,
    steps: int = 600,
    rate: float = 3e-3,
    warmup: int = 100,
    layers: int = 2,
    seed: int = 0,
    console: Console | None = None,
    watch: Callable[[Any, Any], Callable[[int, float | None], Any]] | None = None,
) -> tuple[Path, float]:
    """Train the decoder and save it as a folder; tells where, and the last loss.

    `watch` is given the model and its tokenizer before the first step; what it returns is called with the number of
    steps and the loss, first with 0 steps and None.
    """
    if Path(output).is_file():
        raise UserError(f"{output} is a file; name a folder for the model")
    settings = TrainingSettings(1, rate, warmup, seed=seed)
    console = console or Console(stderr=True)
    torch.manual_seed(seed)
    model, tokenizer = induction_model(layers), word_tokenizer()
    told = None if watch is None else watch(model, tokenizer)
    optimizer, began, mean = adam(model, rate), time.perf_counter(), 0.0
    if told is not None:
        told(0, None)
    with bar(console) as advance:
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = settings.rate_at(step, step / steps)
            model.train()
            ids, labels = repeated_batch(BATCH, seed * 1_000_003 + step)
            loss = learn(model, optimizer, model(input_ids=ids, labels=labels, use_cache=False).loss)
            if loss is None:
                raise UserError(f"the loss is no longer a number at step {step}; try a smaller --rate")
            mean = loss if not step else 0.95 * mean + 0.05 * loss
            if told is not None:
                told(step + 1, loss)
            advance((step + 1) / steps, f"loss {mean:.3f}  {(step + 1) / (time.perf_counter() - began):.1f} steps/s")
    facts = {"steps": steps, "rate": rate, "warmup": warmup, "layers": layers, "seed": seed, "loss": round(mean, 4)}
    _save(model, tokenizer, Path(output), {**facts, "seconds": round(time.perf_counter() - began, 1)})
    return Path(output), mean


def induction_model(layers: int) -> LlamaForCausalLM:
    """A new decoder: four heads a layer, and a narrow feed-forward layer.

    Its positions are rotary: with embeddings of positions it finds ways of its own that hold for these lengths alone,
    such as a head that looks half-way back.
    """
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=WORDS + 2,
            max_position_embeddings=LENGTH,
            hidden_size=64,
            num_hidden_layers=layers,
            num_attention_heads=4,
            intermediate_size=32,
            bos_token_id=0,
            eos_token_id=0,
            name_or_path="induction",
        )
    )


def word_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer of made-up words, each of two syllables."""
    syllables = ["".join(pair) for pair in product("bdfgklmnprstvz", "aeiou")]
    words = islice((a + b for a, b in product(syllables, syllables[::9])), WORDS)
    known = {text: number for number, text in enumerate((START, UNKNOWN, *words))}
    tokenizer = Tokenizer(WordLevel(known, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = TemplateProcessing(single=f"{START} $A", special_tokens=[(START, 0)])
    named = {"bos_token": START, "eos_token": START, "pad_token": START, "unk_token": UNKNOWN}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=LENGTH, **named)


def repeated_batch(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """(count, LENGTH) ids of sequences that begin again, and labels of those tokens that their beginning tells."""
    generator = torch.Generator().manual_seed(seed)
    words = torch.rand(count, WORDS, generator=generator).argsort(-1)[:, : PERIODS[1]] + 2  # none comes twice
    periods = torch.randint(*PERIODS, (count, 1), generator=generator)
    places = torch.arange(LENGTH - 1)
    ids = torch.cat([torch.zeros(count, 1, dtype=torch.long), words.gather(1, places % periods)], dim=1)
    known = torch.cat([torch.zeros(count, 1, dtype=torch.bool), places >= periods], dim=1)
    return ids, torch.where(known, ids, _IGNORED)


def repeated_texts(count: int, tokenizer: Any, seed: int = 1) -> list[str]:
    """Sequences of another seed as texts, to look at heads with; training never sees them but by chance."""
    ids, _ = repeated_batch(count, -seed)
    return [" ".join(tokenizer.convert_ids_to_tokens(row[1:])) for row in ids.tolist()]


def _save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path, facts: dict[str, Any]) -> None:
    """Write the folder; each file is the complete new one or the old one."""
    folder.mkdir(parents=True, exist_ok=True)
    versions = {"regard": __version__, "torch": torch.__version__, "transformers": transformers.__version__}
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as temporary:
        staging = Path(temporary)
        model.eval().save_pretrained(staging)
        tokenizer.save_pretrained(staging)
        (staging / "training.json").write_text(json.dumps({**facts, "versions": versions}, indent=2), "utf-8")
        for file in staging.iterdir():
            file.replace(folder / file.name)
