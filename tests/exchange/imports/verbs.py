"""Every verb on an imported dataset, and what each gave: Must show 3 of issue 17, as one function."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import assay
from assay.auditing import Audit, audit, audited_dataset
from assay.base import AssayError, Settings
from assay.counting import count_shortcuts
from assay.dataset import Dataset, training_support
from assay.diagnosis import Diagnosis, diagnose_run
from assay.exchange import import_folder
from assay.models import TrainSpec, train_run
from assay.reporting import write_report
from assay.runs import RunFolder
from tests.asking import Asking
from tests.exchange.imports.drawn import LAYOUTS, draw


@dataclass(frozen=True)
class Outcome:
    """What the verbs gave; where one refused, why."""

    dataset: Dataset
    audit: Audit
    readings: int | str
    diagnoses: Mapping[str, Diagnosis | str]
    proposed: list[str]
    page: int
    verdict: str
    report: Path


def import_layout(folder: Path, layout: str, count: int, rule: bool = True, missing: float = 0.0) -> Dataset:
    """Write drawn pictures in a layout and import them."""
    writer, formulas = LAYOUTS[layout]
    source = folder / "source"
    source.mkdir(parents=True)
    settings = writer(source, draw(count, missing))
    return import_folder(source, folder / "data", dict(formulas) if rule else None, Settings(settings))


def every_verb(folder: Path, dataset: Dataset, epochs: int) -> Outcome:
    """Audit, count, train, diagnose, report and view a dataset."""
    try:
        knowledge, worlds = training_support(str(dataset.folder), Settings(), 0)
        readings: int | str = count_shortcuts(knowledge, "shared", worlds).high
    except AssayError as error:
        readings = str(error)
    diagnoses: dict[str, Diagnosis | str] = {}
    runs, proposed = [], list[str]()
    for model, settings in (("cbm", {"epochs": epochs}), ("dpl", {"epochs": epochs}), ("ilp", {"seconds": 3})):
        try:
            trained = train_run(TrainSpec(model, Settings(settings)), dataset, folder / model)
        except AssayError as error:
            diagnoses[model] = str(error)
            continue
        runs.append(folder / model)
        diagnoses[model] = diagnose_run(RunFolder(folder / model), dataset)
        proposed = [*trained.describe(), *trained.coverage()] if model == "ilp" else proposed
    viewer = assay.view(dataset.folder, folder / "cbm")
    asking = Asking(viewer.url)
    served = asking.get("shelf.json")["datasets"][0]
    run = served["runs"][0]["key"]
    page = asking.get(f"data/{served['key']}/test.json", [("run", run), ("outcome", "wrong")])
    verdict = asking.get(f"runs/{served['key']}/{run}/verdict.json")["verdict"]
    viewer.stop()
    return Outcome(
        dataset,
        audit(audited_dataset(dataset)),
        readings,
        diagnoses,
        proposed,
        page["whole"],
        verdict,
        write_report(runs, folder / "report"),
    )
