"""From a sound to a speech model's inputs.

Enters: a wav or flac file, or samples and their rate. Leaves: one channel at the model's rate, the features that the
model reads, and a side whose tokens are frames of that sound.
"""

from __future__ import annotations

import io
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from regard.base.errors import MissingFileError, MissingPackageError, UserError, WrongTypeError
from regard.trace.medium import SOUND, Medium
from regard.trace.site import Array
from regard.trace.tokens import Segment, Side, Token

LONGEST = 30.0  # seconds: what Whisper takes at once
LARGEST = 200_000_000  # bytes of a file
_SHORTEST = 0.025  # seconds: one frame of a speech model
_RATES = (2_000, 768_000)
_FORMATS = ("WAV", "WAVEX", "FLAC", "RF64")
_PICTURE_RATE = 16_000  # of the spectrogram that is drawn

Seconds = tuple[float | None, float | None]


@dataclass(frozen=True, eq=False)
class Sound:
    """One channel of samples between -1 and 1."""

    samples: Array  # (n,) float32
    rate: int
    name: str = ""

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return len(self.samples) / self.rate

    def at(self, rate: int) -> Sound:
        """The same sound at another rate."""
        if rate == self.rate:
            return self
        try:
            import soxr
        except ImportError:
            raise _missing(f"to change {self.rate:,} samples per second to {rate:,}") from None
        return Sound(np.asarray(soxr.resample(self.samples, self.rate, rate), np.float32), rate, self.name)

    def wav(self) -> bytes:
        """The bytes of a wav file, 16 bits per sample."""
        scaled = np.rint(np.clip(self.samples, -1, 1) * 32767).astype("<i2")
        file = io.BytesIO()
        with wave.open(file, "wb") as out:
            out.setnchannels(1)
            out.setsampwidth(2)
            out.setframerate(self.rate)
            out.writeframes(scaled.tobytes())
        return file.getvalue()


def read_sound(audio: Any, seconds: Seconds | None = None) -> Sound:
    """One channel of a file (path or open bytes), or of (samples, rate); from and to some seconds of it."""
    if isinstance(audio, Sound):
        return audio
    if isinstance(audio, (str, Path)):
        samples, rate, name = _from_file(Path(audio), str(audio), seconds)
    elif isinstance(audio, (bytes, bytearray)):
        samples, rate, name = _from_file(io.BytesIO(audio), "the sound", seconds)
    elif isinstance(audio, tuple) and len(audio) == 2:
        samples, rate, name = _from_array(*audio, seconds)
    else:
        raise WrongTypeError(
            f"a sound is a wav or flac file, or (samples, rate), not {type(audio).__name__}; pass (array, 16000), say"
        )
    if samples.shape[1] > 2:
        raise UserError(f"{name} has {samples.shape[1]} channels; keep the one or two that speak")
    if not np.isfinite(samples).all():
        raise UserError(f"{name} has samples that are not finite (NaN or infinite); write it again without them")
    if len(samples) < _SHORTEST * rate:
        raise UserError(
            f"{name} has {len(samples)} samples, less than the {_SHORTEST * 1000:.0f} ms that one frame needs; pass a "
            "longer one"
        )
    return Sound(samples.mean(axis=1, dtype=np.float32), rate, name)


def _from_file(source: Path | io.BytesIO, name: str, seconds: Seconds | None) -> tuple[Array, int, str]:
    """(samples, channels), rate and name of a file, of which only what is asked for is read."""
    try:
        import soundfile
    except ImportError:
        raise _missing("to read sound files") from None
    if isinstance(source, Path):
        name = source.name
        if source.is_dir():
            raise UserError(f"{source} is a folder; name one of its files")
        if not source.is_file():
            raise MissingFileError(f"there is no sound file {source}")
    size = source.stat().st_size if isinstance(source, Path) else source.getbuffer().nbytes
    if size == 0:
        raise UserError(f"{name} is empty; copy or record it again")
    if size > LARGEST:
        raise UserError(f"{name} has {size / 1e6:,.0f} MB, more than {LARGEST / 1e6:,.0f} MB; cut the file")
    try:
        with soundfile.SoundFile(source) as file:
            if file.format not in _FORMATS:
                raise UserError(f"{name} is in the format {file.format}; convert it to wav or flac")
            first, last = _part(len(file), file.samplerate, seconds, name)
            _refuse_cut(file, size, name)
            file.seek(first)
            samples = file.read(last - first, dtype="float32", always_2d=True)
            if len(samples) < last - first:
                missing = last - first - len(samples)
                raise UserError(f"{name} is cut short, its last {missing} samples are missing; copy it again")
            return samples, int(file.samplerate), name
    except soundfile.LibsndfileError as error:
        why = str(error).rpartition(": ")[2].rstrip(".")
        raise UserError(
            f"{name} is not a wav or flac file that can be read ({why}); convert it, or copy it again"
        ) from None


def _refuse_cut(file: Any, size: int, name: str) -> None:
    """Refuse a wav file that is shorter than it says: the library would read what is there."""
    bits = {"PCM_U8": 8, "PCM_16": 16, "PCM_24": 24, "PCM_32": 32, "FLOAT": 32, "DOUBLE": 64}.get(file.subtype)
    lines = (line.split() for line in file.extra_info.splitlines())
    says = next((line for line in lines if line[:2] == ["data", ":"] and "(should" in line), None)
    if bits and says:
        raise UserError(
            f"{name} is cut short, its header speaks of {says[2]} bytes of sound, and it has {size:,}; copy it again"
        )


def _from_array(samples: Any, rate: Any, seconds: Seconds | None) -> tuple[Array, int, str]:
    array, name = np.asarray(samples), "the sound"
    if array.dtype.kind not in "iuf" or array.ndim not in (1, 2):
        raise UserError(f"samples must be numbers (n,) or (n, channels), not {array.dtype} {array.shape}")
    if isinstance(rate, bool) or not isinstance(rate, (int, np.integer)):
        raise WrongTypeError(f"the rate must be a whole number of samples per second, not {rate!r}")
    if array.ndim == 2 and array.shape[0] < array.shape[1]:  # channels first, as torch has it
        array = array.T
    if array.dtype.kind in "iu":
        middle, top = (128, 128) if array.dtype == np.uint8 else (0, -float(np.iinfo(array.dtype).min) or 2.0**31)
        array = (array.astype(np.float32) - middle) / np.float32(top)
    first, last = _part(len(array), int(rate), seconds, name)
    chosen = array[first:last].astype(np.float32)
    return chosen.reshape(len(chosen), -1), int(rate), name


def _part(count: int, rate: int, seconds: Seconds | None, name: str) -> tuple[int, int]:
    """The first sample and the one after the last, no more than the models take."""
    if not _RATES[0] <= rate <= _RATES[1]:
        raise UserError(
            f"{name} has {rate:,} samples per second; convert it to 16,000, say: regard takes {_RATES[0]:,} to "
            f"{_RATES[1]:,}"
        )
    if count == 0:
        raise UserError(f"{name} has no samples; record it again, or name another file")
    start, end = seconds or (None, None)
    first = 0 if start is None else round(start * rate)
    last = count if end is None else min(count, round(end * rate))
    if not 0 <= first < last:
        raise UserError(
            f"{name} lasts {count / rate:.1f} s; there is no sound from {start or 0:g} to {end or count / rate:g} s"
        )
    if last - first > LONGEST * rate:
        raise UserError(
            f"{name} lasts {(last - first) / rate:.1f} s and the model takes {LONGEST:.0f} s at most; choose a part "
            f"with seconds=(0, {LONGEST:.0f}) (--seconds 0-{LONGEST:.0f}), or cut the file"
        )
    return first, last


def _missing(why: str) -> MissingPackageError:
    return MissingPackageError(f"regard needs soundfile and soxr {why}; run: pip install 'regard[audio]'")


# -- what the model reads ----------------------------------------------------------------------------------


def sound_side(sound: Sound, frames: int, step: float | None) -> Side:
    """A side of frames, each of them a token with its seconds; what the model added after the sound is a segment.

    `step` is the time from one frame to the next; without it, frames divide the sound evenly.
    """
    step = sound.seconds / frames if step is None else step
    heard = int(np.clip(np.ceil(sound.seconds / step - 1e-6), 1, frames))
    starts = np.arange(frames, dtype=np.float32) * np.float32(step)
    tokens = tuple(Token(f"{start:.2f} s", segment=int(i >= heard)) for i, start in enumerate(starts.tolist()))
    segments = [Segment("sound", 0, heard)] + ([Segment("padding", heard, frames)] if heard < frames else [])
    spans = np.stack([starts, starts + np.float32(step)], axis=1)
    medium = Medium(SOUND, "audio/wav", sound.wav(), (sound.seconds,), spectrogram(sound))
    return Side("sound", tokens, tuple(segments), medium=medium, spans=spans)


def spectrogram(sound: Sound) -> Array:
    """(80, frames) uint8 log-mel spectrogram, 10 ms per frame, as Whisper computes it: what is drawn."""
    from transformers import WhisperFeatureExtractor

    drawn = sound.at(_PICTURE_RATE)
    found = WhisperFeatureExtractor()(drawn.samples, sampling_rate=_PICTURE_RATE, return_tensors="np")[
        "input_features"
    ][0]
    found = found[:, : max(1, round(100 * sound.seconds))]
    low, high = float(found.min()), float(found.max())
    return np.asarray(np.rint((found - low) * (255 / max(high - low, 1e-6))), np.uint8)


def step_of(extractor: Any, config: Any, frames: int) -> float | None:
    """Seconds from one frame to the next, as the model's convolutions give them; None if that is not known."""
    rate = rate_of(extractor)
    strides = getattr(config, "conv_stride", None)
    if isinstance(strides, (list, tuple)) and all(isinstance(one, int) for one in strides):
        return float(np.prod(strides)) / rate
    padded = getattr(extractor, "n_samples", None)  # Whisper: half a minute, whatever is said in it
    return None if padded is None else padded / rate / frames


def rate_of(extractor: Any) -> int:
    """Samples per second that a model reads."""
    return int(getattr(extractor, "sampling_rate", None) or _PICTURE_RATE)


def features_of(extractor: Any, sound: Sound, name: str) -> Any:
    """What the model's forward takes for a sound, under the name it has there."""
    import torch

    if extractor is None:  # raw samples, as models without an extractor of their own read them
        return torch.from_numpy(sound.samples)[None]
    try:
        return extractor(sound.samples, sampling_rate=sound.rate, return_tensors="pt")[name]
    except Exception as error:  # extractors are third-party code and may raise anything
        raise UserError(
            f"the model's feature extractor failed on this sound: {type(error).__name__}: {error}"
        ) from error
