"""Program synthesis: the cheapest program of a small typed language that explains some examples."""
