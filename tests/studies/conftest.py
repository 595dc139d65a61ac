"""A small corpus of the tiny models' words, and the tiny BERT as a folder that other processes can load."""

from __future__ import annotations

import random
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from regard.studies.atlas.study import Atlas
from regard.studies.result import Result
from regard.views.figures import Picture
from regard.views.themes import THEMES, theme
from tests.studies.store_trees import STORE, written
from tests.tiny import saved

ALL_FIGURES = {"test_figures", "test_article"}
FIGURES = {  # files whose tests look which figures are in a folder
    *("test_ablation", "test_cli", "test_coref", "test_deletion", "test_probe", "test_retrieval", "test_similarity"),
    *("test_sinks", "test_syntax"),
}
_BLANK_SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'
_BLANK_PNG = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=")
SMALL = 16  # examples of a window, where a test needs several
THREE = 2 * SMALL + 8  # of three such windows, the last not full
NOUNS, VERBS, ENDS = "cat dog mat store straw it".split(), "sat went bought".split(), ". ! ?".split()


def sentence(chooser: random.Random) -> str:
    """Between four and fifteen words with punctuation and repeated words."""
    parts = [
        f"{chooser.choice(['the', 'a'])} {chooser.choice(NOUNS)} {chooser.choice(VERBS)} {chooser.choice(['on', 'to'])}"
        for _ in range(chooser.randint(1, 3))
    ]
    return " , ".join(parts) + f" {chooser.choice(NOUNS)} {chooser.choice(ENDS)}"


def write_corpus(path: Path, count: int, seed: int = 0) -> Path:
    chooser = random.Random(seed)
    path.write_text("".join(f"{sentence(chooser)}\n" for _ in range(count)), "utf-8")
    return path


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    chooser = random.Random(1)
    return ["the", "the cat", *(sentence(chooser) for _ in range(22))]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory, sentences) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "small.txt"
    path.write_text("\n".join(sentences), "utf-8")
    return path


@pytest.fixture(scope="session")
def pairs(tmp_path_factory, sentences) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "pairs.tsv"
    rows = zip(sentences[2::2], sentences[3::2], strict=True)
    path.write_text("text\tpair\n" + "".join(f"{one}\t{other}\n" for one, other in rows), "utf-8")
    return path


@pytest.fixture(scope="module")
def small_windows() -> Iterator[None]:
    """The atlas sums few examples together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Atlas, "window", SMALL)
        yield


@contextmanager
def figures_left_out() -> Iterator[None]:
    """Results are saved without their figures, which take longer than most runs; for tests that look at tables."""
    save = Result.save
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Result, "save", lambda result, folder: save(replace(result, drawers={}), folder))
        yield


@contextmanager
def figures_drawn_once() -> Iterator[None]:
    """Of three drawings of a figure, light as SVG and PNG and dark, the first alone; the others are blank."""
    drawn = Picture._bytes

    def once(picture: Picture, ending: str, dpi: int = 144) -> bytes:
        if ending == "png":
            return _BLANK_PNG
        return drawn(picture, ending, dpi) if theme() == THEMES["light"] else _BLANK_SVG

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Picture, "_bytes", once)
        yield


@pytest.fixture(scope="module", autouse=True)
def few_figures(request: pytest.FixtureRequest) -> Iterator[None]:
    """Figures where tests look at them, all of what is drawn in tests of figures alone."""
    name = request.module.__name__.rpartition(".")[2]
    with nullcontext() if name in ALL_FIGURES else figures_drawn_once() if name in FIGURES else figures_left_out():
        yield


@pytest.fixture(scope="session")
def three_windows(tmp_path_factory) -> Path:
    """Three small windows of the engine."""
    return write_corpus(tmp_path_factory.mktemp("corpus") / "three.txt", THREE)


@pytest.fixture(scope="session")
def long_corpus(tmp_path_factory) -> Path:
    """Several windows of the engine."""
    return write_corpus(tmp_path_factory.mktemp("corpus") / "long.txt", 600)


@pytest.fixture(scope="session")
def bert_folder(tmp_path_factory, bert) -> Path:
    return saved(bert, tmp_path_factory.mktemp("model") / "tiny-bert")


@pytest.fixture(scope="session")
def store(tmp_path_factory) -> Path:
    return written(tmp_path_factory.mktemp("trees") / "store.conllu", STORE)
