"""Retrieval heads: which heads fetch a planted sentence while it is copied, and what removing them does."""
