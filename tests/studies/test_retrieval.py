"""Retrieval heads: needles are where they should be, scores equal loops over eager maps, removal equals `ablate`."""

import numpy as np
import pytest
import torch

import regard
from regard.base.errors import UserError
from regard.capture.tiers import attention_set
from regard.corpus.batches import Item
from regard.corpus.readers.source import Example
from regard.corpus.sums import Sums
from regard.models.means import standard_means
from regard.studies.retrieval.planting import plant
from regard.studies.retrieval.reduce import RECENT, read_needle
from regard.studies.retrieval.report import WAYS
from regard.studies.retrieval.study import Retrieval, WithoutHeads, best_heads, retrieval_scores, same_layers
from regard.trace.heads import Head
from tests.tiny import enlarged, tiny_llama

HAY = "The cat sat on it. A dog ran off. Hens lay eggs. The sun was hot. We all went home then. It rained. "


@pytest.fixture(scope="module")
def model(bytelevel):
    tokenizer = type(bytelevel)(
        tokenizer_object=bytelevel.backend_tokenizer, eos_token="<|endoftext|>", bos_token="<|endoftext|>"
    )
    return enlarged(tiny_llama(tokenizer, max_position_embeddings=512), 4)


def planted(model, depth=0.5, length=90, seed=(0,)):
    return plant(model._engine, model._engine.encode(HAY), HAY, length, depth, seed)


def written(tokens, chosen):
    return "".join(token.text for token, there in zip(tokens, chosen, strict=False) if there)


@pytest.mark.parametrize(
    ("depth", "before"), [(0.0, ""), (0.5, "The cat sat on it. A dog ran off. Hens lay eggs."), (1.0, None)]
)
def test_a_needle_stands_between_two_sentences_at_its_depth(model, depth, before):
    one = planted(model, depth)
    tokens = one.row.side.tokens
    first = one.row.side.segments[1].start
    needle, answer = written(tokens, one.needle), written(tokens[first:], [True] * len(tokens))
    assert needle.strip() == answer.strip()
    assert needle.strip().startswith("The code of the ")
    code = written(tokens[first:], one.code)  # without the space before it
    assert len(code) == 4 and code.isdigit() and f" is {code}." in needle
    text = written(tokens[:first], [True] * first)
    start = text.index(needle.strip())
    assert before is None or text[:start].strip() == before
    question = text[start + len(needle.strip()) :]
    assert question.strip().endswith("?")
    if depth == 1:
        assert question.strip().startswith("What is the code")


def test_longer_haystacks_hold_more_of_the_text(model):
    short, long = (len(planted(model, length=length).row.ids) for length in (40, 90))
    assert 20 < long - short <= 60


def by_hand(model, one):
    """Retrieved tokens, sink and recent weight of every head, from eager maps of the whole text."""
    ids = torch.tensor([one.row.ids])
    with torch.no_grad(), attention_set(model.module, "eager"):
        output = model.module(input_ids=ids, output_attentions=True, use_cache=False)
    first = one.row.side.segments[1].start
    found = np.zeros((3, len(output.attentions), output.attentions[0].shape[1]))
    for layer, maps in enumerate(output.attentions):
        for head in range(maps.shape[1]):
            for row in range(first - 1, len(one.row.ids) - 1):
                weights = maps[0, head, row, : row + 1].numpy()
                wanted = one.row.ids[row + 1]
                best = int(weights.argmax())
                found[0, layer, head] += best < len(one.needle) and one.needle[best] and one.row.ids[best] == wanted
                found[1, layer, head] += weights[0]
                found[2, layer, head] += weights[max(1, row - RECENT + 1) :].sum()
    predicted = output.logits[0, first - 1 : -1].argmax(-1).numpy()
    right = predicted == np.array(one.row.ids[first:])
    return found, bool(right[one.code].all())


def test_scores_are_those_of_loops_over_eager_maps(model):
    one = planted(model)
    found, answered = by_hand(model, one)
    read = read_needle(model._engine, one)
    assert found[0].any(), "some head of this model looks at the token to copy"
    for number, name in enumerate(("retrieved", "sink", "recent")):
        own = np.stack([getattr(read, name)["decoder", layer] for layer in range(2)])
        np.testing.assert_allclose(own, found[number], atol=1e-4)
    assert read.answered == answered
    assert read.rows == len(one.code)


def items_of(model, study, count):
    texts = (Example(number, f"{HAY}{number} " * 3) for number in range(40))
    parts = list(study.parts(model, texts))[:count]
    return [Item(part.number, model._engine.encode(part.text), part) for part in parts]


@pytest.fixture(scope="module")
def run(model):
    study = Retrieval(lengths=(64, 100), depths=2)
    items = items_of(model, study, 4)
    sums = Sums()
    study.update(model, items, sums)
    return study, items, sums


def test_haystacks_join_texts_until_they_are_long_enough(model):
    study = Retrieval(lengths=(100,), depths=2)
    parts = list(study.parts(model, (Example(number, "The cat sat. " * 4) for number in range(10))))
    assert [(part.number, part.cluster) for part in parts] == [(n, n) for n in range(5)]  # two texts each
    assert all(len(model._engine.encode(part.text).ids) >= 100 for part in parts)


def test_every_haystack_is_read_at_every_length_and_takes_its_turn_of_depths(run):
    _, _, sums = run
    cells = sums.whole("cells")
    np.testing.assert_array_equal(cells, [[2, 2], [2, 2]])


def test_heads_to_remove_are_chosen_on_the_other_half(model, run):
    study, items, sums = run
    even = Sums()
    study.update(model, [item for item in items if item.number % 2 == 0], even)
    for place, values in retrieval_scores(sums, 0).items():
        np.testing.assert_allclose(values, retrieval_scores(even)[place])
    second = study.second(sums, model, None)
    assert [list(half) for half in second.heads] == [best_heads(sums, 0), best_heads(sums, 1)]


def test_removal_is_what_ablate_with_means_does(model, run):
    study, items, _ = run
    second = WithoutHeads(heads=[[Head("decoder", 0, 1)], [Head("decoder", 1, 2)]], **study.arguments)
    sums = Sums()
    second.update(model, items[:1], sums)  # an even haystack: without the heads of the odd ones
    found = sums.whole("ways")  # (ways, lengths, 2)
    for length, _, one in study.planted(model, items[0]):
        with model.ablate("1.2", mode="mean", means=standard_means(model)):
            without = read_needle(model._engine, one)
        assert found[0, length, 1] == pytest.approx(without.logs, abs=1e-5)
        assert found[0, length, 0] == without.answered
        assert found[0, length, 1] != pytest.approx(read_needle(model._engine, one).logs, abs=1e-5)


def test_random_heads_are_of_the_same_layers_and_others():
    heads = [Head("decoder", 1, 0), Head("decoder", 1, 3), Head("decoder", 2, 1)]
    layout = {("decoder", layer): 4 for layer in range(3)}
    for seed in range(20):
        found = same_layers(heads, layout, (seed,))
        assert sorted(head.layer for head in found) == [1, 1, 2]
        assert not set(found) & set(heads) and len(set(found)) == 3


def test_the_study_writes_a_report(model, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("".join(f"{HAY}{number}\n" for number in range(24)), "utf-8")
    result = regard.study.retrieval(model, corpus, lengths=(64,), depths=2, output=tmp_path / "out")
    assert len(result.table) == 8 and result.table["retrieval"].between(0, 1).all()
    assert set(result.tables["Without heads"]["model"]) == set(WAYS)
    assert {"scores.svg", "answers.svg", "report.html"} <= {path.name for path in (tmp_path / "out").iterdir()}
    assert any("Without the 1 best" in text for text in result.findings)


def test_lengths_that_do_not_fit_are_refused(model, bert, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(HAY, "utf-8")
    with pytest.raises(UserError, match="takes at most 512 tokens"):
        regard.study.retrieval(model, corpus, lengths=(512,))
    with pytest.raises(UserError, match="at least 32"):
        regard.study.retrieval(model, corpus, lengths=(8,))
    with pytest.raises(UserError, match="causal language model"):
        regard.study.retrieval(bert, corpus, lengths=(64,))
