"""Related words: who is related to whom, and by whose embedding."""

import json

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models
from transformers import (
    AutoModel,
    BertConfig,
    BertModel,
    PreTrainedTokenizerFast,
)

import regard
from regard import Trace
from regard.models.related import FEWEST, PASS, WORDS, Relation, relation_of, vocabulary_words
from regard.patterns.definitions import PATTERNS
from regard.trace.tokens import Side, Token, is_word
from tests.models.related_words import ACROSS, HERE, MADE, MEANT, UNKNOWN, words_of
from tests.studies.test_atlas import by_hand
from tests.tiny import SIZES, made

PAIR = ("The cat slept in London on Monday.", "A dog sang in Paris on Tuesday, eating strawberries.")
STORY = (
    "My grandmother kept seven hens behind the old mill. Each morning she counted brown eggs into a basket, walked two "
    "miles along the river, and sold them near the church. Winter made that road slow, but nobody heard her complain."
)


# -- who is related ----------------------------------------------------------------------------------------


def test_neighbours_in_the_embedding_are_related_and_opposites_are_not(relating):
    found = words_of(relating.trace("the cat sat on the dog , sky").side())
    assert {"cat", "dog"} in found
    assert not any("sky" in pair and "cat" in pair for pair in found)


def test_a_word_of_pieces_has_their_mean(relating):
    found = words_of(relating.trace("a cat playing on a toy").side())
    assert {"play", "toy"} in found  # the first piece stands for the word
    weight = relating.module.get_input_embeddings().weight.detach().numpy()
    at = relating.tokenizer.convert_tokens_to_ids
    mean, toy = (weight[[at(piece) for piece in some]].mean(0) for some in (["play", "##ing"], ["toy"]))
    np.testing.assert_allclose(mean, toy, atol=1e-6)  # so their cosine is 1


def test_the_relation_is_its_definition_worked_out_by_hand(relating):
    text = " ".join(["cat dog playing toy", *MADE[:40]])
    side = relating.trace(text).side()
    weight = relating.module.get_input_embeddings().weight.detach().numpy().astype(np.float64)
    words = text.split()
    pieces = [relating.tokenizer(word, add_special_tokens=False)["input_ids"] for word in words]

    def cosines(rows):
        vectors = np.stack([weight[row].mean(0) for row in rows]) - weight.mean(0)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors @ vectors.T

    vocabulary = [w for w in relating.tokenizer.get_vocab() if w.isalpha()]  # no marks, no numbers, no inner pieces
    assert len(vocabulary) == len(MADE) + 9
    pairs = cosines([[relating.tokenizer.convert_tokens_to_ids(w)] for w in vocabulary])
    ordered = np.sort(pairs[np.triu_indices(len(vocabulary), 1)])[::-1]
    tau = ordered[round(PASS * len(ordered)) - 1]
    assert relating._engine.relation().tau == pytest.approx(tau, abs=1e-6)
    near = np.argwhere(np.triu(cosines(pieces) >= tau, 1))
    firsts = {word: [token.word for token in side.tokens].index(n) for n, word in enumerate(words)}
    expected = {(firsts[words[i]], firsts[words[j]]) for i, j in near}
    assert set(map(tuple, side.related.tolist())) == expected
    assert len(expected) >= 3


def test_equal_words_in_any_case_are_the_same_word_not_related_ones():
    weight = torch.tensor([[0.0, 0.0], [1.0, 0.1], [1.0, 0.0], [1.0, 0.0]])
    relation = Relation(weight, 0, torch.zeros(2), 0.9, False)
    tokens = [Token(text, id=n + 1, word=n) for n, text in enumerate(["Cat", "cat", "dog"])]
    assert relation.relate(Side("text", tuple(tokens))).related.tolist() == [[0, 2]]


def test_unknown_words_special_tokens_and_marks_are_not_related(relating):
    side = relating.trace("the cat , dog qqq .").side()
    kept = {side.tokens[i].text for i in side.related.ravel()}
    assert kept <= {"the", "cat", "dog"}


# -- tau ---------------------------------------------------------------------------------------------------


def test_tau_of_a_random_embedding_is_the_quantile_of_random_cosines(many):
    module = made(BertModel, BertConfig(vocab_size=len(many), **{**SIZES, "hidden_size": 192}), many).module
    tau = relation_of(module, many).tau
    assert tau == pytest.approx(2.326 / np.sqrt(192), rel=0.08)  # 99 % of a normal distribution, its sd 1 / sqrt(d)


def test_the_relation_is_made_once_and_again_when_the_weights_change(many):
    module = made(BertModel, BertConfig(vocab_size=len(many), **SIZES), many).module
    first = relation_of(module, many)
    assert relation_of(module, many, first) is first
    with torch.no_grad():
        module.get_input_embeddings().weight[20:60] *= torch.linspace(-1, 1, SIZES["hidden_size"])
    assert relation_of(module, many, first).tau != first.tau


def test_vocabulary_words_begin_a_word_and_have_letters(many):
    names = many.convert_ids_to_tokens(vocabulary_words(many, len(many)))
    assert set(names) == {name for name in [*MEANT, *MADE] if name.isalpha()}
    marked = Tokenizer(models.WordLevel({"▁cat": 0, "dog": 1, "▁.": 2, "▁Cat": 3, "▁7": 4, "▁sat": 5}, unk_token="dog"))
    marked.decoder = decoders.Metaspace()
    chosen = vocabulary_words(PreTrainedTokenizerFast(tokenizer_object=marked), 6)
    assert {n for n in chosen if n not in (0, 3)} == {5}  # sat; and cat in one of its two spellings
    assert len(chosen) == 2


def test_a_small_vocabulary_relates_no_words(bert, gpt2):
    assert len(bert.tokenizer) < FEWEST
    for model in (bert, gpt2):
        assert model._engine.relation() is None
        assert model.trace("the cat sat on the mat").side().related is None


def test_an_embedding_that_tells_no_words_apart_relates_none(many):
    module = made(BertModel, BertConfig(vocab_size=len(many), **SIZES), many).module
    torch.nn.init.zeros_(module.get_input_embeddings().weight)
    assert relation_of(module, many) is None


# -- what heads are named for ------------------------------------------------------------------------------


# -- not available -----------------------------------------------------------------------------------------


# -- files, words, the corpus ------------------------------------------------------------------------------


def test_a_saved_trace_keeps_its_related_words(relating, tmp_path):
    trace = relating.trace("the cat sat on the dog .", "a toy , playing .")
    loaded = Trace.load(trace.save(tmp_path / "trace.safetensors"))
    np.testing.assert_array_equal(loaded.side().related, trace.side().related)
    for one, other in zip(trace.patterns().measured, loaded.patterns().measured, strict=True):
        for name in (HERE, ACROSS):
            np.testing.assert_array_equal(one.readings[name].lift, other.readings[name].lift)


def test_a_text_without_related_words_keeps_that_too(relating, tmp_path):
    loaded = Trace.load(relating.trace("cat , sky").save(tmp_path / "trace.safetensors"))
    assert loaded.side().related.shape == (0, 2)
    assert loaded.patterns().missing[HERE] != UNKNOWN


def test_a_file_of_before_opens_without_them(relating, tmp_path):
    path = relating.trace("the cat sat on the dog .").save(tmp_path / "new.safetensors")
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
        arrays = {name: file.get_tensor(name) for name in file.keys() if not name.startswith("related")}  # noqa: SIM118
    header = json.loads(metadata["trace"])
    for side in header["sides"]:
        del side["related"]
    del metadata["checksum"]  # nor had files of before one
    save_file(arrays, tmp_path / "old.safetensors", {**metadata, "trace": json.dumps(header)})
    assert Trace.load(tmp_path / "old.safetensors").patterns().missing[HERE] == UNKNOWN


def test_words_of_pieces_stay_related_at_word_level(relating):
    trace = relating.trace("the cat sat , playing , a toy and a dog")
    merged = trace.words()
    assert {"playing", "toy"} in words_of(merged.side())
    assert len(merged.side().related) == len(trace.side().related)


def test_the_atlas_over_a_corpus_equals_the_rows_of_all_traces(relating, tmp_path):
    texts = [f"{a} cat {b} sat , {c} {d}" for a, b, c, d in zip(*[iter(MADE[:80])] * 4, strict=True)]
    path = tmp_path / "pairs.tsv"
    rows = "".join(f"{one}\t{other} dog .\n" for one, other in zip(texts[::2], texts[1::2], strict=True))
    path.write_text("text\tpair\n" + rows, "utf-8")
    table = regard.study.atlas(relating, path).table.set_index(["measure", "layer"]).sort_index()
    some = [relating.trace(*line.split("\t")) for line in rows.splitlines()]
    for pattern in (p for p in PATTERNS if p.name in (HERE, ACROSS)):
        mass, hit, chance, count = by_hand(some, "encoder", 1, pattern)
        mine = table.loc[(pattern.name, 1)]
        assert count >= len(some)
        assert (mine["rows"] == count).all()
        np.testing.assert_allclose(mine["mass"], mass / count, atol=1e-5)
        np.testing.assert_allclose(mine["argmax"], hit / count, atol=1e-5)
        np.testing.assert_allclose(mine["chance"], chance / count, atol=1e-5)


# -- real models -------------------------------------------------------------------------------------------


@pytest.mark.models
def test_the_default_model_relates_words_that_people_do(minilm):
    found = words_of(minilm.trace(*PAIR).side())
    assert {"cat", "dog"} in found
    assert {"london", "paris"} in found
    assert {"monday", "tuesday"} in found
    assert not any({"cat", "monday"} <= pair or {"dog", "paris"} <= pair for pair in found)


@pytest.mark.models
@pytest.mark.parametrize("name", ["minilm", "smollm"])
def test_one_per_cent_of_other_random_pairs_pass(name, request):
    model = request.getfixturevalue(name)
    pieces = model.tokenizer.convert_ids_to_tokens(range(len(model.tokenizer)))
    starts = [n for n, piece in enumerate(pieces) if (piece[0] == "Ġ" if name == "smollm" else piece[:2] != "##")]
    words = [n for n in starts if is_word(model.tokenizer.decode([n]).strip())]
    drawn = np.random.default_rng(9).choice(words, (2, 50_000))
    with torch.no_grad():
        one, other = (model._engine.relation().vectors(some, np.arange(50_000), 50_000) for some in drawn)
    share = float(((one * other).sum(1) >= model._engine.relation().tau).float().mean())
    assert share == pytest.approx(PASS, rel=0.2)
    assert len(vocabulary_words(model.tokenizer, len(model.tokenizer))) == WORDS


@pytest.mark.models
@pytest.mark.parametrize("trained", [False, True], ids=["all random", "trained embedding"])
def test_at_most_two_per_cent_of_random_heads_are_named(minilm, trained):
    named = heads = 0
    for seed in range(3):
        model = made(AutoModel.from_config, minilm.config, minilm.tokenizer, seed=seed)
        if trained:  # related words are those of the real model, and only where its heads look is random
            model.module.get_input_embeddings().load_state_dict(minilm.module.get_input_embeddings().state_dict())
        found = model.trace(*PAIR if trained else (STORY, PAIR[0])).patterns()
        assert found.measured[0].readings[HERE].rows[0] >= 3
        named += len({(f.layer, f.head) for f in found})
        heads += found.heads
    assert named <= 0.02 * heads
