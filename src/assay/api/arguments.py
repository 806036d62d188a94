"""What verbs are given: a dataset or where it lies, settings as a file or as values, whom to tell."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assay.base import Folder, Settings, load_yaml
from assay.dataset import Dataset

Data = Dataset | Folder | str
"""A dataset, or the folder or address where it lies."""
ConfigSource = Settings | Mapping[str, Any] | Path | str | None
"""Settings, or the YAML file that holds them."""
Say = Callable[[str], Any]
"""Is told in words what happens, such as `print`."""


def open_dataset(dataset: Data) -> Dataset:
    """Return a dataset, opened if it is given by its place."""
    return dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)


def merge_settings(config: ConfigSource, given: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings of a file or mapping with those given on top."""
    if isinstance(config, Settings):
        base = config
    elif config is None or isinstance(config, Mapping):
        base = Settings(dict(config or {}))
    else:
        base = load_yaml(Path(config))
    return base.merge(Settings(dict(given or {})))


def ignore(text: str) -> None:
    """Be told something that nobody wants to hear."""
