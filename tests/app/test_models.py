"""Models that are named in the page: what is stuck holds up nobody, what fails leaves, and nothing else is told."""

from __future__ import annotations

import shutil

import httpx
import huggingface_hub
import pytest

from regard.app import models
from regard.models import hub

from .test_limits import post, wait_for


@pytest.fixture
def copies(tiny, tmp_path):
    """Three folders with the same tiny model."""
    return [str(shutil.copytree(tiny, tmp_path / name)) for name in ("first", "second", "third")]


def state_of(client: httpx.Client, name: str) -> dict | None:
    return next((one for one in client.get("/api/models").json()["models"] if one["name"] == name), None)


def failure(client: httpx.Client, name: str) -> str:
    """What the list says of a name that was typed and failed."""
    assert client.post("/api/models", json={"name": name}).status_code == 202
    wait_for(lambda: (state_of(client, name) or {}).get("state") == "failed")
    return state_of(client, name)["message"]


def test_a_stuck_download_holds_up_no_other_model(serve, silent, copies, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", silent.address)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "FIRST_ANSWER", 120.0)
    client, _ = serve(models=tuple(copies), download=True)
    assert client.post("/api/models", json={"name": "nobody/stuck"}).status_code == 202
    for name in copies:  # one after the other, and none of them is here yet
        assert post(client, model=name).status_code == 200
    assert state_of(client, "nobody/stuck")["state"] == "loading"
    assert client.post("/api/models", json={"name": "nobody/other"}).status_code == 202  # nor any other download


def test_a_default_model_that_is_stuck_holds_up_no_other_model(serve, silent, copies, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", silent.address)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "FIRST_ANSWER", 120.0)
    client, _ = serve(models=("nobody/stuck", copies[0]))
    wait_for(lambda: state_of(client, "nobody/stuck")["state"] == "loading")  # by itself: nobody asked for it
    assert post(client, model=copies[0]).status_code == 200
    assert state_of(client, "nobody/stuck")["state"] == "loading"


def test_a_name_that_failed_leaves_the_list_and_one_of_the_list_stays(serve, tiny, tmp_path, monkeypatch):
    listed, typed = str(tmp_path), str(tmp_path / "nothing")
    client, _ = serve(models=(str(tiny), listed), download=True)
    post(client)
    for name in (listed, typed):
        failure(client, name)
    monkeypatch.setattr(models, "_FAILED", 0.0)
    assert state_of(client, typed) is None
    assert state_of(client, listed)["state"] == "failed"


def test_a_path_that_is_typed_does_not_tell_what_is_there(serve, tmp_path):
    client, _ = serve(download=True)
    post(client)
    (tmp_path / "file").write_text("secret")
    (tmp_path / "folder").mkdir()
    (tmp_path / "config.json").write_text("{")
    (tmp_path / "weights.bin").write_bytes(b"0" * 1000)
    places = ["file", "folder", "", "nothing", "nothing/below", "file/below", "x.gguf", "x.safetensors"]
    names = [f"{tmp_path}/{place}" for place in places]
    assert {failure(client, name).replace(name, "NAME") for name in names} == {
        "NAME could not be loaded; name a hub model, or a folder that holds a model"
    }


def test_a_name_that_looks_like_one_of_the_hub_is_not_looked_for_as_a_path(serve, tiny, tmp_path, monkeypatch):
    shutil.copytree(tiny, tmp_path / "someone" / "tiny")
    monkeypatch.chdir(tmp_path)
    client, _ = serve(download=True, offline=True)
    post(client)
    assert "was not asked" in failure(client, "someone/tiny")


@pytest.mark.parametrize(
    "name",
    ["\x00", "a\nb", "\u202e", "/\x00", "a" * 300, "/" + "é" * 200, "../" * 90, "/", ".", "~", "//", "a//b", "-", " "],
)
def test_odd_names_are_refused_in_a_sentence(serve, name):
    client, _ = serve(download=True, offline=True)
    post(client)
    answer = post(client, model=name)
    assert answer.status_code == 422 and answer.json()["error"] == "input"
    assert client.post("/api/models", json={"name": name}).status_code in (202, 422)
    assert client.get("/api/models").status_code == client.get("/api/state").status_code == 200


def test_what_is_only_partly_here_is_not_downloaded_unless_that_is_allowed(serve, tmp_path, monkeypatch):
    folder = tmp_path / "models--someone--part"
    (folder / "snapshots" / "abc").mkdir(parents=True)
    (folder / "snapshots" / "abc" / "config.json").write_text("{}")
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("regard.app.fetching.why_not_asked", lambda *_: pytest.fail("the hub was asked"))
    client, _ = serve()
    post(client)
    assert "only partly downloaded" in post(client, model="someone/part").json()["message"]
