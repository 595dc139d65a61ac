"""Families that need a config or an input of their own.

Enters: nothing. Leaves: their overrides of sizes and makers of inputs, by model type.
"""

from tests.fidelity.rare import images, pictures, sound, texts

RARE_SIZES = images.SIZES | pictures.SIZES | sound.SIZES | texts.SIZES
RARE_INPUTS = images.INPUTS | pictures.INPUTS | sound.INPUTS | texts.INPUTS
