"""Discover concepts without annotations, and score them against the true ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.api.arguments import ConfigSource, Data, merge_settings, open_dataset
from assay.api.running import Run
from assay.base import progress_bar

if TYPE_CHECKING:
    from assay.models import Discovered


def discover(
    dataset: Data,
    method: str = "sae-topk",
    source: Run | Path | str = "input",
    output: Path | str | None = None,
    *,
    layer: str | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    progress: bool | None = None,
    config: ConfigSource = None,
    **settings: Any,
) -> "Discovered":
    """Find units in a run, a backbone or the pictures, match them with the true concepts, and score them beside chance.

    Parameters
    ----------
    dataset
        The dataset, or its folder or address.
    method
        The method, such as `sae-topk`, `pca` or `slots`; `assay list discovery` has all.
    source
        A run or its folder, the name of a backbone, or `input`.
    output
        The folder for a run of what the first seed found, with a page of top pictures.
    layer
        The layer; by default what the last one reads.
    seeds
        The random seeds.
    progress
        Whether to show progress on standard error.
    config
        Settings of the method, or the YAML file that has them; keywords override them.
    **settings
        Settings of the method.
    """
    from assay.models import METHODS

    METHODS.entry(method)
    opened = open_dataset(dataset)
    from assay.api.discovered_run import discover_run
    from assay.models import DiscoveryPlan
    from assay.models import discover as discover_units

    where = str(source.folder if isinstance(source, Run) else source)
    plan = DiscoveryPlan.of(method, where, merge_settings(config, settings), seeds, layer)
    with progress_bar(progress) as bar:
        return discover_units(plan, opened, bar) if output is None else discover_run(plan, opened, Path(output), bar)
