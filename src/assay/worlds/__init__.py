"""Worlds: what is true and how it looks; which worlds a split holds; how they are drawn."""
