"""What a trained model holds inside: linear probes, TCAV, and ways past the concepts."""
