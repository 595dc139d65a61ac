"""The Transformer of the articles, small and readable: model.py is the part to read first."""
