"""A real browser, saved pages to open in it, and a watch over what they do: no request, no console error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browser.windows import Windows

import regard
from regard.models.images import medium_of, read_picture
from regard.trace.mask import Mask
from regard.trace.site import Site
from regard.trace.tokens import Segment, Side, Token
from regard.trace.trace import Trace
from regard.transformer.model import Translator
from regard.views import save_html
from regard.views.walk import Walked, walk

PAIR = "[CLS] i went to the store . [SEP] at the store , i bought fresh straw ##berries . [SEP]".split()
LONG_TOKEN = "Donaudampfschifffahrtsgesellschaftskapitän" * 2
ODD = ["</script><img src=x onerror=alert(1)>", LONG_TOKEN, "草莓", "فراولة", "Ġspace", "\n"]


# To another view, from which the walk comes back without anything that was done in it; its address says all the rest.
ELSEWHERE = """() => {
  window.begun ??= location.hash;
  location.hash = window.begun.replace('view=walk', 'view=matrix');
}"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def windows(browser: Any) -> Windows:
    return Windows(browser)


@contextmanager
def showing(windows: Windows) -> Iterator[tuple[Callable[..., Any], list[str]]]:
    """What opens saved pages and waits until they are drawn, and what they requested or complained of."""
    troubles: list[str] = []
    with windows.lent() as take:

        def open_page(path: Path, address: str = "", **options: Any) -> Any:
            page = take(**({"viewport": {"width": 1280, "height": 760}, "locale": "en-US"} | options))
            page.on("console", lambda m: troubles.append(m.text) if m.type in ("error", "warning") else None)
            page.on("pageerror", lambda error: troubles.append(str(error)))
            own = ("file:", "blob:", "data:")
            page.on("request", lambda r: troubles.append(r.url) if not r.url.startswith(own) else None)
            page.goto(f"file://{path}{address}")
            page.wait_for_selector(".regard")
            return page

        yield open_page, troubles


@pytest.fixture
def show(windows: Windows) -> Iterator[Callable[..., Any]]:
    """Opens a saved page and waits until it is drawn; afterwards nothing may have been requested or complained of."""
    with showing(windows) as (open_page, troubles):
        yield open_page
    assert troubles == []


@pytest.fixture(scope="module")
def opened_walk(windows: Windows, page_file: Path) -> Iterator[tuple[Any, list[str]]]:
    with showing(windows) as (open_page, troubles):
        yield open_page(page_file), troubles


@pytest.fixture
def page(opened_walk: tuple[Any, list[str]]) -> Iterator[Any]:
    """The page of the walk as it opens; loaded once for a file, which takes longer than most tests of it."""
    page, troubles = opened_walk
    page.mouse.move(0, 0)
    page.evaluate(ELSEWHERE)
    page.wait_for_selector(".walk", state="detached")
    page.evaluate("location.hash = window.begun")
    page.wait_for_selector("[aria-current=step]")
    yield page
    assert troubles == []


def pair_side() -> Side:
    words = iter(range(100))
    tokens, word = [], 0
    for i, text in enumerate(PAIR):
        special = text.startswith("[")
        word = word if text.startswith("##") else next(words)
        tokens.append(Token(text, word=None if special else word, special=special, segment=int(i > 7)))
    return Side("encoder", tuple(tokens), (Segment("A", 0, 8), Segment("B", 8, len(tokens))))


def site_of(rng: Any, kind: str, layer: int, query: Side, key: Side, heads: int = 4, d: int = 16, **more: Any) -> Site:
    w_o = rng.standard_normal((heads, d, 24)).astype(np.float32)
    return Site(
        kind,
        layer,
        query.name,
        key.name,
        tuple(range(heads)),
        scale=d**-0.5,
        q=2 * rng.standard_normal((heads, len(query), d)).astype(np.float32),
        k=2 * rng.standard_normal((heads, len(key), d)).astype(np.float32),
        v=rng.standard_normal((heads, len(key), d)).astype(np.float32),
        gram=w_o @ w_o.swapaxes(1, 2),
        **more,
    )


@pytest.fixture(scope="session")
def pair_trace() -> Trace:
    """Two sentences, three layers of four heads; head 1 of layer 0 looks at the previous token."""
    rng = np.random.default_rng(5)
    side = pair_side()
    sites = [site_of(rng, "encoder", layer, side, side) for layer in range(3)]
    place = np.eye(len(side), 16 * 2)[:, :16] * 9 + np.eye(len(side), 32, -16)[:, :16] * 9
    sites[0].q[1] = np.roll(place, 1, axis=0)
    sites[0].k[1] = place
    q, k = sites[0].q, sites[0].k
    halves = {"qparts": np.stack([q - 1, q * 0 + 1]), "kparts": np.stack([k - 2, k * 0 + 2])}
    sites[0] = replace(sites[0], parts=("word", "rest"), **halves)
    return Trace({"encoder": side}, tuple(sites), {"model": "pair"})


class Pages(dict[str, Path]):
    """Saved pages by name, each made when it is first opened."""

    def __init__(self, folder: Path, pair_trace: Trace) -> None:
        super().__init__()
        self.folder, self.pair_trace = folder, pair_trace

    def __missing__(self, name: str) -> Path:
        self[name] = save_html(self._trace(name), self.folder / f"{name}.html", layer=0, measures=self._measures(name))
        return self[name]

    def _trace(self, name: str) -> Trace:
        made = {"odd": odd_trace, "seq": sequence_trace, "vision": vision_trace, "many": many_trace}
        made |= {"answered": answered_trace, "long": long_trace, "labelled": labelled_trace}
        made |= {"asked": asked_trace, "square": lambda: vision_trace(40, 40), "inked": inked_trace}
        made |= {"paper": paper_trace}
        if name == "maps":
            return Trace.from_maps(self.pair_trace.attention(0)[None], PAIR)
        return self.pair_trace if name == "pair" else made[name]()

    def _measures(self, name: str) -> dict[str, Any] | None:
        return {"height": [np.arange(4.0) + layer for layer in range(3)]} if name == "pair" else None


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory, pair_trace: Trace) -> Pages:
    return Pages(tmp_path_factory.mktemp("pages"), pair_trace)


def odd_trace() -> Trace:
    maps = np.random.default_rng(1).dirichlet(np.ones(len(ODD)), (1, 2, len(ODD)))
    return Trace.from_maps(maps, ODD, facts={"model": "<b>odd</b>"})


def sequence_trace() -> Trace:
    """An encoder of two layers and a decoder of three: unequal depths, unequal lengths."""
    rng = np.random.default_rng(2)
    source = Side("encoder", tuple(Token(t, word=i) for i, t in enumerate("we like fresh fruit .".split())))
    target = Side("decoder", tuple(Token(t, word=i) for i, t in enumerate("wir mögen frisches Obst . </s>".split())))
    sites = [site_of(rng, "encoder", layer, source, source) for layer in range(2)]
    sites += [site_of(rng, "decoder", layer, target, target, mask=Mask(right=0)) for layer in range(3)]
    sites += [site_of(rng, "cross", layer, target, source) for layer in range(3)]
    return Trace({"encoder": source, "decoder": target}, tuple(sites), {"model": "seq"})


def labelled_trace() -> Trace:
    """The picture, with what a classifier says of it."""
    trace = vision_trace()
    labels = [["flag", 0.75], ["kite", 0.246], ["sail", 0.004]]
    without = {"encoder 1.0": [["kite", 0.9], ["flag", 0.1]], "encoder 1.1": [["flag", 0.7], ["umbrella", 0.3]]}
    return replace(trace, facts={**trace.facts, "labels": labels, "labels without": without})


def asked_trace() -> Trace:
    """A question about the picture, and its answer: before it is begun, heads look at its last and first patch."""
    picture = vision_trace().side("encoder")
    words = [Token(word, word=i, segment=2 + i // 3) for i, word in enumerate("what is ? a cat".split())]
    patches = [replace(token, segment=1) for token in picture.tokens[1:]]
    assert picture.spans is not None
    side = Side(
        "text",
        (Token("<s>", special=True), *patches, *words),
        (Segment("before", 0, 1), Segment("image", 1, 17), Segment("question", 17, 20), Segment("answer", 20, 22)),
        medium=picture.medium,
        spans=np.concatenate([picture.spans, np.full((5, 4), np.nan, np.float32)]),
    )
    maps = np.tril(np.ones((2, 22, 22), np.float32))
    maps[:, 17:, [0, *range(17, 22)]] = 0
    maps[0, 17:, 16] = maps[1, 17:, 1] = 15 * 0.67 / 0.33
    maps[0, 20, 16], maps[0, 20, 1] = 14 * 0.3 / 0.1, 14 * 0.6 / 0.1
    maps /= maps.sum(-1, keepdims=True)
    site = Site("decoder", 0, "text", "text", (0, 1), maps=maps, mask=Mask(right=0))
    return Trace({"text": side}, (site,), {"model": "asked"})


def vision_trace(height: int = 40, width: int = 60) -> Trace:
    rng = np.random.default_rng(4)
    patches = tuple(Token(f"{r},{c}", row=r, column=c) for r in range(4) for c in range(4))
    pixels = np.zeros((height, width, 3), np.uint8)  # quadrants that differ: red, green, blue, yellow
    down, across = height // 2, width // 2
    pixels[:down, :across], pixels[:down, across:], pixels[down:, :across], pixels[down:, across:] = np.array(
        [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]]
    )
    spans = [[np.nan] * 4] + [[c / 4, r / 4, (c + 1) / 4, (r + 1) / 4] for r in range(4) for c in range(4)]
    side = Side(
        "encoder",
        (Token("[CLS]", special=True), *patches),
        (Segment("image", 0, 17),),
        medium=medium_of(read_picture(pixels)),
        spans=np.array(spans, np.float32),
    )
    maps = np.full((2, 17, 17), 0.1 / 16, np.float32)
    maps[0, :, 16] = 0.9  # head 0 looks at row 3, column 3: yellow; head 1 at row 0, column 0: red
    maps[1, :, 1] = 0.9
    planted = Site("encoder", 1, "encoder", "encoder", (0, 1), maps=maps)
    return Trace({"encoder": side}, (site_of(rng, "encoder", 0, side, side), planted), {"model": "vision"})


def inked_trace() -> Trace:
    """Stripes of ink and paper: the left half of each patch is black, the right one white."""
    trace = vision_trace(40, 40)
    pixels = np.zeros((40, 40, 3), np.uint8)
    pixels[:, np.arange(40) % 10 >= 5] = 255
    side = replace(trace.side("encoder"), medium=medium_of(read_picture(pixels)))
    return Trace({"encoder": side}, trace.sites, {"model": "inked"})


def paper_trace() -> Trace:
    """A picture of paper with a stripe of ink in each patch; nearly all looks go to one patch, some rest."""
    trace = vision_trace(40, 40)
    pixels = np.full((40, 40, 3), 255, np.uint8)
    pixels[:, np.arange(40) % 10 >= 8] = 0
    side = replace(trace.side("encoder"), medium=medium_of(read_picture(pixels)))
    maps = np.full((2, 17, 17), 0.0004 / 15, np.float32)
    maps[0, :, [0, 16]] = [[0.03], [0.9696]]
    maps[1, :, [0, 16]] = [[0.07], [0.9296]]
    norms = np.where(np.arange(17) > 0, np.ones((2, 17), np.float32), 10)  # what rests brings in much
    site = replace(trace.sites[1], maps=maps, known_norms=norms.astype(np.float32))
    return Trace({"encoder": side}, (trace.sites[0], site), {"model": "paper"})


def many_trace() -> Trace:
    rng = np.random.default_rng(6)
    side = Side("encoder", tuple(Token(f"t{i}", word=i) for i in range(6)))
    return Trace({"encoder": side}, (site_of(rng, "encoder", 0, side, side, heads=32),), {"model": "many"})


def answered_trace() -> Trace:
    """A decoder that went on with a text: six tokens given, three written."""
    rng = np.random.default_rng(8)
    texts = "the cat sat on the mat and it purred".split()
    tokens = tuple(Token(text, word=i, segment=int(i >= 6)) for i, text in enumerate(texts))
    side = Side("decoder", tokens, (Segment("prompt", 0, 6), Segment("answer", 6, 9)))
    site = site_of(rng, "decoder", 0, side, side, mask=Mask(right=0))
    return Trace({"decoder": side}, (site,), {"model": "answered"})


def long_trace() -> Trace:
    rng = np.random.default_rng(7)
    side = Side("decoder", tuple(Token(f"t{i}", word=i) for i in range(2048)))
    site = site_of(rng, "decoder", 0, side, side, heads=2, d=32, mask=Mask(right=0))
    return Trace({"decoder": side}, (site,), {"model": "long"})


@pytest.fixture(scope="session")
def walked() -> Walked:
    return walk("Hello, how are you?", target="Hola, ¿cómo estás?")


@pytest.fixture(scope="session")
def translator() -> Translator:
    return regard.load("translator").module


@pytest.fixture(scope="session")
def page_file(walked: Walked, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return walked.save(tmp_path_factory.mktemp("walk") / "walk.html")
