"""Files to examples: plain text, tables, treebanks, coreference."""
