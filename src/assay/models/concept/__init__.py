"""Models whose labels come from concepts by something learned, and the black box beside them."""
