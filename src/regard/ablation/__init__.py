"""What heads are worth: effects of switching them off, importance, pruning, tasks."""
