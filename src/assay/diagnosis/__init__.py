"""From evidence to a verdict: what the model has learned, in numbers and in words."""
