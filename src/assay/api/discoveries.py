"""Concepts that a method finds without annotations: scored against the true ones, and kept as a run."""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.api.arguments import ConfigSource, Data, merge_settings, open_dataset
from assay.api.runs import Run
from assay.base import ProgressCallback, progress_bar, write_atomically, write_folder
from assay.contracts import Predictions, to_json
from assay.dataset import Dataset, SplitData, versions
from assay.runs import PROGRAM, UNITS, RunFolder, write_pairs, write_record

if TYPE_CHECKING:
    from assay.models import Discovered

TABLE = "discovery.json"


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
    from assay.models import DiscoveryPlan
    from assay.models import discover as discover_units

    where = str(source.folder if isinstance(source, Run) else source)
    plan = DiscoveryPlan.of(method, where, merge_settings(config, settings), seeds, layer)
    with progress_bar(progress) as bar:
        if output is None:
            return discover_units(plan, opened, bar)
        with write_folder(Path(output), lambda there: (there / TABLE).is_file()) as half:
            discovered = discover_units(plan, opened, bar)
            _write(discovered, opened, half, bar)
    return discovered


def _write(discovered: "Discovered", dataset: Dataset, output: Path, report: ProgressCallback) -> None:
    """Write predictions, table, units and page of the first seed, and last the record that makes the folder a run."""
    from assay.dataset import provenance
    from assay.reporting import unit_cards, write_discovery

    run, about = RunFolder(output), _about(discovered)
    names = [name for name in dataset.split_names if not name.startswith("train")]
    for number, name in enumerate(names):
        report("predictions", number, len(names))
        _predict(discovered, dataset[name], about).write(run.predictions(name), dataset.knowledge)
    pairs = write_pairs(lambda data: _predict(discovered, data, about), dataset, run)
    record = {**discovered.to_dict(), "data": provenance(dataset), "versions": versions()}
    write_atomically(output / TABLE, to_json(record))
    write_atomically(output / "discovery.csv", _csv(discovered).encode())
    first, shown = discovered.first, discovered.shown
    cards = unit_cards(first.scores, first.test_units, shown, first.discoverer.names)
    write_atomically(output / UNITS, to_json({"split": shown.name, "units": [card.to_dict() for card in cards]}))
    write_discovery(output / "discovery.html", record, first.scores, cards, shown)
    write_atomically(output / PROGRAM, to_json(first.rule.program))
    rule = {"knowledge": dataset.knowledge.to_dict(), "layout": dataset.layout.to_dict()}
    write_record(run, dataset, {**about, **rule, "pairs": pairs})


def _about(discovered: "Discovered") -> dict[str, Any]:
    """Return what a run's record and its predictions say of who gave them."""
    plan = discovered.plan
    return {
        "model": discovered.model,
        "seed": plan.seeds[0],
        "config": plan.config.model_dump(mode="json"),
        "discovery": {"method": plan.method, "source": discovered.source, "seeds": list(plan.seeds)},
        "versions": versions(),
    }


def _predict(discovered: "Discovered", data: SplitData, about: dict[str, Any]) -> Predictions:
    return replace(discovered.first.predict(discovered.read(data)), about=about)


def _csv(discovered: "Discovered") -> str:
    """Return a row for each seed and concept value: its unit and its scores."""
    text = io.StringIO()
    written = csv.writer(text, lineterminator="\n")
    written.writerow(["seed", "value", "unit", "direction", "f1", "information", "purity", "share"])
    for discovery in discovered.discoveries:
        for score in discovery.scores.matches:
            row = score.to_dict()
            numbers = [
                "" if row[key] is None else f"{row[key]:.4f}" for key in ("f1", "information", "purity", "share")
            ]
            unit = "" if row["unit"] is None else row["unit"]
            written.writerow([discovery.seed, row["value"], unit, row["direction"], *numbers])
    return text.getvalue()
