"""The page of a film in a real browser: it plays, its lines and maps follow, in both languages and themes."""

import json

import pytest

from regard.studies.film.frames import FilmHead, Frame, Lift, Reel
from regard.studies.film.page import write_film

pytestmark = pytest.mark.browser


def head(number, lift, named):
    import numpy as np

    picture = np.zeros((4, 4), np.uint8)
    picture[number, 0], picture[3, number] = 127, 128 + 64
    lifts = {"induction": Lift(lift, lift - 0.1, lift + 0.1), "previous token": Lift(0.1, 0.0, 0.2)}
    return FilmHead("decoder", 0, number, 0.25, ["induction"] if named else [], lifts, picture)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("film")
    reel = Reel(folder, {"model": "</script><b>tiny</b>", "heads": [["decoder", 0, 2]], "probes": "x", "shown": ["a"]})
    reel.open(0, restart=False)
    for step in range(0, 60, 10):
        lift = step / 60
        reel.add(Frame.of(step, 5 - lift, [head(0, 0.0, False), head(1, lift, lift > 0.4)]))
    return write_film(reel)


def pixels(page, name):
    return page.evaluate(
        """name => [...document.querySelector(`[data-head='${name}'] canvas`).getContext('2d')
           .getImageData(0, 0, 4, 4).data]""",
        name,
    )


@pytest.fixture
def opened(show, page_file):
    """The page of a film; nothing may be requested or complained of."""
    page = show(page_file, viewport={"width": 1440, "height": 900}, color_scheme="light")
    page.wait_for_selector("polyline[data-line='0.1']", state="attached")
    return page


def test_a_film_plays_and_its_maps_lines_and_sentences_follow(opened):
    page = opened
    assert page.inner_text("[data-born=induction]") == (
        "Head 0.1 finds what followed the same token before from step 30 on: lift 0.83 (0.73–0.93)."
    )
    assert "step 50" in page.inner_text("output")
    assert "</script><b>tiny</b>" in page.inner_text("header")
    assert page.inner_text("[data-head='0.1'] .label") == "induction"
    slider = page.locator("input[type=range]")
    slider.fill("0")
    assert "step 0" in page.inner_text("output")
    assert page.inner_text("[data-head='0.1'] .label") == ""
    assert "no name yet" in page.inner_text(".film-chosen")
    points = page.get_attribute("polyline[data-line='0.1']", "points").split()
    heights = [float(point.split(",")[1]) for point in points]
    assert len(points) == 6 and heights == sorted(heights, reverse=True)
    page.click("[data-play]")
    page.wait_for_selector("output:has-text('step 50')")
    page.wait_for_selector("[data-play=false]")
    drawn = pixels(page, "0.1")
    grey, looks = (drawn[4 * place : 4 * place + 3] for place in (13, 4))
    assert max(grey) - min(grey) < 25  # where it rests there is no colour
    assert max(looks) - min(looks) > 60
    page.keyboard.press("ArrowLeft")
    assert "step 40" in page.inner_text("output")
    page.click("[data-head='0.0']")
    assert page.inner_text(".film-chosen").startswith("Head 0.0")
    page.select_option("select", "previous token")
    assert page.inner_text("figcaption >> nth=0").startswith("previous token: lift")


def test_a_film_speaks_chinese_is_dark_and_fits_a_phone(opened):
    page = opened
    page.click("[data-tool=language]")
    assert page.inner_text("[data-born=induction]").startswith("头 0.1 从第 30 步起找到同一词元此前的后续")
    page.click("[data-tool=theme]")
    assert page.get_attribute(".regard", "data-theme") == "dark"
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_meta_has_what_lists_of_studies_say(page_file):
    meta = json.loads((page_file.parent / "meta.json").read_text())
    assert meta["findings"] == [
        "Head 0.1 finds what followed the same token before (induction) from step 30 on: lift 0.83 (0.73–0.93)."
    ]
    assert meta["chart"]["bars"] == [["induction", 1.0, None, ""]]
