"""Which heads find syntactic heads."""
