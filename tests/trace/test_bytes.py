"""Pieces that are parts of characters: how they are shown, and the words they make."""

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from regard.models.prepare import encode
from regard.trace.file import load
from regard.trace.pieces import answer_side
from regard.trace.places import places_of
from regard.trace.tokens import merge_words, word_groups
from regard.views.wire import decode
from regard.views.wire import encode as packed
from tests.tiny import tiny_llama


@pytest.fixture(scope="module")
def fallback():
    """A SentencePiece-type tokenizer that writes what it does not know as bytes, as Llama's does."""
    vocab = {"<unk>": 0, "<s>": 1, "</s>": 2, **{f"<0x{byte:02X}>": 3 + byte for byte in range(256)}}
    vocab |= {piece: len(vocab) + n for n, piece in enumerate(["▁", "a", "b", "▁a", "▁b"])}
    merges = [("▁", "a"), ("▁", "b")]
    backend = Tokenizer(models.BPE(vocab, merges=merges, byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    backend.decoder = decoders.Sequence(steps)
    return PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", bos_token="<s>", eos_token="</s>")


def words(side):
    return [text.strip() for text in merge_words(side, word_groups(side)).texts if text.strip()]


@pytest.mark.parametrize("name", ["bytelevel", "fallback"])
@pytest.mark.parametrize("text", ["a 世界 b", "a 😀😀 b"])
def test_words_are_made_of_their_characters(name, text, request):
    tokenizer = request.getfixturevalue(name)
    encoded = encode(tokenizer, text)
    expected = [character for character in text if character != " "]
    assert words(encoded.side) == expected
    assert words(answer_side(tokenizer, encoded.ids, "text")) == expected


def test_bytes_of_a_character_that_a_unigram_tokenizer_does_not_know_are_one_character():
    pieces = [
        ("<unk>", 0.0),
        ("▁", -1.0),
        ("a", -1.0),
        ("b", -1.0),
        *((f"<0x{byte:02X}>", -9.0) for byte in range(256)),
    ]
    backend = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>")
    encoded = encode(tokenizer, "a 界 b")
    assert len(encoded.ids) > 5  # bytes
    assert words(encoded.side) == ["a", "界", "b"]
    assert words(answer_side(tokenizer, encoded.ids, "text")) == ["a", "界", "b"]


def test_pieces_of_a_character_are_numbered_by_the_character(bytelevel):
    assert encode(bytelevel, "世界").side.texts == ["世", "世₂", "世₃", "界", "界₂", "界₃"]


def test_what_a_model_says_is_shown_like_what_it_reads(bytelevel):
    encoded = encode(bytelevel, "é世 b")
    said = answer_side(bytelevel, encoded.ids, "text")
    assert said.texts == encoded.side.texts
    assert [token.word for token in said.tokens] == [token.word for token in encoded.side.tokens]


def test_a_character_that_was_not_said_to_its_end_is_no_word(bytelevel):
    said = answer_side(bytelevel, encode(bytelevel, "a世").ids[:-1], "text")
    assert [token.word for token in said.tokens] == [0, None, None]


def test_a_piece_of_an_emoji_is_neither_a_word_nor_another_one(bytelevel):
    places = places_of(encode(bytelevel, "😀 😀").side, {})
    assert (places.words == -1).all()  # not spoken: "₂" is not a letter of it
    assert places.punctuation.tolist() == [True] * 4 + [False] + [True] * 4


def test_equal_characters_are_the_same_word(bytelevel):
    places = places_of(encode(bytelevel, "世 世 界").side, {})
    assert places.words[:3].tolist() == places.words[4:7].tolist() != places.words[8:11].tolist()


def test_a_subscript_of_the_text_itself_stays(bytelevel):
    assert words(encode(bytelevel, "H₂O").side) == ["H₂O"]


def test_a_lost_character_of_the_text_itself_is_one(bytelevel):
    assert words(encode(bytelevel, "a � b").side) == ["a", "�", "b"]


def test_files_and_pages_keep_what_pieces_add_to_words(bytelevel, tmp_path):
    trace = tiny_llama(bytelevel).trace("世界 b")
    for back in (load(trace.save(tmp_path / "trace.safetensors")), decode(packed(trace))):
        assert words(back.side()) == ["世", "界", "b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("世界，你好世界。", ["世", "界", "，", "你", "好", "世", "界", "。"]),
        ("I like 🍓🍓!", ["I", "like", "🍓", "🍓", "!"]),
        ("Привет мир", ["Привет", "мир"]),
    ],
)
def test_words_of_a_real_byte_level_tokenizer(smollm, text, expected):
    encoded = encode(smollm.tokenizer, text)
    assert any(token.adds is not None for token in encoded.side.tokens)
    assert words(encoded.side) == expected
    assert words(answer_side(smollm.tokenizer, encoded.ids, "text")) == expected
