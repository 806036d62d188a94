"""The bundled checks, one module each; importing this package registers them."""

from assay.diagnosis.checks import (
    annotations,
    boundary,
    incomplete,
    inconsistent,
    leaking,
    memorised,
    missed_region,
    noisy,
    opaque,
    shifted,
    shortcut,
    sound,
    spurious,
    too_few,
    underfit,
    unidentified,
    wrong_rule,
)

__all__ = [
    "annotations", "boundary", "incomplete", "inconsistent", "leaking", "memorised", "missed_region", "noisy",
    "opaque", "shifted", "shortcut", "sound", "spurious", "too_few", "underfit", "unidentified", "wrong_rule",
]  # fmt: skip
