"""Handwritten digits and bits: sums, equations and formulas (rsbench's MNAdd, MNMath and MNLogic)."""

from assay.tasks import TASKS

TASKS.add("mnadd", "the sum of k handwritten digits", "assay.families.digits.task:MNAdd")
TASKS.add(
    "mnadd-half",
    "sums of digits 0 to 4, of which training shows a few pairs only",
    "assay.families.digits.task:MNAddHalf",
)
TASKS.add(
    "mnadd-evenodd",
    "sums of two even or two odd digits: 36 ways of reading them fit",
    "assay.families.digits.task:MNAddEvenOdd",
)
TASKS.add("mnmath", "a system of equations over handwritten digits", "assay.families.digits.task:MNMath")
TASKS.add(
    "mnlogic",
    "a logical formula over handwritten bits: XOR, your own, random CNF",
    "assay.families.digits.mnlogic:MNLogic",
)
