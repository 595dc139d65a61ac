"""Make the pictures in docs/images: every view of the article's two sentences, and the app, light and dark.

python docs/screenshots.py
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

import regard
from regard.views.walk import walk

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
IMAGES = Path(__file__).parent / "images"
SENTENCES = ("I went to the store.", "At the store, I bought fresh strawberries.")
# What is open in each view: heads that show something.
VIEWS = {
    "heads": {"layer": 1, "heads": [8]},
    "atlas": {},
    "matrix": {"layer": 0, "heads": [2]},
    "neurons": {"layer": 0, "heads": [2]},
}


def main() -> None:
    """Write one picture per view and theme."""
    trace = regard.load().trace(*SENTENCES, attribution=True)
    IMAGES.mkdir(exist_ok=True)
    walked = walk("Hello, how are you?")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=which("chromium"), args=FLAGS)
        saved = {
            view: trace.save_html(Path(folder) / f"{view}.html", view=view, **chosen) for view, chosen in VIEWS.items()
        }
        saved["walk"] = walked.save(Path(folder) / "walk.html")
        for view, page_path in saved.items():
            for theme in ("light", "dark"):
                page = browser.new_page(viewport={"width": 1180, "height": 720}, color_scheme=theme)
                page.goto(page_path.as_uri())
                page.wait_for_function("() => performance.getEntriesByName('regard:drawn').length")
                if view == "walk":
                    page.click("[data-step=cross]")
                page.wait_for_timeout(300)
                page.screenshot(path=IMAGES / f"{view}-{theme}.png")
                page.close()
        picture_app(browser)
        browser.close()


def picture_app(browser: Any) -> None:
    """The app on the same sentences, with one head switched off."""
    command = [sys.executable, "-m", "regard", "serve", "--no-browser", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found, "the server printed no address"
        asked = urlencode({"text": SENTENCES[0], "pair": SENTENCES[1], "off": "encoder:1.8"})
        for theme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=theme)
            page.goto(f"{found[0]}#{asked}&view=atlas&layer=1&heads=8")
            page.wait_for_selector("[data-effect] table")
            page.wait_for_timeout(600)
            page.screenshot(path=IMAGES / f"app-{theme}.png")
            page.close()
    finally:
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    main()
