"""A probed run on disk: predictions with concepts of every layer, the best one as a run of its own, and tables."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.base import ProgressCallback, write_atomically, write_folder
from assay.contracts import Predictions, to_json
from assay.dataset import Dataset, SplitData
from assay.logic import Knowledge
from assay.models.core.devices import device_of
from assay.models.core.network import load_network
from assay.models.explain.layers import Subject
from assay.models.explain.probing import METRICS, Ask, LayerResult, Probed, predict_with, probe_layers
from assay.runs import RunFolder, check_dataset, write_pairs, write_record

TABLE, LAYERS = "probes.json", "layers"
KEPT = ("model", "seed", "config", "versions", "probe")


def probe_run(
    folder: Path, dataset: Dataset, output: Path, ask: Ask, report: ProgressCallback = lambda *_: None
) -> Probed:
    """Probe the model of a run, and write what was found to a folder.

    Parameters
    ----------
    folder
        The run.
    dataset
        The dataset that it was trained on.
    output
        An empty folder, or one that a probe wrote.
    ask
        The method, the layers and the settings.
    report
        Told which layer is probed.
    """
    check_dataset(RunFolder(folder), dataset)
    with write_folder(output, lambda there: (there / TABLE).is_file()) as half:
        subject = Subject.of(load_network(folder))
        probed = probe_layers(subject, dataset, ask, report)
        write_probed(probed, subject, dataset, half, ask, RunFolder(folder).metadata())
    return probed


def write_probed(
    probed: Probed, subject: Subject, dataset: Dataset, output: Path, ask: Ask, about: dict[str, Any]
) -> None:
    """Write predictions of every layer, the table, and last the record that makes the best layer a run."""
    knowledge, model = dataset.knowledge, about.get("model", type(subject.module).__name__)
    for result in probed.results:
        record = {**about, **_record(model, result, ask)}
        _write_predictions(result, RunFolder(layer_folder(output, result.layer.name)), knowledge, record)
    record = {**about, **_record(model, probed.best, ask)}
    run = RunFolder(output)
    _write_predictions(probed.best, run, knowledge, record)

    def predict(data: SplitData) -> Predictions:
        predictions = predict_with(subject, probed.probe, data, device_of(ask.config.device))
        return replace(predictions, about={"model": record["model"]})

    pairs = write_pairs(predict, dataset, run)
    found = probed.to_dict(knowledge)
    content = {
        "model": model,
        "method": ask.method,
        "seed": ask.seed,
        "config": ask.config.model_dump(mode="json"),
        "fingerprint": dataset.fingerprint,
        **found,
    }
    write_atomically(output / TABLE, to_json(content))
    write_atomically(output / "probes.csv", _csv(found["layers"]).encode())
    rule = {"knowledge": knowledge.to_dict(), "layout": dataset.layout.to_dict()}
    write_record(run, dataset, {"config": {}, **record, **rule, "pairs": pairs})


def layer_folder(output: Path, layer: str) -> Path:
    """Return where what was found at a layer is kept; `assay score` reads it like a run."""
    return output / LAYERS / layer


def _record(model: str, result: LayerResult, ask: Ask) -> dict[str, Any]:
    config = ask.config.model_dump(mode="json")
    probe = {"of": model, "method": ask.method, "layer": result.layer.name, "seed": ask.seed, "config": config}
    return {"model": f"{model}+{ask.method}@{result.layer.name}", "seed": ask.seed, "probe": probe}


def _write_predictions(result: LayerResult, run: RunFolder, knowledge: Knowledge, about: dict[str, Any]) -> None:
    record = {key: value for key, value in about.items() if key in KEPT}
    for split, predictions in result.predictions.items():
        replace(predictions, about=record).write(run.predictions(split), knowledge)


def _csv(rows: list[dict[str, Any]]) -> str:
    plain = ("number", "layer", "kind", "features", "best")
    splits = [key for key in rows[0] if key not in plain]
    text = io.StringIO()
    written = csv.writer(text, lineterminator="\n")
    written.writerow([*plain, *(f"{split}_{metric}" for split in splits for metric in METRICS)])
    for row in rows:
        values = [row[split][metric]["value"] for split in splits for metric in METRICS]
        written.writerow([*(row[key] for key in plain), *("" if x is None else f"{x:.4f}" for x in values)])
    return text.getvalue()
