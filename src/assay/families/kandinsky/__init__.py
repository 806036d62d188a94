"""Kandinsky patterns: figures of coloured shapes (rsbench's Kand-Logic)."""

from assay.tasks import TASKS

TASKS.add(
    "kand-logic",
    "do all figures have the same kind of shapes, or of colours?",
    "assay.families.kandinsky.task:KandLogic",
)
TASKS.add(
    "kand-logic-and",
    "do all figures have the same kind of shapes, and of colours?",
    "assay.families.kandinsky.task:KandLogicAnd",
)
TASKS.preset(
    "kand-logic-pairs",
    "has each figure two equal objects and another one?",
    "kand-logic",
    "Figures of coloured shapes: does each have two equal objects, and another of another shape?",
    pattern="any(x.shape == y.shape and x.colour == y.colour for x, y in pairs(objects)) and not same_shape",
    prop_in_distribution=0.8,
)
