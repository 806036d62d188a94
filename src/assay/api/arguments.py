"""What verbs are given: a dataset or where it lies, settings as a file or as values, thresholds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.base import Folder, Settings, load_yaml
from assay.dataset import Dataset

Data = Dataset | Folder | str
"""A dataset, or the folder or address where it lies."""
ConfigSource = Settings | Mapping[str, Any] | Path | str | None
"""Settings, or the YAML file that holds them."""


def open_dataset(dataset: Data) -> Dataset:
    """Return a dataset, opened if it is given by its place."""
    return dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)


def merge_settings(config: ConfigSource, given: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings of a file or mapping with those given on top."""
    if config is None:
        base = Settings()
    elif isinstance(config, Settings):
        base = config
    elif isinstance(config, Mapping):
        base = Settings(dict(config))
    else:
        base = load_yaml(Path(config))
    return base.merge(Settings(dict(given or {})))
