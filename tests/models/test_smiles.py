"""The packaged chemical model reads atoms and bonds, not unknown words."""

import pytest


@pytest.mark.models
def test_the_chemical_model_knows_every_piece_of_a_reaction(rxnmapper):
    tokens = rxnmapper.trace("CC(=O)O.OCC>>CC(=O)OCC").tokens
    assert [token.text for token in tokens] == ["[CLS]", *"C C ( = O ) O . O C C >> C C ( = O ) O C C".split(), "[SEP]"]
    assert rxnmapper.tokenizer.unk_token_id not in [token.id for token in tokens]


@pytest.mark.models
def test_atoms_in_brackets_and_of_two_letters_are_one_piece(rxnmapper):
    texts = [token.text for token in rxnmapper.trace("[Na+].Clc1ccccc1Br").tokens]
    assert texts == ["[CLS]", *"[Na+] . Cl c 1 c c c c c 1 Br".split(), "[SEP]"]
