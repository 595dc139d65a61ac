"""What tests cost: `python -m pytest -p tests.cpu` ends with the CPU time of files and tests, children's included."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import suppress

import psutil
import pytest

from tests.processes import WARM, connected

_SHOWN = 25
_spent: Counter[str] = Counter()  # seconds, by test; in the process that hands them out, those of all
_last = 0.0


def _running() -> Iterator[psutil.Process]:
    """What this process has started, also through the one that forks for all workers of a run (tests/warm.py)."""
    yield from psutil.Process().children(recursive=True)
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    for other in psutil.Process(os.getppid()).children() if worker else ():
        with suppress(psutil.Error):
            if other.name() == worker:
                yield from (other, *other.children(recursive=True))


def _forked() -> float:
    """What took what was forked for this process and has ended."""
    if WARM not in os.environ:
        return 0.0
    with connected() as server:
        server.sendall(json.dumps({"worker": os.environ.get("PYTEST_XDIST_WORKER", "alone")}).encode() + b"\n")
        return float(server.makefile().readline())


def _now() -> float:
    """Seconds of CPU of this process, of those it started that have ended, and of those that run."""
    own = os.times()
    total = own.user + own.system + own.children_user + own.children_system + _forked()
    for process in _running():
        with suppress(psutil.Error):
            total += sum(process.cpu_times()[:4])
    return total


def pytest_runtest_logstart() -> None:
    global _last
    _last = _now()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What was spent since the last report goes with this one; a browser's processes end with nobody to count them."""
    global _last
    report = yield
    now = _now()
    report.user_properties = [("cpu", max(0.0, now - _last))]
    _last = now
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    for name, seconds in report.user_properties:
        if name == "cpu":
            _spent[report.nodeid] += seconds  # type: ignore[assignment, operator]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    files: Counter[str] = Counter()
    for test, seconds in _spent.items():
        files[test.partition("::")[0]] += seconds
    terminalreporter.section(f"{sum(_spent.values()):.0f} s of CPU")
    for one in (files, _spent):
        for name, seconds in one.most_common(_SHOWN):
            terminalreporter.write_line(f"{seconds:7.1f} {name}")
        terminalreporter.write_line("")
