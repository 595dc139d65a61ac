"""A thousand bad requests (benchmarks/app.py sends ten thousand): no 5xx, no hang, one shape of refusal."""

from __future__ import annotations

from .fuzz import fuzz


def test_bad_requests_are_refused_in_a_sentence(serve, tmp_path):
    client, parts = serve(studies=tmp_path)
    outcome = fuzz(str(client.base_url), 1000)
    assert not outcome.faults, outcome.faults[:5]
    assert sum(outcome.statuses.values()) == 1000 and outcome.statuses[200] > 100
    assert {400, 403, 404, 405, 413, 422} <= set(outcome.statuses)
    assert client.get("/healthz").status_code == 200 and parts.worker.waiting == 0


def test_nor_do_names_of_models_break_a_server_that_takes_any(serve):
    client, _ = serve(download=True, offline=True)
    outcome = fuzz(str(client.base_url), 400, seed=2)
    assert not outcome.faults, outcome.faults[:5]
    assert client.get("/api/models").status_code == 200
