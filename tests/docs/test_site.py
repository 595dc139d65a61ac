"""The documentation builds strictly, fetches nothing, has versions and a search, and shows all pages and all names."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import regard

from .write_page import PAGE, ROOT, page

DOCS = ROOT / "docs"
FOREIGN = re.compile(
    r"""<(?:script|img|iframe)[^>]+src=["']https?://|<link[^>]+rel=["']?(?:stylesheet|preconnect)[^>]+https?://"""
)


@pytest.fixture(scope="module")
def versions(tmp_path_factory) -> Path:
    """All versions: this one beside an older one that was built before, and a folder that is none."""
    folder = tmp_path_factory.mktemp("versions")
    for name in ("0.0.9", "drafts"):
        (folder / name).mkdir()
        (folder / name / "index.html").write_text(f"the pages of {name}")
    command = [sys.executable, str(DOCS / "versions.py"), str(folder)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr  # a broken link, a page that is not in the nav ...
    return folder


@pytest.fixture(scope="module")
def site(versions) -> Path:
    return versions / regard.__version__


def test_every_page_names_its_version(site):
    for path in DOCS.rglob("*.md"):
        page = (site / path.relative_to(DOCS).with_suffix(".html")).read_text(encoding="utf-8")
        assert f"regard {regard.__version__}\n" in page


def test_versions_lie_side_by_side_and_the_newest_opens(versions):
    assert (versions / "0.0.9" / "index.html").read_text() == "the pages of 0.0.9"
    assert (versions / "versions.js").read_text() == f'window.documentedVersions = ["{regard.__version__}", "0.0.9"];\n'
    assert f"url={regard.__version__}/index.html" in (versions / "index.html").read_text()


@pytest.mark.browser
def test_pages_that_are_opened_by_double_click_offer_versions_and_a_search(versions, browser):
    page, troubles = browser.new_page(viewport={"width": 1280, "height": 800}), []
    page.set_default_timeout(120_000)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda one: None if one.url.startswith(("file:", "data:")) else troubles.append(one.url))
    page.goto((versions / "index.html").as_uri())
    page.wait_for_url(f"**/{regard.__version__}/index.html")
    page.wait_for_selector(".md-version__link", state="attached")
    assert page.locator(".md-version__current").inner_text() == regard.__version__
    links = page.locator(".md-version__link").evaluate_all("all => all.map(one => one.href)")
    assert links == [(versions / name / "index.html").as_uri() for name in (regard.__version__, "0.0.9")]
    page.locator(".md-search__input").press_sequentially("induction")
    page.wait_for_selector(".md-search-result__link")
    found = page.locator(".md-search-result__link").evaluate_all("all => all.map(one => one.href)")
    assert any("watch-a-head-being-born.html" in link for link in found)
    assert all(link.startswith((versions / regard.__version__).as_uri()) for link in found)
    assert troubles == []
    page.close()


def test_every_page_is_in_the_nav_and_is_built(site):
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    named = {
        Path(name).with_suffix(".html") for name in _names(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    }
    assert pages == named
    assert all((site / page).is_file() for page in pages)


def test_nothing_is_fetched_from_elsewhere(site):
    for path in site.rglob("*.html"):
        assert not FOREIGN.search(path.read_text(encoding="utf-8")), path


def test_the_reference_shows_every_public_name(site):
    text = (site / "reference" / "api.html").read_text(encoding="utf-8")
    names = [f"regard.{name}" for name in regard.__all__] + [f"regard.study.{name}" for name in regard.study.STUDIES]
    assert [name for name in names if f'id="{name}"' not in text] == []


def test_links_of_the_readmes_lead_somewhere():
    for readme in ("README.md", "README.zh-CN.md"):
        links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / readme).read_text(encoding="utf-8"))
        assert links
        assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_page_of_commands_is_fresh():
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.docs.write_page"


def test_error_pages_quote_what_the_code_says():
    source = ROOT / "src" / "regard"
    files = [*source.rglob("*.py"), source / "trace" / "sentences.json"]
    code = "".join(_plain(path.read_text(encoding="utf-8")) for path in files)
    for path in (DOCS / "errors").glob("*.md"):
        if path.name == "index.md":
            continue
        quotes = re.findall(r"^> (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert quotes, path
        for quote in quotes:
            for piece in re.split(r"\*[^*]+\*", quote):  # names that change are in italics
                assert _plain(piece).strip(" .") in code, f"{path.name}: {piece}"


def _plain(text: str) -> str:
    """Text without what Python and Markdown put around it: quotes, f-prefixes, line breaks."""
    text = re.sub(r"""["']\s*\n\s*f?["']""", "", text)
    return re.sub(r"[\"'`\\]", "", text)


def _names(nav):
    for item in nav:
        entries = item.values() if isinstance(item, dict) else [item]
        for entry in entries:
            yield from [entry] if isinstance(entry, str) else _names(entry)
