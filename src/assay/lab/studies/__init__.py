"""Studies: tasks x models x seeds from one YAML file: its steps, the workers that carry them out, its records."""
