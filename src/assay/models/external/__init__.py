"""Models of other makes: any torch module, and PyTorch-Concepts."""
