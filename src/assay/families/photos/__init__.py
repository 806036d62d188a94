"""Photographs, for every family that shows them."""
