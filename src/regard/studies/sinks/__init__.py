"""Sinks: which tokens attract attention that has nothing to do, where that begins, and what cutting it off does."""
