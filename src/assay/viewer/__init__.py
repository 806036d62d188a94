"""The viewer: a local web page to look through datasets and runs, to change a concept by hand and see what follows.

`serve` and `serve_in_background` show it on loopback, `write_bundle` writes it as static files.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.viewer.bundle import write_bundle as write_bundle
    from assay.viewer.counts import compare_runs as compare_runs
    from assay.viewer.counts import reading_of as reading_of
    from assay.viewer.datasets import overview as overview
    from assay.viewer.edit import ask_model as ask_model
    from assay.viewer.edit import edit_sample as edit_sample
    from assay.viewer.query import Misreading as Misreading
    from assay.viewer.query import Query as Query
    from assay.viewer.runs import run_page as run_page
    from assay.viewer.runs import verdict_of as verdict_of
    from assay.viewer.samples import page_of as page_of
    from assay.viewer.server import Viewer as Viewer
    from assay.viewer.server import serve as serve
    from assay.viewer.server import serve_in_background as serve_in_background
    from assay.viewer.state import State as State
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
