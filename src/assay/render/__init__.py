"""From worlds to pictures: pixels, and what shows where."""
