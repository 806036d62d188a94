"""Solids on a floor, in three dimensions (rsbench's CLE4EVR)."""

from assay.exchange import EXPORTS
from assay.tasks import TASKS

TASKS.add("clevr", "do two solids on a floor share colour and shape? (CLE4EVR)", "assay.families.clevr.task:Clevr")
TASKS.preset(
    "clevr-small",
    "three solids of three shapes and two colours",
    "clevr",
    "Three solids of three shapes and two colours: do two of them share both?",
    objects=3,
    shapes=["cube", "star", "ring"],
    colours=["red", "blue"],
)
TASKS.preset(
    "clevr-many",
    "three to six solids, some behind others",
    "clevr",
    "Three to six solids, some behind others: do two of them share colour and shape?",
    trial={"width": 64, "height": 48, "quality": "draft", "sizes": ["large", "medium"], "objects": (3, 4)},
    objects=(3, 6),
)
TASKS.add(
    "clevr-hans",
    "which of three classes, two of them confounded in training? (CLEVR-Hans3)",
    "assay.families.clevr.hans:ClevrHans",
)
EXPORTS.add(
    "clevr", "images and CLEVR scene files, as rsbench's CLE4EVR has them", "assay.families.clevr.export:write_clevr"
)
