"""What linear probes can read from a model."""
