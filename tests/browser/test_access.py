"""What assistive technology meets: axe-core finds no serious problem in any view, light or dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_heads import until
from tests.conftest import need

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async () => {
  const {violations} = await axe.run('.regard', {resultTypes: ['violations']});
  const line = v => `${v.id}: ${v.nodes.slice(0, 3).map(n => n.target.join(' ')).join(', ')}`;
  return violations.filter(v => ['serious', 'critical'].includes(v.impact)).map(line);
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", ["heads", "atlas", "matrix", "neurons"])
def test_no_serious_barrier(show, pages, view, theme):
    need(AXE.exists(), "needs the front end's packages (make test installs them)")
    page = show(pages["pair"], f"#view={view}&layer=0&heads=1&queries=5&pairs=5,4", color_scheme=theme)
    until(page, "performance.getEntriesByName('regard:drawn').length")
    page.evaluate(AXE.read_text("utf-8"))  # not a script element: the page's policy would stop one
    assert page.evaluate(RUN) == []
