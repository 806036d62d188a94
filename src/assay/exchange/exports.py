"""Writing a dataset as other programs expect it: exporters by name, and a folder that is whole or not there.

An exporter is a function of (dataset, names of splits, empty folder) that writes files under the folder and returns how
many examples of each split it wrote; it raises `DataError` where the dataset is none that it can write.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.base import Registry, UnknownName, suggestion

if TYPE_CHECKING:
    from assay.dataset import Dataset

Exporter = Callable[["Dataset", Sequence[str], Path], dict[str, int]]

RECORD = ".export.json"
"""What was exported, and into which form."""
EXPORTS = Registry("export", filled_by="assay.families")
EXPORTS.add(
    "prolog",
    "the rule and the worlds as Prolog, with files for Aleph and Popper",
    "assay.exchange.prolog_files:write_prolog",
)


def export(dataset: "Dataset", name: str, folder: Path, splits: Sequence[str] = ()) -> dict[str, int]:
    """Write splits in the named form; return how many examples of each were written.

    Parameters
    ----------
    dataset
        The dataset.
    name
        The name of an exporter in `EXPORTS`.
    folder
        The folder to write.
    splits
        Only these; by default all.
    """
    from assay.base import write_atomically, write_folder
    from assay.contracts import to_json
    from assay.dataset import versions

    write: Exporter = EXPORTS[name]
    for split in splits:
        if split not in dataset:
            raise UnknownName(f"no split named {split!r}{suggestion(split, dataset.split_names)}")
    wanted = tuple(splits) or dataset.split_names
    with write_folder(folder, lambda there: (there / RECORD).is_file()) as half:
        counts = write(dataset, wanted, half)
        record = {"form": name, "fingerprint": dataset.fingerprint, "splits": counts, "versions": versions()}
        write_atomically(half / RECORD, to_json(record))
    return counts
