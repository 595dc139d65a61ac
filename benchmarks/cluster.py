"""The atlas on several real Ray nodes of this machine while workers are killed at random: the same sums as locally?

    python benchmarks/cluster.py [--nodes 3] [--kills 4] [--count 4000] [--seed 0]

Each node is a raylet of its own with one processor, started by `ray.cluster_utils.Cluster`; one worker runs on each. A
thread kills a worker's process with SIGKILL after random pauses (seeded), until so many have died or the run is over.
Ray gives up on a node after 30 seconds, which a busy machine may need: it is then started again; other limits are long,
and ports are chosen beforehand, since a node waits only 15 seconds for helpers that would tell it theirs.
The model and the sentences are those of benchmarks/million.py. Sums are compared with a local run: the largest
difference, relative to the largest number of its array.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import psutil
from million import prepare

import regard
from regard.corpus.engine import Run, run_local
from regard.corpus.ray import RayEngine
from regard.corpus.readers.source import Source
from regard.corpus.sums import Sums
from regard.studies.atlas.study import Atlas

PORTS = "metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port"
ATTEMPTS = 6  # at a node that does not start
LIMITS = {  # read when Ray is imported
    "RAY_worker_niceness": "0",
    "RAY_raylet_start_wait_time_s": "600",
    "RAY_worker_register_timeout_seconds": "900",
    "RAY_agent_register_timeout_ms": "900000",
    "RAY_gcs_server_request_timeout_seconds": "600",
    "RAY_gcs_rpc_server_connect_timeout_s": "300",
    "RAY_health_check_timeout_ms": "120000",
    "RAY_health_check_failure_threshold": "20",
    "RAY_enable_worker_prestart": "0",
    "RAY_prestart_worker_first_driver": "0",
}


class Killer(threading.Thread):
    """Kills workers of this machine's cluster that are at work."""

    def __init__(self, kills: int, seed: int) -> None:
        super().__init__(daemon=True)
        self.left, self.draw, self.over = kills, random.Random(seed), threading.Event()
        self.killed: list[int] = []

    def run(self) -> None:
        """Until the run is over."""
        while self.left and not self.over.wait(self.draw.uniform(1, 4)):
            workers = [one for one in psutil.Process().children(recursive=True) if _at_work(one)]
            if workers:
                victim = self.draw.choice(sorted(workers, key=lambda one: one.pid))
                os.kill(victim.pid, signal.SIGKILL)
                self.killed.append(victim.pid)
                self.left -= 1


def _at_work(process: psutil.Process) -> bool:
    try:
        return process.cmdline()[:1] == ["ray::RayWorker.sum"]
    except psutil.Error:  # it has ended
        return False


def started(nodes: int) -> int:
    """Start a cluster of so many nodes with one processor each beside a head with none; how many are alive."""
    os.environ.update(LIMITS)
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    patiently(lambda: cluster.add_node(num_cpus=0, include_dashboard=False, **ports()))
    for _ in range(nodes):
        patiently(lambda: cluster.add_node(num_cpus=1, **ports()))
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
    return sum(one["Alive"] for one in ray.nodes())


def ports() -> dict[str, int]:
    """Free ports for the helpers of a node."""
    with ExitStack() as opened:
        taken = [opened.enter_context(socket.socket()) for _ in PORTS]
        for one in taken:
            one.bind(("127.0.0.1", 0))
        return {name: one.getsockname()[1] for name, one in zip(PORTS, taken, strict=True)}


def patiently(start: Callable[[], object]) -> None:
    """Start a node, again if Ray gave up on it."""
    for attempt in range(ATTEMPTS):
        try:
            start()
        except Exception as error:  # Ray raises nothing more special
            if attempt + 1 == ATTEMPTS:
                raise
            print(f"a node did not start, again: {error}", flush=True)
        else:
            return


def difference(one: Sums, other: Sums) -> float:
    """The largest, relative to the largest number of its array."""
    assert set(one.arrays) == set(other.arrays)
    found = [0.0]
    for name, array in one.arrays.items():
        theirs, largest = other.arrays[name], float(np.nanmax(np.abs(array), initial=0))
        gap = float(np.nanmax(np.abs(np.asarray(array, float) - np.asarray(theirs, float)), initial=0))
        found.append(gap / largest if largest else gap)
    return max(found)


def main() -> None:
    """Run locally, then on the cluster, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus, place = prepare(Path(folder), given.count)
        model, run = regard.load(str(place)), Run(Source(str(corpus)))
        local = run_local(Atlas(), model, run)
        alive = started(given.nodes)
        killer, start = Killer(given.kills, given.seed), time.monotonic()
        killer.start()
        with RayEngine(workers=given.nodes) as engine:
            found = engine(Atlas(), model, run)
        killer.over.set()
        seconds = time.monotonic() - start
    gap = difference(local.sums, found.sums)
    print(f"{given.count:,} sentences in {local.windows} windows; {alive} nodes alive, {given.nodes} workers")
    print(f"{len(killer.killed)} workers killed at random (seed {given.seed}); {seconds:.0f} s with their restarts")
    print(f"tallies {'equal' if local.tally == found.tally else 'DIFFER'}; largest difference of sums {gap:.1e}")
    if local.tally != found.tally or gap > 1e-6:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
