"""Writing a dataset as other programs expect it: exporters by name, and a folder that is whole or not there.

An exporter is a function of (dataset, names of splits, empty folder) that writes files under the folder and returns how
many examples of each split it wrote; it raises `DataError` where the dataset is none that it can write.
"""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import DataError, UnknownName, suggestion
from assay.files import require_empty
from assay.registry import Registry

if TYPE_CHECKING:
    from assay.data.dataset import Dataset

Exporter = Callable[["Dataset", Sequence[str], Path], dict[str, int]]

EXPORTS = Registry("export", filled_by="assay.families")
EXPORTS.add(
    "prolog", "the rule and the worlds as Prolog, with files for Aleph and Popper", "assay.data.prolog:write_prolog"
)


def export(dataset: "Dataset", name: str, folder: Path, splits: Sequence[str] = ()) -> dict[str, int]:
    """Write splits, by default all, in the named form; return how many examples of each were written."""
    write: Exporter = EXPORTS[name]
    folder = folder.absolute()
    for split in splits:
        if split not in dataset:
            raise UnknownName(f"no split named {split!r}{suggestion(split, dataset.split_names)}")
    require_empty(folder)
    part = folder.with_name(f".{folder.name}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)  # what a killed run left
        part.mkdir(parents=True)
        counts = write(dataset, tuple(splits) or dataset.split_names, part)
        part.replace(folder)
    except OSError as error:
        raise DataError(f"cannot write {str(folder)!r}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return counts
