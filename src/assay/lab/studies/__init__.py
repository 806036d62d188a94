"""Studies: tasks x models x seeds from one YAML file, turned into steps, carried out by workers, and kept as records."""
