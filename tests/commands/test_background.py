"""Tests started in the background (`make test &`, nohup), where a shell has them ignore Ctrl-C."""

import signal
import subprocess
import sys


def test_a_child_stops_at_ctrl_c():
    code = "import time; print(flush=True); time.sleep(30)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        child.stdout.readline()
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == -signal.SIGINT


def test_children_of_tests_stop_at_ctrl_c_in_the_background_too():
    code = (
        "import pytest, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.exit(pytest.main(sys.argv[1:]))"
    )
    asked = [f"{__file__}::test_a_child_stops_at_ctrl_c", "-p", "no:cacheprovider"]
    done = subprocess.run([sys.executable, "-c", code, *asked], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
