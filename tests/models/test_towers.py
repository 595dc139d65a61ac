"""Vision models with their processors: attention is that of eager mode, and a look is drawn where its pixels are."""

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from transformers import CONFIG_MAPPING, MODEL_MAPPING

import regard
from regard.base.errors import UserError
from regard.models.sight import picture_inputs
from tests.fidelity.build import OVERRIDES, enliven, tiny
from tests.models.seeing import bluest
from tests.models.towers import TOWERS

pytestmark = pytest.mark.filterwarnings("ignore")  # transformers' own, for odd tiny sizes
SIZE = (96, 64)
SPOTS = ((0.3, 0.15), (0.6, 0.15), (0.3, 0.7), (0.6, 0.75))  # one in each quadrant


def tower(model_type, like=None, **more):
    processor, options, beside = TOWERS[like or model_type]
    kind = CONFIG_MAPPING[model_type]
    sizes = {"image_size": 32, "patch_size": 8, **beside, **more}
    known = {name: size for name, size in sizes.items() if name in kind.__dataclass_fields__}
    torch.manual_seed(0)
    module = MODEL_MAPPING[kind]._from_config(tiny(kind, {**OVERRIDES.get(model_type, {}), **known}))
    enliven(module.float().eval())
    return regard.load((module, getattr(transformers, f"{processor}ImageProcessorPil")(**options)))


def picture(*spots):
    """Noise, with bright squares on it."""
    pixels = np.random.default_rng(0).integers(90, 160, (SIZE[1], SIZE[0], 3), dtype=np.uint8)
    found = Image.fromarray(pixels)
    for left, top in spots:
        box = round(left * SIZE[0]), round(top * SIZE[1])
        found.paste((255, 0, 0), (*box, box[0] + 6, box[1] + 6))
    return found


def first_keys(model, *spots):
    """(positions, width) the keys of the first layer: each knows of its own patch alone."""
    site = model.trace(image=picture(*spots)).sites[0]
    return np.concatenate(list(np.asarray(site.k)), axis=-1)


@pytest.fixture(scope="module", params=list(TOWERS))
def model(request):
    return tower(request.param)


def test_attention_is_that_of_the_eager_model(model):
    trace = model.trace(image=picture())
    inputs, _, _ = picture_inputs(model._engine, picture())
    before = model.config._attn_implementation
    model.module.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            found = model.module(**inputs, output_attentions=True).attentions
    finally:
        model.module.set_attn_implementation(before)
    sites = [site for site in trace.sites if site.kind == "encoder"]
    for site, maps in zip(sites, found, strict=True):
        for head in range(site.heads):
            np.testing.assert_allclose(site.attention(head), maps[0, head].numpy(), atol=1e-5)


def test_a_look_at_a_patch_is_drawn_on_its_pixels(model):
    trace = model.trace(image=picture())
    spans = trace.side(trace.sites[0].key_side).spans
    before = first_keys(model)
    for left, top in SPOTS:
        key = int(np.abs(first_keys(model, (left, top)) - before).max(1).argmax())
        x, y = bluest(spans, key)
        wide = spans[key, 2:] - spans[key, :2]
        assert abs(x - left - 3 / SIZE[0]) < wide[0] / 2 + 0.02 and abs(y - top - 3 / SIZE[1]) < wide[1] / 2 + 0.02


def test_positions_behind_the_patches_stand_beside_the_picture():
    side = tower("yolos").trace(image=picture()).side("image")
    assert side.texts[0] == "[CLS]" and side.texts[-5:] == [f"[DET{i}]" for i in range(1, 6)]
    assert np.isfinite(side.spans[:, 0]).tolist() == [False, *[True] * 24, *[False] * 5]


@pytest.mark.parametrize("hidden", [0.0, 0.75])
def test_patches_in_an_order_of_chance_have_no_place(hidden, tmp_path):
    model = tower("vit_mae", like="vit", mask_ratio=hidden)
    assert all(side.spans is None for side in model.trace(image=picture()).sides.values())
    picture().save(tmp_path / "a.png")
    with pytest.raises(UserError, match="does not read a picture as one sequence of patches"):
        regard.study.atlas(model, tmp_path)
