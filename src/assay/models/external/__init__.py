"""Models trained elsewhere: any torch module, and PyTorch-Concepts."""
