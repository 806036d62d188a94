"""The command line: one file a verb. `main` runs it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.cli.commands import app as app
    from assay.cli.commands import main as main
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
