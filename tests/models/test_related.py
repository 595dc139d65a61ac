"""Related words: who is related to whom, by whose embedding, and what heads are named for."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    AutoModel,
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

import regard
from regard import Trace
from regard.models.related import FEWEST, PASS, WORDS, Relation, relation_of, vocabulary_words
from regard.patterns import warnings_for
from regard.patterns.definitions import PATTERNS
from regard.trace.tokens import Side, Token, is_word
from tests.studies.test_atlas import by_hand
from tests.tiny import SIZES, enlarged, made

HERE, ACROSS = "related word", "related word in the other sentence"
UNKNOWN = "it is not known which words are related; trace the text with a model that has a word embedding"
# 150 words of no meaning, and some with neighbours: dog's row is near cat's, the pieces of playing lie around toy.
MADE = ["".join(letters) for letters in product("bdfgk", "aeiou", "lmnrst")]
MEANT = "the a cat dog sat on toy play ##ing sky . , [unused1] 7".split()
PAIR = ("The cat slept in London on Monday.", "A dog sang in Paris on Tuesday, eating strawberries.")
CATS = ("the cat sat on the dog . a dog sat on a cat .", "the dog sat on the cat . a cat sat on the dog .")
STORY = (
    "My grandmother kept seven hens behind the old mill. Each morning she counted brown eggs into a basket, walked two "
    "miles along the river, and sold them near the church. Winter made that road slow, but nobody heard her complain."
)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@pytest.fixture(scope="module")
def many():
    """A WordPiece tokenizer with words enough to draw pairs from."""
    backend = Tokenizer(models.WordPiece({w: i for i, w in enumerate([*SPECIAL, *MEANT, *MADE])}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    return PreTrainedTokenizerFast(tokenizer_object=backend, model_input_names=inputs, model_max_length=64, **names)


def planted(tokenizer, module):
    """The module with a random embedding in which some words have known neighbours."""
    weight = module.get_input_embeddings().weight
    rows = np.random.default_rng(3).normal(size=tuple(weight.shape)).astype(np.float32)
    at = tokenizer.convert_tokens_to_ids
    rows[at("dog")] = rows[at("cat")] + 0.3 * rows[at("dog")]
    rows[at("sky")] = -rows[at("cat")]
    rows[at("play")], rows[at("##ing")] = rows[at("toy")] + rows[at("on")], rows[at("toy")] - rows[at("on")]
    with torch.no_grad():
        weight.copy_(torch.from_numpy(rows))
    return regard.load((module.eval(), tokenizer))


@pytest.fixture(scope="module")
def model(many):
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(many), max_position_embeddings=64, **SIZES)
    return planted(many, enlarged(made(BertModel, config, many)).module)


def words_of(side):
    return {frozenset(side.tokens[i].text for i in pair) for pair in side.related.tolist()}


# -- who is related ----------------------------------------------------------------------------------------


def test_neighbours_in_the_embedding_are_related_and_opposites_are_not(model):
    found = words_of(model.trace("the cat sat on the dog , sky").side())
    assert {"cat", "dog"} in found
    assert not any("sky" in pair and "cat" in pair for pair in found)


def test_a_word_of_pieces_has_their_mean(model):
    found = words_of(model.trace("a cat playing on a toy").side())
    assert {"play", "toy"} in found  # the first piece stands for the word
    weight = model.module.get_input_embeddings().weight.detach().numpy()
    at = model.tokenizer.convert_tokens_to_ids
    mean, toy = (weight[[at(piece) for piece in some]].mean(0) for some in (["play", "##ing"], ["toy"]))
    np.testing.assert_allclose(mean, toy, atol=1e-6)  # so their cosine is 1


def test_the_relation_is_its_definition_worked_out_by_hand(model):
    text = " ".join(["cat dog playing toy", *MADE[:40]])
    side = model.trace(text).side()
    weight = model.module.get_input_embeddings().weight.detach().numpy().astype(np.float64)
    words = text.split()
    pieces = [model.tokenizer(word, add_special_tokens=False)["input_ids"] for word in words]

    def cosines(rows):
        vectors = np.stack([weight[row].mean(0) for row in rows]) - weight.mean(0)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors @ vectors.T

    vocabulary = [w for w in model.tokenizer.get_vocab() if w.isalpha()]  # no marks, no numbers, no inner pieces
    assert len(vocabulary) == len(MADE) + 9
    pairs = cosines([[model.tokenizer.convert_tokens_to_ids(w)] for w in vocabulary])
    ordered = np.sort(pairs[np.triu_indices(len(vocabulary), 1)])[::-1]
    tau = ordered[round(PASS * len(ordered)) - 1]
    assert model._engine.relation().tau == pytest.approx(tau, abs=1e-6)
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


def test_unknown_words_special_tokens_and_marks_are_not_related(model):
    side = model.trace("the cat , dog qqq .").side()
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


def with_maps(trace, maps):
    """The tokens of a trace with the one head of a map."""
    side = replace(trace.side(), name="encoder")
    return Trace({"encoder": side}, Trace.from_maps(maps[None, None], side.texts).sites)


def looking(trace, across=False):
    """One head that looks at related words and, where there are none, at the first token."""
    side = trace.side()
    maps = np.zeros((len(side), len(side)))
    pairs = words_of(side)
    for (i, one), (j, other) in product(enumerate(side.tokens), repeat=2):
        maps[i, j] = {one.text, other.text} in pairs and (one.segment != other.segment or not across)
    maps[maps.sum(-1) == 0, 0] = 1
    return with_maps(trace, maps / maps.sum(-1, keepdims=True))


def test_a_head_that_looks_at_related_words_is_named_for_it(model):
    trace = model.trace(*CATS)
    (finding,) = looking(trace).patterns().strongest(HERE)
    assert finding.score == pytest.approx(1)
    assert finding.hits == finding.rows >= 3
    start = f"attends to other words, related by embedding, in {finding.rows} of {finding.rows} rows: "
    assert finding.sentence.startswith(start + "1.00 of its awake attention, chance 0.")
    texts = [token.text for token in trace.tokens]
    assert all(texts[query] != texts[key] for query, key, _ in finding.evidence)


def test_a_finding_of_related_words_comes_with_what_they_are(model):
    found = looking(model.trace(*CATS)).patterns()
    assert any("close in the model's own input embedding" in sentence for sentence in warnings_for(found))
    assert not any("close in the model's own input embedding" in sentence for sentence in warnings_for([]))


def test_related_words_of_the_other_sentence_are_told_apart(model):
    trace = model.trace(*CATS)
    names = {finding.pattern for finding in looking(trace, across=True).patterns()}
    assert ACROSS in names
    assert looking(trace, across=True).patterns().strongest(ACROSS)[0].score == pytest.approx(1)


def test_the_same_word_and_the_token_itself_are_no_related_words(model):
    trace = model.trace("the cat sat on the dog . the cat sat on the dog .")
    reading = with_maps(trace, np.eye(len(trace.tokens))).patterns().measured[0].readings[HERE]
    assert reading.rows[0] > 0
    assert reading.mass[0] == 0


def test_a_causal_model_is_asked_of_the_words_before(many):
    config = GPT2Config(vocab_size=len(many), n_embd=24, n_layer=1, n_head=3, n_positions=64)
    torch.manual_seed(0)
    trace = planted(many, GPT2LMHeadModel(config)).trace("sat on the cat and a dog .")
    found = trace.patterns()
    assert HERE not in found.missing
    pairs = [sorted(pair) for pair in trace.side().related.tolist()]
    # a row counts where a related word came before and less than half of what it sees is related
    after = {late: sum(other == late for _, other in pairs) for _, late in pairs}
    assert found.measured[0].readings[HERE].rows[0] == sum(count / (late + 1) < 0.5 for late, count in after.items())


def test_a_causal_head_that_rests_on_the_first_word_is_not_named_for_it():
    texts = "cat sat dog on dog the dog a dog and more".split()
    side = Side(
        "encoder", tuple(Token(text, word=n) for n, text in enumerate(texts)), related=np.array([[0, 2], [2, 5]])
    )
    maps = np.eye(11)[np.zeros(11, int)]
    found = Trace({"encoder": side}, Trace.from_maps(maps[None, None], texts, causal=True).sites).patterns()
    assert found.strongest("always rests", 1)[0].score == 1
    assert found.measured[0].readings[HERE].rows[0] == 3  # the, which follows two dogs, and the dogs after it
    assert found.measured[0].readings[HERE].mass[0] == 0


# -- not available -----------------------------------------------------------------------------------------


def test_maps_made_elsewhere_do_not_know_related_words():
    found = Trace.from_maps(np.full((1, 1, 8, 8), 1 / 8), list("abcdefgh")).patterns()
    assert found.missing[HERE] == UNKNOWN


def test_one_sentence_or_no_related_words_have_reasons(model):
    one = model.trace("the cat sat .").patterns()
    assert one.missing[ACROSS] == "there is only one sentence; pass a second one"
    alone = model.trace("cat", "sky").patterns()
    assert alone.missing[HERE] == "no two words are related by embedding, or half of all are"
    assert "in the other sentence" in alone.missing[ACROSS]


def test_cross_attention_is_not_asked_and_a_shared_embedding_reads_both_sides(many):
    config = T5Config(
        vocab_size=len(many), d_model=24, d_kv=8, d_ff=32, num_layers=1, num_heads=3, decoder_start_token_id=0
    )
    torch.manual_seed(0)
    trace = planted(many, T5ForConditionalGeneration(config)).trace("the cat sat", target="a cat , a dog")
    assert {"cat", "dog"} in words_of(trace.side("decoder"))
    cross = next(site for site in trace.patterns().measured if site.kind == "cross")
    assert cross.missing[HERE] == "queries and keys are positions in different texts"


# -- files, words, the corpus ------------------------------------------------------------------------------


def test_a_saved_trace_keeps_its_related_words(model, tmp_path):
    trace = model.trace("the cat sat on the dog .", "a toy , playing .")
    loaded = Trace.load(trace.save(tmp_path / "trace.safetensors"))
    np.testing.assert_array_equal(loaded.side().related, trace.side().related)
    for one, other in zip(trace.patterns().measured, loaded.patterns().measured, strict=True):
        for name in (HERE, ACROSS):
            np.testing.assert_array_equal(one.readings[name].lift, other.readings[name].lift)


def test_a_text_without_related_words_keeps_that_too(model, tmp_path):
    loaded = Trace.load(model.trace("cat , sky").save(tmp_path / "trace.safetensors"))
    assert loaded.side().related.shape == (0, 2)
    assert loaded.patterns().missing[HERE] != UNKNOWN


def test_a_file_of_before_opens_without_them(model, tmp_path):
    path = model.trace("the cat sat on the dog .").save(tmp_path / "new.safetensors")
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
        arrays = {name: file.get_tensor(name) for name in file.keys() if not name.startswith("related")}  # noqa: SIM118
    header = json.loads(metadata["trace"])
    for side in header["sides"]:
        del side["related"]
    del metadata["checksum"]  # nor had files of before one
    save_file(arrays, tmp_path / "old.safetensors", {**metadata, "trace": json.dumps(header)})
    assert Trace.load(tmp_path / "old.safetensors").patterns().missing[HERE] == UNKNOWN


def test_words_of_pieces_stay_related_at_word_level(model):
    trace = model.trace("the cat sat , playing , a toy and a dog")
    merged = trace.words()
    assert {"playing", "toy"} in words_of(merged.side())
    assert len(merged.side().related) == len(trace.side().related)


def test_the_atlas_over_a_corpus_equals_the_rows_of_all_traces(model, tmp_path):
    texts = [f"{a} cat {b} sat , {c} {d}" for a, b, c, d in zip(*[iter(MADE[:80])] * 4, strict=True)]
    path = tmp_path / "pairs.tsv"
    rows = "".join(f"{one}\t{other} dog .\n" for one, other in zip(texts[::2], texts[1::2], strict=True))
    path.write_text("text\tpair\n" + rows, "utf-8")
    table = regard.study.atlas(model, path).table.set_index(["measure", "layer"]).sort_index()
    some = [model.trace(*line.split("\t")) for line in rows.splitlines()]
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
