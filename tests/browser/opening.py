"""How tests open the app on a text of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from tests.browser.test_heads import QUERY, until
from tests.browser.windows import Windows


@contextmanager
def opening(windows: Windows, home: str) -> Iterator[Callable[..., Any]]:
    """Opens heads of the app behind an address, each page with an address of its own; gives them back in the end."""
    with windows.lent() as take:

        def open_app(model: object, text: str, **more: object) -> Any:
            page = take(viewport={"width": 1280, "height": 800}, locale="en-US")
            parts = {"model": model, "text": text, "view": "heads", **more}
            page.goto(home + "#" + "&".join(f"{name}={quote(str(value))}" for name, value in parts.items()))
            page.wait_for_selector(QUERY)
            until(page, "document.querySelector('[data-saved]') === null", seconds=240)
            return page

        yield open_app
