"""What looks are worth, by the class of their keys, beside weights and contributions."""
