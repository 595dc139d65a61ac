"""The translator that comes with regard, and the walk through it."""

import numpy as np
import pytest
import torch

import regard
from regard.transformer.checkpoint import EMBEDDED
from regard.transformer.translator import read_pairs, translate
from regard.views.walk import walk


@pytest.fixture(scope="module")
def translator():
    return regard.load("translator")


def test_the_embedded_weights_are_small():
    assert EMBEDDED.stat().st_size <= 8e6


def test_the_sentence_of_the_article_comes_out_in_spanish(translator):
    assert walk("Hello, how are you?", translator).said == "Hola, ¿qué tal?"
    assert translate(translator.module, translator.tokenizer, ["Hello, how are you?"]) == ["Hola, ¿qué tal?"]  # greedy


def test_cross_attention_connects_hello_with_hola(translator):
    trace = walk("Hello, how are you?", translator).trace
    source, target = ([token.text.strip() for token in trace.sides[side].tokens] for side in ("encoder", "decoder"))
    maps = np.stack([trace.attention(layer, kind="cross") for layer in trace.layers("cross")])  # (L, H, T, S)
    hola, hello = target.index("hola"), source.index("hello")
    # a word is chosen at the position before it: most heads of the row that says hola look at hello
    assert maps[:, :, hola - 1].mean(axis=(0, 1)).argmax() == hello
    assert maps[:, :, hola, hello].max() > 0.5  # and some still do where hola is read


@pytest.mark.corpora
def test_greedy_translations_of_the_dev_pairs_reach_bleu_25(translator, corpora):
    sacrebleu = pytest.importorskip("sacrebleu")
    pairs = read_pairs(corpora / "tatoeba_eng_spa" / "dev.tsv")
    made = []
    for start in range(0, len(pairs), 100):
        sources = [source for source, _ in pairs[start : start + 100]]
        made += translate(translator.module, translator.tokenizer, sources)
    assert sacrebleu.corpus_bleu(made, [[target for _, target in pairs]]).score >= 25


def test_beams_find_a_sentence_at_least_as_likely_as_greedy_ones(translator):
    texts = ["I forgot her name.", "Tom is a salesman.", "Is Tom home?"]
    model, tokenizer = translator.module, translator.tokenizer

    def score(text, said):
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        target = torch.tensor([[2, *tokenizer(said)["input_ids"]]])
        with torch.no_grad():
            chances = model(ids, target[:, :-1]).log_softmax(-1)
        total = chances.gather(2, target[:, 1:, None]).sum().item()
        return total / ((4 + target.shape[1]) / 6) ** 0.6

    greedy, beams = (translate(model, tokenizer, texts, beams=count) for count in (1, 5))
    assert sum(map(score, texts, beams)) >= sum(map(score, texts, greedy)) - 1e-3


def test_contributions_are_available_in_the_translator(translator):
    trace = translator.trace("Hello!", target="¡Hola!")
    for site in trace.sites:
        w_o = translator.module.get_submodule(site.path).output.weight
        per_head = w_o.T.reshape(site.heads, -1, w_o.shape[0]).detach().numpy()
        expected = np.linalg.norm(np.einsum("hke,hed->hkd", site.v, per_head), axis=-1)
        np.testing.assert_allclose(site.norms, expected, rtol=1e-4)


def test_the_walk_holds_what_its_steps_need(translator):
    found = walk("Hello, how are you?", translator, target="Hola, ¿cómo estás?", layer=2)
    arrays, length = found.walk.arrays, len(found.walk.ids)
    assert arrays["encoder.in"].shape == (length, 192)
    np.testing.assert_array_equal(arrays["encoder.in"], arrays["encoder.states"][2])
    np.testing.assert_allclose(arrays["source.word"] + arrays["source.position"], arrays["source.x"], atol=1e-6)
    assert found.walk.targets[-1] == translator.module.config.end
    assert found.said == "Hola, ¿cómo estás?"


def test_words_outside_the_vocabulary_are_named(translator):
    assert walk("Hello 日本 friend", translator, target="hola").unknown == ("日本",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["walk", ""], "the text is empty"),
        (["walk"], "there is nothing to walk through"),
        (["walk", "hello " * 70], "the text has 71 tokens but the model takes at most 64"),
        (["walk", "hello", "--layer", "3"], "the model has layers 0 to 2, not 3"),
        (["walk", "hello", "--model", "none.safetensors"], "there is no checkpoint none.safetensors"),
    ],
)
def test_the_command_line_says_in_a_sentence_what_is_wrong(arguments, message, command):
    done = command(*arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_regard_walk_prints_the_translation_and_writes_the_page(command, tmp_path):
    done = command("walk", "Hello, how are you?", "-o", tmp_path / "page.html")
    assert done.returncode == 0
    assert done.stdout.startswith("Hola, ¿qué tal?")
    assert (tmp_path / "page.html").stat().st_size > 1e6


def test_regard_train_makes_a_model_that_regard_walk_reads(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text("one two\tuno dos\nthree\ttres\n" * 8)
    done = command("train", "translator", "--data", "pairs.tsv", "--epochs", "1", "--vocabulary", "100")
    assert done.returncode == 0
    assert "translator.safetensors" in done.stdout
    assert "epoch 1/1  loss" in done.stderr
    assert command("walk", "one", "--model", "translator.safetensors", "--target", "uno").returncode == 0


def test_models_lists_the_translator(command):
    assert '"translator"' in command("models", "--json").stdout
