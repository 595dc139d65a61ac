"""One thread, a bounded line, and nothing done for nobody."""

from __future__ import annotations

import threading
import time

import pytest

import regard
from regard.app.problems import Problem
from regard.app.worker import Job, ModelWorker, Stopped
from regard.models.means import standard_means


@pytest.fixture
def worker():
    made = ModelWorker(limit=2)
    yield made
    made.close()


@pytest.fixture
def held(worker):
    """A worker that is held up by a job until the event is set."""
    begun, go = threading.Event(), threading.Event()

    def hold(job):
        begun.set()
        go.wait(20)
        job.check()
        return "held"

    job = worker.submit(hold, key=("one", "trace"))
    assert begun.wait(20)
    yield job, go
    go.set()


def test_jobs_run_in_order_in_one_thread(worker):
    ran = []
    jobs = [worker.submit(lambda _, i=i: ran.append((i, threading.get_ident()))) for i in range(2)]
    for job in jobs:
        job.future.result(20)
    assert [i for i, _ in ran] == [0, 1] and len({thread for _, thread in ran}) == 1


def test_a_full_line_refuses(worker, held):
    for _ in range(2):
        worker.submit(lambda _: None)
    with pytest.raises(Problem, match="busy") as refused:
        worker.submit(lambda _: None)
    assert refused.value.status == 503 and worker.waiting == 2


def test_a_newer_request_takes_the_place_of_the_waiting_one(worker, held):
    first = worker.submit(lambda _: "first", key=("a", "trace"))
    other = worker.submit(lambda _: "other", key=("b", "trace"))
    second = worker.submit(lambda _: "second", key=("a", "trace"))  # the line is full but for the one it replaces
    with pytest.raises(Problem) as told:
        first.future.result(20)
    assert told.value.word == "superseded"
    held[1].set()
    assert (other.future.result(20), second.future.result(20)) == ("other", "second")


def test_a_running_job_is_told_and_its_answer_discarded(worker, held):
    job, go = held
    newer = worker.submit(lambda _: "newer", key=("one", "trace"))
    with pytest.raises(Problem, match="newer request"):
        job.future.result(20)  # at once, while it still runs
    go.set()
    assert newer.future.result(20) == "newer"


def test_a_new_trace_drops_the_report_of_the_old_one(worker, held):
    report = worker.submit(lambda _: "report", key=("a", "report"))
    worker.submit(lambda _: "trace", key=("a", "trace"), also=("a", "report"))
    with pytest.raises(Problem, match="newer request"):
        report.future.result(20)


def test_jobs_without_a_client_replace_nothing(worker, held):
    jobs = [worker.submit(lambda _, i=i: i) for i in range(2)]
    held[1].set()
    assert [job.future.result(20) for job in jobs] == [0, 1]


def test_a_failing_job_does_not_end_the_thread(worker):
    with pytest.raises(SystemExit):
        worker.submit(lambda _: (_ for _ in ()).throw(SystemExit())).future.result(20)
    assert worker.submit(lambda _: "alive").future.result(20) == "alive"


def test_a_model_stops_between_layers_and_is_left_as_it_was(worker, bert):
    layers = [layer for _, layer in bert.module.encoder.layer.named_children()]
    reached, ran = threading.Event(), []

    def slow(*_):
        ran.append(1)
        reached.set()
        time.sleep(0.3)

    handles = [layer.register_forward_hook(slow) for layer in layers]

    def work(job):
        with job.watching(bert.module):
            return bert.trace("the cat sat")

    bert.trace("the cat sat")  # the survey of the first run is over
    ran.clear()
    reached.clear()
    job = worker.submit(work, key="a")
    assert reached.wait(20)
    worker.submit(lambda _: None, key="a").future.result(20)
    for handle in handles:
        handle.remove()
    assert len(ran) == 1 and job.future.exception(1) is not None
    assert not any(layer._forward_pre_hooks for layer in layers)
    assert bert.trace("the cat sat").attention(0).shape == (3, 5, 5)


def test_closing_answers_everybody(worker, held):
    waiting = worker.submit(lambda _: None)
    threading.Thread(target=lambda: (time.sleep(0.1), held[1].set())).start()
    worker.close()
    for job in (held[0], waiting):
        with pytest.raises(Problem, match="stopping"):
            job.future.result(1)
    with pytest.raises(Problem, match="stopping"):
        worker.submit(lambda _: None)


def test_mean_outputs_stop_at_the_next_layer_when_nobody_waits_and_are_taken_the_next_time(bert):
    model = regard.load((bert.module, bert.tokenizer))
    assert model.layout()
    job, ran = Job(lambda _: None, None), []

    def leave(*_):
        ran.append(1)
        job.drop(Problem(409, "superseded", "a newer one came"))

    hook = model.module.encoder.layer[0].register_forward_hook(leave)
    with pytest.raises(Stopped), job.watching(model.module):
        standard_means(model)
    hook.remove()
    assert len(ran) == 1  # of four batches
    with Job(lambda _: None, None).watching(model.module):
        assert set(standard_means(model)) == set(model.layout())
