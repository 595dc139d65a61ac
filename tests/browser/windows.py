"""Pages of the browser that tests borrow: a new one starts a process, which takes longer than to open most pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_KEPT = 2  # pages of a kind that wait to be borrowed again
_FORGET = (
    "() => { try { localStorage.clear(); sessionStorage.clear(); } catch { /* a page of no site keeps nothing */ } }"
)


class Windows:
    """Lends pages by the options of their context; a page that comes back has forgotten what was done in it."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._free: dict[Any, list[Any]] = defaultdict(list)
        self._heard: dict[Any, list[tuple[str, Any]]] = {}  # what listens to a lent page

    @contextmanager
    def lent(self) -> Iterator[Callable[..., Any]]:
        """A function from options to a blank page; the pages go back in the end."""
        taken: list[tuple[Any, Any]] = []

        def take(viewport: dict[str, int], **options: Any) -> Any:
            kind = tuple(sorted(options.items()))
            free = self._free[kind]
            page = free.pop() if free else self._made(options)
            taken.append((kind, page))
            page.set_viewport_size(viewport)
            return page

        try:
            yield take
        finally:
            for kind, page in taken:
                self._give_back(kind, page)

    def _made(self, options: dict[str, Any]) -> Any:
        page = self._browser.new_context(**options).new_page()
        page.set_default_timeout(240_000)  # a busy machine takes its time
        heard = self._heard[page] = []
        listen = page.on

        def on(event: str, listener: Any) -> None:
            heard.append((event, listener))
            listen(event, listener)

        page.on = on
        return page

    def _give_back(self, kind: Any, page: Any) -> None:
        if page.is_closed() or len(self._free[kind]) >= _KEPT:
            self._heard.pop(page)
            page.context.close()
            return
        page.evaluate(_FORGET)  # and hear what is still to be said
        for event, listener in self._heard[page]:
            page.remove_listener(event, listener)
        self._heard[page].clear()
        page.unroute_all(behavior="ignoreErrors")
        for other in page.context.pages:
            if other != page:
                other.close()
        page.context.clear_cookies()
        page.mouse.move(0, 0)
        page.goto("about:blank")
        self._free[kind].append(page)
