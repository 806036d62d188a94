"""Networks from pictures to features."""
