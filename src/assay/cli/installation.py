"""`assay doctor` and `assay clean`: what is installed, and what the cache folder holds."""

from typing import Annotated

import typer

from assay.cli.console import JsonFlag, print_facts


def doctor(as_json: JsonFlag = False) -> None:
    """Say what is installed and what is missing.

    Also what each missing part would give, which GPU PyTorch sees, and how large the caches are.
    """
    from assay.api import doctor as examine

    print_facts(examine(), as_json)


def clean(
    names: Annotated[list[str] | None, typer.Argument(metavar="CACHE...", help="Only these; by default all.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Empty them; without it, they are only listed.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """List what Assay keeps in its cache folder, and empty it on request.

    Everything there can be made again; datasets and runs in folders of your own are never touched.
    """
    from assay.api import clean as clean_caches

    print_facts(clean_caches(names or (), yes=yes), as_json)
