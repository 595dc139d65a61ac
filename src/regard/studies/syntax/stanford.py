"""Names of Universal Dependencies beside those of Stanford Dependencies, which papers before UD used.

Enters: a UD relation, with or without subtype. Leaves: the nearest Stanford name, or how the analyses differ.
"""

from __future__ import annotations

# In UD a preposition hangs on its noun (case); in Stanford's trees the noun hangs on the preposition (pobj), and the
# preposition on what governs both (prep).
STANFORD = {
    "acl": "vmod",
    "acl:relcl": "rcmod",
    "advcl": "advcl",
    "advmod": "advmod, neg",
    "amod": "amod",
    "appos": "appos",
    "aux": "aux",
    "aux:pass": "auxpass",
    "case": "pobj turned round; possessive",
    "cc": "cc",
    "cc:preconj": "preconj",
    "ccomp": "ccomp",
    "compound": "nn",
    "compound:prt": "prt",
    "conj": "conj",
    "cop": "cop",
    "csubj": "csubj",
    "csubj:pass": "csubjpass",
    "dep": "dep",
    "det": "det",
    "det:predet": "predet",
    "discourse": "discourse",
    "expl": "expl",
    "fixed": "mwe",
    "flat": "nn, of names",
    "goeswith": "goeswith",
    "iobj": "iobj",
    "mark": "mark; aux, of to",
    "nmod": "prep + pobj, under a noun",
    "nmod:desc": "nn, of titles",
    "nmod:poss": "poss",
    "nmod:tmod": "tmod",
    "nmod:unmarked": "npadvmod, tmod",
    "nsubj": "nsubj",
    "nsubj:pass": "nsubjpass",
    "nummod": "num",
    "obj": "dobj",
    "obl": "prep + pobj, under a verb",
    "obl:agent": "agent",
    "obl:npmod": "npadvmod",
    "obl:tmod": "tmod",
    "obl:unmarked": "npadvmod, tmod",
    "parataxis": "parataxis",
    "punct": "punct",
    "root": "root",
    "xcomp": "xcomp, acomp",
}


def stanford(relation: str) -> str:
    """The Stanford name of a UD relation; that of the relation without its subtype where there is no closer one."""
    return STANFORD.get(relation) or STANFORD.get(relation.partition(":")[0], "none")


def with_stanford(relation: str) -> str:
    """The relation, with its Stanford name where that is another."""
    other = stanford(relation)
    return relation if other in (relation, "none") else f"{relation} (Stanford: {other})"
