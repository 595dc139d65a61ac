"""What assistive technology meets: axe-core finds nothing in any view, light or dark, on a phone or a wide screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from test_heads import still, until
from tests.conftest import need

from regard.views.wire import VIEWS

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async ([part, rules]) => {
  const {violations} = await axe.run(part, {resultTypes: ['violations'], ...(rules && {runOnly: rules})});
  return violations.map(v => `${v.id}: ${v.nodes.slice(0, 3).map(n => n.target.join(' ')).join(', ')}`);
}"""
COLOURS = ["color-contrast", "link-in-text-block"]  # the rules that a second theme can break
SIZES = {390: 844, 1440: 900, 1920: 1080}
FEW = {390: 844, 1440: 900}  # a wider window shows the same things in the same colours
# While something runs, the old picture is dimmed.
SETTLED = "!document.querySelector('[data-busy], .busy, [aria-busy=true]')"


def tabs(page: Any) -> list[str]:
    """The views that a page shows, in the order of their tabs."""
    return page.eval_on_selector_all("[data-view]", "all => all.map(one => one.dataset.view)")


def with_axe(page: Any) -> Any:
    """The page with axe-core in it."""
    need(AXE.exists(), "needs the front end's packages (make test installs them)")
    page.evaluate(AXE.read_text("utf-8"))  # not a script element: the page's policy would stop one
    return page


def violations(page: Any, rules: list[str] | None = None, part: str = ".regard") -> list[str]:
    """What axe-core finds in a part of the page as it is, by some of its rules or by all."""
    return page.evaluate(RUN, [part, rules])


def barriers(page: Any, views: dict[str, Callable[[], object]], widths: dict[int, int] = SIZES) -> list[str]:
    """What axe-core finds in each view, in both themes and at up to three widths; `views` open them, each once."""
    with_axe(page)
    found = []
    for view, opened in views.items():
        page.click(f"[data-view={view}]")
        for theme, rules, sizes in (("first", None, widths), ("second", COLOURS, FEW)):
            for width, height in sizes.items():
                page.set_viewport_size({"width": width, "height": height})
                opened()
                until(page, SETTLED, seconds=240)
                still(page)
                found += [f"{view}, {width} pixels, {theme} theme: {one}" for one in violations(page, rules)]
                if page.locator(".panel-box").count():
                    page.keyboard.press("Escape")  # or it would lie over the next thing to click
            page.click("[data-tool=theme]")
    return found


def test_there_is_no_barrier_in_a_saved_page(show, pages):
    page = show(pages["pair"], "#view=heads&layer=0&heads=1&queries=5&pairs=5,4")
    until(page, "performance.getEntriesByName('regard:drawn').length")
    views = tabs(page)
    assert set(views) > {"heads", "atlas"} and set(views) <= set(VIEWS)

    def drawn() -> None:
        page.wait_for_selector(".stage:not([aria-busy=true]) *", state="attached")

    assert barriers(page, dict.fromkeys(views, drawn)) == []
