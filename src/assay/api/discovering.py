"""Discover concepts without annotations, and score them against the true ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.api.running import Run
from assay.config import Settings
from assay.data import Dataset
from assay.progress import progress_bar

if TYPE_CHECKING:
    from assay.models import Discovered


def discover(
    dataset: Dataset,
    method: str = "sae-topk",
    source: Run | Path | str = "input",
    output: Path | str | None = None,
    *,
    layer: str | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    **settings: Any,
) -> "Discovered":
    """Find units in a run, a backbone or the pictures, match them with the true concepts, and score them beside chance.

    `source` is a run or its folder, the name of a backbone, or `input`. With an `output` folder, what the first seed
    found is written there as a run, with a page of top pictures. Other keywords are settings of the method.
    """
    from assay.models import DiscoveryPlan, discover_run
    from assay.models import discover as discover_units

    where = str(source.folder if isinstance(source, Run) else source)
    plan = DiscoveryPlan.of(method, where, Settings(dict(settings)), seeds, layer)
    with progress_bar() as bar:
        return discover_units(plan, dataset, bar) if output is None else discover_run(plan, dataset, Path(output), bar)
