"""The study of switched-off heads: each task, the same numbers as single runs by hand, resuming, bad input."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr
from torch.nn.functional import cosine_similarity, cross_entropy
from transformers import BertForMaskedLM, BertForSequenceClassification
from typer.testing import CliRunner

import regard
from regard import study
from regard.cli import app
from regard.corpus import engine
from regard.corpus.ray import Asked, RayWorker
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.models.fingerprint import weights_digest
from regard.studies.ablation.reduce import AblationPass
from regard.studies.ablation.study import AblationMap
from tests.studies.scored_by_hand import LABELS, accuracy, by_hand, read_rows
from tests.tiny import enlarged, saved, tiny_bert


@pytest.fixture(scope="module")
def tiny(wordpiece):
    def make(kind, **more):
        return enlarged(tiny_bert(wordpiece, kind, seed=3, **more), 6)  # so that heads matter

    return make


@pytest.fixture(scope="module")
def classifier(tiny, sentences):
    """A model that tells all three labels, about as often."""
    model = tiny(BertForSequenceClassification, num_labels=3, id2label=dict(enumerate(LABELS)))
    head = model.module.classifier
    with torch.no_grad():
        for _ in range(2):  # centred, then brought to one size
            logits = torch.cat(
                [model._engine.run(model._engine.collate([model._engine.encode(text)])[0]).logits for text in sentences]
            )
            head.bias -= logits.mean(0)
            spread = logits.std(0)
            head.weight /= spread[:, None]
            head.bias /= spread
    return model


@pytest.fixture(scope="module")
def table(tmp_path_factory, sentences):
    """Sentences with labels and pairs with scores."""
    path = tmp_path_factory.mktemp("tasks") / "table.tsv"
    rows = [
        f"{one}\t{other}\t{LABELS[n % 3]}\t{n % 5}"
        for n, (one, other) in enumerate(zip(sentences[2:], reversed(sentences[2:]), strict=True))
    ]
    path.write_text("\n".join(["text\tpair\tlabel\tscore", *rows]), "utf-8")
    return path


@pytest.fixture(scope="module")
def zeroed(classifier, table):
    """Every head of the classifier set to zero."""
    return study.ablation(classifier, table, text="text", modes=["zero"])


@pytest.mark.parametrize("mode", ["zero", "uniform", "mean"])
def test_accuracy_without_each_head_is_that_of_single_runs(mode, classifier, table, zeroed):
    result = zeroed if mode == "zero" else study.ablation(classifier, table, text="text", modes=[mode])
    rows = read_rows(table)
    expected = by_hand(classifier, rows, accuracy, mode)
    found = {(row.layer, row.head): row.score for row in result.table.itertuples()}
    assert found == pytest.approx(expected)
    assert len(set(found.values())) > 1  # heads matter in this model
    assert f"accuracy {accuracy(classifier, rows):.3f}" in result.findings[0]


def test_sts_is_the_rank_correlation_of_cosines(bert, table):
    result = study.ablation(bert, table, modes=["zero"])

    def embedded(model, text):
        return model._engine.run(model._engine.collate([model._engine.encode(text)])[0]).last_hidden_state[0].mean(0)

    def correlation(model, rows):
        cosines = [float(cosine_similarity(embedded(model, a), embedded(model, b), dim=0)) for a, b, *_ in rows]
        return float(spearmanr(cosines, [score for *_, score in rows]).statistic)

    rows = read_rows(table)
    found = {(row.layer, row.head): row.score for row in result.table.itertuples()}
    assert found == pytest.approx(by_hand(bert, rows, correlation), abs=0.02)  # cosines of tiny models nearly tie
    assert result.meta["task"] == "sts"


def test_causal_loss_is_the_mean_over_next_tokens(gpt2, corpus):
    result = study.ablation(gpt2, corpus, limit=6, modes=["zero"])
    texts = [(line,) for line in corpus.read_text().splitlines()[:6]]

    def loss(model, rows):
        total, count = 0.0, 0
        for (text,) in rows:
            ids = torch.tensor([model._engine.encode(text, truncate=True).ids])
            if ids.shape[1] > 1:
                logits = model._engine.run({"input_ids": ids}).logits[0]
                total += float(cross_entropy(logits[:-1], ids[0, 1:], reduction="sum"))
                count += ids.shape[1] - 1
        return total / count

    found = {(row.layer, row.head): row.score for row in result.table.itertuples()}
    assert found == pytest.approx(by_hand(gpt2, texts, loss), rel=1e-5)
    assert result.meta["task"] == "causal-lm"


def test_masked_loss_asks_the_same_words_in_every_run_whatever_the_batch(tiny, corpus):
    model = tiny(BertForMaskedLM)
    whole = study.ablation(model, corpus, modes=["zero"])
    again = study.ablation(model, corpus, modes=["zero"], share=False)
    assert whole.meta["task"] == "masked-lm"
    pd.testing.assert_frame_equal(whole.files["scores"], again.files["scores"])
    questions = whole.files["scores"]["questions"]
    assert (questions >= 1).all()
    tokens = sum(len(model._engine.encode(line).ids) - 2 for line in corpus.read_text().splitlines())
    assert 0.05 < questions.sum() / tokens < 0.35


def test_importance_is_the_mean_of_each_examples_own_gradient(classifier, table, zeroed):
    rows = read_rows(table)
    step, found = 1e-3, zeroed.tables["Importance"]

    def losses(factor, layer, head):
        def scaled(_place, out, _call):
            changed = out.clone()
            changed[:, :, head] *= factor
            return changed

        with regard.capture.outputs(
            classifier.module, classifier._engine.plan(), classifier._engine.places(), scaled, [("encoder", layer)]
        ):
            return np.array(
                [
                    float(
                        cross_entropy(
                            classifier._engine.run(
                                classifier._engine.collate([classifier._engine.encode(text)])[0]
                            ).logits,
                            torch.tensor([LABELS.index(label)]),
                        )
                    )
                    for text, _, label, _ in rows
                ]
            )

    for row in found[found["layer"] == 1].itertuples():
        slopes = (losses(1 + step, 1, row.head) - losses(1 - step, 1, row.head)) / (2 * step)
        assert row.gradient == pytest.approx(np.abs(slopes).mean(), rel=0.02, abs=1e-4)
    lengths = (found.groupby("layer")["importance"].apply(lambda some: (some**2).sum())).tolist()
    assert lengths == pytest.approx([1, 1])


def test_a_stopped_run_goes_on_to_the_same_numbers(classifier, table, tmp_path, monkeypatch):
    monkeypatch.setattr(AblationPass, "window", 4)
    monkeypatch.setattr(engine, "_EVERY", 0.0)
    whole = study.ablation(classifier, table, text="text", limit=12, modes=["zero"], curve=True)
    update, calls = AblationMap.update, []

    def stopping(self, model, items, sums):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        update(self, model, items, sums)

    with monkeypatch.context() as patch:
        patch.setattr(AblationMap, "update", stopping)
        with pytest.raises(KeyboardInterrupt):
            study.ablation(classifier, table, text="text", limit=12, modes=["zero"], curve=True, output=tmp_path)
    assert (tmp_path / "checkpoint.safetensors").exists()
    resumed = study.ablation(
        classifier, table, text="text", limit=12, modes=["zero"], curve=True, output=tmp_path, resume=True
    )
    pd.testing.assert_frame_equal(whole.table, resumed.table)
    pd.testing.assert_frame_equal(whole.tables["Heads removed together"], resumed.tables["Heads removed together"])
    assert not list(tmp_path.glob("*checkpoint*"))


def test_a_worker_of_ray_is_sent_texts_and_counts_the_same(classifier, table, tmp_path):
    model = regard.load(saved(classifier, tmp_path / "model"))
    source = Source(str(table), text="text", limit=8, keep=("label",))
    study = AblationMap(source=source)
    asked = Asked(type(study), study.arguments, model._engine.origin, weights_digest(model.module), "truncate")
    _, sent = RayWorker().sum(asked, 0, list(read(source)))
    local = engine.run_local(study, model, engine.Run(source)).sums.arrays
    assert set(sent) == set(local) and len(local) == 16
    for name, array in local.items():
        np.testing.assert_allclose(sent[name], array, atol=1e-6, err_msg=name)


def test_heads_removed_together_are_chosen_by_even_examples_and_judged_by_odd_ones(classifier, table):
    result = study.ablation(classifier, table, text="text", modes=["zero"], curve=True)
    curve = result.tables["Heads removed together"]
    rows = [row for number, row in enumerate(read_rows(table)) if number % 2]
    assert {"importance", "ablation", "random"} <= set(curve["order"])
    assert curve[curve["order"] == "random"]["draw"].nunique() == 5
    for row in curve[curve["order"].isin(["importance", "ablation"])].itertuples():
        with classifier.ablate(row.heads.split()):
            assert row.score == pytest.approx(accuracy(classifier, rows))
    even = result.files["scores"].query("example % 2 == 0")
    gains = {f"{layer}.{head}": even[f"zero encoder:{layer}.{head}"].mean() for layer in (0, 1) for head in range(3)}
    first = curve[curve["order"] == "ablation"].sort_values("removed").iloc[0]
    assert gains[first["heads"].split()[0]] == max(gains.values())


def test_the_command_writes_maps_and_says_what_luck_gives(tiny, table, tmp_path):
    model = tiny(BertForSequenceClassification, num_labels=3, id2label=dict(enumerate(LABELS)))
    folder = saved(model, tmp_path / "model")
    arguments = ["study", "ablation", table, "-m", folder, "-o", tmp_path / "out", "--text", "text"]
    result = CliRunner().invoke(app, [*map(str, arguments), "--curve", "--json"])
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert any("chance alone gives" in text for text in record["findings"])
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"zero.png", "uniform.png", "mean.png", "importance.png", "curve.png", "scores.parquet"} <= written
    page = (tmp_path / "out" / "report.html").read_text()
    assert "baseline" in page and "Whole layers" in page
    kept = pd.read_parquet(tmp_path / "out" / "result.parquet")
    assert len(kept) == 3 * 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "text"}, "the model does not know the label"),
        ({"label": "nothing"}, "has no column 'nothing'"),
        ({"task": "masked-lm"}, "has no masked language model head"),
        ({"task": "causal-lm"}, "has no causal language model head"),
        ({"task": "sts"}, "gives no embeddings"),
        ({"task": "chess"}, "there is no task 'chess'; choose from classification, masked-lm, causal-lm, sts"),
        ({"modes": ["gone"]}, "there is no mode 'gone'; choose from zero, uniform, mean"),
        ({"control": True}, "takes no control"),
        ({"limit": 1, "curve": True}, "needs even and odd examples"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_sentence(options, message, classifier, table):
    with pytest.raises(ValueError, match=message):
        study.ablation(classifier, table, text="text", **options)


def test_scores_that_are_no_numbers_and_corpora_without_pairs_are_refused(bert, table):
    with pytest.raises(ValueError, match="is not a number"):
        study.ablation(bert, table, label="label")
    with pytest.raises(ValueError, match="name the column of the second one"):
        study.ablation(bert, table, text="text")


def test_a_file_may_number_the_labels(classifier, table, zeroed, tmp_path):
    frame = pd.read_csv(table, sep="\t")
    frame["label"] = frame["label"].map(LABELS.index)
    frame.to_csv(tmp_path / "numbered.tsv", sep="\t", index=False)
    numbered = study.ablation(classifier, tmp_path / "numbered.tsv", text="text", modes=["zero"])
    pd.testing.assert_frame_equal(zeroed.table, numbered.table)


@pytest.mark.models
@pytest.mark.corpora
def test_the_default_model_gives_the_cosines_of_single_runs_and_shares_them(minilm, corpora):
    path = corpora / "sts_captions" / "sts-captions-dev.tsv"
    result = study.ablation(minilm, path, limit=8, modes=["zero"])
    assert len(result.table) == 72 and len(result.tables["Whole layers"]) == 6
    assert result.meta["shared runs"] is True
    rows = pd.read_csv(path, sep="\t", quoting=3, nrows=8)
    pairs = [*rows["sentence1"], *rows["sentence2"]]
    inputs, _ = minilm._engine.collate([minilm._engine.encode(text) for text in pairs])
    real = inputs["attention_mask"][..., None]
    for heads, column in (
        (["0.3"], "zero encoder:0.3"),
        (["5.11"], "zero encoder:5.11"),
        (["3.*"], "zero encoder:3.*"),
    ):
        with minilm.ablate(heads):
            states = minilm._engine.run(inputs).last_hidden_state
        one, other = ((states * real).sum(1) / real.sum(1)).chunk(2)
        assert result.files["scores"][column].tolist() == pytest.approx(
            cosine_similarity(one, other).tolist(), abs=1e-5
        )
