"""Which cross heads tell when each word begins, or which words of a translation belong together."""
