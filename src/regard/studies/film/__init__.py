"""What heads do while a model is being trained: frames over steps, played as a film."""
