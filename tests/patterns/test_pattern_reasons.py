"""Where a pattern cannot be asked for, and why."""

import warnings

import numpy as np
import pytest
import torch
from transformers import ViTConfig, ViTModel

import regard
from regard.patterns import NAMES, head_report
from regard.trace.places import places_of
from tests.patterns.maps import trace_of

from ..conftest import ARTICLE


def test_cross_attention_has_no_neighbours(t5):
    found = t5.trace("the cat sat .", target="a dog").patterns()
    cross = next(site for site in found.measured if site.kind == "cross")
    assert cross.missing["previous token"] == "queries and keys are positions in different texts"
    assert cross.types is None


def check_quiet(trace):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return trace.patterns()


def test_a_one_token_text_is_not_available_with_reasons(bert):
    found = check_quiet(bert.trace("cat"))
    assert len(found) == 0
    assert set(found.missing) >= set(NAMES) - {"itself", "fixed words", "always rests"}
    assert "too short" in found.missing["delimiter"]
    assert not {f.pattern for f in found}


def test_a_single_position_is_not_available(gpt2):
    found = check_quiet(gpt2.trace("a"))
    assert len(found) == 0
    assert head_report(gpt2.trace("a"))[0]["measures"]["entropy"] is None


def test_special_tokens_alone_are_not_available():
    found = check_quiet(trace_of(np.full((4, 4), 0.25), tokens=["[CLS]", "[SEP]", "[SEP]", "[SEP]"], segments=()))
    assert found.missing["previous token"] == "there are only special tokens"
    assert found.missing["delimiter"] == "there are only special tokens"


def test_one_sentence_has_no_other_sentence(bert):
    found = check_quiet(bert.trace(ARTICLE[0]))
    assert found.missing["bag of words"] == "there is only one sentence; pass a second one"
    assert found.missing["same word in the other sentence"] == "there is only one sentence; pass a second one"


def test_a_causal_model_has_no_bag_of_words(gpt2):
    found = check_quiet(gpt2.trace(*ARTICLE))
    assert "causal" in found.missing["bag of words"]
    assert "causal" in found.missing["next token"]


def test_identical_tokens_are_not_available(bert):
    found = check_quiet(bert.trace("cat cat cat cat cat cat"))
    assert "same" in found.missing["same word"]


def test_image_patches_are_not_words():
    torch.manual_seed(0)
    config = ViTConfig(
        image_size=32, patch_size=8, hidden_size=24, num_hidden_layers=1, num_attention_heads=3, intermediate_size=32
    )
    trace = regard.load(ViTModel(config).eval()).trace(image=np.zeros((32, 32, 3), np.uint8))
    found = check_quiet(trace)
    assert found.missing["previous token"] == "the tokens are image patches, not text"
    assert "itself" not in found.missing


def test_a_threshold_out_of_bounds_is_refused(bert):
    with pytest.raises(ValueError, match="above 0"):
        bert.trace("cat").patterns(threshold=0)


def test_an_unknown_pattern_lists_the_names(bert):
    with pytest.raises(ValueError, match="previous token, next token"):
        bert.trace("cat").patterns().strongest("nearest")


def test_a_masked_token_is_not_a_delimiter():
    trace = trace_of(np.full((4, 4), 0.25), tokens=["[CLS]", "[MASK]", "cat", "[SEP]"], segments=())
    assert places_of(trace.side(), {}).content.tolist() == [False, True, True, False]
