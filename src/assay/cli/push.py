"""`assay push`: copy a dataset to a folder, a store or the Hugging Face hub."""

from typing import Annotated

import typer

from assay.cli.console import DataArgument, say


def push(
    data: DataArgument,
    where: Annotated[str, typer.Argument(help="A folder, an address such as s3://..., or hf://USER/NAME for the hub.")],
    private: Annotated[bool, typer.Option("--private", help="On the hub, let nobody else see it.")] = False,
) -> None:
    """Copy a whole dataset to another place.

    With it go the card and the Croissant description, so that Hugging Face datasets opens it there.
    """
    from assay.api import push as copy

    say(f"{copy(data, where, private=private)}  next: assay show {where}")
