"""What linear probes read out of a model."""
