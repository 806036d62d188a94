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
TASKS.add("robots", "robots told apart by body parts, seen, described or tabulated", "assay.tasks.robots:Robots")
TASKS.add("kand-logic", "figures with the same kind of shapes or of colours", "assay.tasks.kandinsky:KandLogic")
TASKS.add("kand-logic-and", "figures with the same kind of shapes and of colours", "assay.tasks.kandinsky:KandLogicAnd")
TASKS.add("kand-logic-pairs", "figures each with two equal objects and another", "assay.tasks.kandinsky:KandLogicPairs")
TASKS.add("sudoku", "sudoku boards, valid or with a few violated rows, columns and blocks", "assay.tasks.sudoku:Sudoku")
TASKS.add(
    "sudoku-paper", "sudoku boards with 1 to 9 corruption actions, as published", "assay.tasks.sudoku:SudokuPaper"
)
TASKS.add("sudoku-mini", "sudoku boards of 4 x 4 cells", "assay.tasks.sudoku:SudokuMini")
TASKS.add("cocologic", "ten rules over the objects in photographs or drawn scenes", "assay.tasks.cocologic:CocoLogic")
TASKS.add("cocologic-fs", "one such rule, to be learned from 24 images", "assay.tasks.cocologic:CocoLogicFS")
