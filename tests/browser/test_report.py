"""The report of a study in a browser: its atlas draws, from a file and from the server, and reaches nothing else."""

from __future__ import annotations

import math
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import uvicorn

import regard
from regard import Trace
from regard.app.run import listen
from regard.app.server import application
from regard.app.settings import AppSettings
from regard.studies.chart import Bar, Chart
from regard.studies.figures import grid_picture
from regard.studies.result import Result

PROBE = """<script>
let reached = []
try { reached.push(parent === window ? "" : parent.document.title) } catch { reached.push("no parent") }
try { localStorage.seen = 1; reached.push("storage") } catch { reached.push("no storage") }
fetch("/api/state").then(() => reached.push("server")).catch(() => reached.push("no server"))
</script></body>"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    trace = Trace.from_maps(np.full((2, 3, 4, 4), 1 / 4), ["a", "b", "<b>c", "d"])
    result = Result("atlas", "Atlas", pd.DataFrame({"head": [0]}), {}, example=trace)
    folder = tmp_path / "studies" / "one"
    folder.mkdir(parents=True)
    (folder / "report.html").write_text(result.report().replace("</body>", PROBE), "utf-8")
    return folder / "report.html"


def atlas_of(page: Any) -> Any:
    frame = page.frame_locator("iframe[title=atlas]")
    frame.locator("canvas").first.wait_for()
    return frame


def test_the_atlas_draws_in_a_report_on_disk(browser: Any, report: Path) -> None:
    page = browser.new_page()
    page.goto(report.as_uri())
    assert "could not be drawn" not in atlas_of(page).locator("body").inner_text()
    page.locator("#atlas .wait").wait_for(state="detached")  # what stood there while it was drawn
    assert "Drawing the atlas" in report.read_text("utf-8")
    page.close()


def test_the_numbers_beside_the_atlas_are_those_of_the_corpus(browser: Any, bert: regard.Model, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cat sat on the mat .\na dog went to the store .\ni bought fresh straw ##berries !\n")
    table = regard.study.atlas(bert, corpus, output=tmp_path / "out").table
    page = browser.new_page()
    page.goto((tmp_path / "out" / "report.html").as_uri())
    assert "too short" not in atlas_of(page).locator("[data-headline]").inner_text()  # the corpus is not one text
    assert "Maps: one input, “" in atlas_of(page).locator(".legend").inner_text()
    inspector = atlas_of(page).locator(".inspector")
    layer, head = map(int, re.findall(r"\d+", inspector.locator("h2").inner_text()))
    row = table[(table.layer == layer) & (table["head"] == head) & (table.measure == "entropy")].iloc[0]
    inspector.locator(".missing summary").click()
    places = float(re.search(r"about ([\d.]+) places", inspector.inner_text())[1])
    assert places == pytest.approx(math.exp(row.value), rel=0.06)  # two digits
    page.close()


def test_a_report_from_the_server_draws_and_reaches_nothing(browser: Any, report: Path) -> None:
    socket = listen("127.0.0.1", 0)
    port = socket.getsockname()[1]
    settings = AppSettings(port=port, studies=report.parents[1], models=("nothing",))
    server = uvicorn.Server(uvicorn.Config(application(settings), log_config=None, ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    page = browser.new_page()
    try:
        page.goto(f"http://127.0.0.1:{port}/studies/one/report.html")
        assert "could not be drawn" not in atlas_of(page).locator("body").inner_text()
        page.wait_for_function("reached.length === 3")
        assert page.evaluate("reached.slice(1)") == ["no storage", "no server"]
        page.goto(f"http://127.0.0.1:{port}/static/app.css")
        page.evaluate("""() => {
            const frame = document.createElement("iframe")
            frame.src = "/studies/one/report.html"
            document.body.append(frame)
        }""")
        inner = page.frame_locator("iframe").locator("h1")
        inner.wait_for()
        framed = next(frame for frame in page.frames if frame.url.endswith("report.html"))
        assert framed.evaluate("reached[0]") == "no parent"
    finally:
        page.close()
        server.should_exit = True
        thread.join(20)
        socket.close()


# -- the article -------------------------------------------------------------------------------------------------

NAMED = {(0, 1): ("same word in the other sentence", 0.9), (1, 2): ("other pieces of the word", 0.5)}
CORNER = """image => {
    const canvas = document.createElement("canvas")
    const pen = canvas.getContext("2d")
    pen.drawImage(image, 0, 0)
    return [...pen.getImageData(2, 2, 1, 1).data]
}"""
CUT = """() => [...document.querySelectorAll("text")].map(text => text.getBoundingClientRect()).filter(box =>
    box.right > innerWidth || box.left < 0 || box.bottom > innerHeight || box.top < 0).length"""


@pytest.fixture(scope="module")
def article(pair_trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a study whose numbers are known."""
    table = pd.DataFrame({"head": ["a", "b", "c"], "value": [0.047312, 1521.3, float("nan")]})
    draw = lambda: grid_picture((3, 4), NAMED, title="what each head does")  # noqa: E731
    meta = {"command": "regard study atlas <b>.txt --limit 2", "model": "pair", "regard": "0.1.0"}
    result = Result(
        "atlas",
        "What each head does",
        table,
        meta,
        drawers={"grid": ("A grid.", draw)},
        findings=["Head 0.1 looks one token back: 100% of its attention.", "Heads 2.3 and 9.9 <i>rest</i>."],
        example=pair_trace,
    )
    return result.save(tmp_path_factory.mktemp("article")) / "report.html"


def test_heads_that_sentences_name_move_the_atlas(browser: Any, article: Path) -> None:
    page = browser.new_page()
    page.goto(article.as_uri())
    frame = atlas_of(page)
    items = page.locator(".findings li")
    found, made = (page.locator(part).bounding_box()["y"] for part in (".findings", ".made"))
    assert found < made  # what was found comes before how
    assert items.nth(0).inner_text() == "Head 0.1 looks one token back: 100% of its attention."
    assert "<i>rest</i>" in items.nth(1).inner_text()
    assert items.locator("img:visible").count() == 2
    assert page.locator("a.head").all_inner_texts() == ["0.1", "2.3"]  # there is no head 9.9
    assert frame.locator("[data-story]").count() == 0  # the report tells the story
    assert page.evaluate("scrollY") == 0  # and is read from its beginning
    for layer, head in ((2, 3), (0, 1)):
        page.get_by_role("link", name=f"{layer}.{head}").click()
        frame.locator(".inspector h2", has_text=re.compile(rf"{layer}\D+{head}$|{layer}\.{head}")).wait_for()
    assert page.locator(".made").inner_text() == "regard study atlas <b>.txt --limit 2 · pair · regard 0.1.0"
    page.close()


@pytest.mark.parametrize(("theme", "ground"), [("light", (255, 255, 255)), ("dark", (20, 23, 29))])
def test_figures_and_atlas_take_the_theme_of_the_page(
    browser: Any, article: Path, theme: str, ground: tuple[int, ...]
) -> None:
    page = browser.new_page(color_scheme=theme)
    page.goto(article.as_uri())
    for asked in (theme, {"light": "dark", "dark": "light"}[theme]):  # the reader's, and that of a page around it
        page.evaluate(f"location.hash = 'theme={asked}'")
        atlas_of(page).locator(f".regard[data-theme={asked}]").wait_for()
        (figure,) = page.locator(".figures img:visible").all()
        assert figure.get_attribute("class") == asked
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert figure.evaluate(CORNER)[:3] == [int(part) for part in re.findall(r"\d+", colour)]
    page.evaluate("location.hash = ''")
    page.locator(f"html[data-theme={theme}]").wait_for(state="attached")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == f"rgb{ground}"
    page.close()


def test_no_label_of_a_figure_is_cut(browser: Any, article: Path) -> None:
    drawing = article.with_name("grid.svg")
    page = browser.new_page()
    page.goto(drawing.as_uri())
    width, height = page.evaluate("['width', 'height'].map(side => document.documentElement[side].baseVal.value)")
    page.set_viewport_size({"width": math.ceil(width), "height": math.ceil(height)})
    assert page.locator("text").count() > 8 and page.evaluate(CUT) == 0
    page.close()


def test_tables_are_folded_and_sort_by_exact_values(browser: Any, article: Path) -> None:
    page = browser.new_page()
    page.goto(article.as_uri())
    table = page.locator("details", has_text="All numbers")
    assert not table.locator("table").is_visible()
    table.locator("summary").click()
    values = table.locator("td:nth-child(2)")
    assert values.all_inner_texts() == ["0.0473", "1,520", "n/a"]
    assert values.nth(1).get_attribute("title") == "1521.3"
    for order in (["1,520", "0.0473", "n/a"], ["0.0473", "1,520", "n/a"]):
        table.get_by_role("button", name="value").click()
        assert values.all_inner_texts() == order
    page.close()


def test_the_atlas_of_a_report_stands_in_it_without_a_frame_and_in_its_face(browser: Any, article: Path) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(article.as_uri())
    frame = atlas_of(page)
    sides = page.locator("#atlas iframe").evaluate(
        "e => { const s = getComputedStyle(e); return [s.borderLeftWidth, s.borderRightWidth, s.borderRadius] }"
    )
    assert sides == ["0px", "0px", "0px"]
    edge = frame.locator(".headline").evaluate(
        "e => e.getBoundingClientRect().x + parseFloat(getComputedStyle(e).paddingLeft)"
    )
    outer = page.locator("#atlas iframe").bounding_box()["x"]
    assert outer + edge == pytest.approx(page.locator("h1").bounding_box()["x"], abs=1)
    face = "e => getComputedStyle(e).fontFamily"
    assert page.locator("body").evaluate(face) == frame.locator(".regard").evaluate(face)
    assert "of the attention that does not rest" in page.locator("#atlas figcaption").inner_text()
    page.close()


def test_a_report_never_scrolls_sideways(browser: Any, article: Path) -> None:
    page = browser.new_page()
    page.goto(article.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    for width in (390, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_a_chart_stands_beside_the_findings_and_the_others_are_folded(browser: Any, tmp_path: Path) -> None:
    chart = Chart("How many.", [Bar("before", 4), Bar("<b>after</b>", 2, 1.0, "head 0.1")])
    table = pd.DataFrame({"a": [1.0]})
    said = ["The first.", "The second.", "The third.", "The fourth."]
    file = Result("x", "A title", table, {}, findings=said, chart=chart).save(tmp_path) / "report.html"
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(file.as_uri())
    first, drawn = (page.locator(part).first.bounding_box() for part in (".findings li", ".chart"))
    assert drawn["x"] >= first["x"] + first["width"] and abs(drawn["y"] - first["y"]) < 40
    assert [item.is_visible() for item in page.locator(".findings li").all()] == [True, True, True, False]
    widths = [bar.bounding_box()["width"] for bar in page.locator(".chart i").all()]
    assert widths[1] / widths[0] == pytest.approx(0.5, abs=0.02)
    assert page.locator(".chart dt").all_inner_texts() == ["before", "<b>after</b>"]
    page.close()
