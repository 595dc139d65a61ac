"""Write docs/reference/models.md: `python -m tests.fidelity.write_page`, about two minutes."""

from __future__ import annotations

from tests.fidelity.page import PAGE, page
from tests.fidelity.sweep import sweep

if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(sweep()), encoding="utf-8")
