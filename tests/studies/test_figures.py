"""Figures of studies show the numbers of their tables."""

import base64
import html
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

import regard
from regard.patterns.entries import PATTERN_COLOURS, TYPE_COLOURS
from regard.studies.figures import (
    bar_picture,
    grid_picture,
    heat_picture,
    line_picture,
    scatter_picture,
    share_picture,
)


def axes_of(picture):
    return picture.figure.axes[0]


def texts(path):
    return " ".join(text for node in ElementTree.parse(path).iter() for text in node.itertext())


def test_a_grid_colours_named_heads_alone_the_stronger_the_fuller():
    drawn = grid_picture((2, 3), {(0, 1): ("induction", 1.0), (1, 2): ("induction", 0.0)}, title="t")
    (image,) = axes_of(drawn).images
    pixels = np.asarray(image.get_array())
    np.testing.assert_allclose(pixels[0, 1], to_rgb(PATTERN_COLOURS["induction"]))
    np.testing.assert_allclose(pixels[1, 2], 1 - 0.4 * (1 - np.array(to_rgb(PATTERN_COLOURS["induction"]))))
    assert (pixels[0, 0] == 1).all() and (pixels[1, 0] == 1).all()


@pytest.mark.parametrize("centre", [None, 0.5])
def test_a_heat_map_shows_each_head_s_number(centre):
    values = np.random.default_rng(0).random((3, 4))
    (image,) = axes_of(heat_picture(values, title="t", label="l", centre=centre)).images
    np.testing.assert_array_equal(image.get_array(), values)
    if centre is not None:
        assert sum(image.get_clim()) / 2 == pytest.approx(centre)


def test_lines_and_bands_are_the_values_and_their_intervals():
    values, low, high = np.array([0.2, 0.5]), np.array([0.1, 0.4]), np.array([0.3, 0.6])
    axes = axes_of(line_picture({"a": values}, x="x", y="y", title="t", bands={"a": (low, high)}))
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), values)
    edges = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert edges.min() == 0.1 and edges.max() == 0.6


def test_lines_below_nothing_are_seen_whole_and_others_begin_at_nothing():
    lows = [
        line_picture({"a": np.array([0.2, low])}, x="layer", y="nats", title="").figure.axes[0].get_ylim()[0]
        for low in (0.1, -0.1)
    ]
    assert lows[0] == 0 and lows[1] < -0.1


def test_shares_are_stacked_to_a_hundred():
    axes = axes_of(share_picture({"one": np.array([0.5, 0.2, 0.1, 0.1, 0.1]), "two": np.full(5, 0.2)}))
    widths = np.array([bar.get_width() for bar in axes.patches]).reshape(len(TYPE_COLOURS), 2)
    np.testing.assert_allclose(widths.sum(axis=0), 100)
    np.testing.assert_allclose(widths[:, 0], [50, 20, 10, 10, 10])


def test_points_lie_where_they_are_and_have_the_colour_of_their_group():
    places = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    axes = axes_of(scatter_picture(places, ["induction", "none", "induction"], ["0.0", "0.1", "1.0"], title="t"))
    np.testing.assert_array_equal(axes.collections[0].get_offsets(), places[[0, 2]])
    np.testing.assert_allclose(axes.collections[0].get_facecolor()[0, :3], to_rgb(PATTERN_COLOURS["induction"]))


def test_bars_have_their_values_and_intervals():
    axes = axes_of(bar_picture(["g"], {"a": np.array([[0.5, 0.4, 0.7]])}, y="y"))
    assert [bar.get_height() for bar in axes.patches] == [0.5]
    assert axes.collections[0].get_segments()[0][:, 1].tolist() == [0.4, 0.7]


def test_the_figures_of_a_study_are_its_table(bert, corpus, tmp_path):
    result = regard.study.tokens(bert, corpus, output=tmp_path)
    names = [path.stem for path in tmp_path.glob("*.svg")]
    assert names
    layers = next(table for name, table in result.tables.items() if "layer" in name.lower() and "measure" in table)
    compared = 0
    for name in names:
        (axes, *_) = result.figure(name).figure.axes
        for line in axes.lines:
            label = line.get_label()
            mine = layers[(layers["measure"] == label)].sort_values("layer")
            np.testing.assert_allclose(line.get_ydata(), mine["value"])
            assert label in texts(tmp_path / f"{name}.svg")
            compared += 1
    assert compared
    report = (tmp_path / "report.html").read_text("utf-8")
    for name in names:  # the folder's figures are those that the report shows, in its light theme
        drawn = base64.b64encode((tmp_path / f"{name}.svg").read_bytes()).decode()
        assert report.count(f'<img class="light" alt="{html.escape(result.drawers[name][0])}"') == 1
        assert f"base64,{drawn}" in report


def test_a_map_of_heads_shows_every_head_of_the_table(bert, corpus, tmp_path):
    result = regard.study.similarity(bert, corpus, output=tmp_path, clusters=2)
    heads = pd.read_parquet(tmp_path / "heads.parquet")
    labels = axes_of(result.figure("encoder")).texts
    points = np.concatenate([c.get_offsets() for c in axes_of(result.figure("encoder")).collections])
    assert len(points) == len(heads) == 6
    assert len({label.get_text() for label in labels}) == 6
    assert all(label.get_text() in texts(tmp_path / "encoder.svg") for label in labels)
