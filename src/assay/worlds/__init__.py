"""Worlds (concepts and style), splits, and how the worlds of a split are sampled."""
