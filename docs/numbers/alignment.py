"""Which heads tell when words begin, on speech with known times: espeak-ng tells when each word begins.

    python docs/numbers/alignment.py sentences.txt folder [count]   # the utterances alone

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
from tempfile import TemporaryDirectory
from typing import Any

from blocks import Blocks, span, table

MODEL = "whisper-tiny.en"
COUNT = 240
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


def measure(data: Path) -> dict[str, Any]:
    """A row per way to tell, and one per head."""
    from regard import study

    with TemporaryDirectory() as folder:
        spoken = speak(data / "tatoeba_eng_spa" / "train.tsv", Path(folder))
        result = study.alignment(MODEL, spoken)
    return {
        "ways": result.table.to_dict("records"),
        "heads": result.tables["Heads"].to_dict("records"),
        "utterances": result.meta["tally"]["examples"],
    }


def blocks(found: dict[str, Any]) -> Blocks:
    """A table of all ways to tell, and what it says."""
    ways = {row["way"]: row for row in found["ways"]}
    rows = [
        [
            name,
            span(1000 * row["median"], 1000 * row["low"], 1000 * row["high"], 0),
            f"{1000 * row['ninetieth']:.0f}",
            f"{1000 * row['late']:.0f}".replace("-", "−"),
            f"{1000 * row['shifted']:.0f}",
        ]
        for name, row in ways.items()
    ]
    mine, own, line = ways["chosen heads"], ways["the model's own list"], ways["a line"]
    single = found["heads"][0]
    text = f"""
{table(["milliseconds", "median error", "90th percentile", "late by", "median without that"], rows)}

Errors of {own["words"]:,} onsets in {found["utterances"]} utterances, as {MODEL} hears them, on the half that nothing was chosen on, with 95 % intervals over
utterances. The first word of an utterance is left out: every path begins with it at the first frame. *Late by* is the median of the
error with its sign, and the last column takes off what was found of it on the other half. *A line* says that time passes with the
characters of the text, with the slope and start that fit the other half best; espeak-ng speaks evenly, so it is a strong baseline here.

{_verdict(found["ways"][0], mine, own, line)} Most of the lead over OpenAI's list is a constant: with the shift taken off, OpenAI's list has {1000 * own["shifted"]:.0f} ms and
the chosen heads {1000 * mine["shifted"]:.0f} ms. Chosen: {mine["heads"]}. Alone, {single["layer"]}.{single["head"]} is best
({1000 * single["median"]:.0f} ms over all utterances).
"""
    return {"how-to/hear-what-whisper-listens-to.md": {"alignment": text}}


def _verdict(best: dict[str, Any], mine: dict[str, Any], own: dict[str, Any], line: dict[str, Any]) -> str:
    """Which way wins, and whether intervals leave the others behind."""
    told = f"Best: {best['way']}. "
    for name, other in (("OpenAI's list", own), ("the line", line)):
        apart = mine["high"] < other["low"] or other["high"] < mine["low"]
        better = "closer than" if mine["median"] < other["median"] else "no closer than"
        told += f"The chosen heads are {better} {name}{'' if apart else ', with intervals that overlap'}. "
    return told.strip()


def speak(sentences: Path, out: Path, count: int = COUNT) -> Path:
    """The file of so many utterances: some sentences that are plain, in turn with several voices and speeds."""
    speaker, done = Speaker(), 0
    out.mkdir(parents=True, exist_ok=True)
    lines = list(dict.fromkeys(line.split("\t")[0].strip() for line in sentences.read_text("utf-8").splitlines()))
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
    return out / "utterances.jsonl"


if __name__ == "__main__":
    print(speak(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:])))
