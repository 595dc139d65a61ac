"""What changed from one model to another."""
