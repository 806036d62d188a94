"""What a car may do at a crossing, in drawn scenes (SDD-OIA) and in photographs (BDD-OIA)."""

from assay.exchange import EXPORTS
from assay.tasks import TASKS

TASKS.add(
    "sdd-oia",
    "what a car may do at a crossing: drawn traffic scenes, 21 concepts",
    "assay.families.driving.task:SddOia",
)
TASKS.add("bdd-oia", "the same in photographs of BDD-OIA, or in drawn scenes", "assay.families.driving.bdd_oia:BddOia")
EXPORTS.add(
    "bdd-oia", "images and annotations of driving, as BDD-OIA has them", "assay.families.driving.bdd_files:write_bdd"
)
