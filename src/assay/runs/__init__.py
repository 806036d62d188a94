"""A run: its folder, what is written into it, and the evidence that it gives. Needs no torch."""
