"""Coming in by the address that `regard serve` prints, as a browser does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx


def origin_of(link: str) -> str:
    """The address without its token."""
    place = urlsplit(link)
    return f"{place.scheme}://{place.netloc}"


def token_of(link: str) -> str:
    """The token of an address; empty where it has none."""
    return urlsplit(link).query.removeprefix("token=")


@contextmanager
def entered(link: str, timeout: float = 60) -> Iterator[httpx.Client]:
    """A client that has opened the address and holds the cookie."""
    with httpx.Client(base_url=origin_of(link), timeout=timeout) as client:
        client.get("/", params={"token": token_of(link)} if token_of(link) else None)
        yield client
