"""Pseudo-random numbers as a hash of pixel, sample and light: the same in every process."""

from assay.render.engines.jit import subroutine

MASK = 0xFFFFFFFF
KEYS_PER_PIXEL = 1024


@subroutine
def hash_noise(key: int) -> float:
    """Return the number from 0 to 1 of a key."""
    h = (key * 0x9E3779B1 + (key >> 32) * 0x85EBCA77 + 0x27D4EB2F) & MASK
    h = ((h ^ (h >> 15)) * 0x2C1B3C6D) & MASK
    h = ((h ^ (h >> 12)) * 0x297A2D39) & MASK
    h = h ^ (h >> 15)
    return (h + 0.5) / 4294967296.0
