"""What test_ray starts: a study on a Ray cluster of its own, its sums written to a file.

python -m tests.studies.ray_run STUDY MODEL CORPUS FLAG OUTPUT
"""

import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path

from safetensors.numpy import save_file

from regard.corpus.engine import Run
from regard.corpus.ray_engine import run_ray
from regard.corpus.readers import Source
from regard.model import load
from regard.studies.atlas_sums import Atlas
from regard.studies.change_sums import Change


class Dying(Atlas):
    """An atlas whose worker dies once, in the middle of the corpus."""

    def __init__(self, *, flag, seed=0):
        super().__init__(seed=seed)
        self.flag = flag

    @property
    def arguments(self):
        return {**super().arguments, "flag": self.flag}

    def update(self, model, items, sums):
        super().update(model, items, sums)
        if any(item.number == 300 for item in items) and not Path(self.flag).exists():
            Path(self.flag).touch()
            os.kill(os.getpid(), signal.SIGKILL)


def start(tries=3):
    """A cluster of two workers; Ray gives up after 30 seconds, which a busy machine may need."""
    import ray

    for left in reversed(range(tries)):
        try:
            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
        except Exception as error:  # Ray raises no narrower one
            if not left or "timed out during startup" not in str(error):
                raise
            ray.shutdown()
        else:
            return


if __name__ == "__main__":
    folder, corpus, output = sys.argv[1:]
    start()
    model = load(folder)
    # the first carries a second model to its workers, the second loses a worker
    for study in (Change(other=model), Dying(flag=f"{output}/died")):
        found = run_ray(study, model, Run(Source(corpus)), workers=2)
        save_file(found.sums.arrays, f"{output}/{study.name}", {"tally": json.dumps(asdict(found.tally))})
