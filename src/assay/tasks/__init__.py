"""Tasks by name. A task declares its concepts and its rule once, draws styles, and renders worlds."""

from assay.registry import Registry

TASKS = Registry("task")
TASKS.add("mnadd", "the sum of k handwritten digits", "assay.tasks.digits:MNAdd")
TASKS.add(
    "mnadd-half", "sums of digits 0-4, a few pairs only: digits can be read wrong", "assay.tasks.digits:MNAddHalf"
)
TASKS.add("mnadd-evenodd", "sums of two even or two odd digits: 36 readings fit", "assay.tasks.digits:MNAddEvenOdd")
TASKS.add("mnmath", "a system of equations over handwritten digits", "assay.tasks.digits:MNMath")
TASKS.add("mnlogic", "a logical formula over handwritten bits: XOR, your own, random CNF", "assay.tasks.logic:MNLogic")
