"""Make the pictures of docs/gallery.md: every view, a saved page and the figures, on the models that come with regard.

    python docs/gallery/make.py                  # writes the pictures that the documentation keeps, and the page
    python docs/gallery/make.py --all FOLDER     # every view, light and dark, 390, 1440 and 1920 pixels wide, to look at
    python docs/gallery/make.py --page           # the page alone
    python docs/gallery/make.py heads atlas      # some

All pictures take some minutes on two cores. They are made with the faces Inter, JetBrains Mono and Noto Sans CJK installed
(apt-get install fonts-inter fonts-jetbrains-mono fonts-noto-cjk), which the page asks for first; without them it says so.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

from pictures import asked_about, looked_at
from PIL import Image
from playwright.sync_api import sync_playwright
from shots import (
    APP,
    CAT,
    DECODER,
    FIGURES,
    HEARD,
    HERE,
    PAGE,
    SAVED,
    SEEN,
    SHOTS,
    SIZES,
    STORE,
    THEMES,
    Shot,
    kept,
    page,
)

import regard
from regard.models.means import SENTENCES
from regard.trace.trace import Trace

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
SETTLED = """() => !document.querySelector('[data-saved], [data-busy], .busy, [aria-busy=true]')
  && ![...document.querySelectorAll('.thumb canvas')].some(map => map.width === 300 && map.height === 150)
  && document.getAnimations().every(one => one.playState !== 'running')"""  # a map that is not drawn has a canvas's first size
QUIET = 1.0  # seconds without a change before a picture is taken
PATIENCE = 240_000  # milliseconds; a model is loaded meanwhile
QUALITY = 42
STUDIES = ("tokens", "atlas", "norms")
FACES = ("Inter", "JetBrains Mono", "Noto Sans CJK SC")  # that the page asks for, and ships none of


def main() -> None:
    """Make what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    figures = [f"figure-{name}" for name in FIGURES]
    every = [*(shot.name for shot in SHOTS), "figures", *figures]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(every)}")
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="every size and theme, as PNG")
    parser.add_argument("--page", action="store_true", help="write the page without making pictures")
    given = parser.parse_args()
    if given.page:
        PAGE.write_text(page(), "utf-8")
        return
    lacking = [face for face in FACES if not installed(face)]
    if lacking:
        print(f"not installed: {', '.join(lacking)}; pictures will have other letters than those kept", file=sys.stderr)
    names = given.names or [shot.name for shot in SHOTS] + ["figures"]
    folder = given.all or HERE
    folder.mkdir(parents=True, exist_ok=True)
    wanted = None if given.all else set(kept())
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["MPLCONFIGDIR"] = scratch  # matplotlib's own list of faces may be older than those installed
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=which("chromium"), args=FLAGS)
            if any(shot.name in names for shot in APP):
                with served(Path(scratch)) as address:
                    for shot in (one for one in APP if one.name in names):
                        take(browser, shot, f"{address}#{shot.opens}", folder, wanted)
            if SAVED.name in names:
                saved = (
                    regard.load()
                    .trace(*STORE, attribution=True)
                    .save_html(Path(scratch) / "page.html", layer=0, heads=[2])
                )
                take(browser, SAVED, saved.as_uri(), folder, wanted)
            if HEARD.name in names:
                path = heard().save_html(Path(scratch) / "sound.html", report=False)
                take(browser, HEARD, path.as_uri(), folder, wanted)
            for shot in (one for one in SEEN if one.name in names):
                trace = asked_about() if "<image>" in shot.how else looked_at()
                path = trace.save_html(Path(scratch) / f"{shot.name}.html")
                take(browser, shot, f"{path.as_uri()}#{shot.opens}", folder, wanted)
            browser.close()
        drawn = figures if "figures" in names else [name for name in figures if name in names]
        if drawn:
            draw(folder, drawn)
    if not given.all:
        PAGE.write_text(page(), "utf-8")


def installed(face: str) -> bool:
    """Whether the browser will find a face on this machine."""
    asked = ["fc-match", "--format=%{family}", face]
    return bool(which(asked[0])) and face in subprocess.run(asked, capture_output=True, text=True, check=True).stdout


def heard() -> Trace:
    """What Whisper hears in a recording of the package moonshine-voice."""
    (folder,) = find_spec("moonshine_voice").submodule_search_locations
    return regard.load("whisper-tiny.en").trace(audio=Path(folder) / "assets" / "beckett.wav")


@contextmanager
def served(scratch: Path) -> Iterator[str]:
    """The app on both models, with studies of the sentences that come with regard."""
    text = scratch / "sentences.txt"
    text.write_text("\n".join(SENTENCES), "utf-8")
    for name in STUDIES:
        study = [sys.executable, "-m", "regard", "study", name, str(text), "-o", str(scratch / "studies" / name)]
        subprocess.run(study, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    command = [sys.executable, "-m", "regard", "serve", "--no-browser", "--port", "0", "-m", "all-MiniLM-L6-v2"]
    command += ["-m", DECODER, "--studies", str(scratch / "studies")]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found, "the server printed no address"
        yield found[0]
    finally:
        server.terminate()
        server.wait(20)


def take(browser: Any, shot: Shot, address: str, folder: Path, wanted: set[str] | None) -> None:
    """A shot in each theme and width that is wanted; all where nothing is said."""
    for theme in THEMES:
        for width, height in SIZES.items():
            name = f"{shot.name}-{theme}-{width}"
            if wanted is not None and name not in wanted:
                continue
            viewport = {"width": width, "height": height}
            opened = browser.new_page(viewport=viewport, color_scheme=theme, locale="en-US", has_touch=width < 600)
            opened.set_default_timeout(PATIENCE)
            opened.goto(address)
            opened.wait_for_selector(shot.ready or "main", state="attached")
            for selector in shot.then:
                opened.click(selector)
                opened.mouse.move(0, 0)  # or what moves below the pointer looks pointed at
            for frame in opened.frames:  # a report draws its atlas in a page of its own
                frame.wait_for_function("() => !document.querySelector('#atlas .wait')", polling=200)  # drawn or not
            settle(opened)
            keep(Image.open(io.BytesIO(opened.screenshot())), folder / name, wanted is None)
            opened.close()
            print(name, flush=True)


def settle(opened: Any) -> None:
    """Wait until nothing has moved for a while."""
    since, deadline = time.monotonic(), time.monotonic() + PATIENCE / 1000
    while time.monotonic() - since < QUIET:
        assert time.monotonic() < deadline, "the page never came to rest"
        if not opened.evaluate(SETTLED):
            since = time.monotonic()
        opened.wait_for_timeout(50)


def keep(image: Image.Image, path: Path, whole: bool) -> None:
    """A picture as it is, or small."""
    if whole:
        image.save(path.with_suffix(".png"))
    else:
        image.convert("RGB").save(path.with_suffix(".webp"), quality=QUALITY, method=6)


def draw(folder: Path, names: list[str]) -> None:
    """The figures, as the lines beside them in the page make them."""
    made = {
        "trace": regard.load().trace(*STORE),
        "answered": regard.load(DECODER).trace(CAT, generate=10),
        "heard": heard(),
    }
    for name, line in FIGURES.items():
        if f"figure-{name}" not in names:
            continue
        drawn = eval(line, made)  # the lines are in shots.py
        keep(Image.open(io.BytesIO(drawn._repr_png_())), folder / f"figure-{name}", folder != HERE)


if __name__ == "__main__":
    main()
