"""Sums add up in any order and any split; runs meet empty, short and long inputs."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import regard
from regard.corpus.batches import window_of, windows_of
from regard.corpus.engine import encoder_of, sum_window
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.corpus.sums import Sums
from regard.studies.atlas.study import Atlas
from regard.studies.change.study import Change
from regard.studies.norms.study import Norms
from regard.studies.similarity.study import Similarity
from regard.studies.tokens.study import Tokens

FEW = 6  # examples, whose sums are put together in every way
STUDIES = {"atlas": Atlas, "tokens": Tokens, "norms": Norms, "similarity": Similarity}


def study_of(name, model):
    return Change(other=model) if name == "change" else STUDIES[name]()


def summed(study, model, examples, tokens=2048):
    return sum_window(study, model, window_of(0, examples, encoder_of(model), long="truncate", tokens=tokens))


def close(one, other):
    assert set(one.arrays) == set(other.arrays)
    for name, array in one.arrays.items():
        np.testing.assert_allclose(other[name], array, rtol=1e-5, atol=1e-4, err_msg=name)


@pytest.fixture(scope="module")
def parts(bert, corpus):
    """Every study: its sums over all examples, and over each example alone."""
    ((_, examples),) = windows_of(read(Source(str(corpus), limit=FEW)))
    made = {}
    for name in (*STUDIES, "change"):
        study = study_of(name, bert)
        made[name] = summed(study, bert, examples), [summed(study, bert, [example]) for example in examples]
    return made


@settings(max_examples=25, deadline=None)
@given(
    order=st.permutations(range(FEW)), cuts=st.sets(st.integers(1, FEW - 1)), name=st.sampled_from([*STUDIES, "change"])
)
def test_any_order_and_any_split_gives_the_same_sums(parts, order, cuts, name):
    whole, single = parts[name]
    edges = [0, *sorted(cuts), FEW]
    groups = []
    for start, end in pairwise(edges):
        group = Sums()
        for place in order[start:end]:
            group = group.plus(single[place])
        groups.append(group)
    total = Sums()
    for group in reversed(groups):
        total = group.plus(total)
    close(whole, total)


@pytest.mark.parametrize("name", [*STUDIES, "change"])
@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_batch_size_and_padding_change_nothing(name, model, corpus, request):
    model = request.getfixturevalue(model)
    ((_, examples),) = windows_of(read(Source(str(corpus), limit=12)))
    study = study_of(name, model)
    close(summed(study, model, examples, tokens=1), summed(study, model, examples, tokens=300))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*STUDIES])
def test_one_example_is_a_corpus(name, bert, tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("the cat sat on the mat .\n")
    result = getattr(regard.study, name)(bert, path, output=tmp_path / "out")
    assert len(result.table) and (tmp_path / "out" / "report.html").stat().st_size > 1000


@pytest.mark.parametrize("name", [*STUDIES])
def test_an_empty_corpus_is_an_error(name, bert, tmp_path):
    path = tmp_path / "none.txt"
    path.write_text("\n\n")
    with pytest.raises(ValueError, match="has no examples"):
        getattr(regard.study, name)(bert, path)


@pytest.mark.parametrize(("long", "counted"), [("truncate", (1, 0, 0)), ("split", (0, 1, 0)), ("skip", (0, 0, 1))])
def test_long_examples_are_counted(bert, tmp_path, long, counted):
    path = tmp_path / "long.txt"
    path.write_text("the cat sat\n" + "the cat sat on the mat . " * 20)
    tally = regard.study.tokens(bert, path, long=long).meta["tally"]
    assert (tally["truncated"], tally["split"], tally["skipped"]) == counted


def test_bad_lines_are_counted_once_also_with_a_control(bert, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "the cat"}\nnot json\n{"text": "a dog"}\n')
    result = regard.study.atlas(bert, path, control=True)
    assert result.meta["bad_lines"]["count"] == 1 and "line 2" in result.meta["bad_lines"]["first"][0]
    with pytest.raises(ValueError, match="line 2"):
        regard.study.atlas(bert, path, strict=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*STUDIES, "change"])
def test_a_control_runs_with_every_study(name, bert, corpus, tmp_path):
    models = (bert, bert) if name == "change" else (bert,)
    result = getattr(regard.study, name)(*models, corpus, control=True, output=tmp_path)
    assert result.meta["control"]
    assert any("ontrol" in text for text in (*result.findings, *result.tables))
    assert not any("checkpoint" in path.name for path in tmp_path.iterdir())


def test_options_that_no_study_has_are_named(bert, corpus):
    with pytest.raises(TypeError, match="no speed"):
        regard.study.atlas(bert, corpus, speed=3)
    with pytest.raises(ValueError, match="must be set in the Source"):
        regard.study.atlas(bert, Source(str(corpus)), limit=3)


def test_a_model_that_takes_little_is_studied_to_the_end(bert, wordpiece, tmp_path):
    short = type(wordpiece)(
        tokenizer_object=wordpiece.backend_tokenizer, model_max_length=16, **wordpiece.special_tokens_map
    )
    path = tmp_path / "long.txt"
    path.write_text("the cat sat on the mat . the cat sat on the mat . the cat sat on the mat .\n" * 9)
    result = regard.study.atlas(regard.load((bert.module, short)), path)
    assert result.meta["tally"]["truncated"] == 9
