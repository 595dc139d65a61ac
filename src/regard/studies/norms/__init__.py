"""Weights and contributions."""
