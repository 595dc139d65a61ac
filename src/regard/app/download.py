"""Files made for one answer.

Enters: a file that some work made. Leaves: the answer that sends it, after which it is gone.
"""

from __future__ import annotations

from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send

from regard.app.exports import File
from regard.app.guard import FOREIGN_POLICY


class Download(FileResponse):
    """A file made for one answer, and deleted after it however that ends."""

    def __init__(self, file: File, name: str, media_type: str) -> None:
        super().__init__(
            file.path, media_type=media_type, filename=name, headers={"Content-Security-Policy": FOREIGN_POLICY}
        )
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.remove()
