"""Models that read a picture in a text: every image token knows its place in the picture that was given."""

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING, ViTConfig, ViTModel

import regard
from regard.models.sight import picture_inputs
from tests.models.seeing import TYPES, bluest, entering, seeing, silence

pytestmark = pytest.mark.filterwarnings("ignore")  # transformers' own, for odd tiny sizes
SIZE = (96, 64)


@pytest.fixture(scope="module", params=list(TYPES))
def model(request):
    return seeing(request.param)


def noise():
    pixels = np.random.default_rng(0).integers(90, 160, (SIZE[1], SIZE[0], 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def test_image_tokens_lie_where_their_pixels_are(model):
    silence(model.module)
    before = entering(model, noise())
    side = model.trace("what is here ?", image=noise()).side("text")
    spans = side.spans[[token.id == model.config.image_token_id for token in side.tokens]]
    assert len(spans) == len(before) and np.isfinite(spans[:, 0]).mean() > 0.7
    for left, top in ((0.3, 0.1), (0.6, 0.15), (0.3, 0.7), (0.55, 0.75)):  # one in each quadrant
        picture = noise()
        box = [round(left * SIZE[0]), round(top * SIZE[1])]
        picture.paste((255, 0, 0), (*box, box[0] + 6, box[1] + 6))
        moved = np.abs(entering(model, picture) - before).max(1)
        changed = moved > 0.3 * moved.max()
        middle = np.array([left + 3 / SIZE[0], top + 3 / SIZE[1]])
        wide = np.array([0.12, 0.14])  # pixels of the patch are resampled into their neighbours
        near = ((spans[:, :2] - wide < middle) & (spans[:, 2:] + wide > middle)).all(1)
        assert changed.any() and near[changed].all()
        key = int(moved.argmax())
        cell = (spans[key, 2:] - spans[key, :2]) / 2
        assert (np.abs(bluest(spans, key) - middle) < cell + wide).all()
        assert not changed.all()


def test_attention_is_that_of_the_eager_model(model):
    trace = model.trace("what is here ?", image=noise())
    inputs, _, _ = picture_inputs(model._engine, noise(), "what is here ?")
    before = model.config._attn_implementation
    model.module.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            found = model.module(**inputs, output_attentions=True).attentions
    finally:
        model.module.set_attn_implementation(before)
    sites = [site for site in trace.sites if site.query_side == site.key_side == "text"]
    assert len(sites) == len(found) > 0
    for site, maps in zip(sites, found, strict=True):
        for head in range(site.heads):
            np.testing.assert_allclose(site.attention(head), maps[0, head].numpy(), atol=1e-5)


def test_segments_say_what_is_picture_and_what_is_question(model):
    side = model.trace("what is here ?", image=noise()).side("text")
    names = [segment.name for segment in side.segments]
    assert names[-2:] == ["image", "question"]
    assert "".join(side.texts[side.segments[-1].start :]).replace(" ", "").removeprefix("<s>") == "whatishere?"
    assert side.medium.size == SIZE


@pytest.mark.parametrize(("name", "placed"), [("qwen2_vl", True), ("qwen2_5_vl", False)])
def test_patches_that_a_tower_sorts_into_windows_have_no_place(name, placed):
    trace = seeing(name).trace("what is here ?", image=noise())
    tower = [trace.side(site.query_side) for site in trace.sites if site.query_side != "text"]
    assert tower and all((side.spans is not None) == placed for side in tower)
    assert np.isfinite(trace.side("text").spans).any()


def test_a_folder_opens_with_its_processor(tmp_path):
    model = seeing("llava")
    model.module.save_pretrained(tmp_path)
    model._engine.processor.save_pretrained(tmp_path)
    again = regard.load(tmp_path).trace("what is here ?", image=noise()).side("text")
    expected = model.trace("what is here ?", image=noise()).side("text")
    assert again.texts == expected.texts
    np.testing.assert_array_equal(again.spans, expected.spans)


def test_an_answer_from_elsewhere_is_a_segment_of_its_own():
    side = seeing("llava").trace("what is here ?", image=noise(), target="a cat").side("text")
    assert side.segments[-1].name == "answer"
    assert "".join(side.texts[side.segments[-1].start :]).split() == ["a", "cat"]
    assert np.isnan(side.spans[-2:]).all() and len(side.spans) == len(side)


def test_a_vision_model_answers_nothing(tmp_path):
    sizes = {"hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 32}
    model = regard.load(ViTModel(ViTConfig(image_size=32, patch_size=16, **sizes)))
    with pytest.raises(ValueError, match="answers nothing to a picture alone"):
        model.trace(image=noise(), generate=3)


@pytest.mark.parametrize("name", ["llava", "qwen2_vl", "gemma3", "idefics3"])
def test_a_model_answers_a_question_about_a_picture(name):
    model = seeing(name, MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING)
    trace = model.trace("what is here ?", image=noise(), generate=4)
    side = trace.side("text")
    answer = side.segments[-1]
    assert answer.name == "answer" and 1 <= answer.end - answer.start <= 4
    inputs, _, _ = picture_inputs(model._engine, noise(), "what is here ?")
    own = model.module.generate(**inputs, max_new_tokens=4, do_sample=False, pad_token_id=3)[0].tolist()
    assert [token.id for token in side.tokens] == own
    last = trace.site(trace.layers("decoder")[-1], kind="decoder") if "decoder" in trace.kinds else trace.sites[-1]
    assert last.query_side == "text" and last.queries == len(own)
