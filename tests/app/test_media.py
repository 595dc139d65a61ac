"""Pictures and sounds that a page sends: traced, refused in one sentence, and not kept."""

from __future__ import annotations

import io
import json
import wave

import numpy as np
import pytest
import soundfile
import torch
from PIL import Image, PngImagePlugin
from transformers import (
    ViTConfig,
    ViTImageProcessorPil,
    ViTModel,
    Wav2Vec2Config,
    Wav2Vec2FeatureExtractor,
    Wav2Vec2Model,
)

from regard.views import decode


@pytest.fixture(scope="session")
def vit(tmp_path_factory):
    """A folder with a tiny vision model and its processor."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}
    folder = tmp_path_factory.mktemp("models") / "vit"
    ViTModel(ViTConfig(image_size=32, patch_size=8, **sizes)).save_pretrained(folder)
    ViTImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder)
    return str(folder)


def png(width=60, height=40):
    pixels = np.random.default_rng(0).integers(0, 255, (height, width, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def wav():
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16_000)
        out.writeframes(bytes(3200))
    return file.getvalue()


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
    assert client.get(f"/api/traces/{name}/figure?format=png").status_code == 200


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
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "medium_bad", "not a picture that regard reads"),
        (png()[:200], "medium_bad", "damaged"),
        (b"\x00" * 100, "medium_bad", "not a picture"),
        (wav(), "medium_no_audio", "does not hear"),
    ],
)
def test_bad_files_get_one_sentence(serve, vit, data, code, words):
    client, _ = serve(models=(vit,))
    answer = send(client, data)
    assert answer.status_code == 422
    assert answer.json()["code"] == code and words in answer.json()["message"]


def test_a_large_picture_is_refused_by_its_pixels(serve, vit):
    client, _ = serve(models=(vit,))
    file = io.BytesIO()
    Image.new("1", (9000, 9000)).save(file, "PNG")
    answer = send(client, file.getvalue())
    assert answer.status_code == 422 and "64 megapixels" in answer.json()["message"]


def test_files_have_a_limit_of_their_own(serve, vit):
    client, _ = serve(models=(vit,), limits={"body": 1000, "medium": 50_000})
    assert send(client, png()).status_code == 200  # more than other requests may have
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
    refused = send(client, png())
    assert refused.json()["code"] == "medium_no_image"


def samples(values, subtype="PCM_16"):
    file = io.BytesIO()
    soundfile.write(file, values, 16_000, subtype=subtype, format="WAV")
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (wav()[:1000], "cut short"),
        (samples(np.zeros((0, 1))), "no samples"),
        (samples(np.zeros((1600, 8))), "8 channels"),
        (samples(np.full(1600, np.nan), "FLOAT"), "not finite"),
        (b"RIFF\x00\x00\x00\x00WAVEjunk", "not a wav or flac file"),
    ],
    ids=["truncated", "zero samples", "8 channels", "NaN", "wrong type"],
)
def test_bad_sounds_get_one_sentence(serve, hearing, data, words):
    client, _ = serve(models=(hearing,))
    answer = send(client, data)
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] == "medium_bad" and words in answer.json()["message"]
    assert "\n" not in answer.json()["message"]
