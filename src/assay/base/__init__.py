"""What knows nothing of concepts: errors, settings, registries, files, seeds, processes, progress, plots, markup.

`AssayError` is what every refusal descends from; `Config` and `validate` read settings; `Registry` holds what is found
by name; `rng_for` and `Streams` are where randomness is born; `write_atomically` and `write_folder` keep files whole.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.base.arrays import Array as Array
    from assay.base.arrays import Codes as Codes
    from assay.base.arrays import DistinctRows as DistinctRows
    from assay.base.arrays import as_array as as_array
    from assay.base.arrays import distinct_rows as distinct_rows
    from assay.base.arrays import find_rows as find_rows
    from assay.base.arrays import mean_ranks as mean_ranks
    from assay.base.arrays import number_rows as number_rows
    from assay.base.code_files import RECORD as RECORD
    from assay.base.code_files import CodeFile as CodeFile
    from assay.base.code_files import code_of as code_of
    from assay.base.code_files import explain_missing as explain_missing
    from assay.base.code_files import forget_files as forget_files
    from assay.base.code_files import load_file as load_file
    from assay.base.code_files import load_files as load_files
    from assay.base.code_files import loaded_files as loaded_files
    from assay.base.code_files import require_same as require_same
    from assay.base.code_files import split_reference as split_reference
    from assay.base.config import Config as Config
    from assay.base.config import Settings as Settings
    from assay.base.config import check_names as check_names
    from assay.base.config import describe_settings as describe_settings
    from assay.base.config import from_pairs as from_pairs
    from assay.base.config import load_yaml as load_yaml
    from assay.base.config import validate as validate
    from assay.base.distribution import EXTRAS as EXTRAS
    from assay.base.distribution import VERSION as VERSION
    from assay.base.distribution import import_extra as import_extra
    from assay.base.distribution import install_line as install_line
    from assay.base.distribution import needs_extras as needs_extras
    from assay.base.distribution import to_frame as to_frame
    from assay.base.errors import AssayError as AssayError
    from assay.base.errors import ConfigError as ConfigError
    from assay.base.errors import DataError as DataError
    from assay.base.errors import FormulaError as FormulaError
    from assay.base.errors import KnowledgeError as KnowledgeError
    from assay.base.errors import MissingExtra as MissingExtra
    from assay.base.errors import NoSymbols as NoSymbols
    from assay.base.errors import RuleUnknown as RuleUnknown
    from assay.base.errors import RunFailed as RunFailed
    from assay.base.errors import TooLarge as TooLarge
    from assay.base.errors import UnknownName as UnknownName
    from assay.base.errors import cut as cut
    from assay.base.errors import suggestion as suggestion
    from assay.base.files import copy_folder as copy_folder
    from assay.base.files import locked as locked
    from assay.base.files import open_atomically as open_atomically
    from assay.base.files import open_new as open_new
    from assay.base.files import private_folder as private_folder
    from assay.base.files import refuse_links as refuse_links
    from assay.base.files import remove_leftovers as remove_leftovers
    from assay.base.files import require_empty as require_empty
    from assay.base.files import size_in_words as size_in_words
    from assay.base.files import stays as stays
    from assay.base.files import write_atomically as write_atomically
    from assay.base.files import write_folder as write_folder
    from assay.base.files import write_new as write_new
    from assay.base.markup import HtmlPicture as HtmlPicture
    from assay.base.markup import Markdown as Markdown
    from assay.base.markup import code_text as code_text
    from assay.base.markup import escape_text as escape_text
    from assay.base.markup import html_lines as html_lines
    from assay.base.markup import html_link as html_link
    from assay.base.markup import html_table as html_table
    from assay.base.markup import html_text as html_text
    from assay.base.markup import join_first as join_first
    from assay.base.markup import join_words as join_words
    from assay.base.markup import markdown_table as markdown_table
    from assay.base.markup import prose_text as prose_text
    from assay.base.markup import safe_link as safe_link
    from assay.base.markup import shorten as shorten
    from assay.base.plots import COLOURS as COLOURS
    from assay.base.plots import INK as INK
    from assay.base.plots import MARK as MARK
    from assay.base.plots import MOST_TICKS as MOST_TICKS
    from assay.base.plots import Bars as Bars
    from assay.base.plots import Dots as Dots
    from assay.base.plots import Figure as Figure
    from assay.base.plots import Line as Line
    from assay.base.plots import PlottedValue as PlottedValue
    from assay.base.plots import bar_plot as bar_plot
    from assay.base.plots import curve_plot as curve_plot
    from assay.base.plots import draw_bars as draw_bars
    from assay.base.plots import draw_confusion as draw_confusion
    from assay.base.plots import draw_dots as draw_dots
    from assay.base.plots import draw_lines as draw_lines
    from assay.base.plots import draw_shares as draw_shares
    from assay.base.plots import heat_maps as heat_maps
    from assay.base.plots import line_plot as line_plot
    from assay.base.plots import picture_sheet as picture_sheet
    from assay.base.processes import begin_worker as begin_worker
    from assay.base.processes import block_interrupts as block_interrupts
    from assay.base.processes import hear_interrupts as hear_interrupts
    from assay.base.processes import start_program as start_program
    from assay.base.processes import stop_hearing_interrupts as stop_hearing_interrupts
    from assay.base.processes import worker_number as worker_number
    from assay.base.progress import ProgressCallback as ProgressCallback
    from assay.base.progress import duration as duration
    from assay.base.progress import progress_bar as progress_bar
    from assay.base.registry import Entry as Entry
    from assay.base.registry import Registry as Registry
    from assay.base.remote import Folder as Folder
    from assay.base.remote import RemotePath as RemotePath
    from assay.base.remote import folder_at as folder_at
    from assay.base.remote import is_remote as is_remote
    from assay.base.remote import permit_remote as permit_remote
    from assay.base.remote import refuse_named as refuse_named
    from assay.base.remote import refuse_outward as refuse_outward
    from assay.base.remote import refuse_remote as refuse_remote
    from assay.base.seeds import GOLDEN as GOLDEN
    from assay.base.seeds import Draws as Draws
    from assay.base.seeds import SeededPermutation as SeededPermutation
    from assay.base.seeds import Streams as Streams
    from assay.base.seeds import digest as digest
    from assay.base.seeds import fractions as fractions
    from assay.base.seeds import mix_words as mix_words
    from assay.base.seeds import numbers_below as numbers_below
    from assay.base.seeds import rng_for as rng_for
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
