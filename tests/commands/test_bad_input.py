"""What users get wrong: each one clear sentence that says what and what to do."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import FNetConfig, FNetModel, MambaConfig, MambaModel

import regard
from regard.models import loading
from regard.models.packaged import PACKAGED
from regard.trace.trace import Trace


def maps(layers=1, heads=2, length=3):
    return np.full((layers, heads, length, length), 1 / length, np.float32)


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_empty_text(bert, text):
    with pytest.raises(ValueError, match="the text is empty; pass at least one word"):
        bert.trace(text)


def test_no_text_at_all(bert):
    with pytest.raises(ValueError, match="nothing to trace"):
        bert.trace()


def test_text_longer_than_the_model_takes(bert):
    text = "the cat " * 60
    with pytest.raises(ValueError, match=r"122 tokens but the model takes at most 64.*truncate=True"):
        bert.trace(text)
    trace = bert.trace(text, truncate=True)
    assert (len(trace.tokens), trace.facts["truncated"]) == (64, 58)


def test_a_pair_for_a_model_without_segments_works_and_says_how(gpt2):
    trace = gpt2.trace("ab", "cd")
    assert trace.facts["pair"].startswith("joined by a space")
    assert [(s.name, s.start, s.end) for s in trace.segments] == [("A", 0, 2), ("B", 2, 5)]


def test_a_target_for_a_model_without_a_decoder(bert):
    with pytest.raises(ValueError, match="has no decoder for a target"):
        bert.trace("the cat", target="a dog")


def test_generate_from_an_encoder(bert):
    with pytest.raises(ValueError, match="needs a causal language model"):
        bert.trace("the cat", generate=3)


def test_an_image_for_a_text_model(bert):
    with pytest.raises(ValueError, match="does not read images"):
        bert.trace(image=np.zeros((8, 8, 3)))


def test_lists_of_different_lengths(bert):
    with pytest.raises(ValueError, match="there are 2 texts; pass a list of 2 as pair"):
        bert.trace(["a", "the"], ["cat"])


def test_a_model_without_a_tokenizer(bert):
    with pytest.raises(ValueError, match="has no tokenizer"):
        regard.load(bert.module).trace("the cat")


def test_an_unknown_model_without_network_is_said_soon(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(FileNotFoundError, match="neither a folder nor in the local cache"):
        regard.load("nobody/nothing")


def test_a_folder_without_a_model(tmp_path):
    with pytest.raises(FileNotFoundError, match="contains no model"):
        regard.load(tmp_path)


def test_pickle_weights_are_refused_unless_asked_for(bert, tmp_path):
    folder = pickled(bert, tmp_path / "pickled")
    with pytest.raises(ValueError, match=r"only pickle files.*allow_pickle=True"):
        regard.load(folder)
    loaded = regard.load(folder, allow_pickle=True)
    np.testing.assert_allclose(loaded.trace("the cat").attention(1), bert.trace("the cat").attention(1), atol=1e-6)


def test_a_bug_of_ours_does_not_pass_for_a_damaged_model(bert, tmp_path, monkeypatch):
    bert.module.save_pretrained(tmp_path)
    monkeypatch.setattr(loading, "_model", lambda *given: None + 1)
    with pytest.raises(TypeError, match="unsupported operand"):
        regard.load(tmp_path)


def pickled(bert, folder: Path) -> Path:
    """A folder whose weights are a pickle file."""
    folder.mkdir(parents=True)
    torch.save(bert.module.state_dict(), folder / "pytorch_model.bin")
    (folder / "config.json").write_text(json.dumps(bert.config.to_dict() | {"architectures": ["BertModel"]}))
    bert.tokenizer.save_pretrained(folder)
    return folder


def test_a_folder_that_has_the_name_of_a_packaged_model_is_not_trusted(bert, tmp_path, monkeypatch):
    pickled(bert, tmp_path / "rxnmapper")
    monkeypatch.chdir(tmp_path)
    for name in ("rxnmapper", tmp_path / "rxnmapper"):
        with pytest.raises(ValueError, match="only pickle files"):
            regard.load(name)


def test_a_package_that_has_the_name_of_a_packaged_model_is_not_trusted(bert, tmp_path, monkeypatch):
    entry = PACKAGED["rxnmapper"]
    pickled(bert, tmp_path / entry.package / entry.path)
    (tmp_path / entry.package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="only pickle files"):
        regard.load("rxnmapper")


def test_code_that_comes_with_a_model_is_not_run(tmp_path):
    (tmp_path / "config.json").write_text(
        json.dumps({"model_type": "strange", "auto_map": {"AutoConfig": "code.C", "AutoModel": "code.M"}})
    )
    (tmp_path / "code.py").write_text("raise SystemExit('remote code ran')")
    with pytest.raises(ValueError, match="trust_remote_code=True"):
        regard.load(tmp_path)


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (MambaConfig(vocab_size=40, hidden_size=16, num_hidden_layers=2, state_size=4), MambaModel),
        (FNetConfig(vocab_size=40, hidden_size=16, num_hidden_layers=2, intermediate_size=16), FNetModel),
    ],
    ids=["mamba", "fnet"],
)
@pytest.mark.filterwarnings("ignore")
def test_a_model_without_attention(config, kind):
    with pytest.raises(ValueError, match="no softmax attention that regard can see"):
        regard.load(kind(config).eval()).trace_inputs({"input_ids": torch.tensor([[1, 2, 3]])})


def test_nan_in_maps():
    broken = maps()
    broken[0, 1, 2, 0] = np.nan
    with pytest.raises(ValueError, match="encoder layer 0 contains NaN"):
        Trace.from_maps(broken, ["a", "b", "c"])


def test_scores_in_place_of_attention():
    with pytest.raises(ValueError, match=r"outside .0, 1.; pass attention after softmax"):
        Trace.from_maps(maps() * 9, ["a", "b", "c"])


def test_tokens_that_do_not_fit_the_maps():
    with pytest.raises(
        ValueError, match="3 queries by 3 keys but there are 2 and 2 tokens; pass the tokens the model saw"
    ):
        Trace.from_maps(maps(), ["a", "b"])


def test_a_batch_of_maps():
    with pytest.raises(ValueError, match="batch of 2 examples; make one trace per example"):
        Trace.from_maps(np.full((1, 2, 3, 4, 4), 0.25), list("abcd"))


def test_empty_attention_of_a_fused_kernel():
    with pytest.raises(ValueError, match="no attention maps; the model may have returned an empty tuple"):
        Trace.from_maps((), ["a"])


def test_cross_attention_without_key_tokens():
    with pytest.raises(ValueError, match="cross attention needs key_tokens"):
        Trace.from_maps(maps(), list("abc"), kind="cross")


@pytest.mark.parametrize("make", [torch.tensor, np.array, list], ids=["torch", "numpy", "lists"])
def test_maps_of_any_library_are_taken(make):
    trace = Trace.from_maps([make(layer.tolist()) for layer in maps(2)], list("abc"))
    assert trace.attention(1, 1).shape == (3, 3)


def test_rectangular_and_named_maps():
    cross = np.full((1, 2, 2, 3), 1 / 3)
    trace = Trace.from_maps({"encoder": maps(), "cross": cross}, {"encoder": list("abc"), "decoder": list("xy")})
    assert trace.kinds == ("encoder", "cross")
    assert trace.attention(0, 0, kind="cross").shape == (2, 3)


def test_layers_heads_kinds_and_parts_out_of_range():
    trace = Trace.from_maps(maps(3), list("abc"))
    with pytest.raises(IndexError, match="no encoder layer 7; this trace holds layers 0 to 2"):
        trace.attention(7)
    with pytest.raises(IndexError, match="has heads 0, 1 here, not 5"):
        trace.attention(0, 5)
    with pytest.raises(ValueError, match="no 'cross' attention in this trace; it has encoder"):
        trace.attention(0, kind="cross")
    with pytest.raises(IndexError, match="has no part 4"):
        trace.attention(0, part=4)
    with pytest.raises(ValueError, match="selection is empty"):
        trace.select(layers=[])


def test_selected_layers_and_heads_keep_their_numbers(bert):
    trace = bert.trace("the cat sat")
    part = trace.select(layers=[1], heads=[2])
    assert part.layers() == (1,)
    np.testing.assert_array_equal(part.attention(1, 2), trace.attention(1, 2))
    with pytest.raises(IndexError, match="holds layers 1"):
        part.attention(0, 2)
