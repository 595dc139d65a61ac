"""Starting and stopping the server.

Enters: settings. Leaves: a server that answers until it is told to stop.
"""

from __future__ import annotations

import errno
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import replace

import uvicorn
from starlette.applications import Starlette

from regard.app.connections import Connection
from regard.app.server import application
from regard.app.settings import PORT, AppSettings

_TRIES = 20  # ports looked at when none is asked for
_IDLE = 75  # seconds an unused connection stays open: a request must not meet its closing
_ARRIVING = 128  # connections that are taken in at once; beside those that are there, all must find open files
_GRACE = 5  # seconds for answers under way when the server is told to stop


def serve(
    settings: AppSettings,
    *,
    port: int | None = None,
    browser: bool = True,
    token: bool = True,
    say: Callable[[str], None],
) -> None:
    """Serve the app until it is stopped; `say` gets its address, with the token, once it can be opened."""
    listening = listen(settings.host, port)
    actual = listening.getsockname()[1]
    settings = replace(settings, port=actual)
    if token:
        settings = replace(settings, token=secrets.token_urlsafe(24), ticket=secrets.token_urlsafe(24))
    server = server_of(application(settings))
    opened = address_of(replace(settings, token=settings.ticket)) if browser else None
    threading.Thread(target=_announce, args=(server, address_of(settings), opened, say), daemon=True).start()
    with listening:
        server.run(sockets=[listening])


def server_of(made: Starlette, connection: type[Connection] = Connection) -> uvicorn.Server:
    """What answers for an application."""
    return uvicorn.Server(
        uvicorn.Config(
            made,
            http=connection,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=_IDLE,
            timeout_graceful_shutdown=_GRACE,
            backlog=_ARRIVING,
            ws="none",
        )
    )


def listen(host: str, port: int | None) -> socket.socket:
    """A socket on the port asked for; without one, on the usual port or the next that is free."""
    ports = range(PORT, PORT + _TRIES) if port is None else [port]
    for number in ports:
        try:
            return _bound(host, number)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                continue
            raise OSError(f"the server cannot listen on {host} port {number}: {error.strerror}") from None
    if port is None:
        raise OSError(f"the ports {ports[0]} to {ports[-1]} are all taken; name a free one with --port")
    raise OSError(f"port {port} is taken, perhaps by another regard; name another with --port, or leave it out")


def address_of(settings: AppSettings) -> str:
    """What to type into a browser."""
    name = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(settings.host, settings.host)  # noqa: S104 (a name for it, not a choice)
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{settings.port}/" + (f"?token={settings.token}" if settings.token else "")


def _bound(host: str, port: int) -> socket.socket:
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    # Named, or asyncio leaves Nagle's algorithm on and each answer waits 40 ms for the client's acknowledgement.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(_ARRIVING)
    except BaseException:
        made.close()
        raise
    return made


def _announce(server: uvicorn.Server, address: str, opened: str | None, say: Callable[[str], None]) -> None:
    """Say the address when it answers, and open the other one."""
    import time

    while not server.started:
        if server.should_exit:
            return
        time.sleep(0.02)
    say(address)
    if opened is not None:
        webbrowser.open(opened)
