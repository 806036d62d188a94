"""Studies: tasks x models x seeds from one YAML file."""
