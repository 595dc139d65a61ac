"""Two models compared map by map."""

from copy import deepcopy

import numpy as np
import pytest
import torch

import regard
from regard.studies.atlas.names import AWAKE_SHARE, awake_table
from regard.studies.atlas.study import Atlas
from regard.studies.change.study import changed_patterns
from tests.studies.by_hand import maps, traces
from tests.studies.test_similarity import kl
from tests.tiny import tiny_bert


@pytest.fixture(scope="module")
def tuned(bert):
    """The tiny BERT with one head of layer 1 changed."""
    module = deepcopy(bert.module)
    with torch.no_grad():
        module.encoder.layer[1].attention.self.query.weight[8:16] *= 40
    return regard.load((module, bert.tokenizer))


def test_cosine_and_distance_are_means_over_documents(bert, tuned, corpus):
    table = regard.study.change(bert, tuned, corpus).table.set_index(["measure", "layer"]).sort_index()
    cosines, distances = [], []
    for before, after in zip(traces(bert, corpus), traces(tuned, corpus), strict=True):
        one, two = maps(before.sites[1]), maps(after.sites[1])
        flat = [each.reshape(len(each), -1) for each in (one, two)]
        norms = [np.linalg.norm(each, axis=-1) for each in flat]
        cosines.append((flat[0] * flat[1]).sum(-1) / norms[0] / norms[1])
        p, q = (0.999 * each + 0.001 / each.shape[-1] for each in (one, two))
        distances.append(((kl(p, (p + q) / 2) + kl(q, (p + q) / 2)) / 2).mean(-1))
    np.testing.assert_allclose(table.loc[("cosine", 1), "value"], np.mean(cosines, 0), atol=1e-5)
    np.testing.assert_allclose(table.loc[("js", 1), "value"], np.mean(distances, 0), atol=1e-5)
    assert table.loc[("js", 1), "value"].argmax() == 1  # the head that was changed


def test_a_model_does_not_differ_from_itself(gpt2, corpus):
    result = regard.study.change(gpt2, gpt2, corpus)
    values = result.table.groupby("measure")["value"]
    assert values.min()["cosine"] == pytest.approx(1, abs=1e-5)
    assert values.max()["js"] == pytest.approx(0, abs=1e-5)
    assert result.tables["Patterns that appeared or vanished"].empty


def test_patterns_that_appear_also_vanish_the_other_way(bert, corpus):
    sums = regard.corpus.run_local(Atlas(), bert, regard.corpus.Run(regard.corpus.Source(str(corpus)))).sums
    strong = regard.corpus.Sums({name: array.copy() for name, array in sums.arrays.items()})
    strong.arrays["encoder/1/weights_mass"][:, 2, 0] = 0.9 * sums["encoder/1/weights_awake"][:, 2, 0]  # previous token
    found = awake_table(strong)
    assert found[found["measure"] != AWAKE_SHARE]["value"].max() > 0.8
    (there,), (back,) = (changed_patterns(*pair).to_dict("records") for pair in ((sums, strong), (strong, sums)))
    assert (there["layer"], there["head"], there["pattern"]) == (1, 2, "previous token")
    assert (there["change"], back["change"], there["clear"]) == ("appeared", "vanished", True)
    assert there["after"] == back["before"]


@pytest.mark.parametrize(("layers", "heads"), [(1, 3), (3, 3), (2, 2)])
def test_models_of_different_shape_are_refused(bert, corpus, layers, heads):
    other = tiny_bert(bert.tokenizer, num_hidden_layers=layers, num_attention_heads=heads)
    with pytest.raises(ValueError, match="of one shape"):
        regard.study.change(bert, other, corpus)
