"""Models that learn concepts through the rule of the task."""
