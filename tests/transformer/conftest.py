"""A tiny untrained translator and its tokenizer."""

import pytest
import torch

from regard.transformer.config import Config
from regard.transformer.model import Translator
from regard.transformer.tokenizing import train_bpe

LINES = ["hello , how are you ?", "hola , ¿ cómo estás ?", "the cat sat on the mat .", "el gato se sentó ."] * 3
SIZES = {"width": 24, "heads": 3, "layers": 2, "decoder_layers": 2, "hidden": 32, "length": 24}


@pytest.fixture(scope="session")
def tiny() -> Translator:
    torch.manual_seed(0)
    return Translator(Config(vocabulary=40, **SIZES)).eval()


@pytest.fixture(scope="session")
def pieces():
    return train_bpe(LINES, 120, length=24)


@pytest.fixture(scope="session")
def speaking(pieces):
    torch.manual_seed(0)
    return Translator(Config(vocabulary=len(pieces), **SIZES)).eval()
