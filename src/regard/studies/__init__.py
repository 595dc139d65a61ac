"""Studies: a question asked of a whole corpus, answered with tables, figures and a report."""
