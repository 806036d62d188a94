"""Data of any origin made an ordinary dataset: a module for each layout that people have, and one that writes."""
