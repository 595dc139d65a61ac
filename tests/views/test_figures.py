"""Figures for papers: every view, every format, and the door for people who come from BertViz.

Long on purpose: every view and format is tried on the same few traces.
"""

import itertools
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

import regard
from regard.base.errors import UserError
from regard.measures.types import TYPES
from regard.patterns import add_rule
from regard.patterns.definitions import ALWAYS, BAG, NAMES, OF_TRACES, STRIPES
from regard.patterns.entries import LETTERS, PATTERN_COLOURS, PHRASES, TYPE_COLOURS
from regard.patterns.findings import head_report
from regard.trace.lettering import readable
from regard.trace.site import Site
from regard.trace.tokens import Side, Token
from regard.trace.trace import Trace
from regard.views import encode
from regard.views.drawing.atlas import pooled
from regard.views.figures import FIGURES, figure
from regard.views.report import Report

FRONTEND = Path(__file__).resolve().parents[2] / "frontend" / "src"


@pytest.fixture(scope="module")
def trace(bert):
    return bert.trace("the cat sat .", "a dog went to the store")


def texts(svg: Path) -> str:
    return " ".join("".join(node.itertext()) for node in ElementTree.parse(svg).iter() if node.tag.endswith("text"))


@pytest.mark.parametrize("view", ["heads", "matrix", "atlas", "neurons"])
def test_every_view_saves_in_every_format(trace, view, tmp_path):
    drawn = trace.figure(view, layer=1)
    for ending, start in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        assert drawn.save(tmp_path / f"figure.{ending}", dpi=100).read_bytes().startswith(start)


def test_a_figure_says_where_it_comes_from_and_text_stays_text(trace, tmp_path):
    svg = texts(trace.figure("heads", layer=1, head=2, title="Lines").save(tmp_path / "figure.svg"))
    assert all(part in svg for part in ("Lines", "Bert without a name", "encoder layer 1 head 2", "[CLS]", "store"))


def test_a_figure_has_title_axis_names_colour_bar_and_a_caption_with_the_input(trace, tmp_path):
    svg = texts(trace.figure("matrix", layer=1, head=2).save(tmp_path / "figure.svg"))
    assert all(part in svg for part in ("Where head 1.2 looks", "looks", "looked at", "attention weight"))
    assert "“the cat sat . / a dog went to the store”" in svg  # as it was written
    special = [token.special for token in trace.side().tokens]
    strongest = trace.attention(1, 2)[:, ~np.array(special)].max()  # where the bar ends
    ticks = [float(part) for part in re.findall(r"(?<![\w.])\d\.\d+(?![\w.])", svg.replace("1.2", ""))]
    assert len(ticks) >= 2 and 0.5 * strongest < max(ticks) <= strongest + 0.01
    atlas = texts(trace.figure("atlas").save(tmp_path / "atlas.svg"))
    assert all(part in atlas for part in ("layer", "head", "weight / the head's strongest look", "0.6"))
    assert "in each map rows look at columns" in atlas


@pytest.mark.models
@pytest.mark.parametrize("width", [3.3, 6.9])
def test_the_names_of_heads_stand_between_their_numbers_and_the_caption(minilm, width):
    drawn = minilm.trace("I went to the store.", "At the store, I bought berries.").figure("atlas", width=width).figure
    drawn.draw_without_rendering()
    axes = drawn.axes[0]
    names = axes.get_legend().get_window_extent()
    assert len(axes.get_legend().get_texts()) > 4
    assert drawn._supxlabel.get_window_extent().y1 <= names.y0 + 1
    assert names.y1 <= axes.get_window_extent().y0 + 1
    assert axes.xaxis.label.get_window_extent().y0 >= axes.get_window_extent().y1 - 1  # numbers of heads on top
    assert names.x0 >= 0 and names.x1 <= drawn.bbox.width


def test_lines_have_a_legend_of_heads_and_strengths(trace, tmp_path):
    svg = texts(trace.figure("heads", layer=1, heads=[0, 2]).save(tmp_path / "figure.svg"))
    assert all(part in svg for part in ("looks", "looked at", "1.0", "1.2", "attention weight"))


def test_the_query_stands_once_above_its_keys_and_neurons_are_in_the_order_of_what_they_add_to_the_best(trace):
    drawn = trace.figure("neurons", layer=1, head=2, query=3).figure
    query, keys, products = (axes.images[0].get_array() for axes in (drawn.axes[0], *drawn.axes[4:6]))
    q, k, scores = trace.q(1, 2)[3], trace.k(1, 2), trace.scores(1, 2, queries=3).ravel()
    most = trace.attention(1, 2, queries=3).ravel().argmax()
    rise = trace.site(1).scale * q * (k[most] - k[np.isfinite(scores)].mean(0))
    assert rise.sum() == pytest.approx(scores[most] - scores[np.isfinite(scores)].mean(), rel=1e-4)
    order = np.argsort(-np.abs(rise), kind="stable")
    scale = trace.site(1).scale
    times = int(np.diff(drawn.axes[5].get_xticks())[0])  # as wide as the others are those with a number
    assert times > 1
    cells = np.repeat(order, [times] * 6 + [1] * (len(order) - 6))
    np.testing.assert_allclose(query, q[cells][None], rtol=1e-6)
    np.testing.assert_allclose(keys, k[:, cells], rtol=1e-6)
    np.testing.assert_allclose(products, (scale * q * k)[:, cells], rtol=1e-5)  # a row adds up to its score
    assert (scale * q * k).sum(1) == pytest.approx(scores, rel=1e-3, abs=1e-4)
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == ["q of sat₃"]
    assert [label.get_text() for label in drawn.axes[5].get_xticklabels()] == [str(n) for n in order[:6]]
    looked = drawn.axes[4].get_yticklabels()[most]
    assert looked.get_fontweight() == "bold"
    said = drawn._suptitle.get_text().replace("\n", " ")
    assert f"“sat₃” looks most at “{looked.get_text()}”: its score, " in said
    score, above = (float(text.replace("−", "-")) for text in re.search(r"score, (\S+), is (\S+) above", said).groups())
    assert (score, above) == pytest.approx((scores[most], rise.sum()), rel=0.06, abs=0.006)
    add = re.search(r"6 of \d+ neurons (?:make|that move it most come to) (\S+)", said)
    assert float(add[1].replace("−", "-")) == pytest.approx(rise[order[:6]].sum(), abs=0.051)


def test_the_figure_of_neurons_fits_a_column_without_k(trace):
    drawn = trace.figure("neurons", layer=1, head=2, query=3, width="column").figure
    drawn.draw_without_rendering()
    products, scores, weights = drawn.axes[3:6]
    made = trace.site(1).scale * trace.q(1, 2)[3] * trace.k(1, 2)
    np.testing.assert_allclose(np.sort(products.images[0].get_array()), np.sort(made), 1e-5)
    below = [axes.xaxis.label.get_window_extent() for axes in (products, scores, weights) if axes.get_xlabel()]
    assert all(one.x1 <= other.x0 + 1 for one, other in itertools.pairwise(below))
    assert drawn._suptitle.get_window_extent().x0 >= 0


def test_neurons_that_are_too_many_for_numbers_above_them_are_named_below(trace):
    rng = np.random.default_rng(3)
    side = Side("encoder", tuple(Token(text, word=i) for i, text in enumerate("a b c d".split())))
    q, k = rng.standard_normal((2, 1, 4, 128)).astype(np.float32)
    many = Trace({"encoder": side}, (Site("encoder", 0, "encoder", "encoder", (0,), scale=0.125, q=q, k=k),))
    rise = q[0, 3] * (k[0, (k[0] @ q[0, 3]).argmax()] - k[0].mean(0))
    first = ", ".join(str(n) for n in np.argsort(-np.abs(rise), kind="stable")[:6])
    assert many.figure("neurons", query=3).figure.axes[5].get_xlabel() == f"neurons {first}, …"
    assert "sorted by effect on the bold score" in trace.figure("neurons", layer=1, head=2).figure.axes[5].get_xlabel()


def test_scores_and_weights_of_neurons_are_bars_with_their_numbers(trace):
    drawn = trace.figure("neurons", layer=1, head=2, query=3).figure
    drawn.draw_without_rendering()
    blocks, scales = drawn.axes[4:8], drawn.axes[8:]
    assert len(scales) == 2  # of k and of q x k; bars have numbers
    for block, scale in zip(blocks, scales, strict=False):
        shown, below = block.get_window_extent(), scale.get_window_extent()
        assert below.y1 <= shown.y0 and shown.x0 - 1 <= below.x0 and below.x1 <= shown.x1 + 1
    assert len({round(block.get_window_extent().height) for block in blocks}) == 1  # level with what made it
    assert [scale.get_xlabel() for scale in scales] == ["q, k", f"q × k / √{trace.q(1, 2).shape[1]}"]
    assert len({round(block.title.get_window_extent().y0) for block in blocks}) == 1  # titles on one line
    signs = [[label.get_text()[0] for label in scale.get_xticklabels()] for scale in scales]
    assert all(ends[0] in "-−" and ends[-1] == "+" for ends in signs)
    for axes, values in ((blocks[2], trace.scores(1, 2, queries=3)), (blocks[3], trace.attention(1, 2, queries=3))):
        np.testing.assert_allclose([bar.get_width() for bar in axes.patches], values.ravel(), rtol=1e-5)
        said = [float(text.get_text().replace("−", "-") or 0) for text in axes.texts[: values.size]]
        np.testing.assert_allclose(said, values.ravel(), atol=0.051)


def test_the_figure_of_neurons_has_signs_where_the_app_has_them_and_a_bar_fills_its_column(trace):
    drawn = trace.figure("neurons", layer=1, head=2, query=3).figure
    drawn.draw_without_rendering()
    q, k, scores = trace.q(1, 2)[3], trace.k(1, 2), trace.scores(1, 2, queries=3).ravel()
    rise = q * (k[scores.argmax()] - k.mean(0))
    order = np.argsort(-np.abs(rise), kind="stable")[:6]
    products = q * k[scores.argmax()]
    for axes, values in ((drawn.axes[0], q), (drawn.axes[4], k[scores.argmax()]), (drawn.axes[5], products)):
        signs = [text.get_text() for text in axes.texts if text.get_text() in "+−"]
        assert signs == ["−" if values[neuron] < 0 else "+" for neuron in order]
    assert [drawn.axes[i].texts[-1].get_text() for i in (4, 5, 6)] == ["=", "→", "→"]
    weights = drawn.axes[7]
    longest = max(bar.get_window_extent().width for bar in weights.patches)
    assert longest > 0.6 * weights.get_window_extent().width
    numbers = [text.get_window_extent() for text in weights.texts if text.get_text()]
    bars = [bar.get_window_extent() for bar in weights.patches]
    assert all(number.x0 >= bar.x1 - 1 for number in numbers for bar in bars if bar.y0 < number.y0 < bar.y1)


def test_strengths_of_lines_are_read_from_left_to_right(trace):
    drawn = trace.figure("heads", layer=1, head=2).figure
    drawn.draw_without_rendering()
    *_, strengths = drawn.axes[0].artists
    texts = strengths.get_texts()
    places = [text.get_window_extent().x0 for text in texts]
    assert len(texts) > 2 and places == sorted(places)
    assert len({round(text.get_window_extent().y0) for text in texts}) == 1
    assert [float(text.get_text()) for text in texts] == sorted(float(text.get_text()) for text in texts)


def test_a_token_that_stands_twice_carries_its_position_in_figures():
    weights = np.eye(3, dtype=np.float32)[None, None]
    drawn = Trace.from_maps(weights, ["the", "cat", "the"]).figure("matrix", layer=0, head=0).figure
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == ["the₀", "cat", "the₂"]


def test_marks_stand_in_quotes_in_every_figure_whether_they_stand_there_once_or_twice():
    drawn = Trace.from_maps(np.eye(5, dtype=np.float32)[None, None], [",", "a", ".", ".", "$"])
    names = [label.get_text() for label in drawn.figure("matrix").figure.axes[0].get_yticklabels()]
    assert names == ["“,”", "a", "“.”₂", "“.”₃", r"\$"]


def test_the_columns_of_k_and_of_q_times_k_are_equally_wide(trace):
    drawn = trace.figure("neurons", layer=1, head=2, query=3).figure
    drawn.draw_without_rendering()
    k, products = (axes.get_window_extent() for axes in drawn.axes[4:6])
    assert k.width == pytest.approx(products.width, abs=1)
    numbers = [[label.get_text() for label in axes.get_xticklabels()] for axes in drawn.axes[4:6]]
    assert numbers[0] == numbers[1] and len(numbers[0]) == 6


def test_the_caption_of_neurons_says_which_of_two_like_tokens_asks(bert):
    twice = bert.trace("the cat saw the dog")
    for query, said in ((4, "query the₄"), (2, "query cat")):
        assert said in twice.figure("neurons", layer=0, head=0, query=query).figure.get_supxlabel().replace("\n", " ")


def test_a_map_has_a_rule_where_another_sentence_begins(trace, bert):
    axes = trace.figure("matrix", layer=0, head=0).figure.axes[0]
    start = trace.side().segments[1].start
    assert [line.get_ydata()[0] for line in axes.lines if len(set(line.get_ydata())) == 1] == [start - 0.5]
    assert [line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1] == [start - 0.5]
    part = trace.figure("matrix", layer=0, head=0, queries=slice(start, None)).figure.axes[0]
    assert len(part.lines) == 1
    assert not bert.trace("the cat sat .").figure("matrix", layer=0, head=0).figure.axes[0].lines


def test_weak_lines_stay_in_sight_as_in_the_app(trace):
    drawn = trace.figure("heads", layer=1, head=2).figure.axes[0]
    *_, strengths = drawn.artists
    values = [float(text.get_text()) for text in strengths.get_texts()]
    shown = [line.get_alpha() for line in strengths.get_lines()]
    np.testing.assert_allclose(shown, np.sqrt(np.array(values) / values[-1]), rtol=0.02)
    awake = drawn.collections[1]
    weights = np.sort(trace.attention(1, 2)[:, [i for i, t in enumerate(trace.tokens) if not t.special]].ravel())
    top = trace.attention(1, 2).max()
    assert awake.get_colors()[:, 3].max() == pytest.approx(np.sqrt(weights[-1] / top), rel=1e-3)


@pytest.mark.models
@pytest.mark.parametrize("width", [3.3, 6.9, None])
def test_the_colours_of_the_atlas_are_a_short_bar_beside_the_names_which_read_across(minilm, width):
    drawn = minilm.trace("I went to the store.", "At the store, I bought berries.").figure("atlas", width=width).figure
    drawn.draw_without_rendering()
    axes = drawn.axes[0]
    (bar,) = axes.child_axes
    shown, maps = bar.get_window_extent(), axes.get_window_extent()
    assert shown.width < 0.45 * maps.width and shown.width > 5 * shown.height
    assert shown.y1 < maps.y0 and shown.x1 <= drawn.bbox.width
    legend = axes.get_legend()
    assert not legend.get_window_extent().overlaps(bar.get_tightbbox())
    assert drawn._supxlabel.get_window_extent().y1 <= bar.get_tightbbox().y0 + 1
    places = [(-round(text.get_window_extent().y0), text.get_window_extent().x0) for text in legend.get_texts()]
    names = [text.get_text().rpartition(" ")[0] for text in legend.get_texts()]
    across = [name for _, name in sorted(zip(places, names, strict=True))]
    assert across == [name for name in PATTERN_COLOURS if name in names]  # the app's order


@pytest.mark.models
def test_the_legend_of_lines_has_the_numbers_of_the_app(minilm):
    trace = minilm.trace("I went to the store.", "At the store, I bought fresh strawberries.")
    axes = trace.figure("heads", layer=1, head=8).figure.axes[0]
    said = [text.get_text() for legend in axes.artists for text in legend.get_texts()]
    assert [text for text in said if text[0].isdigit()] == ["1.8", "0.03", "0.1", "0.3", "0.96"]
    assert "resting, 31% of words' attention" in said


@pytest.mark.models
@pytest.mark.parametrize("width", ["column", 4.2, "page"])
@pytest.mark.parametrize("heads", [[8], [2, 5, 8]])
def test_the_two_legends_of_lines_do_not_meet(minilm, width, heads):
    trace = minilm.trace("I went to the store.", "At the store, I bought fresh strawberries.")
    drawn = trace.figure("heads", layer=1, heads=heads, width=width).figure
    drawn.draw_without_rendering()
    left, right = (legend.get_window_extent() for legend in drawn.axes[0].artists)
    assert left.x0 >= 0 and left.x1 <= right.x0 and right.x1 <= drawn.bbox.width


@pytest.mark.models
def test_small_maps_end_at_the_strongest_look_as_in_the_app_and_a_tick_says_how_much_rests(minilm):
    """Beside a sink the looks of a head would be nearly white."""
    trace = minilm.trace("I went to the store.", "At the store, I bought fresh strawberries.")
    axes = trace.figure("atlas").figure.axes[0]
    shown = axes.images[0].get_array().filled(np.nan)
    resting = axes.images[1].get_array()
    step, down = (int(np.diff(ticks())[0]) for ticks in (axes.get_xticks, axes.get_yticks))
    border = np.array([token.border for token in trace.side().tokens])
    for layer, head in ((4, 0), (5, 0), (3, 7), (1, 8)):
        weights = trace.attention(layer, head)
        looks = weights[:, ~border]
        top = max(looks.max(), min(weights.max(), 0.12), min(0.5, 4 / weights.shape[1]))
        cell = np.s_[layer * down : layer * down + 64, head * step : head * step + 64]
        awake = shown[cell][np.ma.getmaskarray(resting[cell])]
        assert np.nanmax(awake) == pytest.approx(looks.max() / top, rel=1e-4) and looks.max() / top > 0.5
        assert np.nanmax(shown[cell]) <= 1
    rest = [record["rest"]["share"] for record in head_report(trace)]
    (ticks,) = axes.collections
    heights = [path.get_extents().height for path in ticks.get_paths()]
    np.testing.assert_allclose(heights, [62 * share for share in rest if share >= 0.03], rtol=1e-5)
    assert axes.get_xlim()[0] == pytest.approx(-0.5)  # and nothing moves for them


@pytest.mark.models
def test_small_maps_are_grey_where_heads_rest(minilm):
    drawn = minilm.trace("I went to the store.").figure("atlas").figure
    all_of_it, resting = (image.get_array() for image in drawn.axes[0].images)
    assert resting.count() and resting.count() < all_of_it.count()
    assert "resting; tick: how much" in {
        text.get_text() for axes in drawn.axes[0].child_axes for text in axes.texts
    }  # beside a grey swatch


@pytest.mark.parametrize("view", ["heads", "matrix", "atlas", "neurons"])
@pytest.mark.parametrize(("width", "inches"), [("column", 3.3), ("page", 6.9), (5, 5)])
def test_a_figure_has_the_width_of_a_column_or_a_page(trace, view, width, inches, tmp_path):
    with Image.open(trace.figure(view, layer=1, width=width).save(tmp_path / "f.png", dpi=100)) as image:
        assert image.width == pytest.approx(100 * inches, abs=1)


def test_the_same_figure_gives_the_same_file(trace, tmp_path):
    one = trace.figure("matrix", layer=0, head=1).save(tmp_path / "a.svg").read_bytes()
    assert one == trace.figure("matrix", layer=0, head=1).save(tmp_path / "b.svg").read_bytes()


def test_lines_are_drawn_for_strong_weights_alone(tmp_path):
    weights = np.eye(4, dtype=np.float32)[None, None]
    drawn = Trace.from_maps(weights, list("abcd")).figure("heads", layer=0, head=0)
    resting, awake = (len(lines.get_segments()) for lines in drawn.figure.axes[0].collections)
    assert (resting, awake) == (0, 4)


def test_lines_that_rest_are_grey_and_below(trace):
    axes = trace.figure("heads", layer=1, head=0).figure.axes[0]
    resting, awake = axes.collections
    special = [i for i, token in enumerate(trace.tokens) if token.special]
    assert {segment[1][1] for segment in resting.get_segments()} == set(special)
    assert not {segment[1][1] for segment in awake.get_segments()} & set(special)
    assert resting.get_zorder() < awake.get_zorder()
    assert len({tuple(colour[:3]) for colour in resting.get_colors()} | {tuple(awake.get_colors()[0][:3])}) == 2


def test_a_map_is_shown_pixel_for_pixel(trace):
    drawn = trace.figure("matrix", layer=1, head=0).figure
    shown = drawn.axes[0].images[0].get_array()
    np.testing.assert_allclose(shown, trace.attention(1, 0), atol=1e-7)


def test_contributions_are_shown_in_place_of_weights(trace):
    drawn = trace.figure("matrix", layer=1, head=0, contributions=True).figure
    np.testing.assert_allclose(drawn.axes[0].images[0].get_array(), trace.contributions(1, 0), atol=1e-6)


@pytest.fixture(scope="module")
def judged(llama):
    return llama.trace("the cat sat on the mat .", worth={"check": 8})


def test_worth_is_shown_with_its_sign_and_with_how_far_to_believe_it(judged, tmp_path):
    picture = judged.figure("matrix", layer=1, head=0, worth=True)
    image = picture.figure.axes[0].images[0]
    expected = judged.worth(1, 0)
    np.testing.assert_allclose(image.get_array().filled(np.nan), expected, atol=1e-7)
    assert image.norm.vmin == -image.norm.vmax == pytest.approx(-np.nanmax(np.abs(expected)))
    written = texts(picture.save(tmp_path / "worth.svg"))
    assert "agrees with exact cuts" in written
    assert judged.facts["worth"]["name"].strip() in written


def test_lines_have_the_colour_of_what_they_are_worth(judged):
    unknown, hurting, helping = judged.figure("heads", layer=1, head=0, worth=True).figure.axes[0].collections
    values = judged.worth(1, 0)
    assert len(unknown.get_segments()) == np.isnan(values).sum() > 0
    top = np.nanmax(np.abs(values))
    assert len(helping.get_segments()) == (values > 0.005 * top).sum()
    assert len(hurting.get_segments()) == (values < -0.005 * top).sum()


def test_an_atlas_of_worth_has_one_scale_for_all_heads(judged):
    drawn = judged.figure("atlas", worth=True).figure
    shown = drawn.axes[0].images[0].get_array().filled(np.nan)
    every = np.concatenate([judged.worth(layer).ravel() for layer in judged.layers()])
    top = np.nanmax(np.abs(every))
    first = judged.worth(0, 0)
    np.testing.assert_allclose(shown[63, 0], np.sign(first[-1, 0]) * np.sqrt(abs(first[-1, 0]) / top), atol=1e-6)
    assert np.nanmax(np.abs(shown)) == pytest.approx(1)


def test_worth_is_refused_where_nobody_asked(trace):
    with pytest.raises(UserError, match="worth=True"):
        trace.figure("matrix", worth=True)
    with pytest.raises(UserError, match="worth=True"):
        encode(trace, worth=True)


def test_cross_attention_has_two_different_columns(bart, tmp_path):
    made = bart.trace("the cat sat .", target="a dog")
    svg = texts(made.figure("heads", kind="cross", layer=0).save(tmp_path / "cross.svg"))
    assert "cat" in svg
    assert "dog" in svg


def test_prompt_and_answer_are_divided_where_a_text_was_continued(llama, tmp_path):
    trace = llama.trace("the cat sat", generate=4)
    for view, times in (("heads", 2), ("matrix", 2), ("neurons", 1)):
        svg = texts(trace.figure(view, layer=0, head=0).save(tmp_path / "figure.svg"))
        assert (svg.count("prompt"), svg.count("answer")) == (times, times), view
    given = len(llama.trace("the cat sat").tokens)
    prompt = trace.figure("matrix", layer=0, head=0, queries=slice(0, given), keys=slice(0, given))
    assert "prompt" not in texts(prompt.save(tmp_path / "prompt.svg"))


def test_dollar_signs_and_markup_are_only_text(tmp_path):
    trace = Trace.from_maps(np.full((1, 1, 3, 3), 1 / 3), ["$x_1$", "</script>", "a & b"])
    for view in ("heads", "matrix"):
        svg = texts(trace.figure(view).save(tmp_path / "odd.svg"))
        assert all(token in svg for token in ("$x_1$", "</script>", "a & b"))


def test_pooled_maps_keep_the_strongest_weight():
    weights = np.full((200, 200), 0.0, np.float32)
    weights[:, 77] = 1
    trace = Trace.from_maps(weights[None, None], ["t"] * 200)
    small = pooled(trace.site(0), 0)
    assert small.shape == (64, 64)
    assert (small.max(axis=1) == 1).all()


def test_a_picture_shows_itself_in_a_notebook(trace):
    assert trace.figure("heads", layer=0, head=0)._repr_png_().startswith(b"\x89PNG")


def test_every_pattern_and_type_has_a_colour():
    assert tuple(PATTERN_COLOURS) == tuple(LETTERS) == NAMES
    assert len(set(LETTERS.values())) == len(NAMES)
    assert list(PHRASES) == [*(pattern.name for pattern in OF_TRACES), BAG, STRIPES, ALWAYS]
    assert tuple(TYPE_COLOURS) == TYPES  # figures draw shares in this order


@pytest.mark.parametrize(
    ("token", "shown"), [(" the", "the"), ("\n", "⏎"), ("  ", "␣␣"), ("x" * 40, "x" * 23 + "…"), ("##s", "##s")]
)
def test_tokens_are_made_readable(token, shown):
    assert readable(token) == shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"view": "pie"}, "no figure 'pie'; choose from heads, matrix, atlas, neurons"),
        ({"layer": 9}, "no encoder layer 9"),
        ({"layer": 0, "head": 7}, "not 7"),
        ({"head": 1, "heads": [2]}, "not both"),
        ({"queries": 99}, "out of range"),
        ({"width": "wide"}, "column or page or a number of inches, not 'wide'"),
        ({"width": 400}, "between 1 and 40 inches"),
    ],
)
def test_what_is_not_there_is_named(trace, options, message):
    with pytest.raises((ValueError, IndexError), match=message):
        figure(trace, **options)


def test_too_many_tokens_ask_for_a_choice():
    trace = Trace.from_maps(np.full((1, 1, 300, 300), 1 / 300), ["t"] * 300)
    with pytest.raises(ValueError, match="300 tokens do not fit"):
        trace.figure("heads")
    assert trace.figure("matrix", queries=slice(0, 40), keys=slice(0, 40))


def test_an_unknown_ending_lists_the_formats(trace, tmp_path):
    with pytest.raises(ValueError, match=r"svg, pdf, png, not '\.gif'"):
        trace.figure("heads", layer=0).save(tmp_path / "figure.gif")


def test_a_png_has_the_asked_resolution(trace, tmp_path):
    widths = []
    for dpi in (50, 100):
        with Image.open(trace.figure("matrix").save(tmp_path / f"{dpi}.png", dpi=dpi)) as image:
            widths.append(image.width)
    assert widths[1] == pytest.approx(2 * widths[0], abs=2)


def test_a_map_is_grey_where_the_head_rests_and_its_colours_end_at_the_strongest_look(trace):
    axes = trace.figure("matrix", layer=0, head=1).figure.axes[0]
    weights = trace.attention(0, 1)
    border = np.array([token.border for token in trace.side(trace.sites[0].key_side).tokens])
    whole, grey = axes.images
    assert whole.get_clim() == (0, pytest.approx(float(weights[:, ~border].max())))
    over = np.ma.filled(np.ma.masked_invalid(grey.get_array()), -1)
    np.testing.assert_allclose(over[:, border], weights[:, border], atol=1e-7)
    assert (over[:, ~border] == -1).all()


def test_heads_with_a_name_have_a_frame_in_its_colour(trace, monkeypatch):
    named = {("encoder", 0, 0, 1): "previous token", ("encoder", 1, 0, 0): "next token"}
    known = {
        where: {"patterns": [{"name": name}], "probabilities": None, "measures": {}} for where, name in named.items()
    }
    monkeypatch.setattr("regard.views.frames.report_of", lambda _: Report(known))
    axes = trace.figure("atlas").figure.axes[0]
    frames = sorted(
        (frame.get_y(), frame.get_x(), to_hex(frame.get_edgecolor()))
        for frame in axes.patches
        if frame.get_linewidth() > 1
    )
    assert [colour for *_, colour in frames] == [to_hex(PATTERN_COLOURS[name]) for name in named.values()]
    assert frames[0][1] > frames[1][1] and frames[0][0] < frames[1][0]  # head 1 of layer 0, head 0 of layer 1
    legend = axes.get_legend()
    assert {text.get_text() for text in legend.get_texts()} == {"previous token 1", "next token 1"}
    whole = sum(site.heads for site in trace.sites)
    assert axes.figure._suptitle.get_text() == (
        f"What each of the {whole} heads looks at: 1 looks one token back; 1 looks one token ahead"
    )
    assert sorted(text.get_text() for text in axes.texts) == ["next", "previous"]  # below their maps


def test_heads_named_for_a_saved_rule_have_a_frame_in_its_colour(trace, monkeypatch):
    rule = add_rule("two back", "offset = -2")
    known = {("encoder", 0, 0, 1): {"patterns": [{"name": rule.name}], "probabilities": None, "measures": {}}}
    monkeypatch.setattr("regard.views.frames.report_of", lambda _: Report(known))
    axes = trace.figure("atlas").figure.axes[0]
    framed = [to_hex(frame.get_edgecolor()) for frame in axes.patches if frame.get_linewidth() > 1]
    assert framed == [rule.colour.lower()]
    assert axes.figure._suptitle.get_text().endswith(": 1 follows the rule “two back”")


def test_the_app_offers_the_figures_that_python_draws():
    source = (Path(regard.__file__).parents[2] / "frontend/src/app/export.tsx").read_text("utf-8")
    (listed,) = re.findall(r"^const FIGURES: readonly string\[\] = (\[.*\]);$", source, flags=re.MULTILINE)
    assert tuple(json.loads(listed)) == FIGURES
