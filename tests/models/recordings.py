"""Sounds for tests: a real recording, and tones."""

from pathlib import Path

import numpy as np

RATE = 16_000


def tone(seconds=1.0, rate=RATE, channels=1):
    """(n,) or (n, channels) samples of a tone that rises."""
    at = np.arange(round(seconds * rate)) / rate
    one = (0.3 * np.sin(2 * np.pi * (200 + 150 * at) * at)).astype(np.float32)
    return one if channels == 1 else np.stack([one] * channels, axis=1)


def recording(name="beckett.wav"):
    """A recording of the package moonshine-voice (MIT); None if it is not installed."""
    import importlib.util

    spec = importlib.util.find_spec("moonshine_voice")
    path = None if spec is None else Path(spec.submodule_search_locations[0]) / "assets" / name
    return path if path is not None and path.is_file() else None
