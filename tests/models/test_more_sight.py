"""Types that read a picture in ways of their own: tiles, learned queries, numbered patches, stages."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers as hf
from PIL import Image
from transformers import PreTrainedTokenizerFast

import regard
from regard.models.sight import picture_inputs
from tests.fidelity.build import enliven
from tests.models.seeing import tokenizer_of

pytestmark = pytest.mark.filterwarnings("ignore")  # transformers' own, for odd tiny sizes
SIZE = (96, 64)
SPOTS = ((0.3, 0.15), (0.7, 0.15), (0.3, 0.7), (0.7, 0.75))  # one in each quadrant
WORDS = tokenizer_of("llava")
IMAGE = int(WORDS.convert_tokens_to_ids("<image>"))
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
BART = {f"{side}_{name}": number for side in ("encoder", "decoder")
        for name, number in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 32))}  # fmt: skip


def loaded(module, processor):
    enliven(module.eval())
    return regard.load((module, processor))


def mllama():
    """A decoder with cross attention to four tiles."""
    tiles = [[1, 1], [1, 2], [2, 1], [2, 2], [1, 3], [1, 4], [3, 1], [4, 1]]
    vision = {**SMALL, "num_global_layers": 1, "attention_heads": 4, "image_size": 32, "patch_size": 8,
              "max_num_tiles": 4, "vision_output_dim": 64, "intermediate_layers_indices": [1],
              "supported_aspect_ratios": tiles}  # fmt: skip
    rope = {"rope_type": "default", "rope_theta": 10000.0}
    text = {**SMALL, "num_hidden_layers": 3, "vocab_size": len(WORDS), "num_key_value_heads": 2,
            "cross_attention_layers": [1], "rope_parameters": rope, "pad_token_id": 3}  # fmt: skip
    config = hf.MllamaConfig(vision_config=vision, text_config=text, image_token_index=IMAGE)
    pictures = hf.MllamaImageProcessorPil(size={"height": 32, "width": 32}, max_image_tiles=4)
    return loaded(hf.MllamaForConditionalGeneration(config), hf.MllamaProcessor(pictures, tokenizer_of("llava")))


def blip2():
    """Six learned queries look at the patches; a decoder reads what they found."""
    words = PreTrainedTokenizerFast(
        tokenizer_object=WORDS.backend_tokenizer,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
    )
    text = hf.OPTConfig(vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=32,
                        word_embed_proj_dim=32, max_position_embeddings=64)  # fmt: skip
    config = hf.Blip2Config(
        vision_config={**SMALL, "image_size": 32, "patch_size": 8},
        qformer_config={**SMALL, "encoder_hidden_size": 32, "vocab_size": len(WORDS)},
        text_config=text.to_dict(), num_query_tokens=6, image_token_index=IMAGE,
    )  # fmt: skip
    pictures = hf.BlipImageProcessorPil(size={"height": 32, "width": 32})
    return loaded(hf.Blip2ForConditionalGeneration(config), hf.Blip2Processor(pictures, words, num_query_tokens=6))


def pix2struct():
    """Patches that carry their rows and columns, as many as fit."""
    vision = {**SMALL, "patch_embed_hidden_size": 48, "d_ff": 32, "d_kv": 8, "patch_size": 4, "seq_len": 64}
    text = {"vocab_size": len(WORDS), "hidden_size": 32, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 4,
            "decoder_start_token_id": 3, "pad_token_id": 3, "eos_token_id": 2}  # fmt: skip
    config = hf.Pix2StructConfig(vision_config=vision, text_config=text)
    config.decoder_start_token_id = 3
    pictures = hf.Pix2StructImageProcessorPil(max_patches=64, patch_size={"height": 4, "width": 4})
    processor = hf.Pix2StructProcessor(pictures, tokenizer_of("llava"))
    return loaded(hf.Pix2StructForConditionalGeneration(config), processor)


def florence2():
    """A tower of four stages with windows; its patches are tokens of an encoder's text, after their mean."""
    vision = {"embed_dim": [20, 20, 40, 40], "depths": [1] * 4, "num_heads": [2] * 4, "num_groups": [2] * 4,
              "patch_size": [7, 3, 3, 3], "patch_stride": [4, 2, 2, 2], "patch_padding": [3, 1, 1, 1],
              "patch_prenorm": [False, True, True, True], "window_size": 4, "projection_dim": 32}  # fmt: skip
    ids = {"pad_token_id": 3, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
    text = hf.BartConfig(vocab_size=len(WORDS), d_model=32, **BART, **ids)
    config = hf.Florence2Config(vision_config=vision, text_config=text.to_dict(), image_token_id=IMAGE)
    pictures = hf.CLIPImageProcessorPil(size={"height": 128, "width": 128}, do_center_crop=False, image_seq_length=17)
    return loaded(hf.Florence2ForConditionalGeneration(config), hf.Florence2Processor(pictures, tokenizer_of("llava")))


TYPES = {
    mllama: {"text": "what is here ?"},
    blip2: {"text": "what is here ?"},
    pix2struct: {"target": "a cat"},
    florence2: {"text": "what is here ?", "target": "a cat"},
}


def picture(*spots):
    pixels = np.random.default_rng(0).integers(90, 160, (SIZE[1], SIZE[0], 3), dtype=np.uint8)
    found = Image.fromarray(pixels)
    for left, top in spots:
        box = round(left * SIZE[0]), round(top * SIZE[1])
        found.paste((255, 0, 0), (*box, box[0] + 6, box[1] + 6))
    return found


@pytest.fixture(scope="module", params=list(TYPES), ids=lambda make: make.__name__)
def seen(request):
    torch.manual_seed(0)
    model, asked = request.param(), TYPES[request.param]
    text = [asked["text"]] if "text" in asked else []
    trace = model.trace(*text, image=picture(), target=asked.get("target"))
    return request.param.__name__, model, asked, trace


def eager(model, asked):
    """The maps that the model itself reports, by what it calls them."""
    inputs, _, _ = picture_inputs(model._engine, picture(), **asked)
    before = model.config._attn_implementation
    model.module.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            return model.module(**inputs, output_attentions=True)
    finally:
        model.module.set_attn_implementation(before)


def reported(name, found):
    """(kind, maps of its layers) of each output with attention."""
    if name == "mllama":  # self and cross layers in one list
        both = found.attentions
        return [("decoder", [one for one in both if one.shape[-1] == one.shape[-2]]),
                ("cross", [one for one in both if one.shape[-1] != one.shape[-2]])]  # fmt: skip
    if name == "blip2":  # the maps of its queries are not among its outputs; the sweep compares those
        return [("decoder", found.language_model_outputs.attentions)]
    return [("decoder", found.decoder_attentions), ("cross", found.cross_attentions)]


def test_attention_is_that_of_the_eager_model(seen):
    name, model, asked, trace = seen
    for kind, maps in reported(name, eager(model, asked)):
        sites = [site for site in trace.sites if site.kind == kind]
        real = [one for one in maps if torch.is_tensor(one) and one.ndim == 4]
        assert len(sites) == len(real) > 0
        for site, one in zip(sites, real, strict=True):
            for head in range(site.heads):
                np.testing.assert_allclose(site.attention(head), one[0, head].numpy(), atol=1e-5)


def test_what_words_look_at_lies_where_its_pixels_are(seen):
    """The keys, or image tokens, that change most with a spot of pixels lie at the spot."""
    name, model, asked, trace = seen
    side = trace.side("encoder") if name == "florence2" else trace.side(trace.site(0, kind="cross").key_side)
    placed = np.isfinite(side.spans[:, 0])
    assert placed.any()
    before = entering(name, model, asked, picture())
    assert len(before) == len(side)
    for spot in SPOTS:
        moved = np.abs(entering(name, model, asked, picture(spot)) - before).max(1)
        moved[~placed] = 0
        left, top, right, bottom = side.spans[int(moved.argmax())]
        middle = spot[0] + 3 / SIZE[0], spot[1] + 3 / SIZE[1]
        assert left - 0.1 < middle[0] < right + 0.1 and top - 0.12 < middle[1] < bottom + 0.12


def entering(name, model, asked, image):
    """(positions, width) what enters the tower's blocks, or the text, at each position; blocks add nothing."""
    places = {
        "mllama": lambda m: m.model.vision_model.layernorm_pre,
        "blip2": lambda m: m.vision_model.encoder,
        "pix2struct": lambda m: m.encoder.encoder,
        "florence2": lambda m: m.model.language_model.encoder.layers[0],
    }
    part = places[name](model.module)
    found = []

    def note(_, args, given):
        found.append(next(iter([*args, *given.values()])))

    handle = part.register_forward_pre_hook(note, with_kwargs=True)
    try:
        model._engine.run(picture_inputs(model._engine, image, **asked)[0])
    finally:
        handle.remove()
    return found[0].detach().reshape(-1, found[0].shape[-1]).numpy()


def test_windows_of_a_tower_are_not_drawn_as_the_picture():
    """Florence-2's windows have as many positions as its last stage has patches."""
    torch.manual_seed(0)
    trace = florence2().trace("what is here ?", image=picture(), target="a cat")
    windowed = {site.layer for site in trace.sites if site.kind == "encoder" and site.part > 0}
    sides = {site.query_side for site in trace.sites if site.kind == "encoder" and site.layer in windowed}
    assert windowed and all(trace.side(name).spans is None for name in sides)
