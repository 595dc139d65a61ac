"""What a report says of a run: the command, the heads it names, numbers as people read them."""

import json

import numpy as np
import pandas as pd
import pytest

import regard
from regard.studies.article import digits
from regard.studies.chart import Bar, Chart, chart_markup, counted
from regard.studies.entry import command_line
from regard.studies.head_names import heads_in
from regard.studies.registry import STUDIES
from regard.studies.result import Result
from regard.views.themes import THEMES, spline, theme, themed


def named(text):
    return [(one.kind, one.layer, one.head, text[one.start : one.end]) for one in heads_in(text)]


def test_heads_are_found_after_the_word_head_alone():
    assert named("Head 0.2 looks back: 0.94 of its attention.") == [(None, 0, 2, "0.2")]
    assert named("Cross head 1.10 is best, 0.71.") == [("cross", 1, 10, "1.10")]
    assert named("encoder, all words: heads 2.9 / 2.4 are right in 0.5") == [
        ("encoder", 2, 9, "2.9"),
        ("encoder", 2, 4, "2.4"),
    ]
    assert named("head 3.4, 0.12 nats per row; 5.6 heads") == [(None, 3, 4, "3.4")]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0473123, "0.0473"), (1521.3, "1,520"), (12.34, "12.3"), (0.9996, "1.000"), (-0.5, "−0.500"), (0.0, "0")],
)
def test_numbers_have_three_digits_and_no_exponent(value, shown):
    assert digits(value) == shown


@pytest.mark.parametrize(
    ("study", "args", "options", "command"),
    [
        ("atlas", ("m", "/home/me/my corpus.txt"), {"limit": 5, "control": True, "output": "x", "seed": 0},
         "regard study atlas 'my corpus.txt' -m m --limit 5 --control"),
        ("change", ("a", "b", "c.txt"), {}, "regard study change a b c.txt"),
        ("probe", (None, "t.conllu"), {"control": False, "probes": ["pairs"], "ranks": [1, 4]},
         "regard study probe t.conllu --probe pairs --ranks 1,4 --no-control"),
        ("coref", ("m", ["pro.txt", "anti.txt"]), {"pieces": 64},
         "regard study coref pro.txt anti.txt -m m --pieces 64"),
    ],
)  # fmt: skip
def test_the_command_of_a_run_has_names_and_what_is_not_default(study, args, options, command):
    assert command_line(STUDIES[study], args, options) == command


def test_every_study_quotes_its_command_and_has_an_example(bert, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cat sat on the mat and a dog went to the store .\n" * 2)
    result = regard.study.tokens(bert, corpus, limit=2)
    assert result.meta["command"].startswith("regard study tokens corpus.txt -m ")
    assert result.example is not None and 'iframe title="atlas"' in result.report()


def test_a_report_says_once_what_brackets_are_and_its_folder_holds_the_findings(tmp_path):
    table = pd.DataFrame({"layer": [0]})
    both, none = ["It rests: 0.59 (0.57–0.61).", "Lift −0.1 (−0.2 to 0.0)."], ["On [CLS], 0.5 (chance: 8%)."]
    for findings, times in ((both, 1), (none, 0)):
        result = Result("tokens", "Where it goes", table, {"title": "Where it goes"}, findings=findings)
        assert result.report().count("95% intervals") == times
        meta = json.loads((result.save(tmp_path / str(times)) / "meta.json").read_text("utf-8"))
        assert meta["findings"] == findings


def test_pictures_are_drawn_in_the_theme_that_is_asked_for():
    assert theme() is THEMES["light"]
    with themed("dark"):
        np.testing.assert_allclose(theme().maps(0)[:3], np.array([0x14, 0x17, 0x1D]) / 255)
        assert theme().signs.N == 511
    assert theme() is THEMES["light"]


def test_a_ramp_passes_through_its_ends_and_follows_d3_between():
    """Values of d3-interpolate's interpolateRgbBasis(["#000000", "#ff0000", "#00ff00"]) at 0, 1/4, 1/2, 3/4, 1."""
    drawn = np.round(255 * spline(["#000000", "#ff0000", "#00ff00"], 5)[:, :2])
    expected = [[0, 0], [117, 5], [170, 43], [117, 133], [0, 255]]
    np.testing.assert_allclose(drawn, expected, atol=1)


def test_bars_of_shares_end_at_one_and_others_at_the_largest():
    shares = Chart("Shares.", [Bar("a", 0.5, 0.1), Bar("b", 0.25)], top=1.0)
    assert "width:50.0%" in chart_markup(shares) and "left:10.0%" in chart_markup(shares)
    assert shares.record["top"] == 1.0
    assert "width:100.0%" in chart_markup(counted("Counts.", {"a": 4, "b": 2}))


def test_bars_below_chance_are_grey():
    bars = [Bar("a", 0.5, 0.1), Bar("b", 0.05, 0.1), Bar("c", 0.02)]
    assert [bar.below for bar in bars] == [False, True, False]
    assert chart_markup(Chart("Shares.", bars, top=1.0, tick="chance")).count('<i class=below style="width:5.0%">') == 1
    assert "below" not in chart_markup(Chart("Two.", bars, top=1.0, tick="arrives", bar="looked at"))


def test_a_list_of_studies_has_the_numbers_themselves():
    """A number that is rounded twice may be 0.35 in the report and 0.34 in the list."""
    (bar,) = Chart("", [Bar("a", 0.34501, 0.12345678)]).record["bars"]
    assert bar[1:3] == [0.34501, 0.12345678]


def test_two_numbers_beside_two_bars_have_the_colours_of_their_bars():
    markup = chart_markup(Chart("Two.", [Bar("a", 0.5, 0.1)], top=1.0, tick="what arrives", bar="what is looked at"))
    assert "<b><em>50%</em> · <em class=second>10%</em></b>" in markup
