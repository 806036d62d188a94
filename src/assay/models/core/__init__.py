"""What models of every kind share: the model itself, training, tensors, losses, the concept encoder, runs."""
