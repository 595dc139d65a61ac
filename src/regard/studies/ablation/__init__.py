"""What each head is worth for a task."""
