"""What the tests themselves start does not outlive them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SPAWNED = """
import sys, time
from tests.processes import spawned
child = spawned([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""
FORKED = """
import os, time
from tests import processes
os.environ.pop(processes.WARM, None)
processes.warm(["time"])  # a server of its own, which imports nothing that takes long
child = processes.Forked(time.sleep, 600)
print(child.pid, flush=True)
time.sleep(600)
"""


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
@pytest.mark.parametrize("starts", [SPAWNED, FORKED], ids=["spawned", "forked"])
def test_what_a_killed_run_started_ends(starts):
    with subprocess.Popen([sys.executable, "-c", starts], stdout=subprocess.PIPE, text=True) as run:
        child = int(run.stdout.readline())
        assert is_alive(child)
        run.send_signal(signal.SIGKILL)
        run.wait()
    for _ in range(600):
        if not is_alive(child):
            return
        time.sleep(0.1)
    raise AssertionError("the child outlived the run that spawned it")
