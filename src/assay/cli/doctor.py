"""`assay doctor`: what is installed, what each missing part would give, the processors, and the caches."""

import importlib.metadata
import importlib.util
import os
import platform
from collections.abc import Mapping
from functools import cache
from typing import Any

from assay.base import EXTRAS, VERSION, install_line
from assay.cli.clean import caches
from assay.cli.console import JsonFlag, print_json, print_table, print_text

PURPOSES = {
    "train": "train neural, concept-bottleneck and neuro-symbolic models",
    "vision": "vision transformers and CLIP as backbones and concept readers",
    "probes": "probes, TCAV, decision trees, audits by fitted models",
    "scenes": "3D families: clevr, trains, driving, chess",
    "chess": "chess boards and games",
    "view": "the viewer in the browser",
    "count": "a second, independent counter of reasoning shortcuts",
    "remote": "datasets in S3, GCS, Azure",
    "hub": "Hugging Face datasets and pushing to the hub",
    "frames": "results as pandas data frames",
    "cluster": "studies on a Ray cluster",
    "blender": "rendering by Blender",
    "pyc": "models of PyTorch Concepts",
    "tensorboard": "logs for TensorBoard",
    "wandb": "logs for Weights & Biases",
    "mlflow": "logs for MLflow",
}
"""What each extra gives."""


def doctor(as_json: JsonFlag = False) -> None:
    """Say what is installed and what is missing.

    Also what each missing part would give, which GPU PyTorch sees, and how large the caches are.
    """
    parts, held = extras(), caches()
    facts = {
        "assay": VERSION,
        "python": platform.python_version(),
        "processors": os.cpu_count() or 1,
        "gpu": gpu(),
        "extras": parts,
        "caches": {kind.name: kind.bytes for kind in held},
    }
    if as_json:
        print_json(facts)
        return
    print_text(f"Assay {VERSION}, Python {facts['python']}, {facts['processors']} processors; {facts['gpu']}")
    rows = [
        [name, "installed" if state["installed"] else "missing", state["packages"], state["gives"]]
        for name, state in parts.items()
    ]
    print_table(["part", "", "packages", "what for"], rows)
    missing = [name for name, state in parts.items() if not state["installed"]]
    if missing:
        print_text(f"to install what is missing: {install_line(*missing)}")
    from assay.base import size_in_words

    sizes = [f"{kind.name} {size_in_words(kind.bytes)}" for kind in held if kind.bytes]
    print_text(f"caches: {', '.join(sizes) or 'empty'}" + ("; to empty them: assay clean" if sizes else ""))


def extras() -> dict[str, dict[str, Any]]:
    """Return each optional part: whether it is installed, its packages with their versions, and what it gives."""
    parts: dict[str, dict[str, Any]] = {}
    for extra in dict.fromkeys(EXTRAS.values()):
        modules = [module for module, of in EXTRAS.items() if of == extra]
        there = {module: importlib.util.find_spec(module) is not None for module in modules}
        texts = [f"{module} {_version(module)}" if there[module] else f"{module} –" for module in modules]
        parts[extra] = {"installed": all(there.values()), "packages": ", ".join(texts), "gives": PURPOSES[extra]}
    return parts


@cache
def _distributions() -> Mapping[str, list[str]]:
    """Return the distributions that bring each module; finding them takes a second."""
    return importlib.metadata.packages_distributions()


def _version(module: str) -> str:
    """Return the version of the distribution that brings a module."""
    names = _distributions().get(module, [module])
    try:
        return importlib.metadata.version(names[0])
    except importlib.metadata.PackageNotFoundError:
        return "(version unknown)"


def gpu() -> str:
    """Return what PyTorch can compute on, in words."""
    if importlib.util.find_spec("torch") is None:
        return "no PyTorch"
    from assay.models import describe_gpu

    return describe_gpu()
