"""A run: its folder, what is written into it, and the evidence that it gives. Needs no torch.

`RunFolder` opens one, `write_record` writes into one, `evidence_of` puts its predictions beside the truth. `under_rule`
judges it by another rule than it learned.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.runs.evidence import evidence_of as evidence_of
    from assay.runs.evidence import under_rule as under_rule
    from assay.runs.folder import CHECKPOINT as CHECKPOINT
    from assay.runs.folder import INPUT as INPUT
    from assay.runs.folder import LOGS as LOGS
    from assay.runs.folder import PROGRAM as PROGRAM
    from assay.runs.folder import RUN as RUN
    from assay.runs.folder import STAGES as STAGES
    from assay.runs.folder import UNITS as UNITS
    from assay.runs.folder import USAGE as USAGE
    from assay.runs.folder import WEIGHTS as WEIGHTS
    from assay.runs.folder import RunFolder as RunFolder
    from assay.runs.folder import check_dataset as check_dataset
    from assay.runs.folder import split_for as split_for
    from assay.runs.folder import units_of as units_of
    from assay.runs.folder import write_pairs as write_pairs
    from assay.runs.folder import write_record as write_record
    from assay.runs.usage import measure_usage as measure_usage
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
