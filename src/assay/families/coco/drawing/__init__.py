"""Drawn scenes: backdrops, and nineteen classes of objects in strokes and shapes."""
