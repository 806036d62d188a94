"""Training on a GPU: `python -m benchmarks.gpu [steps] [pictures] [formats]`, each beside a hand-written loop.

`steps`: steps a second of every network on two digits, one seed and ten, as one kernel after the other, as CUDA graphs,
and in a captured loop written by hand for the same network and loss. `pictures`: pictures a second of deep backbones,
held on the device and decoded from disk, and the share of time in which the GPU is busy. `formats`: F1 of ten seeds in
float32 one by one, captured, TensorFloat-32 and bfloat16. Results are printed as Markdown and kept in `$OUT/gpu.json`.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

import assay
from assay.dataset import Dataset, SplitData
from assay.models import BACKBONES, MODELS, NeuralModel
from benchmarks.by_hand import hand_written_loss

DEVICE = torch.device("cuda")
NETWORKS = ("dpl", "ltn", "cbm", "semantic", "blackbox", "cem", "dcr", "probcbm", "ecbm", "bears")
BY_HAND = ("dpl", "ltn", "cbm", "semantic", "blackbox")
BATCHES = (32, 64)
EXAMPLES = 3_000
WARM, TIMED = 5, 20
"""Epochs before the clock is read, in which steps are captured, the short last batch in the fourth; and while it is."""
METRICS = ("label_f1", "concept_f1")
DEFAULTS: dict[str, dict[str, Any]] = {"defaults": {}}
EAGER: dict[str, Any] = {"captured": False, "tf32": False, "precision": "float32", "channels_last": False}


def seconds_of(work: Callable[[], object], least: float = 0.4) -> float:
    """Return the seconds of one call, after one that warms up, repeating until the clock can tell."""
    work()
    torch.cuda.synchronize()
    began, calls = time.perf_counter(), 0
    while time.perf_counter() - began < least:
        work()
        torch.cuda.synchronize()
        calls += 1
    return (time.perf_counter() - began) / calls


def made(name: str, dataset: Dataset, seed: int = 0, **settings: Any) -> NeuralModel:
    model: NeuralModel = MODELS[name](dataset, settings={"device": DEVICE.type, **settings}, seed=seed)
    return model.to(DEVICE).train()


# -- steps a second ----------------------------------------------------------------------------------------------------


def steps_per_second(name: str, dataset: Dataset, data: SplitData, seeds: int = 1, **settings: Any) -> float:
    """Return how many steps of each seed a second training takes, the short last batch included."""
    models = [made(name, dataset, seed, memory_share=0.5, **settings) for seed in range(seeds)]
    seconds = seconds_of_epochs(models, data)
    facts = models[0].training_facts or {}
    if models[0].config.captured and not facts["captured"]:
        print(f"{name}: not captured: {facts['not_captured']}")
    return -(-len(data) // models[0].config.batch_size) / seconds


def seconds_of_epochs(models: Sequence[NeuralModel], data: SplitData) -> float:
    """Return the seconds of an epoch after those in which steps are captured; one example is predicted after each."""
    ends: list[float] = []

    def note(epoch: Any, epochs: int) -> None:
        torch.cuda.synchronize()
        ends.append(time.perf_counter())

    for model in models:
        model.config = model.config.model_copy(update={"epochs": WARM + TIMED, "patience": WARM + TIMED})
    if len(models) == 1:
        models[0].fit(data, data[:1], note)
    else:
        models[0].fit_together(models[1:], data, data[:1], note)
    return (ends[WARM + TIMED - 1] - ends[WARM - 1]) / TIMED


def hand_written(name: str, dataset: Dataset, data: SplitData, batch: int) -> float:
    """Return the steps a second of a plain torch loop whose step is captured in a CUDA graph."""
    images = torch.from_numpy(data.images).permute(0, 3, 1, 2).contiguous().to(DEVICE)
    labels, concepts = (torch.from_numpy(codes).to(DEVICE) for codes in (data.labels, data.concepts))
    network, loss = hand_written_loss(name, dataset, DEVICE)
    adam = torch.optim.Adam(network.parameters(), lr=1e-3, weight_decay=1e-4, fused=True, capturable=True)
    rows = torch.arange(batch, device=DEVICE)

    def step() -> None:
        adam.zero_grad(set_to_none=True)
        loss(images[rows].float() / 255, labels[rows], concepts[rows]).backward()
        adam.step()

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    parts = torch.split(torch.randperm(len(data), device=DEVICE), batch)[:-1]

    def epoch() -> None:
        for part in parts:
            rows.copy_(part)
            graph.replay()

    return len(parts) / seconds_of(epoch)


def steps(found: dict[str, Any]) -> None:
    dataset = assay.make("mnadd-evenodd")
    data = dataset["train"][:EXAMPLES]
    rows = []
    print("| model | batch | one by one | captured | ratio | by hand | ratio | ten seeds |")
    for name in NETWORKS:
        for batch in BATCHES if name in BY_HAND else BATCHES[-1:]:
            eager = steps_per_second(name, dataset, data, batch_size=batch, **EAGER)
            ours = steps_per_second(name, dataset, data, batch_size=batch)
            hand = hand_written(name, dataset, data, batch) if name in BY_HAND else float("nan")
            ten = (
                10 * steps_per_second(name, dataset, data, 10, batch_size=batch)
                if batch == BATCHES[-1]
                else float("nan")
            )
            rows.append({"model": name, "batch": batch, "eager": eager, "captured": ours, "by_hand": hand, "ten": ten})
            print(
                f"| {name} | {batch} | {eager:,.0f} | {ours:,.0f} | {ours / eager:.1f} x | {hand:,.0f} "
                f"| {ours / hand:.2f} | {ten:,.0f} |",
                flush=True,
            )
    found["steps"] = rows


# -- whole runs in several number formats ------------------------------------------------------------------------------


def formats(found: dict[str, Any]) -> None:
    """Train ten seeds in each format and compare their F1, and a whole run's speed with its validation."""
    dataset = assay.make("mnadd-evenodd")
    plans: dict[str, dict[str, Any]] = {
        "float32, one by one": EAGER,
        "float32, captured": {**EAGER, "captured": True},
        "TensorFloat-32, captured": {**EAGER, "captured": True, "tf32": True},
        "bfloat16, captured": {**EAGER, "captured": True, "tf32": True, "precision": "bfloat16"},
    }
    with ProcessPoolExecutor(12, mp_context=get_context("spawn")) as pool, TemporaryDirectory() as folder:
        for model in ("dpl", "cbm"):
            for title, plan in plans.items():
                row, verdicts = _train_ten(model, title, plan, dataset, Path(folder), pool)
                found.setdefault("formats", []).append(row)
                row["verdicts"] = dict(Counter(verdict for future in verdicts for verdict in future.result()))
                print(json.dumps(row), flush=True)


def _train_ten(
    model: str, title: str, plan: dict[str, Any], dataset: Dataset, folder: Path, pool: ProcessPoolExecutor
) -> tuple[dict[str, Any], list["Future[list[str]]"]]:
    """Train ten seeds side by side; return their F1, and their verdicts when they are there."""
    models = [made(model, dataset, seed, epochs=20, **plan) for seed in range(10)]
    began = time.perf_counter()
    models[0].fit_together(models[1:], dataset["train"], dataset["valid"])
    seconds = time.perf_counter() - began
    scores, verdicts = [], []
    for trained in models:
        path = folder / f"{model}-{title}-{trained.seed}.parquet"
        predictions = trained.predict(dataset["test"])
        predictions.write(path, dataset.knowledge)
        scores.append(assay.score(dataset, predictions, metrics=METRICS)["test"])
        verdicts.append(pool.submit(verdict_of, str(path), str(dataset.folder)))
    epochs = max(len(trained.history) for trained in models)
    speed = 10 * epochs * -(-len(dataset["train"]) // 64) / seconds
    row: dict[str, Any] = {"model": model, "format": title, "seconds": seconds, "model_steps_a_second": speed}
    for metric in METRICS:
        values = [float(own[metric].value) for own in scores]
        row[metric] = f"{np.mean(values):.3f} +- {np.std(values):.3f}"
    return row, verdicts


def verdict_of(predictions: str, folder: str) -> list[str]:
    """Return the kinds of findings of a file of predictions."""
    diagnosis = assay.diagnose(assay.load(folder), predictions)
    return [finding.kind for finding in diagnosis.findings]


# -- pictures a second -------------------------------------------------------------------------------------------------


def busy_share(profile: torch.profiler.profile) -> float:
    """Return the share of time in which at least one kernel ran, while it was recorded."""
    spans = sorted(
        (event.time_range.start, event.time_range.end)
        for event in profile.events()
        if event.device_type == torch.autograd.DeviceType.CUDA
    )
    busy, last = 0.0, spans[0][0]
    for start, end in spans:
        busy += max(0.0, end - max(start, last))
        last = max(last, end)
    slowest = sorted(profile.key_averages(), key=lambda event: -event.self_device_time_total)[:8]
    for event in slowest:
        print(f"    {event.self_device_time_total / 1e3:8.1f} ms {event.count:6d} x {event.key[:90]}")
    return busy / (last - spans[0][0])


def pictures_per_second(
    backbone: str, dataset: Dataset, data: SplitData, share: float, **settings: Any
) -> tuple[float, float]:
    """Return the pictures a second of training on a split, and the GPU's share of busy time in the last epoch."""
    profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])

    def built() -> NeuralModel:
        return made("blackbox", dataset, backbone=backbone, memory_share=share, **settings)

    rate = len(data) / seconds_of_epochs([built()], data)
    recorded = built()
    recorded.config = recorded.config.model_copy(update={"epochs": WARM + 1, "patience": WARM + 1})
    recorded.fit(data, data[:1], lambda epoch, epochs: profile.start() if epoch.number == WARM else None)
    torch.cuda.synchronize()
    profile.stop()
    return rate, busy_share(profile)


def pictures(found: dict[str, Any]) -> None:
    folder = os.environ.get("TRAINS", "trains")
    dataset = Dataset.open(folder)
    some = dataset["train"]
    data = some.take(np.tile(np.arange(len(some)), -(-3072 // len(some)))[:3072])
    names = ["resnet-18", *(name for name in ("vit", "swin") if _is_there(name))]
    for name in names:
        for place, share in (("memory", 0.5), ("disk", 0.0)):
            plans = (
                {"defaults": {}, "float32, one by one": EAGER} if (name, place) == (names[0], "memory") else DEFAULTS
            )
            for title, plan in plans.items():
                rate, busy = pictures_per_second(name, dataset, data, share, batch_size=128, **plan)
                row = {"backbone": name, "from": place, "how": title, "rate": rate, "busy": busy}
                found.setdefault("pictures", []).append(row)
                print(f"| {name} | {place} | {title} | {rate:,.0f} pictures a second | busy {busy:.0%} |", flush=True)


def _is_there(backbone: str) -> bool:
    try:
        BACKBONES[backbone]((3, 64, 64))
    except Exception as error:
        print(f"{backbone} left out: {error}")
        return False
    return True


def main(chosen: Sequence[str]) -> None:
    if not torch.cuda.is_available():
        sys.exit("benchmarks.gpu needs a GPU")
    print(torch.cuda.get_device_name(), torch.__version__)
    found: dict[str, Any] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    parts = {"steps": steps, "formats": formats, "pictures": pictures}
    for name in chosen or parts:
        began = time.perf_counter()
        parts[name](found)
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
        Path(os.environ.get("OUT", "."), "gpu.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
