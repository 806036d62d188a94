"""How many threads torch uses in this process."""

import torch


def one_thread() -> None:
    """Let torch reckon in one thread: sums then have one order, and processes do not fight for cores."""
    torch.set_num_threads(1)
