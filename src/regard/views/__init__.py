"""Traces as pictures: the bytes sent to the browser, and the ways to show them."""

from __future__ import annotations

from regard.views.html import save_html
from regard.views.wire import decode, encode, header_of

__all__ = ["decode", "encode", "header_of", "save_html"]
