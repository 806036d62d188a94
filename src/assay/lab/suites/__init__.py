"""Suites: a fixed set of datasets, the entries that are scored on it, and the board of their verdicts."""
