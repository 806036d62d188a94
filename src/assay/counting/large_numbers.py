"""Numbers that may be too long to read, in words."""

import math

MOST = 10**6
"""Above it, a number is written as a power of ten."""


def numeral(number: int) -> str:
    """Return a number with thousands apart, or as a power of ten.

    >>> numeral(178_405), numeral(178_405_961), numeral(10**71 - 1)
    ('178,405', '1.8 x 10^8', '1.0 x 10^71')
    """
    if number <= MOST:
        return f"{number:,}"
    exponent = math.floor(math.log10(number))
    digits = (number + 5 * 10 ** (exponent - 2)) // 10 ** (exponent - 1)  # two digits, rounded without floats
    while not 10 <= digits < 100:
        exponent += 1 if digits >= 100 else -1
        digits = (number + 5 * 10 ** (exponent - 2)) // 10 ** (exponent - 1)
    return f"{digits // 10}.{digits % 10} x 10^{exponent}"


def numerals(low: int, high: int) -> str:
    """Return a number, or the range that it lies in.

    >>> numerals(3, 3), numerals(0, 10**9)
    ('3', '0 to 1.0 x 10^9')
    """
    return numeral(low) if low == high else f"{numeral(low)} to {numeral(high)}"
