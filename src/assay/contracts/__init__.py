"""The waist: what datasets, runs and predictions say on disk, typed, and what models and diagnosis share.

`Manifest` is what a dataset's folder says, `RunRecord` what a run's does. A stranger's file is checked here, once.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.contracts.answers import Prediction as Prediction
    from assay.contracts.columns import AT_ONCE as AT_ONCE
    from assay.contracts.columns import BOUNDARY as BOUNDARY
    from assay.contracts.columns import CONCEPT as CONCEPT
    from assay.contracts.columns import DTYPES as DTYPES
    from assay.contracts.columns import GIVEN as GIVEN
    from assay.contracts.columns import LABEL as LABEL
    from assay.contracts.columns import PAIR_CONCEPT as PAIR_CONCEPT
    from assay.contracts.columns import PAIR_ROW as PAIR_ROW
    from assay.contracts.columns import SUBCONCEPT as SUBCONCEPT
    from assay.contracts.columns import from_column as from_column
    from assay.contracts.columns import kind_of_values as kind_of_values
    from assay.contracts.columns import numbers as numbers
    from assay.contracts.columns import open_parquet as open_parquet
    from assay.contracts.columns import parquet_bytes as parquet_bytes
    from assay.contracts.columns import plain_numbers as plain_numbers
    from assay.contracts.columns import read_parquet as read_parquet
    from assay.contracts.columns import strings as strings
    from assay.contracts.columns import to_column as to_column
    from assay.contracts.intervenable import EVERY as EVERY
    from assay.contracts.intervenable import BottleneckModel as BottleneckModel
    from assay.contracts.intervenable import IntervenableModel as IntervenableModel
    from assay.contracts.intervenable import LinearHead as LinearHead
    from assay.contracts.intervenable import ModelOutput as ModelOutput
    from assay.contracts.intervenable import model_from_predictions as model_from_predictions
    from assay.contracts.intervenable import one_hot as one_hot
    from assay.contracts.intervenable import override as override
    from assay.contracts.intervenable import rule_head as rule_head
    from assay.contracts.manifest import FORMAT as FORMAT
    from assay.contracts.manifest import MENDING as MENDING
    from assay.contracts.manifest import PAIRS as PAIRS
    from assay.contracts.manifest import SPLIT_NAME as SPLIT_NAME
    from assay.contracts.manifest import ImportRecord as ImportRecord
    from assay.contracts.manifest import Manifest as Manifest
    from assay.contracts.manifest import PairsRecord as PairsRecord
    from assay.contracts.manifest import ShardRecord as ShardRecord
    from assay.contracts.manifest import SplitRecord as SplitRecord
    from assay.contracts.manifest import fingerprint as fingerprint
    from assay.contracts.manifest import to_json as to_json
    from assay.contracts.predictions import Predictions as Predictions
    from assay.contracts.predictions import answers_from as answers_from
    from assay.contracts.predictions import apply_constraints as apply_constraints
    from assay.contracts.predictions import read_predictions as read_predictions
    from assay.contracts.run_record import RunRecord as RunRecord
    from assay.contracts.run_record import sealed as sealed
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
