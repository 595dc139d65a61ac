"""Clark's general figures equal their definitions, document by document (METHODS, section 1)."""

import numpy as np
import pytest

import regard
from regard.studies.tokens.reduce import MEASURES, measures_of
from tests.studies.by_hand import maps, seen, traces


def clark(attention, visible, texts, special, causal):
    """(H, 10) of one document; NaN where a measure does not apply."""
    n = attention.shape[1]
    opening = np.arange(n) == 0
    cls = opening if causal else opening & special
    sep = special & ~opening
    marks = np.isin(texts, [".", ","])
    per_row = attention.sum(1) / n  # (H, K)
    smooth = 0.9999 * attention + 0.0001 * visible / visible.sum(-1, keepdims=True)
    entropy = -(smooth * np.log(np.where(smooth > 0, smooth, 1))).sum(-1)  # (H, Q)
    diagonals = [np.trace(attention, offset, 1, 2) / n for offset in (0, 1, -1)]
    nothing = np.full(len(attention), np.nan)
    if causal:
        diagonals[1] = nothing
    others = [nothing, nothing, nothing]
    if sep.any():
        to_sep = attention[:, :, sep].sum(-1)
        others = [per_row[:, sep].sum(-1), to_sep[:, ~sep].mean(-1), to_sep[:, sep].mean(-1)]
    to_marks = per_row[:, marks].sum(-1) if marks.any() else nothing
    first = [per_row[:, cls].sum(-1), entropy[:, 0]] if cls.any() else [nothing, nothing]
    return np.stack(
        [*diagonals, first[0], others[0], to_marks, others[1], others[2], entropy.mean(-1), first[1]], axis=-1
    )


@pytest.mark.parametrize(
    ("name", "file"), [("bert", "corpus"), ("bert", "pairs"), ("gpt2", "corpus"), ("llama", "corpus")]
)
def test_each_measure_is_a_mean_over_documents(name, file, request):
    model, path = request.getfixturevalue(name), request.getfixturevalue(file)
    table = regard.study.tokens(model, path).table.set_index(["layer", "head"]).sort_index()
    for layer in (0, 1):
        documents = []
        for trace in traces(model, path):
            site, side = trace.sites[layer], next(iter(trace.sides.values()))
            texts = [token.text.strip() for token in side.tokens]
            special = np.array([token.special for token in side.tokens])
            documents.append(clark(maps(site), seen(site), texts, special, site.kind == "decoder"))
        stacked = np.stack(documents)  # (D, H, 10)
        counted = np.isfinite(stacked)
        expected = np.where(counted.any(0), np.nansum(stacked, 0) / np.maximum(counted.sum(0), 1), np.nan)
        for head in range(site.heads):
            mine = table.loc[(layer, head)].set_index("measure").loc[list(measures_of(site.kind))]
            np.testing.assert_allclose(mine["value"], expected[head], atol=1e-5)
            assert list(mine["inputs"]) == list(counted.sum(0)[head])


def test_a_causal_model_has_a_first_token_and_no_next_one(gpt2, corpus):
    values = regard.study.tokens(gpt2, corpus).table.groupby("measure")["value"]
    assert values.count()["the first token"] == 6
    assert values.count()["next token"] == 0
    assert "[CLS]" not in values.count()


def test_chance_is_what_uniform_attention_gives(bert, sentences, tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("the cat sat .")
    table = regard.study.tokens(bert, path).table.set_index(["layer", "head", "measure"])["chance"][0, 0]
    expected = [1 / 6, 5 / 36, 5 / 36, 1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6, np.log(6), np.log(6)]
    np.testing.assert_allclose(table[list(MEASURES)], expected, rtol=1e-5)


def test_encoder_decoder_models_have_all_three_kinds(bart, corpus):
    result = regard.study.tokens(bart, corpus, limit=4)
    assert set(result.table["kind"]) == {"encoder", "decoder", "cross"}
    cross = result.table[result.table["kind"] == "cross"].groupby("measure")["value"].count()
    assert cross["itself"] == 0 and cross["entropy"] > 0


def test_the_table_by_layer_is_the_mean_over_heads(bert, corpus):
    result = regard.study.tokens(bert, corpus)
    layers = result.tables["encoder: by layer, mean over heads"].set_index("layer")
    means = result.table.groupby(["layer", "measure"])["value"].mean().unstack()
    np.testing.assert_allclose(layers["entropy"], means["entropy"])
    assert result.figure("encoder-places").svg().startswith(b"<?xml")


def test_what_is_of_some_rows_alone_is_not_called_a_share_of_all_attention(bert, corpus):
    result = regard.study.tokens(bert, corpus)
    said = {sentence.split(":")[0]: sentence for sentence in result.findings}
    assert "of the attention of [SEP] itself there" in said["[SEP] to [SEP]"]
    assert "of the attention of all other tokens there" in said["Other to [SEP]"]
    assert "of all its attention there" in said["[SEP]"]
    assert result.findings[-1].endswith("is the mean over the inputs that have one (not all have a “.” or “,”).")
    assert not {"other to [SEP]", "[SEP] to [SEP]"} & {bar.name for bar in result.chart.bars}


def test_how_much_attention_rests_over_all_layers_is_said_and_bars_below_chance_are_told(bert, corpus):
    result = regard.study.tokens(bert, corpus)
    layers = result.tables["encoder: by layer, mean over heads"]
    share = layers[["[CLS]", "[SEP]"]].mean().sum()
    (said,) = [one for one in result.findings if one.startswith("Over all layers")]
    assert f"{share:.0%} of all attention goes to [CLS] and [SEP], where heads rest (chance: " in said
    below = any(bar.value < bar.chance for bar in result.chart.bars)
    assert ("grey: less than that" in result.chart.tick) == below
