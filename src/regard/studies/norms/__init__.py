"""Weights beside contributions."""
