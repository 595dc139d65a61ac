"""A hub that accepts connections and never answers, as a broken proxy or a captive portal does."""

from __future__ import annotations

import socket
import threading


class Silent:
    """A server on this machine that takes connections and says nothing."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._held: list[socket.socket] = []
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    @property
    def asked(self) -> list[str]:
        """The first line of every request, also of one that is still on its way."""
        for one in self._held:
            one.settimeout(30)
        return [one.recv(4096).decode("latin-1").split("\r\n")[0] for one in self._held]

    def _run(self) -> None:
        while True:
            try:
                self._held.append(self._listening.accept()[0])
            except OSError:
                return

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(10)
        for one in self._held:
            one.close()
