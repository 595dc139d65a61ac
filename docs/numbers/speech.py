"""Utterances with known word times: espeak-ng speaks sentences and tells when each word begins.

    python docs/numbers/speech.py sentences.txt folder [count]

Writes folder/utterances.jsonl and a wav file per sentence. Needs espeak-ng's library (Debian: apt-get install espeak-ng).
"""

from __future__ import annotations

import ctypes
import json
import random
import re
import sys
import wave
from pathlib import Path

VOICES = ("en-us", "en-gb", "en-gb-scotland", "en-us+f3", "en-gb+m3", "en-us+f4")
_WORD, _RETRIEVAL, _POSITION, _UTF8 = 1, 1, 1, 1  # espeak-ng/speak_lib.h


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("unique", ctypes.c_uint),
        ("place", ctypes.c_int),  # characters from 1
        ("length", ctypes.c_int),
        ("milliseconds", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user", ctypes.c_void_p),
        ("name", ctypes.c_char * 8),
    )


class Speaker:
    """espeak-ng, whose words are events with a sample number."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libespeak-ng.so.1")
        self.rate = self._library.espeak_Initialize(_RETRIEVAL, 0, None, 0)
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))
        self._heard = kind(self._hear)  # kept: the library calls it
        self._library.espeak_SetSynthCallback(self._heard)

    def say(self, text: str, voice: str, speed: int) -> tuple[bytes, list[tuple[int, float]]]:
        """Samples of 16 bits, and (character, seconds) of each word."""
        self._samples, self._onsets = bytearray(), []
        self._library.espeak_SetVoiceByName(voice.encode())
        self._library.espeak_SetParameter(1, speed, 0)  # words per minute
        data = text.encode()
        self._library.espeak_Synth(data, len(data) + 1, 0, _POSITION, 0, _UTF8, None, None)
        self._library.espeak_Synchronize()
        return bytes(self._samples), self._onsets

    def _hear(self, samples, count, events) -> int:
        if count > 0:
            self._samples += ctypes.string_at(samples, 2 * count)
        number = 0
        while events[number].type:
            if events[number].type == _WORD and events[number].length:
                self._onsets.append((events[number].place - 1, events[number].sample / self.rate))
            number += 1
        return 0


def plain(text: str) -> bool:
    """Whether a sentence is words that are spoken as they are written, so that events and words agree."""
    return re.fullmatch(r"[A-Z][a-z]*( [a-z]+){4,13}[.?!]", text) is not None


def main(sentences: str, folder: str, count: int = 240) -> None:
    """Speak some sentences that are plain, in turn with several voices and speeds."""
    out, speaker, done = Path(folder), Speaker(), 0
    out.mkdir(parents=True, exist_ok=True)
    lines = list(dict.fromkeys(line.split("\t")[0].strip() for line in Path(sentences).read_text("utf-8").splitlines()))
    random.Random(0).shuffle(lines)  # corpora may be sorted by length
    with (out / "utterances.jsonl").open("w", encoding="utf-8") as file:
        for text in filter(plain, lines):
            data, onsets = speaker.say(text, VOICES[done % len(VOICES)], (130, 160, 190)[done % 3])
            starts = [match.start() for match in re.finditer(r"\w+", text)]
            if [place for place, _ in onsets] != starts:  # words that are spoken together have one event
                continue
            with wave.open(str(out / f"{done:04}.wav"), "wb") as sound:
                sound.setnchannels(1)
                sound.setsampwidth(2)
                sound.setframerate(speaker.rate)
                sound.writeframes(data)
            file.write(json.dumps({"audio": f"{done:04}.wav", "text": text, "onsets": onsets}) + "\n")
            done += 1
            if done == count:
                break
    print(f"{done} utterances in {out}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
