"""The waist: what datasets, runs and predictions say on disk, typed, and what models and diagnosis share.

`Manifest` is what a dataset's folder says, `RunRecord` what a run's does. A stranger's file is checked here, once.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.contracts.intervenable import EVERY as EVERY
    from assay.contracts.intervenable import BottleneckModel as BottleneckModel
    from assay.contracts.intervenable import IntervenableModel as IntervenableModel
    from assay.contracts.intervenable import LabelHead as LabelHead
    from assay.contracts.intervenable import LinearHead as LinearHead
    from assay.contracts.intervenable import ModelOutput as ModelOutput
    from assay.contracts.intervenable import Rows as Rows
    from assay.contracts.intervenable import logistic_head as logistic_head
    from assay.contracts.intervenable import one_hot as one_hot
    from assay.contracts.intervenable import override as override
    from assay.contracts.intervenable import softmax as softmax
    from assay.contracts.manifest import FORMAT as FORMAT
    from assay.contracts.manifest import PAIRS as PAIRS
    from assay.contracts.manifest import SPLIT_NAME as SPLIT_NAME
    from assay.contracts.manifest import ImportRecord as ImportRecord
    from assay.contracts.manifest import Manifest as Manifest
    from assay.contracts.manifest import PairsRecord as PairsRecord
    from assay.contracts.manifest import ShardRecord as ShardRecord
    from assay.contracts.manifest import SplitRecord as SplitRecord
    from assay.contracts.manifest import TaskRecord as TaskRecord
    from assay.contracts.manifest import fingerprint as fingerprint
    from assay.contracts.manifest import parse_manifest as parse_manifest
    from assay.contracts.manifest import to_json as to_json
    from assay.contracts.run_record import FILES as FILES
    from assay.contracts.run_record import SEAL as SEAL
    from assay.contracts.run_record import RunRecord as RunRecord
    from assay.contracts.run_record import TransferRecord as TransferRecord
    from assay.contracts.run_record import parse_record as parse_record
    from assay.contracts.run_record import seal_of as seal_of
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
