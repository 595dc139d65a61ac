"""Weights beside norms, against vectors written out in full (METHODS, section 3)."""

import re

import numpy as np
import pytest
import torch

import regard
from regard.capture import Layer
from regard.measures.ranks import spearman
from tests.studies.by_hand import maps, traces


def outputs(model, trace, layer):
    """(H, K, d): f_h(x_j) from the model's own modules, without any trick."""
    side = next(iter(trace.sides.values()))
    inputs = {"input_ids": torch.tensor([[token.id for token in side.tokens]])}
    with torch.no_grad():
        hidden = model.module(**inputs, output_hidden_states=True).hidden_states[layer][0]
        if "Bert" in type(model.module).__name__:
            block = model.module.encoder.layer[layer].attention
            values, weight = block.self.value(hidden), block.output.dense.weight.T
        else:
            block = model.module.transformer.h[layer]
            values, weight = block.attn.c_attn(block.ln_1(hidden)).chunk(3, dim=-1)[2], block.attn.c_proj.weight
    heads = model.config.num_attention_heads
    split = values.reshape(len(hidden), heads, -1).transpose(0, 1)  # (H, K, e)
    return (split @ weight.reshape(heads, split.shape[-1], -1)).detach().double().numpy()


def classes(trace, causal):
    tokens = next(iter(trace.sides.values())).tokens
    first = np.array([n == 0 and (causal or token.special) for n, token in enumerate(tokens)])
    closing = np.array([token.special for token in tokens]) & ~first
    marks = np.array([not any(c.isalnum() for c in token.text) and bool(token.text.strip()) for token in tokens])
    marks &= ~first & ~closing
    return np.stack([first, closing, marks, ~(first | closing | marks)], axis=-1)


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_weights_norms_and_vector_sums_equal_the_vectors_written_out(name, corpus, request):
    model = request.getfixturevalue(name)
    result = regard.study.norms(model, corpus, limit=8)
    found = {name: [] for name in ("weight", "contribution", "contribution, share", "vector sum", "vector sum, share")}
    counted = []
    for trace in traces(model, corpus)[:8]:
        alpha, vectors, table = maps(trace.sites[1]), outputs(model, trace, 1), classes(trace, name == "gpt2")
        carried = alpha[..., None] * vectors[:, None]  # (H, Q, K, d)
        lengths, together = np.linalg.norm(carried, axis=-1), np.linalg.norm(carried.sum(0), axis=-1)[None]
        for quantity, values in (("weight", alpha), ("contribution", lengths), ("vector sum", together)):
            masses = values @ table  # (H, Q, 4)
            found[quantity].append(masses.mean(1))
            if quantity != "weight":
                found[f"{quantity}, share"].append((masses / masses.sum(-1, keepdims=True)).mean(1))
        counted.append(table.any(0))
    inputs = np.sum(counted, axis=0)
    for quantity, values in found.items():
        source = result.tables["By layer"] if quantity.startswith("vector") else result.table
        mine = source[(source["quantity"] == quantity) & (source["layer"] == 1)]["value"].to_numpy()
        expected = np.where(inputs, np.sum(values, axis=0) / np.maximum(inputs, 1), np.nan)
        np.testing.assert_allclose(mine, expected.ravel(), rtol=1e-4, err_msg=quantity)


def test_the_rows_of_the_chart_are_of_one_layer_that_of_the_first_finding(bert, corpus):
    result = regard.study.norms(bert, corpus)
    layer = re.search(r"layer \d+", result.findings[0])[0].lower()
    assert result.chart.about.endswith(f"in {layer}")
    assert sum(bar.value for bar in result.chart.bars) == pytest.approx(1, abs=0.05)  # not every input has each kind
    assert sum(bar.chance for bar in result.chart.bars) == pytest.approx(1, abs=0.05)  # not every input has each kind


def test_frequency_is_ranked_against_the_mean_norm_of_each_token(bert, corpus):
    result = regard.study.norms(bert, corpus)
    table = result.tables["Rank correlation of the mean norm of tokens with their frequency rank"].set_index("layer")
    total, count = {}, {}
    for trace in traces(bert, corpus):
        norms = np.linalg.norm(outputs(bert, trace, 1), axis=-1).mean(0)
        for token, norm in zip(trace.sides["text"].tokens, norms, strict=True):
            if not token.special:
                total[token.id] = total.get(token.id, 0) + norm
                count[token.id] = count.get(token.id, 0) + 1
    often = [token for token in count if count[token] >= 5]
    frequency = np.array([-count[token] for token in often])
    means = np.array([total[token] / count[token] for token in often])
    assert table.loc[1, "tokens"] == len(often)
    (said,) = [text for text in result.findings if "Rarer tokens" in text]
    assert f"{len(often)} different tokens that occur 5 times or more" in said
    assert table.loc[1, "spearman"] == pytest.approx(spearman(frequency, means), abs=1e-3)


def test_ranks_of_what_is_all_the_same_have_no_correlation():
    assert np.isnan(spearman(np.ones(5), np.arange(5)))


def test_a_family_without_norms_gets_weights_and_the_reason(bert, corpus, monkeypatch):
    monkeypatch.setattr(Layer, "norms", lambda self: None)
    result = regard.study.norms(bert, corpus, limit=8)
    assert set(result.table["quantity"]) == {"weight"}
    assert "not available" in result.findings[0]
