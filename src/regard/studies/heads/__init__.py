"""A portrait of every head: what it does when awake, over a whole corpus."""
