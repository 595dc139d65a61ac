"""Sinks: weights and lengths equal loops over maps, and cuts equal those of `cutting`."""

import numpy as np
import pytest
import torch

import regard
from regard.capture import outputs
from regard.models.cutting import cutting
from regard.studies.sinks.cuts import WAYS, SinkCut, SinkCuts, all_rows, light_rows, random_rows
from regard.studies.sinks.reduce import CLASSES, FROM
from regard.trace.edges import EdgeBlock
from regard.trace.heads import Head
from tests.tiny import enlarged, tiny_llama

TEXTS = ["the cat sat on a mat, then it ran.", "a dog ran! the cat sat; so it was", "we went home (all of us) late"]


@pytest.fixture(scope="module")
def llama(bytelevel):
    return enlarged(tiny_llama(bytelevel), 4)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("sinks") / "texts.txt"
    path.write_text("\n".join(TEXTS * 3), "utf-8")
    return path


@pytest.fixture(scope="module")
def result(llama, corpus):
    return regard.study.sinks(llama, corpus, cut=3)


def class_of(tokens, key):
    text = tokens[key].text.strip()
    return 0 if key == 0 else 2 if text and not text.isalnum() else 3


def test_weights_by_class_are_means_over_rows_that_see_enough(llama, result):
    means = np.zeros((2, 4, len(CLASSES)))
    strongest = np.zeros_like(means)
    for text in TEXTS:
        trace = llama.trace(text)
        rows = range(FROM - 1, len(trace.tokens))
        for layer in range(2):
            for head in range(4):
                maps = trace.attention(layer, head)[rows.start :]
                for key in range(maps.shape[1]):
                    means[layer, head, class_of(trace.tokens, key)] += maps[:, key].sum() / len(rows) / len(TEXTS)
                best = int(maps.sum(0).argmax())
                strongest[layer, head, class_of(trace.tokens, best)] += 1 / len(TEXTS)
    for quantity, expected in (("weight", means), ("strongest column", strongest)):
        mine = result.table[result.table["quantity"] == quantity]
        for row in mine.itertuples():
            assert row.value == pytest.approx(expected[row.layer, row.head, CLASSES.index(row.measure)], abs=1e-5)


def test_lengths_are_those_of_the_vectors_of_a_trace(llama, result):
    table = result.tables["Lengths of keys and values"]
    for layer in range(2):
        first, others = [], []
        for text in TEXTS:
            trace = llama.trace(text)
            lengths = np.stack([np.linalg.norm(trace.k(layer, head), axis=-1) for head in range(4)])
            first.append(lengths[:, 0].mean())
            others.append(lengths[:, 1:].mean())
        mine = table[(table["layer"] == layer) & (table["vector"] == "key")].set_index("measure")["value"]
        assert mine["resting places"] == pytest.approx(np.mean(first), rel=1e-4)
        assert mine["other tokens"] == pytest.approx(np.mean(others), rel=1e-4)
        values = table[(table["layer"] == layer) & (table["vector"] == "value")].set_index("measure")["value"]
        norms = [llama.trace(text).site(layer).norms for text in TEXTS]
        assert values["resting places"] == pytest.approx(np.mean([one[:, 0].mean() for one in norms]), rel=1e-4)


def batch_of(model, text):
    return model._engine.collate([model._engine.encode(text)])


def test_all_rows_is_the_exact_cut_of_every_edge_to_the_first_token(llama):
    inputs, book = batch_of(llama, TEXTS[0])
    plain, found, weights = SinkCuts(llama, 0).losses(inputs, book)
    count = inputs["input_ids"].shape[1]
    ids = inputs["input_ids"][0]

    def loss():
        logs = llama._engine.run(inputs).logits[0].float().log_softmax(-1)
        return -float(logs[:-1].gather(-1, ids[1:, None]).mean())

    assert plain[0] == pytest.approx(loss(), abs=1e-5)
    for layer in range(2):
        heads = tuple(Head("decoder", layer, head) for head in range(4))
        with cutting(llama._engine, [[EdgeBlock(heads, tuple(range(1, count)), (0,))]], "mask"):
            assert found[0, layer, 0] == pytest.approx(loss(), abs=1e-4)
        assert found[0, layer, 0] != pytest.approx(plain[0], abs=1e-4)
        trace = llama.trace(TEXTS[0])
        held = np.mean([trace.attention(layer, head)[1:, 0].mean() for head in range(4)])
        assert weights[0, layer, 0] == pytest.approx(held, abs=1e-5)


def test_random_keys_hold_about_as_much_as_the_sink_of_the_same_light_rows():
    torch.manual_seed(0)
    maps = torch.rand(2, 3, 40, 40).tril()
    maps = maps / maps.sum(-1, keepdim=True)
    maps[..., 0] += torch.rand(2, 3, 40)
    maps = maps / maps.sum(-1, keepdim=True)
    rests = torch.zeros_like(maps, dtype=torch.bool)
    rests[..., 0] = True
    light, random = light_rows(maps, rests), random_rows(0)(maps, rests)
    assert not (random & rests).any()
    assert (light & rests == light).all() and (light & all_rows(maps, rests) == light).all()
    held, taken = (maps * light).sum(-1), (maps * random).sum(-1)
    assert held.max() <= 0.5 and (held > 0).any()
    assert not (random.any(-1) & ~light.any(-1)).any()
    long = (torch.arange(40) > 20).expand_as(held) & (held > 0)  # with many keys, some fit
    assert (taken - held)[long].abs().mean() < 0.05
    assert not (random & (maps == 0)).any()


def test_a_cut_of_nothing_changes_nothing(llama):
    inputs, _ = batch_of(llama, TEXTS[0])
    engine = llama._engine
    special = torch.zeros(1, inputs["input_ids"].shape[1], dtype=torch.bool)
    before = engine.run(inputs).logits
    nothing = SinkCut(lambda maps, rests: torch.zeros_like(rests), special, "llama")
    with outputs(engine.module, engine.plan(), engine.places(), nothing, {("decoder", 0)}):
        assert torch.equal(engine.run(inputs).logits, before)


def test_the_report_tells_where_sinks_begin_and_what_cutting_does(result, tmp_path):
    assert list(result.tables["Loss without sinks"]["cut"].unique()) == list(WAYS)
    (column,) = [text for text in result.findings if "strongest column" in text]
    assert "another special token in" in column and "any other token in" in column
    assert any("the loss rises" in text for text in result.findings)
    folder = result.save(tmp_path / "out")
    assert {"decoder-heads.svg", "decoder-lengths.svg", "cuts.svg"} <= {path.name for path in folder.iterdir()}


def test_an_encoder_has_sinks_but_no_loss(bert, corpus):
    result = regard.study.sinks(bert, corpus)
    assert "Loss without sinks" not in result.tables
    assert set(result.table["kind"]) == {"encoder"}
