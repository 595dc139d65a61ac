"""Two small models that learn to read handwritten digits. Enters: digits. Leaves: folders that `regard.load` opens.

    digits-vit      a ViT that says which digit a picture shows
    digits-llava    a LLaVA that answers "Which digit is top left?" about a sheet of four

Both begin from random weights and take a few minutes of one core; what they learned is kept beside this file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from digits import INK, NAMES, PAPER, PLACES, READ, Digits, moved, split, tiled
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch.nn.functional import cross_entropy
from transformers import (
    CLIPImageProcessorPil,
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
    ViTConfig,
    ViTForImageClassification,
    ViTImageProcessorPil,
)

KEPT = Path(__file__).resolve().parent / ".trained"
PATCHES = 10  # of a picture across
_WIDTH, _HEADS, _SPREAD = 64, 4, 0.1
_WIDE = {
    "hidden_size": _WIDTH,
    "num_attention_heads": _HEADS,
    "intermediate_size": 2 * _WIDTH,
    "initializer_range": _SPREAD,
}
_RATE = 3e-3
_DIGITS = {"epochs": 20, "batch": 48}
_SHEETS = {"before": 300, "steps": 1500, "batch": 32}  # steps in which the tower learns alone; all steps
_TOLD = 100  # steps between two lines that tell how far it is
_COLOURS = {"image_mean": (PAPER / 255).tolist(), "image_std": ((PAPER - INK) / 510).tolist()}  # paper is 0, ink is -2
_SPECIAL = ("<pad>", "<s>", "</s>", "<unk>", "<image>")
_WORDS = (*_SPECIAL, *"Which digit is top bottom left right ?".split(), *NAMES)
_NUMBER = {word: number for number, word in enumerate(_WORDS)}


def digit_reader() -> Path:
    """The folder of a ViT that says which digit a picture shows."""
    return _kept("digits-vit", _learn_digits)


def sheet_reader() -> Path:
    """The folder of a LLaVA that says which digit stands where on a sheet."""
    return _kept("digits-llava", _learn_sheets)


def question(place: int) -> str:
    """What is asked about a place of a sheet."""
    return f"<image> Which digit is {PLACES[place]} ?"


def _kept(name: str, learn: Callable[[], tuple[Any, Any]]) -> Path:
    folder = KEPT / name
    if not (folder / "config.json").exists():
        torch.manual_seed(0)
        model, processor = learn()
        processor.save_pretrained(folder)
        model.eval().save_pretrained(folder)
    return folder


def _learn_digits() -> tuple[Any, Any]:
    patch = READ // PATCHES
    named = {"id2label": dict(enumerate(NAMES)), "label2id": {name: number for number, name in enumerate(NAMES)}}
    config = ViTConfig(
        **_WIDE, **named, num_hidden_layers=4, image_size=READ, patch_size=patch, hidden_dropout_prob=0.1
    )
    model = ViTForImageClassification(config)
    with torch.no_grad():
        model.vit.embeddings.position_embeddings[0, 1:] = _codes()
    learned, _ = split()
    draws, batch = np.random.default_rng(0), _DIGITS["batch"]
    each = len(learned.labels) // batch

    def losses() -> Iterator[torch.Tensor]:
        for _ in range(_DIGITS["epochs"]):
            order = draws.permutation(len(learned.labels))
            for some in np.split(order[: each * batch], each):
                labels = torch.tensor(learned.labels[some])
                yield model(pixel_values=pixels(_drawn(learned, some, draws)), labels=labels).loss

    _descend("digits-vit", model.train(), list(model.parameters()), losses(), each * _DIGITS["epochs"])
    size = {"size": {"height": READ, "width": READ}}
    return model, ViTImageProcessorPil(**size, **_COLOURS, resample=Image.Resampling.BOX)


def _learn_sheets() -> tuple[Any, Any]:
    """Its tower learns first, and goes on learning, to say in every patch which digit the patch is a piece of."""
    patch = 2 * READ // PATCHES
    vision = CLIPVisionConfig(**_WIDE, num_hidden_layers=2, image_size=2 * READ, patch_size=patch)
    marks = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    text = LlamaConfig(**_WIDE, **marks, num_hidden_layers=2, vocab_size=len(_WORDS), max_position_embeddings=256)
    reads = {"image_token_index": _NUMBER["<image>"], "vision_feature_layer": -1}
    model = LlavaForConditionalGeneration(LlavaConfig(vision_config=vision, text_config=text, **reads, **marks))
    tower, bridge = model.model.vision_tower, model.model.multi_modal_projector
    with torch.no_grad():
        tower.embeddings.position_embedding.weight[1:] = _codes()
        for layer in (bridge.linear_1, bridge.linear_2):
            torch.nn.init.normal_(layer.weight, std=_SPREAD)
    piece = torch.nn.Linear(_WIDTH, len(NAMES))
    half = np.arange(PATCHES) // (PATCHES // 2)
    cell = (2 * half[:, None] + half).ravel()  # the digit of each patch
    learned, _ = split()
    draws, count = np.random.default_rng(0), _SHEETS["batch"]

    def losses() -> Iterator[torch.Tensor]:
        for step in range(_SHEETS["steps"]):
            four = draws.integers(len(learned.labels), size=(count, 4))
            drawn = _drawn(learned, four.ravel(), draws).reshape(count, 4, READ, READ)
            seen = tower(pixels(tiled(drawn))).last_hidden_state[:, 1:]
            labels = learned.labels[four]
            loss = cross_entropy(piece(seen).flatten(0, 1), torch.tensor(labels[:, cell]).flatten())
            if step >= _SHEETS["before"]:
                place = draws.integers(4, size=count)
                words = torch.tensor([_asked(*one) for one in zip(place, labels[np.arange(count), place], strict=True)])
                known = model.get_input_embeddings()(words)
                parts = [known[:, :1], bridge(seen), known[:, 1:]]
                said = model.lm_head(model.model.language_model(inputs_embeds=torch.cat(parts, 1)).last_hidden_state)
                loss = loss + cross_entropy(said[:, -3:-1].flatten(0, 1), words[:, -2:].flatten())
            yield loss

    _descend("digits-llava", model.train(), [*model.parameters(), *piece.parameters()], losses(), _SHEETS["steps"])
    return model, _sheet_processor(patch)


def _asked(place: int, label: int) -> list[int]:
    """A question and its answer; the picture follows the first token."""
    words = ("<s>", "Which", "digit", "is", *PLACES[place].split(), "?", NAMES[label], "</s>")
    return [_NUMBER[word] for word in words]


def _sheet_processor(patch: int) -> Any:
    made = Tokenizer(models.WordLevel(_NUMBER, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", _NUMBER["<s>"])])
    marks = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, **marks, extra_special_tokens={"image_token": "<image>"})
    size = {"size": {"shortest_edge": 2 * READ}, "do_center_crop": False, "resample": Image.Resampling.BOX}
    counts = {"patch_size": patch, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
    return LlavaProcessor(CLIPImageProcessorPil(**size, **_COLOURS), tokenizer, **counts)


def _drawn(learned: Digits, some: np.ndarray, draws: np.random.Generator) -> np.ndarray:
    """Some digits, each moved a little by chance."""
    return moved(learned.read()[some], draws.integers(-1, 2, (len(some), 2)))


def pixels(read: np.ndarray) -> torch.Tensor:
    """Ink as the processors give it to models."""
    return torch.tensor(-2 * read, dtype=torch.float32)[:, None].expand(-1, 3, -1, -1)


def _codes() -> torch.Tensor:
    """Sines and cosines that tell rows and columns apart: where position embeddings begin."""
    quarter = _WIDTH // 4
    turns = torch.arange(PATCHES)[:, None] / 20 ** (torch.arange(quarter) / quarter)
    line = torch.cat([turns.sin(), turns.cos()], 1)
    rows, columns = line[:, None].expand(-1, PATCHES, -1), line[None].expand(PATCHES, -1, -1)
    return torch.cat([rows, columns], 2).flatten(0, 1)


def _descend(name: str, model: Any, weights: list[Any], losses: Iterator[torch.Tensor], steps: int) -> None:
    """Follow losses down, and tell how far it is."""
    descent = torch.optim.AdamW(weights, lr=_RATE, weight_decay=0.01, betas=(0.9, 0.98))
    pace = torch.optim.lr_scheduler.OneCycleLR(descent, _RATE, total_steps=steps, pct_start=0.1)
    for step, loss in enumerate(losses, 1):
        descent.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        descent.step()
        pace.step()
        if step % _TOLD == 0 or step == steps:
            print(f"{name}: step {step} of {steps}, loss {loss.item():.2f}", file=sys.stderr, flush=True)
    model.eval()
