"""What the gallery shows, and the page that shows it. Enters: nothing. Leaves: shots by name, and Markdown."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "gallery.md"
STORE = ("I went to the store.", "At the store, I bought fresh strawberries.")
CAT = "The cat sat on the mat. The cat"
AGAIN = f"{CAT} sat"
DECODER = "SmolLM2-135M-Instruct"
THEMES = ("light", "dark")
SIZES = {390: 844, 1440: 900, 1920: 1080}  # width -> height of the window
USUAL = 1440


@dataclass(frozen=True)
class Shot:
    """One picture: what it is called, how a reader gets it, and what must be there before it is taken."""

    name: str
    title: str
    how: str
    opens: str = ""  # the part of the app's address that opens it
    ready: str = ""  # a selector
    then: tuple[str, ...] = ()  # what is clicked after that
    widths: tuple[int, ...] = (USUAL,)  # that the documentation keeps
    themes: tuple[str, ...] = THEMES  # that the documentation keeps
    note: str = ""  # what a reader should know of what is shown

    @property
    def kept(self) -> list[str]:
        """Names of the pictures that the documentation keeps."""
        usual = [f"{self.name}-{theme}-{USUAL}" for theme in self.themes]
        return usual + [f"{self.name}-light-{width}" for width in self.widths if width != USUAL]


def _asked(text: str, pair: str = "", **more: object) -> str:
    parts = {"text": text, "pair": pair, **more}
    return "&".join(f"{name}={quote(str(value))}" for name, value in parts.items() if value != "")


def _store(view: str, layer: int, head: int, **more: object) -> str:
    return _asked(*STORE, view=view, kind="encoder", layer=layer, heads=head, **more)


def _decoder(view: str, **more: object) -> str:
    return _asked(CAT, model=DECODER, generate=10, view=view, kind="decoder", layer=17, heads=5, **more)


def _look(layer: int, head: int, query: int, key: int, **more: object) -> str:
    """One look of a head in a text whose end repeats its beginning."""
    look = {"layer": layer, "heads": head, "queries": query, "keys": key}
    return _asked(AGAIN, model=DECODER, view="heads", kind="decoder", **look, **more)


ALL = tuple(SIZES)
SAID = "[data-says='next token'] [data-bar]"
APP = (
    Shot("app", "The app, as it opens", "regard", "", ".finding"),
    Shot("change", "Without head 1.8: how much that changes every later head", "regard, then Switch off, then change", _store("atlas", 1, 8, off="encoder:1.8"), "[data-value=change]", ("[data-value=change]",)),
    Shot("atlas", "Atlas: every head of the model", "regard, then Atlas", _store("atlas", 0, 2), ".finding", widths=ALL),
    Shot("heads", "Heads: lines from the tokens that look to those looked at", "regard, then Heads", _store("heads", 1, 8, form="columns"), ".finding", widths=(390, USUAL)),
    Shot("sentence", "Heads, over the sentence itself", "regard, then Heads, Sentence", _asked("The animal didn't cross the street because it was too tired.", view="heads", kind="encoder", layer=3, heads=1, form="sentence", queries=10), ".ranking"),
    Shot("matrix", "Matrix: one head as a map, one row as bars", "regard, then Matrix", _store("matrix", 0, 2, queries=5), ".finding, .ranking", widths=(390, USUAL)),
    Shot("neurons", "Neurons: how q and k make one score", "regard, then Neurons", _store("neurons", 0, 2, queries=5, pairs="5,4"), "[data-query]"),
    Shot("rollout", "Roll-out: what reaches one token of the last layer from the input", "regard, then Roll-out", _store("rollout", 0, 2), "[data-asked]"),
    Shot("walk", "Walk: the model step by step", "regard, then Walk", _asked(STORE[0], view="walk", kind="encoder", layer=0, heads=7, step=4), ".walk"),
    Shot("cross", "Walk through an encoder-decoder: cross attention", 'regard walk "I have a black cat."', _asked("I have a black cat.", model="translator", view="walk"), "[data-step=cross]", ("[data-step=cross]", ".asked [data-option]:has-text('cat')")),
    Shot("compare", "Compare: two inputs, and their difference", "regard, then Compare", _asked(*STORE, view="compare", otherText="I went to the garden.", otherPair="At the garden, I picked fresh strawberries."), "[data-differs='5.2'][aria-pressed=true]"),
    Shot("studies", "Studies that were saved", "regard serve --studies my-studies", _store("studies", 0, 2), "[data-study]"),
    Shot("report", "The report of a study", "regard study tokens text.txt -o my-studies/tokens", _store("studies", 0, 2), "[data-study]", ("[data-report=tokens]",)),
    Shot("why", "Why this link: back through the layers", f"regard serve -m {DECODER}, click a line, then Why this link?", _look(18, 6, 9, 3, why="decoder:18.6:9-3", form="sentence"), "[data-line='16.0 3 2']", widths=(390, USUAL)),
    Shot("cut", "What the model says without one link", f"regard serve -m {DECODER}, click a line, then Cut this link", _look(19, 8, 9, 8, cut="decoder:19.8:9-8"), ".app-cut [data-cut-control]"),
    Shot("chat", "What a word of an answer looked at", f"regard serve -m {DECODER}, then Chat", f"model={DECODER}&view=chat", "[data-start]", ("[data-start]",)),
    Shot("decoder-heads", "A decoder's induction head, with what it wrote", f"regard serve -m {DECODER}", _decoder("heads", form="columns"), SAID),
    Shot("decoder-sentence", "The same over the text: prompt and answer", f"regard serve -m {DECODER}", _decoder("heads", form="sentence"), SAID),
    Shot("decoder-matrix", "The same as a map", f"regard serve -m {DECODER}", _decoder("matrix"), SAID),
    Shot("decoder-atlas", "All 270 heads of the decoder", f"regard serve -m {DECODER}", _decoder("atlas"), SAID),
)  # fmt: skip
SAVED = Shot(
    "page",
    "A saved page: one file that works offline",
    'regard view "I went to the store." "At the store, I bought fresh strawberries."',
)
FIGURES = {
    "heads": 'trace.figure("heads", layer=1, head=8)',
    "matrix": 'trace.figure("matrix", layer=0, head=2)',
    "atlas": 'trace.figure("atlas")',
    "neurons": 'trace.figure("neurons", layer=0, head=2, query=5)',
    "decoder": 'answered.figure("matrix", layer=17, head=5)',
    "sound": 'heard.figure("sound", layer=2, head=5, query=8)',
}
HEARD = Shot(
    "sound",
    "A recording as Whisper hears it: when each word is listened for",
    "regard view --audio beckett.wav -m whisper-tiny.en",
    "view=sound&kind=cross",
    ".sound-words button",
    ("[data-word='1']",),
)
TRAINED = "docs/gallery/.trained"
LEARNED = (
    "`python docs/gallery/pictures.py` trains both models in some minutes, from random weights, and writes the pictures. What the model says without each head "
    '[it measures and stores in the trace](how-to/see-where-a-vision-model-looks.md#what-it-says-without-a-head), as `trace.facts["labels without"]`.'
)
FOUND = json.loads((HERE.parent / "numbers" / "found" / "handwriting.json").read_text("utf-8"))  # of these very models
DIGITS = (
    f"A ViT of 4 layers of 4 heads that learned from {FOUND['digits']['learned']:,} handwritten digits; this five is one of {FOUND['digits']['held']} held out, of which it "
    f"reads {100 * FOUND['digits']['right'][0]:.1f} % right. [CLS] looks below the bar of the five, where a three has ink. Without this head, {len(FOUND['digits']['mistaken'])} of "
    f"{FOUND['digits']['of']} fives that were read right are read as threes. The digits are `load_digits` of scikit-learn, by E. Alpaydin and C. Kaynak (UCI Machine Learning Repository, "
    "CC BY 4.0)."
)
SHEET = (
    "A LLaVA with 2 layers in its tower and 2 above it, which learned from sheets of four handwritten digits. Of "
    f"{FOUND['sheets']['sheets']} questions about sheets of digits held out it answers {100 * FOUND['sheets']['right'][0]:.1f} % right; head {FOUND['sheets']['head']} then gives the "
    f"digit asked about {100 * FOUND['sheets']['asked'][0]:.1f} % of its attention to the picture, by chance 25 %."
)


def _head(which: str) -> str:
    """The part of an address that shows the head that was found."""
    layer, head = FOUND[which]["head"].split(".")
    return f"layer={layer}&heads={head}"


SEEN = (
    Shot(
        "picture",
        "A picture: what tells a five from a three",
        f"regard view --image digit.png -m {TRAINED}/digits-vit",
        "view=heads&kind=encoder&" + _head("digits"),
        ".overlay .patches",
        note=f"{DIGITS} {LEARNED}",
    ),
    Shot(
        "question",
        "A picture and a question: the digit asked about is looked at",
        f'regard view "<image> Which digit is bottom right ?" --image sheet.png --generate 1 -m {TRAINED}/digits-llava',
        "view=heads&kind=decoder&" + _head("sheets"),
        ".overlay .patches",
        note=f"{SHEET} {LEARNED}",
    ),
    Shot(
        "picture-atlas",
        "Atlas of a picture: where every head looks",
        f"regard view --image digit.png -m {TRAINED}/digits-vit",
        "view=atlas&kind=encoder&" + _head("digits"),
        ".thumb canvas",
        note="The same five in the same ViT. Some heads look at ink, others beside it, where another digit would have some.",
    ),
)
SHOTS = (*APP, SAVED, HEARD, *SEEN)


def kept() -> list[str]:
    """Every picture that the documentation keeps."""
    return [name for shot in SHOTS for name in shot.kept] + [f"figure-{name}" for name in FIGURES]


def page() -> str:
    """The gallery as Markdown; the script beside this one writes it."""
    store = ", ".join(f'"{text}"' for text in STORE)
    parts = [
        "# Gallery",
        "Every view below the line that made it. What begins with # goes at the end of the address that regard prints, and "
        "opens the app as it is in the picture. The models come with regard: all-MiniLM-L6-v2 reads "
        f"*{STORE[0]}* / *{STORE[1]}*, and {DECODER} goes on with *{CAT}*. "
        "Made by `python docs/gallery/make.py`.",
        *(_section(shot) for shot in SHOTS),
        "## Figures for papers",
        "```python\n"
        f"trace = regard.load().trace({store})\n"
        f'answered = regard.load("{DECODER}").trace("{CAT}", generate=10)\n'
        'heard = regard.load("whisper-tiny.en").trace(audio="beckett.wav")\n```',
        *(f"```python\n{line}\n```\n\n![Figure: {name}](gallery/figure-{name}.webp)" for name, line in FIGURES.items()),
    ]
    return "\n\n".join(parts) + "\n"


def _section(shot: Shot) -> str:
    cells = [f"![{shot.title}, {theme}](gallery/{shot.name}-{theme}-{USUAL}.webp)" for theme in shot.themes]
    rows = [f"| {' | '.join(shot.themes)} |", "|" + "---|" * len(cells), f"| {' | '.join(cells)} |"]
    more = [width for width in shot.widths if width != USUAL]
    if more:
        narrow = [f"![{shot.title}, {width} pixels wide](gallery/{shot.name}-light-{width}.webp)" for width in more]
        rows += ["", "| " + " | ".join(f"{width} pixels wide" for width in more) + " |", "|" + "---|" * len(more)]
        rows.append(f"| {' | '.join(narrow)} |")
    note = f"{shot.note}\n\n" if shot.note else ""
    return f"## {shot.title}\n\n{_lines(shot)}\n\n{note}" + "\n".join(rows)


def _lines(shot: Shot) -> str:
    """The command; of the app also the part of its address that opens the picture, and how a hand gets there."""
    if not shot.how.startswith("regard serve") and shot.how.split(",")[0] != "regard":
        return f"    {shot.how}"
    command, _, by_hand = shot.how.partition(", ")
    address = f"\n    #{shot.opens}" if shot.opens else ""
    return f"    {command}{address}" + (f"\n\nBy hand: {by_hand.removeprefix('then ')}" if by_hand else "")
