"""Utterances: sounds, what is said in them, and when each word begins.

Enters: a JSONL file of {"audio": a file beside it, "text": ..., "onsets": [[character, seconds], ...]}.
Leaves: Examples; lines that do not fit are counted, with their place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from regard.corpus.readers.lines import lines_of
from regard.corpus.readers.source import Example, Problems, Source


def read_utterances(source: Source, problems: Problems) -> Iterator[Example]:
    """The utterances of a file, with their sounds and onsets as fields."""
    folder = Path(source.place).parent
    for number, line in lines_of(source, problems):
        if not line.strip():
            continue
        place = f"{source.name} line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            problems.add(place, "not JSON")
            continue
        why = _wrong(record)
        if why:
            problems.add(place, why)
            continue
        audio = folder / record["audio"]
        if not audio.resolve().is_relative_to(folder.resolve()) or not audio.is_file():
            problems.add(place, f"there is no sound file {record['audio']} beside it")
            continue
        fields: Mapping[str, Any] = {"audio": str(audio), "onsets": record["onsets"]}
        yield Example(0, record["text"], fields=fields, document=record.get("document"))


def _wrong(record: Any) -> str:
    """Why a record is no utterance; empty if it is one."""
    if not isinstance(record, dict) or not all(isinstance(record.get(name), str) for name in ("audio", "text")):
        return 'an utterance is {"audio": "a.wav", "text": "...", "onsets": [[character, seconds], ...]}'
    onsets: Any = record.get("onsets")
    pairs = isinstance(onsets, list) and all(isinstance(one, list) and len(one) == 2 for one in onsets)
    numbers = pairs and all(isinstance(n, (int, float)) and not isinstance(n, bool) for one in onsets for n in one)
    if not numbers or not onsets:
        return "onsets must be pairs [character, seconds], one at least"
    if not all(0 <= place < len(record["text"]) and 0 <= second < 1e6 for place, second in onsets):
        return "an onset lies outside of the text, or before the sound"
    return ""
