"""What a classifier says of a text, a picture or a sound: its own softmax, also without some heads."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import (
    BertForSequenceClassification,
    ViTConfig,
    ViTForImageClassification,
    ViTImageProcessorPil,
    Wav2Vec2Config,
    Wav2Vec2FeatureExtractor,
    Wav2Vec2ForSequenceClassification,
)

import regard
from regard.ablation.saying import said_of
from tests.models.seeing import seeing
from tests.tiny import enlarged, tiny_bert

SIZES = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}
NAMES = ["cat", "dog", "bird", "fish", "fox", "hen"]


def picture() -> Image.Image:
    return Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8))


@pytest.fixture(scope="module")
def seer() -> regard.Model:
    torch.manual_seed(0)
    config = ViTConfig(image_size=32, patch_size=8, initializer_range=0.5, id2label=dict(enumerate(NAMES)), **SIZES)
    size = {"size": {"height": 32, "width": 32}}
    return regard.load((ViTForImageClassification(config).eval(), ViTImageProcessorPil(**size)))


def own(model: regard.Model) -> dict[str, float]:
    """The labels that the model itself gives to the picture."""
    inputs = model._engine.eyes.processor(images=[picture()], return_tensors="pt")
    with torch.no_grad():
        chances = model.module(**inputs).logits[0].softmax(-1).tolist()
    return dict(zip(NAMES, chances, strict=True))


def test_a_trace_of_a_picture_has_the_labels_of_the_models_own_softmax(seer):
    expected = own(seer)
    found = seer.trace(image=picture()).facts["labels"]
    assert [name for name, _ in found] == sorted(expected, key=expected.__getitem__)[::-1][:5]
    for name, chance in found:
        assert chance == pytest.approx(expected[name], rel=1e-6)


def test_labels_without_heads_are_those_of_the_model_without_them(seer):
    before = own(seer)
    with seer.ablate("1.*"):
        after = own(seer)
    assert dict(seer.trace(image=picture(), ablate="1.*").facts["labels"])["cat"] == pytest.approx(after["cat"])
    said = said_of(seer, image=picture(), heads="1.*")
    assert (said.about, said.position, len(said.rows)) == ("labels", None, len(NAMES))
    for row in said.rows:
        assert row.before == pytest.approx(before[row.name], rel=1e-6)
        assert row.after["zero"] == pytest.approx(after[row.name], rel=1e-6)
    assert before["cat"] != pytest.approx(after["cat"], rel=1e-3)


def test_each_text_of_a_batch_has_its_own_labels(wordpiece):
    model = enlarged(tiny_bert(wordpiece, BertForSequenceClassification), 12)
    texts = ["the cat sat", "a dog went to the store"]
    together = [trace.facts["labels"] for trace in model.trace(texts, batch_size=2)]
    for text, found in zip(texts, together, strict=True):
        with torch.no_grad():
            chances = model.module(**model.tokenizer(text, return_tensors="pt")).logits[0].softmax(-1)
        expected = {model.config.id2label[i]: float(chance) for i, chance in enumerate(chances)}
        assert dict(found) == pytest.approx(expected, rel=1e-4)


def test_a_classifier_of_sounds_says_its_labels():
    torch.manual_seed(0)
    conv = {"conv_dim": (8, 8), "conv_stride": (5, 4), "conv_kernel": (10, 8), "num_feat_extract_layers": 2}
    config = Wav2Vec2Config(**SIZES, **conv, num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2, num_labels=3)
    model = regard.load((Wav2Vec2ForSequenceClassification(config).eval(), Wav2Vec2FeatureExtractor()))
    sound = (np.sin(np.arange(8000) / 9).astype(np.float32), 16_000)
    rows = said_of(model, audio=sound).rows
    assert {row.name for row in rows} == {"LABEL_0", "LABEL_1", "LABEL_2"}
    assert sum(row.before for row in rows) == pytest.approx(1)
    assert dict(model.trace(audio=sound).facts["labels"]) == pytest.approx({row.name: row.before for row in rows})


def test_after_a_question_about_a_picture_the_next_word_is_said():
    from transformers import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING

    model = seeing("llava", MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING)
    side = model.trace("what is here ?", image=picture(), generate=2).side("text")
    said = said_of(model, "what is here ?", image=picture(), generate=2)
    start = side.segments[-1].start
    assert (said.about, said.position) == ("next token", start - 1)
    assert said.rows[0].name == side.texts[start] == said.actual  # greedily
    assert "labels" not in model.trace(image=picture(), text="what is here ?").facts


def test_of_a_model_without_labels_nothing_is_said(bert):
    assert "labels" not in bert.trace("the cat").facts
