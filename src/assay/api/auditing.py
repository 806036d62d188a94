"""Audit a dataset."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.api.arguments import ConfigSource, merge_settings, open_dataset
from assay.auditing import Audit, audited_dataset, open_imported
from assay.auditing import audit as examine
from assay.base import progress_bar
from assay.dataset import NAME, Dataset
from assay.exchange import find_table


def audit(
    dataset: Dataset | Path | str,
    checks: Sequence[str] = (),
    *,
    write: bool = False,
    progress: bool | None = None,
    config: ConfigSource = None,
    **settings: Any,
) -> Audit:
    """Check whether a dataset is what it claims to be; what could not be checked is said to be.

    Parameters
    ----------
    dataset
        A dataset, its folder or address, or a folder with images and a table `concepts.csv`.
    checks
        Only these; by default all.
    write
        Whether to write `audit.json` and a section of the dataset card, if all checks were tried.
    progress
        Whether to show progress on standard error.
    config
        Settings that say where the sources of the task lie now, or the YAML file that has them.
    **settings
        The same as keywords.
    """
    folder = None if isinstance(dataset, Dataset) else Path(dataset)
    if folder is not None and not (folder / NAME).exists() and find_table(folder) is not None:
        opened, examined = None, open_imported(folder)
    else:
        opened = open_dataset(dataset)
        examined = audited_dataset(opened, merge_settings(config, settings))
    with progress_bar(progress) as bar:
        outcome = examine(examined, checks, lambda name, share: bar("auditing", share, 1.0, name))
    if write and not checks and opened is not None and opened.origin is None:
        outcome.write(opened.folder)
    return outcome
