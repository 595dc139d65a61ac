"""The study of deletion: which ranking of tokens finds those whose removal changes the output most."""
