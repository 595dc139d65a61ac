"""Write docs/reference/cli.md from the command line itself, with typer's own generator.

python -m tests.docs.write_page
"""

from __future__ import annotations

import html
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "cli.md"
HEADER = """# Command line

Generated from the commands by `python -m tests.docs.write_page`; a test keeps it fresh. `regard` alone opens the app.
What cannot be done is said in one sentence, with status 2; `REGARD_DEBUG=1` shows the whole error.
"""


def page() -> str:
    """The whole page."""
    command = [sys.executable, "-m", "typer", "regard.cli", "utils", "docs", "--name", "regard"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    body = text.split("\n", 1)[1]  # its title is ours
    return f"{HEADER}\n{html.unescape(body).strip()}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
