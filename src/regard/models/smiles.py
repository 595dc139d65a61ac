"""A tokenizer for chemical reactions, whose words are the atoms, bonds and marks of SMILES.

Enters: a folder with vocab.txt, a piece per line. Leaves: a tokenizer. (transformers mistakes such a folder for
another kind and finds no words in it.)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

# An atom in brackets, an atom, a bond, a branch, a ring, an arrow (Schwaller et al. 2019).
_PIECE = r"\[[^\]]+\]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|/|:|~|@|\?|>>?|\*|\$|%[0-9]{2}|[0-9]"
_MARKS = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "sep", "pad", "cls", "mask")}


def smiles_tokenizer(folder: Path) -> Any:
    """The tokenizer of a folder's vocab.txt."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = (folder / "vocab.txt").read_text(encoding="utf-8").split()
    numbers = {word: number for number, word in enumerate(words)}
    backend = Tokenizer(models.WordLevel(numbers, unk_token=_MARKS["unk_token"]))
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex(_PIECE), "isolated")]
    )
    ends = [(mark, numbers[mark]) for mark in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    return PreTrainedTokenizerFast(tokenizer_object=backend, **_MARKS)
