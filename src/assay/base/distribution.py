"""The package itself: its version, its optional parts (extras), and the line that installs them.

The distribution is called `concept-assay`; the package that is imported, and the command, are `assay`. The name `assay`
on the package index belongs to another project.
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assay.base.errors import MissingExtra

if TYPE_CHECKING:
    import pandas as pd

VERSION = "0.1.0"
__version__ = VERSION
"""`pyproject.toml` reads the version from here."""

EXTRAS = {
    "torch": "train",
    "safetensors": "train",
    "transformers": "vision",
    "sklearn": "probes",
    "numba": "scenes",
    "manifold3d": "scenes",
    "chess": "chess",
    "fastapi": "view",
    "uvicorn": "view",
    "pyganak": "count",
    "fsspec": "remote",
    "huggingface_hub": "hub",
    "datasets": "hub",
    "pandas": "frames",
    "ray": "cluster",
    "bpy": "blender",
    "torch_concepts": "pyc",
    "tensorboard": "tensorboard",
    "wandb": "wandb",
    "mlflow": "mlflow",
}
"""The extra that brings each optional package, by the name under which it is imported."""


def install_line(*extras: str) -> str:
    """Return how to install extras; once the distribution is published, this line alone changes.

    >>> install_line("train", "view")
    "pip install '.[train,view]' in Assay's source folder"
    """
    return f"pip install '.[{','.join(extras)}]' in Assay's source folder"


def missing_extra(purpose: str, module: str) -> MissingExtra:
    """Return the error that says what needs an optional package, and how to install it.

    >>> str(missing_extra("the model 'tree'", "sklearn.tree"))
    "the model 'tree' needs sklearn: pip install '.[probes]' in Assay's source folder"
    """
    package = module.split(".")[0]
    return MissingExtra(f"{purpose} needs {package}: {install_line(EXTRAS[package])}")


@contextmanager
def needs_extras(purpose: str) -> Iterator[None]:
    """Say for what an optional package is needed, where one is imported that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in EXTRAS:
            raise
        raise missing_extra(purpose, str(error.name)) from None


def import_extra(module: str, purpose: str) -> Any:
    """Import a module of an optional package, or raise an error that says for what it is needed."""
    with needs_extras(purpose):
        return importlib.import_module(module)


def to_frame(data: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
    """Return columns, or rows, as a data frame, for those who have pandas."""
    frame: pd.DataFrame = import_extra("pandas", "a data frame").DataFrame(data)
    return frame
