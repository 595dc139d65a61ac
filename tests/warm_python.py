"""`python` with arguments, forked from the process of tests/warm.py that has imported what takes long.

The socket's place is in the environment (REGARD_TESTS_WARM); imports nothing else, to begin at once.
"""

import array
import json
import os
import signal
import socket
import sys


def main() -> None:
    """Ask for the process, hand signals on to it, and end as it does."""
    asked = {"environment": dict(os.environ), "folder": os.getcwd(), "arguments": sys.argv[1:]}  # noqa: PTH109
    server = socket.socket(socket.AF_UNIX)
    server.connect(os.environ["REGARD_TESTS_WARM"])
    files = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", (0, 1, 2)))
    said = json.dumps(asked).encode() + b"\n"
    server.sendall(said[server.sendmsg([said], [files]) :])
    answers = server.makefile()
    child = int(answers.readline())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(child, number))
    for number in (0, 1, 2):
        os.close(number)  # they are the other's now
    code = int(answers.readline() or 1)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code)


main()
