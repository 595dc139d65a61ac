"""Models whose lines are cut."""

import pytest

import regard
from tests.ablation.cut_by_hand import KINDS, MADE, sharpened


@pytest.fixture(scope="module")
def family(request, bytelevel):
    """A function from a name to one of the seven models, its inputs, a trace of them, and the kind of attention."""
    made = {}

    def of(name):
        if name not in made:
            model = MADE[name](bytelevel) if name in MADE else sharpened(request.getfixturevalue(name), name)
            text, target = (
                "the cat sat" if name in ("bert", "t5") else "the cats",
                "a dog sat" if name == "t5" else None,
            )
            engine = model._engine
            inputs, book = engine.collate([engine.encode(text)], [target])
            (trace,) = engine.record(inputs, book, [{}])
            made[name] = model, engine.ready(inputs), trace, KINDS.get(name, "decoder")
        return made[name]

    return of


@pytest.fixture(scope="module")
def translator():
    model = regard.load("translator")
    return model, model.trace("The cat sat on the mat.", target="el gato se sentó")
