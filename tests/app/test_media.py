"""Pictures and sounds that a page sends: traced, refused in one sentence, and not kept."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
import torch
from PIL import Image, PngImagePlugin
from transformers import (
    ViTConfig,
    ViTForImageClassification,
    ViTImageProcessorPil,
    ViTModel,
    Wav2Vec2Config,
    Wav2Vec2FeatureExtractor,
    Wav2Vec2Model,
)

import regard
from regard.views import decode
from tests.media import BAD_PICTURES, BAD_SOUNDS, png
from tests.media import wav as written


@pytest.fixture(scope="session")
def vit(tmp_path_factory):
    """A folder with a tiny vision model and its processor."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}
    folder = tmp_path_factory.mktemp("models") / "vit"
    ViTModel(ViTConfig(image_size=32, patch_size=8, **sizes)).save_pretrained(folder)
    ViTImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def classifier(tmp_path_factory):
    """A folder with a tiny model that gives pictures one of three labels."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}
    folder = tmp_path_factory.mktemp("models") / "classifier"
    config = ViTConfig(image_size=32, patch_size=8, initializer_range=0.5, num_labels=3, **sizes)
    ViTForImageClassification(config).save_pretrained(folder)
    ViTImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder)
    return str(folder)


def wav():
    """A fifth of a second without a sound."""
    return written(np.zeros(3200, np.float32))


def send(client, data, **question):
    return client.post("/api/media", content=data, params={"question": json.dumps(question)})


def test_a_picture_is_traced_as_in_python(serve, vit):
    client, _ = serve(models=(vit,))
    answer = send(client, png(), open={"view": "heads"})
    assert answer.status_code == 200, answer.text
    side = decode(answer.content).side("image")
    assert (side.medium.kind, tuple(side.medium.size)) == ("picture", (60, 40))
    name = answer.headers["x-regard-trace"]
    assert client.get(f"/api/traces/{name}/report").status_code == 200
    page = client.get(f"/api/traces/{name}/page")
    assert page.status_code == 200 and b"<html" in page.content
    drawn = client.get(f"/api/traces/{name}/figure?view=heads&query=5")
    assert drawn.status_code == 200 and "From 1,0, head" in drawn.text  # the patch that was chosen looks


def test_what_a_model_says_of_a_picture_is_its_own_softmax(serve, classifier):
    client, _ = serve(models=(classifier,))
    model = regard.load(classifier)
    heads = [{"layer": 1, "head": 0}]
    answer = client.post(
        "/api/media/says", content=png(), params={"question": json.dumps({"ablate": {"heads": heads}})}
    )
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["about"], found["position"]) == ("labels", None)
    inputs = model._engine.eyes.processor(images=[Image.open(io.BytesIO(png()))], return_tensors="pt")
    with torch.no_grad():
        before = model.module(**inputs).logits[0].softmax(-1)
        with model.ablate("1.0"):
            after = model.module(**inputs).logits[0].softmax(-1)
    assert len(found["rows"]) == 3
    for row in found["rows"]:
        number = int(row["name"].removeprefix("LABEL_"))
        assert row["before"] == pytest.approx(float(before[number]))
        assert row["after"]["zero"] == pytest.approx(float(after[number]))


def test_of_a_picture_that_a_model_only_reads_nothing_is_said(serve, vit):
    client, _ = serve(models=(vit,))
    found = client.post("/api/media/says", content=png()).json()
    assert (found["about"], found["rows"]) == ("hidden states", [])
    assert client.post("/api/media/says", content=wav()).json()["code"] == "medium_no_audio"


def test_the_model_says_what_it_takes(serve, vit, tiny):
    client, _ = serve(models=(vit, str(tiny)))
    send(client, png())
    client.post("/api/traces", json={"text": "a cat", "model": str(tiny)})
    found = {one["name"]: one["about"] for one in client.get("/api/models").json()["models"] if one["about"]}
    assert found[vit]["media"] == ["image"] and not found[vit]["text"]
    assert found[str(tiny)]["media"] == [] and found[str(tiny)]["text"]


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b"", "medium_bad", "it is empty"),
        (b"\x00" * 100, "medium_bad", "not a picture"),
        (wav(), "medium_no_audio", "does not hear"),
        *((data, "medium_bad", words) for data, words in BAD_PICTURES.values()),
    ],
)
def test_bad_files_get_one_sentence(serve, vit, data, code, words):
    client, _ = serve(models=(vit,))
    answer = send(client, data)
    assert answer.status_code == 422
    assert answer.json()["code"] == code and words in answer.json()["message"]


def test_files_have_a_limit_of_their_own(serve, vit):
    client, _ = serve(models=(vit,), limits={"body": 1000, "medium": 50_000})
    assert send(client, png()).status_code == 200  # more than other requests may have
    assert client.post("/api/media/says", content=png()).status_code == 200
    answer = send(client, bytes(60_000))
    assert answer.status_code == 413 and answer.json()["code"] == "medium_large"
    chunks = client.post("/api/media", content=iter([bytes(30_000)] * 2))  # without a length
    assert chunks.status_code == 413


def test_a_model_of_texts_reads_no_picture(serve):
    client, _ = serve()
    answer = send(client, png())
    assert answer.status_code == 422 and answer.json()["code"] == "medium_no_image"


def test_the_file_itself_is_not_kept(serve, vit):
    client, parts = serve(models=(vit,))
    about, file = PngImagePlugin.PngInfo(), io.BytesIO()
    about.add_text("Author", "somebody")
    Image.new("RGB", (40, 40)).save(file, "PNG", pnginfo=about)
    name = send(client, file.getvalue(), text="somebody").headers["x-regard-trace"]
    kept = parts.shelf.get(name)
    assert kept.question.text == ""
    assert b"somebody" not in kept.trace.side("image").medium.data  # a copy without metadata, which the page shows


def test_a_question_that_is_none_is_refused(serve, vit):
    client, _ = serve(models=(vit,))
    assert client.post("/api/media", content=png(), params={"question": "{"}).status_code == 400
    other = client.post("/api/media", content=png(), headers={"Origin": "http://elsewhere.example"})
    assert other.status_code == 403


@pytest.fixture(scope="module")
def hearing(tmp_path_factory):
    """A folder with a tiny model of sounds."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("models") / "wav2vec2"
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}
    conv = {"conv_dim": (8, 8, 8), "conv_stride": (10, 8, 4), "conv_kernel": (10, 8, 4), "num_conv_pos_embeddings": 8}
    Wav2Vec2Model(Wav2Vec2Config(**sizes, **conv, num_conv_pos_embedding_groups=2)).save_pretrained(folder)
    Wav2Vec2FeatureExtractor().save_pretrained(folder)
    return str(folder)


def test_a_sound_is_traced_too(serve, hearing):
    client, _ = serve(models=(hearing,))
    answer = send(client, wav())
    assert answer.status_code == 200, answer.text
    assert decode(answer.content).side("sound").medium.kind == "sound"
    drawn = client.get(f"/api/traces/{answer.headers['x-regard-trace']}/figure?view=sound&layer=1&kind=encoder")
    assert drawn.status_code == 200 and "At which moments 3 heads of layer 1 look" in drawn.text
    refused = send(client, png())
    assert refused.json()["code"] == "medium_no_image"


@pytest.mark.parametrize(("data", "words"), BAD_SOUNDS.values(), ids=list(BAD_SOUNDS))
def test_bad_sounds_get_one_sentence(serve, hearing, data, words):
    client, _ = serve(models=(hearing,))
    answer = send(client, data)
    assert answer.status_code == 422
    assert answer.json()["code"] == "medium_bad" and words in answer.json()["message"]
    assert "\n" not in answer.json()["message"]
