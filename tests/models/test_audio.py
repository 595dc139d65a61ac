"""Sounds: what is read of a file, what is refused, and in which words."""

import numpy as np
import pytest
import soundfile

from regard.base.errors import UserError
from regard.models.audio import read_sound, sound_side
from tests.models.recordings import RATE, tone


def written(path, samples, rate=RATE, **more):
    soundfile.write(path, samples, rate, **more)
    return path


@pytest.mark.parametrize("ending", ["wav", "flac"])
@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24"])
def test_a_file_is_read_as_it_was_written(tmp_path, ending, subtype):
    sound = read_sound(written(tmp_path / f"a.{ending}", tone(), subtype=subtype))
    assert (sound.rate, sound.name) == (RATE, f"a.{ending}")
    np.testing.assert_allclose(sound.samples, tone(), atol=1 / 32768)


def test_two_channels_are_averaged(tmp_path):
    both = np.stack([tone(), np.zeros_like(tone())], axis=1)
    np.testing.assert_allclose(read_sound(written(tmp_path / "a.wav", both)).samples, tone() / 2, atol=2 / 32768)


def test_another_rate_becomes_the_models(tmp_path):
    sound = read_sound(written(tmp_path / "a.wav", tone(rate=44_100), 44_100)).at(RATE)
    assert sound.rate == RATE and len(sound.samples) == RATE
    np.testing.assert_allclose(sound.samples[500:-500], tone()[500:-500], atol=5e-3)


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.uint8, np.float64])
def test_samples_of_any_type_are_the_same_sound(kind):
    scale, middle = {np.int16: (32768, 0), np.int32: (2**31, 0), np.uint8: (128, 128), np.float64: (1, 0)}[kind]
    given = (tone() * scale + middle).astype(kind)
    np.testing.assert_allclose(read_sound((given, RATE)).samples, tone(), atol=1 / 120)


def test_channels_may_come_first():
    np.testing.assert_allclose(read_sound((tone(channels=2).T, RATE)).samples, tone(), atol=1e-6)


def test_a_part_of_a_long_file_is_read(tmp_path):
    long = np.concatenate([np.zeros(20 * RATE, np.float32), tone(20)])
    sound = read_sound(written(tmp_path / "a.flac", long), (20, 25))
    assert sound.seconds == 5
    np.testing.assert_allclose(sound.samples, tone(20)[: 5 * RATE], atol=1 / 16384)


def refused(audio, seconds=None):
    with pytest.raises(UserError) as caught:
        read_sound(audio, seconds)
    return str(caught.value)


def test_what_is_too_long_is_refused_with_the_way_out(tmp_path):
    path = written(tmp_path / "a.wav", tone(31))
    expected = (
        "a.wav lasts 31.0 s and the model takes 30 s at most; choose a part with seconds=(0, 30) (--seconds 0-30)"
    )
    assert refused(path) == f"{expected}, or cut the file"
    assert "there is no sound from 40 to 50 s" in refused(path, (40, 50))
    assert "there is no sound from 5 to 5 s" in refused(path, (5, 5))


def test_bad_files_get_one_sentence(tmp_path):
    whole = written(tmp_path / "whole.wav", tone()).read_bytes()
    (tmp_path / "cut.wav").write_bytes(whole[:10_000])
    flac = written(tmp_path / "whole.flac", tone()).read_bytes()
    (tmp_path / "cut.flac").write_bytes(flac[: len(flac) // 2])
    (tmp_path / "text.wav").write_text("this is not a sound")
    (tmp_path / "empty.wav").write_bytes(b"")
    damaged = tone()
    damaged[100] = np.nan
    assert "cut.wav is cut short" in refused(tmp_path / "cut.wav")
    assert "cut.flac is" in refused(tmp_path / "cut.flac")
    assert "text.wav is not a wav or flac file that can be read" in refused(tmp_path / "text.wav")
    assert refused(tmp_path / "empty.wav") == "empty.wav is empty; copy or record it again"
    assert refused(tmp_path) == f"{tmp_path} is a folder; name one of its files"
    assert "8 channels" in refused(written(tmp_path / "eight.wav", tone(channels=8)))
    assert "has no samples" in refused(written(tmp_path / "none.wav", tone(0)))
    assert "not finite" in refused(written(tmp_path / "nan.wav", damaged, subtype="FLOAT"))
    assert "25 ms" in refused(written(tmp_path / "short.wav", tone(0.01)))
    assert "is in the format OGG; convert it" in refused(written(tmp_path / "a.ogg", tone()))
    assert "there is no sound file" in refused(tmp_path / "missing.wav")


@pytest.mark.parametrize("audio", [3, None, ["a.wav"], (tone(), 16_000.5), (np.array(["a"]), RATE), (tone(), 10)])
def test_what_is_no_sound_is_refused(audio):
    assert refused(audio)


def test_frames_know_their_seconds_and_what_is_padding():
    side = sound_side(read_sound((tone(1.01), RATE)), 1500, 0.02)
    assert [(s.name, s.start, s.end) for s in side.segments] == [("sound", 0, 51), ("padding", 51, 1500)]
    np.testing.assert_allclose(side.spans[[0, 50]], [[0, 0.02], [1.0, 1.02]], atol=1e-5)
    assert side.medium.size == (1.01,) and side.medium.features.shape == (80, 101)
    back = read_sound(side.medium.data)
    np.testing.assert_allclose(back.samples, tone(1.01), atol=1 / 16384)
