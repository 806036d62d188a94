"""The format: a recipe is made into a folder, and a folder is read as a `Dataset`.

`make` draws a `Recipe` into shards, with counterfactual pairs and a card; `Dataset.open` reads one, `SplitData` is
one of its splits. `Confounder` says what a dataset shows that its rule does not.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.dataset.cards import describe as describe
    from assay.dataset.cards import describe_import as describe_import
    from assay.dataset.cards import region_tables as region_tables
    from assay.dataset.cards import write_description as write_description
    from assay.dataset.confounded import further_worlds as further_worlds
    from assay.dataset.confounded import reversed_worlds as reversed_worlds
    from assay.dataset.confounders import NUISANCES as NUISANCES
    from assay.dataset.confounders import REVERSED as REVERSED
    from assay.dataset.confounders import SHIFTED as SHIFTED
    from assay.dataset.confounders import UNCONFOUNDED as UNCONFOUNDED
    from assay.dataset.confounders import Confounder as Confounder
    from assay.dataset.confounders import Coupling as Coupling
    from assay.dataset.confounders import confounders_of as confounders_of
    from assay.dataset.confounders import couplings_of as couplings_of
    from assay.dataset.confounders import draw_codes as draw_codes
    from assay.dataset.dataset import Dataset as Dataset
    from assay.dataset.dataset import provenance as provenance
    from assay.dataset.dataset import training_worlds as training_worlds
    from assay.dataset.folder import NAME as NAME
    from assay.dataset.folder import cache_folder as cache_folder
    from assay.dataset.folder import pairs_split as pairs_split
    from assay.dataset.folder import read_manifest as read_manifest
    from assay.dataset.folder import replace_dataset as replace_dataset
    from assay.dataset.folder import versions as versions
    from assay.dataset.making import Pool as Pool
    from assay.dataset.making import default_workers as default_workers
    from assay.dataset.making import make as make
    from assay.dataset.making import refresh_pairs as refresh_pairs
    from assay.dataset.pairs import check_code as check_code
    from assay.dataset.pairs import intervened as intervened
    from assay.dataset.pairs import pairs_of as pairs_of
    from assay.dataset.pairs import redrawing_for as redrawing_for
    from assay.dataset.pairs import task_of as task_of
    from assay.dataset.pictures import decode as decode
    from assay.dataset.recipe import SHARD_ROWS as SHARD_ROWS
    from assay.dataset.recipe import Recipe as Recipe
    from assay.dataset.recipe import recipe_from as recipe_from
    from assay.dataset.recipe import seconds_per_example as seconds_per_example
    from assay.dataset.shard import COMPACT as COMPACT
    from assay.dataset.shard import IMAGE as IMAGE
    from assay.dataset.shard import ShardJob as ShardJob
    from assay.dataset.shard import ShardWriter as ShardWriter
    from assay.dataset.shard import columns_of as columns_of
    from assay.dataset.shard import features as features
    from assay.dataset.shard import file_names as file_names
    from assay.dataset.shard import split_counts as split_counts
    from assay.dataset.shard import table_of as table_of
    from assay.dataset.shard import write_shards as write_shards
    from assay.dataset.split import ConceptReader as ConceptReader
    from assay.dataset.split import Fold as Fold
    from assay.dataset.split import ShownValues as ShownValues
    from assay.dataset.split import SplitData as SplitData
    from assay.dataset.support import support_worlds as support_worlds
    from assay.dataset.support import training_support as training_support
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
