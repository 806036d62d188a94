"""Rules over the objects in photographs of COCO, or in drawn scenes that stand in for them (COCOLogic-V2)."""

from assay.tasks import TASKS

TASKS.source("coco", "A folder with COCO's images and annotations, or an annotation file.")
TASKS.add(
    "cocologic", "ten rules over the objects in photographs or drawn scenes", "assay.families.coco.task:CocoLogic"
)
TASKS.add("cocologic-fs", "one such rule, to be learned from 24 images", "assay.families.coco.task:CocoLogicFS")
