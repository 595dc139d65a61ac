"""Access control: who may ask, how much may be sent, and what a browser may do with the answers.

Enters: every request, before anything else sees it. Leaves: the request, or a refusal; answers with security headers.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.app.problems import Problem, answer_to, large
from regard.app.settings import AppSettings
from regard.trace.sentences import refusal

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src blob:; "
    "connect-src 'self'; font-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# Users' own files (study reports, pages): their scripts run in a separate origin and can reach nothing.
FOREIGN_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; media-src blob:; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
MEDIA = "/api/media"  # where files are sent, which may be larger than other requests
MEDIA_SAYS = f"{MEDIA}/says"
_OPEN = ("/healthz",)  # answered without a token
_SHUT = "open the address that the server printed; it ends in ?token=..."
_SHUT_PAGE = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>regard</title>
<p>regard is running. To use it, {_SHUT}</p>
<p lang="zh">请打开服务器打印的地址，其末尾为 ?token=...</p>
</html>
"""
_LOCAL = ("localhost", "localhost.localdomain")
_DAY = 86_400


class Guard:
    """Middleware that refuses requests not from our own page, and adds security headers to every answer."""

    def __init__(self, app: ASGIApp, settings: AppSettings) -> None:
        self._app, self._settings = app, settings
        self._cookie = f"regard-{settings.port}"  # cookies know hosts, not ports
        self._ticket = settings.ticket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        response = self._refusal(scope)
        # Files are sent whole: they are small, and a wrong range would get an error in a different format.
        scope["headers"] = [(name, value) for name, value in scope["headers"] if name != b"range"]
        app = self._app if response is None else response
        await app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        try:
            self._check_host(headers)
            self._check_origin(headers, scope)
            self._check_size(headers, scope["path"])
            return self._admission(headers, scope)
        except Problem as problem:
            return answer_to(scope["path"], problem)

    def _check_host(self, headers: Headers) -> None:
        """The name must be one of ours: any other name that leads here is an attack (DNS rebinding)."""
        name = _name(headers.get("host", ""))
        if not name or not _allowed(name, self._settings):
            raise Problem(403, "host", "this server is not reachable under this name; open the address it printed")

    def _check_origin(self, headers: Headers, scope: Scope) -> None:
        """Other sites may link here, but nothing else."""
        origin, host = headers.get("origin"), headers.get("host", "")
        if origin is not None and origin.lower().partition("://")[2] != host.lower():
            raise Problem(403, "origin", "requests from other sites are refused")
        arriving = scope["method"] == "GET" and scope["path"] == "/" and headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not arriving:
            raise Problem(403, "origin", "requests from other sites are refused")

    def _check_size(self, headers: Headers, path: str) -> None:
        limits = self._settings.limits
        length, most = headers.get("content-length", "0"), limits.medium if path in (MEDIA, MEDIA_SAYS) else limits.body
        if not length.isascii() or not length.isdigit() or int(length[:20]) > most:
            if path in (MEDIA, MEDIA_SAYS):
                raise large(refusal("medium_large", most=f"{most / 1e6:.0f}"))
            raise large(f"the request is larger than {most:,} bytes")

    def _admission(self, headers: Headers, scope: Scope) -> Response | None:
        """Without a token in the settings, everyone is let in; otherwise who shows it by cookie, header or address."""
        token = self._settings.token
        if token is None or scope["path"] in _OPEN or _same(self._shown(headers), token):
            return None
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if not self._opens(query.pop("token", [""])[0], token):
            return self._shut(headers, scope)
        path = "/" + scope["path"].lstrip("/\\")  # never //elsewhere
        target = path + (f"?{urlencode(query, doseq=True)}" if query else "")
        response = RedirectResponse(target, 303)
        # Lax: a link in an email leads here from another site, and the requests after it need the cookie.
        response.set_cookie(self._cookie, token, max_age=30 * _DAY, httponly=True, samesite="lax")
        return response

    def _opens(self, shown: str, token: str) -> bool:
        """Whether the address shows the token, or the ticket, which is valid once."""
        if self._ticket is not None and _same(shown, self._ticket):
            self._ticket = None
            return True
        return _same(shown, token)

    def _shut(self, headers: Headers, scope: Scope) -> Response:
        """The refusal, as a page for people and as JSON for programs."""
        if scope["path"] == "/" and "text/html" in headers.get("accept", ""):
            return HTMLResponse(_SHUT_PAGE, 401)
        raise Problem(401, "token", _SHUT)

    def _shown(self, headers: Headers) -> str:
        scheme, _, value = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return value.strip()
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return ""
        return "" if morsel is None else morsel.value


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own, which nobody else can reach."""
    address = _address(host)
    return host.lower() in _LOCAL if address is None else address.is_loopback


def _allowed(name: str, settings: AppSettings) -> bool:
    if name in _LOCAL or is_loopback(name):
        return True
    if is_loopback(settings.host):
        return name in _lower(settings.names)
    # An address cannot be rebound to another machine, only a name can.
    return _address(name) is not None or name in _lower((settings.host, socket.gethostname(), *settings.names))


def _lower(names: Iterable[str]) -> set[str]:
    return {name.lower() for name in names}


def _name(host: str) -> str:
    """The name in a Host header, without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _same(shown: str, token: str) -> bool:
    return secrets.compare_digest(shown.encode(), token.encode())


def _with_headers(send: Send) -> Send:
    """Add the headers above to answers that do not set their own."""

    async def send_marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message.setdefault("headers", []))
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_marked
