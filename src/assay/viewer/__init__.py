"""The viewer: a local web page to look through datasets and runs, to change a concept by hand and see what follows.

`serve` and `serve_in_background` show it on loopback, `write_bundle` writes it as static files.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.viewer.bundle import write_bundle as write_bundle
    from assay.viewer.server import Viewer as Viewer
    from assay.viewer.server import serve as serve
    from assay.viewer.server import serve_in_background as serve_in_background
    from assay.viewer.state import State as State
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
