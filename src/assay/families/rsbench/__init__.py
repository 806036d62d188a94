"""Settings as rsbench writes them, for every family that understands them."""
