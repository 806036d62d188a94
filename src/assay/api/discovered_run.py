"""Discovered concepts on disk: an ordinary run with predictions, beside it the table, the units and their page."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.base import ProgressCallback, write_atomically, write_folder
from assay.contracts import Predictions, to_json
from assay.dataset import Dataset, SplitData, versions
from assay.diagnosis import provenance
from assay.models import Discovered, DiscoveryPlan, discover
from assay.reporting import concept_rows, unit_cards, with_pictures, write_discovery
from assay.runs import PROGRAM, UNITS, RunFolder, write_pairs, write_record

TABLE, PAGE = "discovery.json", "discovery.html"


def discover_run(
    plan: DiscoveryPlan, dataset: Dataset, output: Path, report: ProgressCallback = lambda *_: None
) -> Discovered:
    """Discover concepts, and write what the first seed found as a run, with the scores of all."""
    with write_folder(output, lambda there: (there / TABLE).is_file()) as half:
        discovered = discover(plan, dataset, report)
        write_discovered(discovered, dataset, half, report)
    return discovered


def write_discovered(discovered: Discovered, dataset: Dataset, output: Path, report: ProgressCallback) -> None:
    """Write predictions, table, units and page, and last the record that makes the folder a run."""
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
    write_discovery(output / PAGE, record, concept_rows(first.scores, shown), with_pictures(cards, shown))
    write_atomically(output / PROGRAM, to_json(first.rule.program))
    rule = {"knowledge": dataset.knowledge.to_dict(), "layout": dataset.layout.to_dict()}
    write_record(run, dataset, {**about, **rule, "pairs": pairs})


def _about(discovered: Discovered) -> dict[str, Any]:
    """Return what a run's record and its predictions say of who gave them."""
    plan = discovered.plan
    config = plan.config.model_dump(mode="json")
    found = {"method": plan.method, "source": discovered.source, "seeds": list(plan.seeds)}
    return {
        "model": discovered.model,
        "seed": plan.seeds[0],
        "config": config,
        "discovery": found,
        "versions": versions(),
    }


def _predict(discovered: Discovered, data: SplitData, about: dict[str, Any]) -> Predictions:
    return replace(discovered.first.predict(discovered.read(data)), about=about)


def _csv(discovered: Discovered) -> str:
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
