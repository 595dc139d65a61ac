"""Models that write about a picture, and pairs of towers: patches keep their place, attention is that of eager mode."""

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import (
    CLIPConfig,
    CLIPImageProcessorPil,
    CLIPModel,
    CLIPProcessor,
    DonutSwinConfig,
    DonutSwinModel,
    TrOCRConfig,
    TrOCRForCausalLM,
    VisionEncoderDecoderModel,
    ViTConfig,
    ViTImageProcessorPil,
    ViTModel,
)

import regard
from regard.models.sight import picture_inputs
from tests.models.seeing import tokenizer_of

pytestmark = pytest.mark.filterwarnings("ignore")
SIZES = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}


class Pair:
    """A processor: one for pictures, and a tokenizer."""

    def __init__(self, pictures, tokenizer):
        self.image_processor, self.tokenizer = pictures, tokenizer


def writer(encoder):
    torch.manual_seed(0)
    words = tokenizer_of("llava")
    decoder = TrOCRForCausalLM(
        TrOCRConfig(
            vocab_size=len(words), d_model=24, decoder_layers=2, decoder_attention_heads=3, decoder_ffn_dim=32,
            cross_attention_hidden_size=encoder.config.hidden_size, max_position_embeddings=32,
        )
    )  # fmt: skip
    module = VisionEncoderDecoderModel(encoder=encoder, decoder=decoder).eval()
    module.config.decoder_start_token_id, module.config.pad_token_id = 1, 3
    pictures = ViTImageProcessorPil(size={"height": 32, "width": 32})
    return regard.load((module, Pair(pictures, words)))


def trocr():
    return writer(ViTModel(ViTConfig(image_size=32, patch_size=8, initializer_range=0.3, **SIZES)))


def donut():
    config = DonutSwinConfig(image_size=32, patch_size=4, embed_dim=12, depths=[1, 1], num_heads=[2, 2], window_size=4)
    return writer(DonutSwinModel(config))


def picture():
    return Image.fromarray(np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8))


@pytest.mark.parametrize(("make", "rows"), [(trocr, 4), (donut, 4)])
def test_a_written_word_looks_at_places_of_the_picture(make, rows):
    model = make()
    trace = model.trace(image=picture(), target="a cat")
    cross = trace.site(0, kind="cross")
    side = trace.side(cross.key_side)
    placed = np.isfinite(side.spans[:, 0])
    assert placed.sum() == rows * rows and side.medium.kind == "picture"
    lefts = np.unique(side.spans[placed, 0].round(2))
    np.testing.assert_allclose(lefts, np.arange(rows) / rows, atol=0.02)
    assert "".join(trace.side("decoder").texts).endswith("acat")


def test_cross_attention_is_that_of_the_eager_model():
    model = trocr()
    trace = model.trace(image=picture(), target="a cat")
    inputs, _, _ = picture_inputs(model._engine, picture(), target="a cat")
    eager = ViTModel._from_config(model.module.encoder.config, attn_implementation="eager").eval()
    eager.load_state_dict(model.module.encoder.state_dict())
    with torch.no_grad():
        found = model.module(**inputs, output_attentions=True)
        seen = eager(inputs["pixel_values"], output_attentions=True).attentions
    for layer in range(2):
        np.testing.assert_allclose(
            trace.attention(layer, kind="cross"), found.cross_attentions[layer][0].numpy(), atol=1e-5
        )
        np.testing.assert_allclose(trace.attention(layer, kind="encoder"), seen[layer][0].numpy(), atol=1e-5)


def test_both_towers_of_clip_are_traced_side_by_side():
    torch.manual_seed(0)
    text = {**SIZES, "vocab_size": 64, "max_position_embeddings": 16, "eos_token_id": 2}
    vision = {**SIZES, "image_size": 32, "patch_size": 8}
    module = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=16)).eval()
    sizes = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}
    processor = CLIPProcessor(CLIPImageProcessorPil(**sizes), tokenizer_of("llava"))
    model = regard.load((module, processor))
    trace = model.trace("a cat", image=picture())
    sides = {site.query_side for site in trace.sites}
    assert len(sides) == 2
    seen = next(trace.side(name) for name in sides if trace.side(name).medium is not None)
    read = next(trace.side(name) for name in sides if trace.side(name).medium is None)
    assert np.isfinite(seen.spans[1:, 0]).all() and len(seen) == 17
    assert [text.strip() for text in read.texts if text.strip() in ("a", "cat")] == ["a", "cat"]
    assert model.layout()  # known without a text of its own
