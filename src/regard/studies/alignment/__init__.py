"""Which cross heads of a speech model tell when each word begins."""
