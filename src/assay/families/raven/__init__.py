"""Matrices of panels that follow rules from left to right: which candidate completes them (after RAVEN and I-RAVEN)?"""

from assay.tasks import TASKS

TASKS.add("raven", "which of eight panels completes the matrix?", "assay.families.raven.task:Raven")
TASKS.preset(
    "raven-small",
    "which of four panels completes the matrix, by two rules that never change?",
    "raven",
    "Matrices of two attributes with one rule each, and four candidates.",
    trial={"side": 26},
    rules={"number": ["progression"], "shape": ["distribute_three"]},
    candidates=4,
    shapes=["triangle", "square", "circle"],
)
TASKS.preset(
    "raven-biased",
    "matrices whose answer can be told from the candidates alone",
    "raven",
    "Matrices with RAVEN's candidates: each wrong one differs from the answer in one attribute, which gives it away.",
    distractors="near",
)
