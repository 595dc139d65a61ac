"""The drawings of figures: one module for each view, over what they share."""
