"""A model that overflows or holds NaN is refused with the place, never shown as attention of 0."""

import pickle
from functools import partial

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

import regard
from regard.base.errors import UserError
from regard.corpus.ray import Asked, RayWorker
from regard.corpus.readers.source import Example
from regard.models.fingerprint import weights_digest
from regard.studies.atlas.study import Atlas
from regard.trace.mask import Mask
from regard.trace.site import Site
from tests.tiny import SIZES, enlarged, made, saved, tiny_bert, tiny_llama, tiny_mpnet

TEXT = "the cat sat on the mat ."


def nan_from(model, layer):
    """The model with NaN in one weight of a layer's query projection: head 1 of that layer, all of the next."""
    with torch.no_grad():
        model.module.encoder.layer[layer].attention.self.query.weight[8, 0] = torch.nan
    return model


def overflowing(bytelevel):
    """A Llama whose residual stream leaves the range of float16 in its second layer."""
    model = enlarged(tiny_llama(bytelevel), 300)
    return regard.load((model.module.half(), bytelevel))


def word_dependent(wordpiece):
    """A BERT that is sound but for the word "dog"."""
    model = tiny_bert(wordpiece)
    with torch.no_grad():
        model.module.embeddings.word_embeddings.weight[wordpiece.convert_tokens_to_ids("dog")] = torch.nan
    return model


def test_a_trace_names_the_first_head_that_is_not_finite(wordpiece):
    model = nan_from(tiny_bert(wordpiece), 1)
    with pytest.raises(
        ValueError, match=r"^encoder layer 1 head 1: 9 of 9 rows are not finite; .*check the checkpoint"
    ):
        model.trace(TEXT)


def test_overflow_in_float16_is_refused_with_the_way_out(bytelevel):
    with pytest.raises(ValueError, match=r"decoder layer \d head \d: \d+ of 8 rows are not finite; .*try float32"):
        overflowing(bytelevel).trace("a cat sa")


def test_the_same_weights_in_float32_are_traced(bytelevel):
    model = overflowing(bytelevel)
    assert np.isfinite(regard.load((model.module.float(), bytelevel)).trace("a cat sa").attention(1)).all()


def test_scores_that_overflow_are_refused(wordpiece):
    model = tiny_bert(wordpiece)
    with torch.no_grad():
        for part in ("query", "key"):
            getattr(model.module.encoder.layer[0].attention.self, part).weight.mul_(1e21)
    with pytest.raises(ValueError, match=r"encoder layer 0 head 0: .* rows are not finite"):
        model.trace(TEXT)


def test_large_scores_that_are_finite_are_traced(wordpiece):
    model = tiny_bert(wordpiece)
    with torch.no_grad():
        for part in ("query", "key"):
            getattr(model.module.encoder.layer[0].attention.self, part).weight.mul_(1e19)
    np.testing.assert_allclose(model.trace(TEXT).attention(0).sum(-1), 1, atol=1e-5)


def test_the_text_of_a_list_is_named(wordpiece):
    with pytest.raises(ValueError, match=r"^example 2 \(counted from 0\): encoder layer 0 head 0: "):
        word_dependent(wordpiece).trace(["the cat", "a mat", "a dog sat", "the store"])


def test_maps_that_a_family_gives_are_looked_at(wordpiece):
    model = tiny_mpnet(wordpiece)
    assert model.trace(TEXT).facts["tier"] == "maps"
    with torch.no_grad():
        model.module.encoder.layer[1].attention.attn.q.weight[8, 0] = torch.nan
    with pytest.raises(ValueError, match="encoder layer 1 head 1: 9 of 9 rows are not finite"):
        model.trace(TEXT)


def test_a_first_run_sees_maps_that_are_not_finite(wordpiece):
    model = tiny_mpnet(wordpiece)
    with torch.no_grad():
        model.module.encoder.layer[1].attention.attn.q.weight[8, 0] = torch.nan
    with pytest.raises(ValueError, match="rows are not finite"):
        model.trace(TEXT)


def test_a_study_stops_at_the_example_that_is_not_finite(wordpiece, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cat sat\na mat\nthe dog went\na dog\n")
    message = r"^example [23] \(counted from 0\): encoder layer 0 head 0: \d of \d rows are not finite, as are 2 of"
    for study in (regard.study.atlas, regard.study.tokens, regard.study.norms, regard.study.similarity):
        with pytest.raises(ValueError, match=message):
            study(word_dependent(wordpiece), corpus)


def test_a_comparison_of_models_stops_too(bert, wordpiece, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cat sat\nthe dog went\n")
    with pytest.raises(ValueError, match=r"^example 1 \(counted from 0\): encoder layer 0 head 0"):
        regard.study.change(bert, word_dependent(wordpiece), corpus)


def test_a_worker_answers_with_the_sentence(wordpiece, tmp_path):
    folder = saved(word_dependent(wordpiece), tmp_path / "model")
    asked = Asked(Atlas, {}, partial(regard.load, folder), weights_digest(regard.load(folder).module), "truncate")
    with pytest.raises(UserError, match=r"^example 1 \(counted from 0\): encoder layer 0 head 0") as said:
        RayWorker().sum(asked, 0, [Example(0, "the cat"), Example(1, "a dog")])
    assert str(pickle.loads(pickle.dumps(said.value))) == str(said.value)  # it reaches the one who asked


def test_rows_that_see_nothing_are_zero():
    q = k = np.ones((1, 3, 2), np.float32)
    site = Site(
        "encoder", 0, "a", "a", (0,), q=q, k=k, mask=Mask(table=np.array([[1, 0, 0], [0, 0, 0], [1, 1, 1]], bool))
    )
    expected = [[1, 0, 0], [0, 0, 0], [1 / 3] * 3]
    np.testing.assert_allclose(site.attention(0), expected, atol=1e-6)
    np.testing.assert_allclose(site.attention(0, keys=[0, 1]), np.array(expected)[:, :2], atol=1e-6)


def test_what_is_not_a_number_is_not_read_as_zero():
    q = np.ones((1, 2, 2), np.float32)
    q[0, 1, 0] = np.nan
    read = Site("encoder", 0, "a", "a", (0,), q=q, k=np.ones((1, 2, 2), np.float32)).attention(0)
    assert np.isnan(read[1]).all() and np.isfinite(read[0]).all()


def test_a_whole_checkpoint_of_nan_gives_the_sentence(wordpiece):
    model = made(BertModel, BertConfig(vocab_size=len(wordpiece), max_position_embeddings=64, **SIZES), wordpiece)
    with torch.no_grad():
        for parameter in model.module.parameters():
            parameter.fill_(torch.nan)
    with pytest.raises(ValueError, match="encoder layer 0 head 0: 9 of 9 rows are not finite"):
        model.trace(TEXT)
