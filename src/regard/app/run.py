"""Starting and stopping the server.

Enters: settings. Leaves: a server that runs until it is told to stop.
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

_TRIES = 20  # ports to try when none is given
_IDLE = 75  # seconds an unused connection stays open: a request must not run into its closing
_ARRIVING = 128  # connections accepted at once; together with the open ones they must not exhaust the open files
_GRACE = 5  # seconds for answers in progress when the server is told to stop


def serve(
    settings: AppSettings,
    *,
    port: int | None = None,
    browser: bool = True,
    token: bool = True,
    say: Callable[[str], None],
) -> None:
    """Serve the app until it is stopped; `say` gets its address, with the token, once it is ready."""
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


def server_of(app: Starlette, connection: type[Connection] = Connection) -> uvicorn.Server:
    """The server of an application."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
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
    """A socket on the given port; without one, on the usual port or the next free one."""
    ports = range(PORT, PORT + _TRIES) if port is None else [port]
    for number in ports:
        try:
            return _bind(host, number)
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


def _bind(host: str, port: int) -> socket.socket:
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    # TCP by name, or asyncio leaves Nagle's algorithm on and each answer waits 40 ms for the client's acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_ARRIVING)
    except BaseException:
        listener.close()
        raise
    return listener


def _announce(server: uvicorn.Server, address: str, opened: str | None, say: Callable[[str], None]) -> None:
    """Print the address once the server answers, and open the other one in a browser."""
    import time

    while not server.started:
        if server.should_exit:
            return
        time.sleep(0.02)
    say(address)
    if opened is not None:
        webbrowser.open(opened)
