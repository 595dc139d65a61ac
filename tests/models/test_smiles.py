"""The packaged chemical model reads atoms and bonds, not unknown words."""

import numpy as np
import pytest

from regard.trace.places import parts_of
from regard.trace.tokens import Token


@pytest.mark.models
def test_the_chemical_model_knows_every_piece_of_a_reaction(rxnmapper):
    tokens = rxnmapper.trace("CC(=O)O.OCC>>CC(=O)OCC").tokens
    assert [token.text for token in tokens] == ["[CLS]", *"C C ( = O ) O . O C C >> C C ( = O ) O C C".split(), "[SEP]"]
    assert rxnmapper.tokenizer.unk_token_id not in [token.id for token in tokens]


@pytest.mark.models
def test_atoms_in_brackets_and_of_two_letters_are_one_piece(rxnmapper):
    texts = [token.text for token in rxnmapper.trace("[Na+].Clc1ccccc1Br").tokens]
    assert texts == ["[CLS]", *"[Na+] . Cl c 1 c c c c c 1 Br".split(), "[SEP]"]


@pytest.mark.models
def test_molecules_of_a_reaction_are_the_parts_of_its_maps(rxnmapper):
    tokens = rxnmapper.trace("CO.C>>CC").tokens
    parts = parts_of(tokens)
    assert [token.text for token in tokens] == ["[CLS]", "C", "O", ".", "C", ">>", "C", "C", "[SEP]"]
    np.testing.assert_array_equal(parts < 0, [1, 0, 0, 1, 0, 1, 0, 0, 1])
    assert parts[1] == parts[2] != parts[4] != parts[6] == parts[7] != parts[1]


def test_a_dot_of_a_sentence_separates_no_parts():
    tokens = [Token("[CLS]", special=True), Token("yes"), Token("."), Token("no"), Token("[UNK]", special=True)]
    np.testing.assert_array_equal(parts_of(tokens), [-1, 0, 0, 0, 0])
