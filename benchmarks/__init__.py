"""Speed against the alternatives, side by side in one run; only ratios are meant to be compared between machines."""
