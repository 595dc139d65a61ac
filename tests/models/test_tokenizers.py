"""Tokenizers of every kind open from a folder with what a plain install has; where one does not, the reason is told."""

import base64
import json
import random
import re
import sys
import tomllib
from pathlib import Path

import pytest
import sentencepiece
import transformers

import regard
from regard.base.errors import MissingPackageError
from regard.models.missing import missing_package
from tests.tiny import SIZES, saved, tiny_bert

TEXT = "the cat sat on the mat."
WORDS = "the cat sat on a mat dog went to store bought fresh strawberries hello how are you I at and of in was".split()
PAIRS = {"decoder_layers": 2, "decoder_attention_heads": 3, "decoder_ffn_dim": 32, "encoder_ffn_dim": 32} | {
    "d_model": 24,
    "encoder_layers": 2,
    "encoder_attention_heads": 3,
    "max_position_embeddings": 64,
}
DECODER = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2} | {
    "intermediate_size": 32,
    "max_position_embeddings": 64,
}


def train(path, kind="unigram", size=45, **more):
    """A real sentencepiece model of a few words; its number of pieces."""
    draw = random.Random(0)
    lines = [" ".join(draw.choices(WORDS, k=8)) + "." for _ in range(400)]
    prefix = path.with_suffix(".trained")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_prefix=str(prefix),
        vocab_size=size,
        model_type=kind,
        minloglevel=2,
        **more,
    )
    prefix.with_name(prefix.name + ".model").rename(path)
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def write(path, record):
    path.write_text(json.dumps(record))


def marian(folder):
    """As opus-mt models are: source.spm, target.spm, vocab.json."""
    pieces = train(folder / "source.spm")
    train(folder / "target.spm")
    names = ["</s>", "<unk>", *(pieces.id_to_piece(n) for n in range(3, pieces.get_piece_size())), "<pad>"]
    write(folder / "vocab.json", {name: number for number, name in enumerate(names)})
    write(folder / "tokenizer_config.json", {"source_lang": "en", "target_lang": "fr"})
    pad = len(names) - 1
    special = {"pad_token_id": pad, "decoder_start_token_id": pad, "eos_token_id": 0, "forced_eos_token_id": 0}
    config = transformers.MarianConfig(vocab_size=len(names), bos_token_id=0, **special, **PAIRS)
    return transformers.MarianMTModel(config)


def t5(folder):
    train(folder / "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    sizes = {"d_model": 24, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 3}
    return transformers.T5ForConditionalGeneration(
        transformers.T5Config(vocab_size=160, decoder_start_token_id=0, **sizes)
    )


def xlm_roberta(folder):
    train(folder / "sentencepiece.bpe.model")
    config = transformers.XLMRobertaConfig(vocab_size=60, max_position_embeddings=66, pad_token_id=1, **SIZES)
    return transformers.XLMRobertaModel(config)


def mbart(folder):
    train(folder / "sentencepiece.bpe.model")
    write(folder / "tokenizer_config.json", {"src_lang": "en_XX", "tgt_lang": "fr_XX"})
    return transformers.MBartForConditionalGeneration(transformers.MBartConfig(vocab_size=100, **PAIRS))


def llama(folder):
    pieces = train(folder / "tokenizer.model", "bpe", 330, byte_fallback=True)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=pieces.get_piece_size(), **DECODER))


def tiktoken(folder):
    """As Meta's Llama 3 comes: bytes and their ranks in base 64."""
    ranks = [*(bytes([n]) for n in range(256)), b"th", b"the", b" c", b"at", b" cat"]
    lines = [f"{base64.b64encode(rank).decode()} {number}" for number, rank in enumerate(ranks)]
    (folder / "tokenizer.model").write_text("\n".join(lines))
    write(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast"})
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=len(ranks) + 8, **DECODER))


KINDS = [marian, t5, xlm_roberta, mbart, llama, tiktoken]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_folder_opens_with_its_tokenizer(kind, tmp_path):
    kind(tmp_path).save_pretrained(tmp_path)
    model = regard.load(tmp_path)
    trace = model.trace(TEXT, target="the dog" if model.is_encoder_decoder else None)
    side = next(iter(trace.sides.values()))
    said = "".join(token.text for token in side.tokens if not token.special)
    assert said.strip() == TEXT and " cat" in side.texts


def test_a_plain_install_brings_what_these_tokenizers_need():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    plain = {re.split(r"[<>=!~ ;\[]", line)[0] for line in project["dependencies"]}
    assert {"protobuf", "sentencepiece", "tiktoken"} <= plain


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"version": "1.0", "added_tokens": []}', "Exception: Model missing"),
        ('{"version": "1.0"}', "KeyError: 'added_tokens'"),
        ('{"version": ', "Expecting value: line 1"),
    ],
)
def test_a_damaged_tokenizer_is_told_with_its_reason(wordpiece, tmp_path, content, reason):
    saved(tiny_bert(wordpiece), tmp_path)
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(ValueError, match=rf"has no tokenizer \(.*{reason}.*\); load it as \(model, tokenizer\)"):
        regard.load(tmp_path).trace(TEXT)


def xlm(folder):
    """Merges of bytes after Moses' tokenizer, as XLM and FlauBERT come."""
    words = ["<s>", "</s>", "<pad>", "<unk>", "the</w>", "cat</w>", "a", "t</w>"]
    write(folder / "vocab.json", {word: number for number, word in enumerate(words)})
    (folder / "merges.txt").write_text("c a 1\nca t</w> 2\n")
    write(folder / "tokenizer_config.json", {"tokenizer_class": "XLMTokenizer"})
    return transformers.XLMModel(transformers.XLMConfig(vocab_size=len(words), emb_dim=32, n_layers=1, n_heads=2))


def japanese(folder):
    """Words by MeCab, as Tohoku's BERT comes."""
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n猫\n")
    settings = {"tokenizer_class": "BertJapaneseTokenizer", "word_tokenizer_type": "mecab"}
    write(folder / "tokenizer_config.json", settings)
    return transformers.BertModel(transformers.BertConfig(vocab_size=6, **SIZES))


def chinese(folder):
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n猫\n")
    write(folder / "tokenizer_config.json", {"tokenizer_class": "RoFormerTokenizer"})
    return transformers.RoFormerModel(transformers.RoFormerConfig(vocab_size=6, embedding_size=24, **SIZES))


@pytest.mark.parametrize(("kind", "package"), [(xlm, "sacremoses"), (japanese, "fugashi"), (chinese, "rjieba")])
def test_the_one_package_that_a_tokenizer_needs_is_named_with_its_pip_line(kind, package, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)  # as where it is not installed
    kind(tmp_path).save_pretrained(tmp_path)
    sentence = rf"^the tokenizer of .* needs {package}; run: pip install {package}$"
    with pytest.raises(MissingPackageError, match=sentence):
        regard.load(tmp_path).trace(TEXT)


@pytest.mark.parametrize(
    ("words", "package"),
    [
        ("MarianTokenizer requires the SentencePiece library but it was not found. Check out the", "sentencepiece"),
        ("The unidic_lite dictionary is not installed. See https://github.com for installation.", "unidic-lite"),
        ("You need to install g2p-en to use FastSpeech2ConformerTokenizer.", "g2p-en"),
        ("cannot import name 'x'", ""),
    ],
)
def test_what_transformers_says_is_missing_is_the_name_that_pip_knows(words, package):
    assert missing_package(ImportError(words)) == package
    assert missing_package(ValueError(words)) == ""


def test_a_folder_without_a_tokenizer_has_none_rather_than_an_empty_one(tmp_path):
    t5(tmp_path).save_pretrained(tmp_path)
    (tmp_path / "spiece.model").unlink()
    with pytest.raises(ValueError, match=r"has no tokenizer \(its folder has no tokenizer files\)"):
        regard.load(tmp_path).trace(TEXT)
