"""Distances between heads."""
