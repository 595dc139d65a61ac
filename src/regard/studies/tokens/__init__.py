"""Attention to special tokens, punctuation and neighbours."""
