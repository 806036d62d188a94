"""The format: a recipe is made into a folder, and a folder is read as a `Dataset`.

`make` draws a `Recipe` into shards, with counterfactual pairs and a card; `Dataset.open` reads one, `SplitData` is
one of its splits. `Confounder` says what a dataset shows that its rule does not.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.dataset.annotation import MENDING as MENDING
    from assay.dataset.annotation import ORDER as ORDER
    from assay.dataset.annotation import Annotation as Annotation
    from assay.dataset.annotation import Rate as Rate
    from assay.dataset.annotation import rate_of as rate_of
    from assay.dataset.cache import cache_folder as cache_folder
    from assay.dataset.concept_reader import ConceptReader as ConceptReader
    from assay.dataset.confounding.confounder import NUISANCES as NUISANCES
    from assay.dataset.confounding.confounder import REVERSED as REVERSED
    from assay.dataset.confounding.confounder import SHIFTED as SHIFTED
    from assay.dataset.confounding.confounder import UNCONFOUNDED as UNCONFOUNDED
    from assay.dataset.confounding.confounder import Confounder as Confounder
    from assay.dataset.confounding.confounder import Coupling as Coupling
    from assay.dataset.confounding.confounder import couplings_of as couplings_of
    from assay.dataset.confounding.confounder import draw_codes as draw_codes
    from assay.dataset.confounding.source import TRIES as TRIES
    from assay.dataset.confounding.source import ConfoundedSource as ConfoundedSource
    from assay.dataset.confounding.task import plain as plain
    from assay.dataset.dataset import Dataset as Dataset
    from assay.dataset.dataset import SplitData as SplitData
    from assay.dataset.dataset import decode as decode
    from assay.dataset.dataset_card import card as card
    from assay.dataset.decoded_file import DecodedFile as DecodedFile
    from assay.dataset.decoding import Fill as Fill
    from assay.dataset.decoding import Lookahead as Lookahead
    from assay.dataset.decoding import allocate_bytes as allocate_bytes
    from assay.dataset.decoding import decode_ahead as decode_ahead
    from assay.dataset.description import CARD as CARD
    from assay.dataset.description import CROISSANT as CROISSANT
    from assay.dataset.description import describe as describe
    from assay.dataset.description import write_description as write_description
    from assay.dataset.estimate import seconds_per_example as seconds_per_example
    from assay.dataset.folds import Fold as Fold
    from assay.dataset.import_note import describe_import as describe_import
    from assay.dataset.import_note import rule_text as rule_text
    from assay.dataset.making import Pool as Pool
    from assay.dataset.making import default_workers as default_workers
    from assay.dataset.making import ensure_shard as ensure_shard
    from assay.dataset.making import make as make
    from assay.dataset.making import refresh_pairs as refresh_pairs
    from assay.dataset.manifest import CODE as CODE
    from assay.dataset.manifest import NAME as NAME
    from assay.dataset.manifest import pairs_split as pairs_split
    from assay.dataset.manifest import read_manifest as read_manifest
    from assay.dataset.manifest import versions as versions
    from assay.dataset.pairs import Pairs as Pairs
    from assay.dataset.pairs import intervened as intervened
    from assay.dataset.pairs import pairs_of as pairs_of
    from assay.dataset.rebuild import check_code as check_code
    from assay.dataset.rebuild import redrawing_for as redrawing_for
    from assay.dataset.rebuild import task_of as task_of
    from assay.dataset.recipe import MOST_PAIRS as MOST_PAIRS
    from assay.dataset.recipe import RECIPE_KEYS as RECIPE_KEYS
    from assay.dataset.recipe import SHARD_ROWS as SHARD_ROWS
    from assay.dataset.recipe import Recipe as Recipe
    from assay.dataset.recipe import recipe_from as recipe_from
    from assay.dataset.recipe import split_to_dict as split_to_dict
    from assay.dataset.regions import cells as cells
    from assay.dataset.regions import region_rows as region_rows
    from assay.dataset.shard import COMPACT as COMPACT
    from assay.dataset.shard import IMAGE as IMAGE
    from assay.dataset.shard import ShardJob as ShardJob
    from assay.dataset.shard import ShardWriter as ShardWriter
    from assay.dataset.shard import columns_of as columns_of
    from assay.dataset.shard import features as features
    from assay.dataset.shard import file_names as file_names
    from assay.dataset.shard import jobs as jobs
    from assay.dataset.shard import record as record
    from assay.dataset.shard import table_of as table_of
    from assay.dataset.shard import write_shard as write_shard
    from assay.dataset.shown_values import ShownValues as ShownValues
    from assay.dataset.support import parse_worlds as parse_worlds
    from assay.dataset.support import random_worlds as random_worlds
    from assay.dataset.support import training_support as training_support
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
