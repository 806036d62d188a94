"""Bongard problems: figures on the left have in common what those on the right lack (after Bongard-LOGO)."""

from assay.tasks import TASKS

TASKS.add("bongard", "does a figure belong with the six on the left?", "assay.families.bongard.task:Bongard")
TASKS.preset(
    "bongard-small",
    "does a figure belong with the two on the left?",
    "bongard",
    "Two figures on the left, two on the right: does another one belong on the left?",
    trial={"side": 20},
    examples=2,
)
