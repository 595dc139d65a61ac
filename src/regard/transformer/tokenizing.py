"""Learning to split words into pieces, with the `tokenizers` library.

Enters: lines of text. Leaves: tokenizers in the form transformers uses, so that regard reads them like any other.

WordPiece and BPE both start from letters and join pieces that often occur together; WordPiece marks pieces inside a
word with ## and, when it splits, takes the longest piece that fits; BPE repeats its joins in the order it learned them.
Splitting only gives numbers; what a piece means is the row of the embedding table that its number selects.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from regard.base.errors import UserError

# A word keeps its inner apostrophes, colons and points (don't, 2:30, 3.5); everything else stands alone.
_WORD = r"\w+(?:['’:.,]\w+)*|[^\w\s]"
_END, _INNER = "</w>", "##"
_BPE_SPECIAL = ["<pad>", "<unk>", "<s>", "</s>"]
_BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def train_bpe(lines: Iterable[str], vocabulary: int = 5000, *, length: int = 64) -> PreTrainedTokenizerFast:
    """Byte-pair encoding for the translator, one lower-case vocabulary for both languages."""
    backend = Tokenizer(models.BPE(unk_token=_BPE_SPECIAL[1], end_of_word_suffix=_END))
    backend.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    words = pre_tokenizers.Split(Regex(_WORD), "isolated")
    backend.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), words])
    backend = _trained(backend, trainers.BpeTrainer, lines, vocabulary, _BPE_SPECIAL, end_of_word_suffix=_END)
    backend.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 3)])
    backend.decoder = decoders.Sequence(
        [
            decoders.BPEDecoder(suffix=_END),
            decoders.Fuse(),
            decoders.Replace(Regex(r" (?=[.,!?;:%)\]»…])"), ""),  # no space before these
            decoders.Replace(Regex(r"(?<=[¿¡(\[«]) "), ""),  # nor after these
        ]
    )
    return tokenizer_of(backend, length=length, bert=False)


def train_wordpiece(lines: Iterable[str], vocabulary: int = 8000, *, length: int = 128) -> PreTrainedTokenizerFast:
    """WordPiece as BERT uses it: lower case, without accents, pairs joined by [SEP]."""
    backend = Tokenizer(models.WordPiece(unk_token=_BERT_SPECIAL[1]))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend = _trained(backend, trainers.WordPieceTrainer, lines, vocabulary, _BERT_SPECIAL)
    backend.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    backend.decoder = decoders.WordPiece()
    return tokenizer_of(backend, length=length, bert=True)


def _trained(
    backend: Tokenizer, trainer: Any, lines: Iterable[str], vocabulary: int, special: list[str], **options: Any
) -> Tokenizer:
    """The same lines always give the same pieces.

    The library numbers a letter's form at the end of (or inside) a word in the order of a hash table, and these
    numbers decide between pairs that are equally frequent. Naming the forms beforehand, as special tokens, gives them
    fixed numbers; afterwards they are plain pieces again.
    """
    if vocabulary < 100:
        raise UserError(f"a vocabulary of {vocabulary} pieces cannot hold an alphabet; use 100 or more")
    texts = list(lines)
    letters = sorted({letter for text in texts for letter in backend.normalizer.normalize_str(text)} - {" "})
    forms = [letter + _END if options else _INNER + letter for letter in letters]
    settings = trainer(
        vocab_size=vocabulary, special_tokens=special + forms, min_frequency=2, show_progress=False, **options
    )
    backend.train_from_iterator(texts, settings)
    record = json.loads(backend.to_str())
    record["added_tokens"] = record["added_tokens"][: len(special)]
    return Tokenizer.from_str(json.dumps(record))


def tokenizer_of(backend: Tokenizer, *, length: int, bert: bool) -> PreTrainedTokenizerFast:
    """The tokenizer with its special tokens named."""
    roles = ("pad", "unk", "cls", "sep", "mask") if bert else ("pad", "unk", "bos", "eos")
    texts = _BERT_SPECIAL if bert else _BPE_SPECIAL
    names = ["input_ids", "token_type_ids", "attention_mask"] if bert else ["input_ids"]
    special: dict[str, Any] = {f"{role}_token": text for role, text in zip(roles, texts, strict=True)}
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, model_max_length=length, model_input_names=names, padding_side="right", **special
    )
