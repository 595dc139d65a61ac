"""Heads that follow a rule, over a corpus."""
