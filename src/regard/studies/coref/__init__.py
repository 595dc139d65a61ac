"""Which heads find antecedents."""
