"""Documents of the tiny model's words with known antecedents, and heads that look at them."""

import numpy as np

from regard.studies.coref.questions import nearest, questions_of
from regard.studies.coref.reduce import Finder
from regard.studies.coref.study import Coref

PLANTED, NEAREST = (1, 2), (1, 1)
NAMES = {
    "PRP": "it i",
    "NNP": "mat store",
    "NN": "cat dog strawberries",
}  # tags make types: the tiny model has no names


def novel(chooser, number):
    """A document of the tiny model's words in LitBank's format: three clusters with mentions of every type."""
    rows = [f"#begin document (n{number}); part 0"]
    for _ in range(3):
        for place in range(4):
            tag = chooser.choice(list(NAMES))
            word = chooser.choice(NAMES[tag].split())
            cells = [
                ("the", "DT", ""),
                (word, tag, f"({chooser.randrange(3)})"),
                (chooser.choice(["sat", "went"]), "VBD", ""),
            ]
            rows += [f"n{number}\t0\t{place}\t{said}\t{tag}\t_\t_\t_\t_\t_\t_\t_\t{mark}" for said, tag, mark in cells]
        rows.append("")
    return "\n".join([*rows, "#end document", ""])


class Planting(Finder):
    """Puts two heads into the last layer: one that looks at the antecedent, one at the nearest mention before."""

    def take(self, layer, attention, made):
        if layer.layer == PLANTED[0]:
            attention = attention.clone()
            for number, (document, pieces) in enumerate(zip(self.documents, self.pieces, strict=True)):
                for (_, head), chosen in ((PLANTED, lambda q: max(q.right, default=None)), (NEAREST, nearest)):
                    attention[number, head] = 0
                    for question in questions_of(document):
                        word = chosen(question)
                        if word is not None:
                            rows, first = np.flatnonzero(pieces == question.word), np.flatnonzero(pieces == word)[0]
                            attention[number, head, rows, first] = 1
        super().take(layer, attention, made)


class Planted(Coref):
    def taker(self, batch):
        return Planting(batch, self.rows)
