"""The documentation as pages, a folder for each version; those that were built before stay.

    python docs/versions.py [FOLDER]    # site, unless given

FOLDER/VERSION has the pages, FOLDER/versions.js the list of versions that every page offers, and FOLDER/index.html leads
to the newest. mkdocs.yml names this file as a hook too: pages know the version that they are of.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parents[1]
FIRST = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>regard {version}</title>
<meta http-equiv="refresh" content="0; url={version}/index.html"></head>
<body><a href="{version}/index.html">regard {version}</a></body></html>
"""


def current() -> str:
    """The version of this source."""
    text = (ROOT / "src" / "regard" / "__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found, "src/regard/__init__.py names no version"
    return found[1]


def on_config(config: Any) -> Any:
    """Called by mkdocs: the version, for the script beside the title and in words below every page."""
    config.extra["version"] = {"name": current()}
    config.copyright = f"regard {current()}"
    return config


def built(folder: Path) -> list[str]:
    """The versions in a folder, the newest first."""
    found = []
    for page in folder.glob("*/index.html"):
        try:
            found.append(Version(page.parent.name))
        except InvalidVersion:
            continue
    return [str(one) for one in sorted(found, reverse=True)]


def main() -> None:
    """Build this version beside the others."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "site").resolve()
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder / current())]
    done = subprocess.run(command, cwd=ROOT)
    if done.returncode:
        raise SystemExit(done.returncode)
    names = built(folder)
    (folder / "versions.js").write_text(f"window.documentedVersions = {json.dumps(names)};\n", "utf-8")
    (folder / "index.html").write_text(FIRST.format(version=names[0]), "utf-8")


if __name__ == "__main__":
    main()
