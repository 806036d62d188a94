"""Confounders: nuisances that go with a label in training, planted in new data or in data that is there."""
