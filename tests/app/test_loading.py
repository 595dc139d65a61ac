"""Which models a server loads, keeps and lets go."""

from __future__ import annotations

import pytest

from regard.views import decode
from tests.app.test_limits import post, wait_for


def test_models_that_were_not_used_for_long_are_let_go(serve, tiny, tmp_path):
    import shutil

    other = tmp_path / "other"
    shutil.copytree(tiny, other)
    client, _ = serve(models=(str(tiny), str(other)), limits={"models": 1})
    assert post(client).status_code == 200
    wait_for(lambda: post(client, model=str(other)).status_code == 200)
    states = {model["name"]: model["state"] for model in client.get("/api/models").json()["models"]}
    assert states[str(other)] == "ready" and states[str(tiny)] == "available"
    assert post(client).status_code == 200  # it comes back when it is asked for


def test_the_default_model_is_the_first_that_was_named(serve, tiny):
    client, _ = serve(models=("smollm2-135m-instruct", str(tiny)))
    state = client.get("/api/state").json()
    names = [model["name"] for model in state["models"]]
    assert state["default"] == names[0] == "SmolLM2-135M-Instruct" and names.count("SmolLM2-135M-Instruct") == 1
    assert {one["model"] for one in state["examples"]} <= {*names, None}


def test_a_model_that_cannot_be_loaded_says_why(serve, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    client, _ = serve(models=(str(empty),))
    refused = post(client)
    assert refused.status_code == 422 and "no config.json" in refused.json()["message"]
    state = next(model for model in client.get("/api/models").json()["models"] if model["name"] == str(empty))
    assert state["state"] == "failed" and "no config.json" in state["message"]


def test_any_folder_may_be_named_where_that_is_allowed(serve, tiny, tmp_path):
    import shutil

    other = tmp_path / "other"
    shutil.copytree(tiny, other)
    client, _ = serve(download=True)
    post(client)
    begun = client.post("/api/models", json={"name": str(other)})
    assert begun.status_code == 202 and begun.json()["state"] == "loading"
    find = lambda: next(m for m in client.get("/api/models").json()["models"] if m["name"] == str(other))  # noqa: E731
    wait_for(lambda: find()["state"] == "ready")
    assert find()["about"]["kinds"] == ["encoder"]
    assert client.post("/api/models", json={"name": str(other)}).status_code == 200


def test_downloaded_models_are_on_the_list_and_load_without_the_hub(serve, tiny, tmp_path, monkeypatch):
    import shutil

    import huggingface_hub

    repository = tmp_path / "models--someone--tiny"
    shutil.copytree(tiny, repository / "snapshots" / "abc")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("regard.app.fetching.why_not_asked", lambda *_: pytest.fail("the hub was asked"))
    client, _ = serve()
    assert post(client).status_code == 200
    assert "someone/tiny" in {model["name"] for model in client.get("/api/models").json()["models"]}
    answer = post(client, model="someone/tiny")
    assert answer.status_code == 200 and decode(answer.content).facts["model"] == "someone/tiny"
