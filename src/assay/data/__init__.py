"""Datasets on disk, and what comes and goes.

`make` writes the dataset of a `Recipe`, `Dataset` and `SplitData` read one: a folder of Parquet shards, a manifest, a
Croissant file and a card. Other tables and pictures come in by `import_folder`, `from_table` and `from_hf`; copies
with other annotations or confounders by `annotate` and `confound_dataset`; files of other programs go out by `export`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.data.additions import add_examples as add_examples
    from assay.data.annotated_copy import Machine as Machine
    from assay.data.annotated_copy import annotate as annotate
    from assay.data.annotated_copy import likeliest_codes as likeliest_codes
    from assay.data.annotation import Annotation as Annotation
    from assay.data.annotation import MENDING as MENDING
    from assay.data.archive_file import archive as archive
    from assay.data.cache import cache_folder as cache_folder
    from assay.data.cluster import Call as Call
    from assay.data.cluster import Cluster as Cluster
    from assay.data.cluster import Died as Died
    from assay.data.columns import AT_ONCE as AT_ONCE
    from assay.data.columns import BOUNDARY as BOUNDARY
    from assay.data.columns import CONCEPT as CONCEPT
    from assay.data.columns import LABEL as LABEL
    from assay.data.columns import PAIR_CONCEPT as PAIR_CONCEPT
    from assay.data.columns import PAIR_ROW as PAIR_ROW
    from assay.data.columns import distinct_values as distinct_values
    from assay.data.columns import from_column as from_column
    from assay.data.columns import numbers as numbers
    from assay.data.columns import open_parquet as open_parquet
    from assay.data.columns import parquet_bytes as parquet_bytes
    from assay.data.columns import parquet_source as parquet_source
    from assay.data.columns import plain_numbers as plain_numbers
    from assay.data.columns import read_parquet as read_parquet
    from assay.data.columns import to_column as to_column
    from assay.data.concept_masks import ConceptMasks as ConceptMasks
    from assay.data.concept_reader import ConceptReader as ConceptReader
    from assay.data.confounding.confounder import Confounder as Confounder
    from assay.data.confounding.confounder import Coupling as Coupling
    from assay.data.confounding.confounder import NUISANCES as NUISANCES
    from assay.data.confounding.confounder import REVERSED as REVERSED
    from assay.data.confounding.confounder import SHIFTED as SHIFTED
    from assay.data.confounding.confounder import UNCONFOUNDED as UNCONFOUNDED
    from assay.data.confounding.confounder import couplings_of as couplings_of
    from assay.data.confounding.source import ConfoundedSource as ConfoundedSource
    from assay.data.confounding.source import TRIES as TRIES
    from assay.data.confounding.stored import Copying as Copying
    from assay.data.confounding.stored import confound_dataset as confound_dataset
    from assay.data.confounding.task import plain as plain
    from assay.data.dataset import Dataset as Dataset
    from assay.data.dataset import SplitData as SplitData
    from assay.data.dataset import decode as decode
    from assay.data.dataset_card import card as card
    from assay.data.decoded_file import DecodedFile as DecodedFile
    from assay.data.decoding import Fill as Fill
    from assay.data.decoding import Lookahead as Lookahead
    from assay.data.decoding import allocate_bytes as allocate_bytes
    from assay.data.decoding import decode_ahead as decode_ahead
    from assay.data.estimate import seconds_per_example as seconds_per_example
    from assay.data.exports import EXPORTS as EXPORTS
    from assay.data.exports import export as export
    from assay.data.folds import Fold as Fold
    from assay.data.imports.importing import from_hf as from_hf
    from assay.data.imports.importing import from_table as from_table
    from assay.data.imports.importing import import_folder as import_folder
    from assay.data.imports.plain_table import NUISANCE as NUISANCE
    from assay.data.imports.plain_table import find_table as find_table
    from assay.data.imports.plain_table import read_columns as read_columns
    from assay.data.imports.plain_table import source_names as source_names
    from assay.data.imports.rule_file import RULE as RULE
    from assay.data.imports.rule_file import RuleFile as RuleFile
    from assay.data.imports.rule_file import read_rule as read_rule
    from assay.data.imports.rule_file import rule_settings as rule_settings
    from assay.data.imports.source_table import files_in as files_in
    from assay.data.imports.source_table import plain_name as plain_name
    from assay.data.imports.source_table import to_values as to_values
    from assay.data.imports.source_table import values_in as values_in
    from assay.data.imports.words import describe_import as describe_import
    from assay.data.imports.words import rule_text as rule_text
    from assay.data.machine_scores import read_scores as read_scores
    from assay.data.making import Pool as Pool
    from assay.data.making import default_workers as default_workers
    from assay.data.making import make as make
    from assay.data.making import refresh_pairs as refresh_pairs
    from assay.data.manifest import CODE as CODE
    from assay.data.manifest import NAME as NAME
    from assay.data.manifest import pairs_split as pairs_split
    from assay.data.manifest import read_manifest as read_manifest
    from assay.data.manifest import versions as versions
    from assay.data.pairs import Pairs as Pairs
    from assay.data.pairs import intervened as intervened
    from assay.data.pairs import pairs_of as pairs_of
    from assay.data.pushing import push as push
    from assay.data.rebuild import check_code as check_code
    from assay.data.rebuild import redrawing_for as redrawing_for
    from assay.data.rebuild import task_of as task_of
    from assay.data.recipe import MOST_PAIRS as MOST_PAIRS
    from assay.data.recipe import RECIPE_KEYS as RECIPE_KEYS
    from assay.data.recipe import Recipe as Recipe
    from assay.data.recipe import recipe_from as recipe_from
    from assay.data.recipe import split_to_dict as split_to_dict
    from assay.data.regions import cells as cells
    from assay.data.regions import region_rows as region_rows
    from assay.data.remote import Folder as Folder
    from assay.data.remote import folder_at as folder_at
    from assay.data.remote import is_remote as is_remote
    from assay.data.remote import permit_remote as permit_remote
    from assay.data.remote import refuse_named as refuse_named
    from assay.data.remote import refuse_remote as refuse_remote
    from assay.data.shard import IMAGE as IMAGE
    from assay.data.shard import ShardWriter as ShardWriter
    from assay.data.shard import file_names as file_names
    from assay.data.shard import table_of as table_of
    from assay.data.shown_values import ShownValues as ShownValues
    from assay.data.support import parse_worlds as parse_worlds
    from assay.data.support import random_worlds as random_worlds
    from assay.data.support import training_support as training_support
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
