"""Studies started from the app: refused with the way out, run with progress, cancelled, and opened as a report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.conftest import hosted
from tests.tiny import saved

LINES = "the cat sat on the mat and a dog went to the store .\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("started")


@pytest.fixture(scope="module")
def page(browser: Any, bert: Any, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The list of studies of a server with a tiny model and an empty folder."""
    tiny = saved(bert, tmp_path_factory.mktemp("models") / "tiny")
    with hosted(models=(str(tiny),), studies=folder) as (address, _):
        page = browser.new_page(viewport={"width": 1280, "height": 900}, locale="en-US", color_scheme="dark")
        page.set_default_timeout(240_000)  # a busy machine takes its time
        page.goto(address)
        page.locator("[data-view=studies]").click()
        page.locator(".app-start").wait_for()
        yield page
        page.close()


def ask(page: Any, study: str, text: str, *, limit: int = 10, control: bool = False) -> None:
    page.locator("[data-field=study]").select_option(study)
    page.locator("[data-field=corpus]").fill(text)
    page.locator("[data-field=limit]").fill(str(limit))
    if page.locator("[data-field=control]").count():
        page.locator("[data-field=control]").set_checked(control)
    page.locator("[data-do=start]").click()


def test_what_cannot_be_studied_is_refused_with_the_way_out(page: Any, folder: Path) -> None:
    assert "start one here" in page.locator("[data-no-studies]").inner_text()
    assert page.locator("[data-do=start]").is_disabled()  # there is no text yet
    inside = """(() => { const [one, form] = ['[data-do=start]', '.app-start'].map(name =>
      document.querySelector(name).getBoundingClientRect()); return form.bottom - one.bottom >= 8
      && one.right < form.right && +getComputedStyle(document.querySelector('[data-do=start]')).opacity === 1 })()"""
    assert page.evaluate(inside)  # whole, and its frame in sight
    said = page.locator("[data-study-refused]")
    for study, text, limit, words in (
        ("syntax", LINES, 10, "needs dependency trees, which plain text does not have: give it a treebank in CoNLL-U"),
        ("coref", LINES, 10, "give it a GAP file (.tsv) or CoNLL-2012 (.conll)"),
        ("atlas", LINES, 5000, "takes 1 to 1,000 examples"),
        ("atlas", "x" * 300_001, 10, "The text has 300,001 characters; a study here takes at most 300,000"),
    ):
        ask(page, study, text, limit=limit)
        said.filter(has_text=words).wait_for()
    page.locator("[data-field=study]").select_option("syntax")
    assert "A treebank in CoNLL-U (.conllu). At most 300,000 characters." in page.locator(".app-start").inner_text()
    assert list(folder.iterdir()) == []


def test_every_study_is_offered_as_a_question_in_both_languages(page: Any, folder: Path) -> None:
    options = page.locator("[data-field=study] option")
    names = [one.get_attribute("value") for one in options.all()]
    assert {"atlas", "heads", "retrieval"} < set(names) and not set(names) & set(options.all_inner_texts())
    page.locator("[data-tool=language]").click()
    page.locator(".app-start h2", has_text="开始研究").wait_for()
    assert all(re.search("[\u4e00-\u9fff]", text) for text in options.all_inner_texts())
    page.locator("[data-tool=language]").click()


def test_a_study_that_runs_says_how_far_it_is_and_can_be_cancelled(page: Any, folder: Path) -> None:
    ask(page, "atlas", LINES * 1000, limit=1000, control=True)
    running = page.locator("[data-running]")
    running.get_by_text(re.compile(r"\d+ of 5000 inputs, \d+ s")).wait_for()
    assert running.locator("h2").inner_text().endswith("tiny, pasted-text.txt")
    assert not page.locator("form.app-start").count()  # one at a time
    page.locator("[data-do=cancel]").click()
    page.get_by_text("The study was cancelled; nothing was written.").wait_for()
    assert list(folder.iterdir()) == []
    assert page.locator("[data-field=corpus]").input_value() == LINES * 1000  # to be tried again


def test_a_finished_study_opens_as_its_report_in_the_app_s_theme(page: Any, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "two words.txt"
    file.write_text(LINES * 12)
    page.locator("[data-field=study]").select_option("tokens")
    page.locator("[data-field=file]").set_input_files(file)
    assert page.locator("[data-chosen]").inner_text() == f"two words.txt: {12 * len(LINES)} characters"
    page.locator("[data-field=limit]").fill("10")
    page.locator("[data-do=start]").click()
    report = page.frame_locator(".app-report iframe")
    report.locator("h1", has_text="Where the attention of").wait_for()
    assert "regard study tokens two-words.txt" in report.locator(".made").inner_text()
    assert report.locator("html").get_attribute("data-theme") == "dark"
    report.frame_locator("iframe[title=atlas]").locator(".regard[data-theme=dark] canvas").first.wait_for()
    page.locator("[data-do=back]").click()
    (made,) = folder.iterdir()
    row = page.locator(f"[data-study='{made.name}']")
    assert "two-words.txt" in row.inner_text() and "10" in row.inner_text()


def test_a_card_says_the_finding_large_beside_its_bars(page: Any, folder: Path) -> None:
    (made,) = folder.iterdir()
    card = page.locator(f"[data-study='{made.name}']")
    headline = card.locator(".headline")
    said = re.search(r"^(.+) gets most: (\d+%) of all attention in (layer \d)", headline.inner_text())
    name, share, layer = said.groups()
    first = card.locator(".app-chart dt, .app-chart dd")  # the number that is said is that of the first bar
    assert first.nth(0).inner_text() == name[:1].lower() + name[1:] or first.nth(0).inner_text() == name
    assert first.nth(1).inner_text().split(maxsplit=1) == [share, layer]
    size = "one => parseFloat(getComputedStyle(one).fontSize)"
    assert headline.evaluate(size) > card.locator("summary").evaluate(size) + 3
    bars = card.locator(".app-chart dd")
    assert bars.count() == 6
    values = [float(text.split()[0].removesuffix("%")) / 100 for text in bars.all_inner_texts()]
    widths = [bar.bounding_box()["width"] for bar in card.locator(".app-chart dd i").all()]
    for value, width in zip(values, widths, strict=True):
        assert width / max(widths) * max(values) == pytest.approx(value, abs=0.011)  # printed in hundredths
    assert card.locator(".app-chart dd u").count() == 6  # each with what even attention would give
    assert "chance" in card.locator(".app-chart .key").inner_text()
