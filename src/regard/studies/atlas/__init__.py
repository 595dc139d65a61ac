"""What every head does."""
