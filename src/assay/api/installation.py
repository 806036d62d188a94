"""What is installed and what is missing, and what the cache folder holds."""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from assay.api.facts import Facts, Listing
from assay.base import EXTRAS, VERSION, UnknownName, install_line, size_in_words, suggestion
from assay.dataset import cache_folder

GIVES = {
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
HOLDS = {
    "made": "datasets made by assay.make in Python",
    "runs": "runs trained by assay.train in Python",
    "datasets": "copies of remote datasets",
    "decoded": "pictures of datasets, decoded",
    "pictures": "pictures of datasets, decoded and shared by processes",
    "embeddings": "features of frozen backbones",
    "answers": "answers of language models",
    "hugging_face": "copies for Hugging Face datasets",
    "tracer": "the compiled ray tracer",
}
"""What lies in the folders of the cache; all of it can be made again."""


def doctor() -> Facts:
    """Return what is installed and what is missing.

    Also what each missing part would give, which GPU PyTorch sees, and how large the caches are.
    """
    parts, caches = _extras(), _caches()
    facts = {
        "assay": VERSION,
        "python": platform.python_version(),
        "processors": os.cpu_count() or 1,
        "gpu": _gpu(),
        "extras": parts,
        "caches": {cache.name: cache.bytes for cache in caches},
    }
    states = {name: "installed" if part["installed"] else "missing" for name, part in parts.items()}
    rows = [[name, states[name], part["packages"], part["gives"]] for name, part in parts.items()]
    missing = [name for name, state in states.items() if state == "missing"]
    sizes = [f"{cache.name} {size_in_words(cache.bytes)}" for cache in caches if cache.bytes]
    texts = (
        f"Assay {VERSION}, Python {facts['python']}, {facts['processors']} processors; {facts['gpu']}",
        Listing(["part", "", "packages", "what for"], rows),
        *((f"to install what is missing: {install_line(*missing)}",) if missing else ()),
        f"caches: {', '.join(sizes) or 'empty'}" + ("; to empty them: assay clean" if sizes else ""),
    )
    return Facts(facts, texts)


def _extras() -> dict[str, dict[str, Any]]:
    """Return each optional part: whether it is installed, its packages with their versions, and what it gives."""
    parts: dict[str, dict[str, Any]] = {}
    for extra in dict.fromkeys(EXTRAS.values()):
        modules = [module for module, of in EXTRAS.items() if of == extra]
        there = {module: importlib.util.find_spec(module) is not None for module in modules}
        texts = [f"{module} {_version(module)}" if there[module] else f"{module} –" for module in modules]
        parts[extra] = {"installed": all(there.values()), "packages": ", ".join(texts), "gives": GIVES[extra]}
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


def _gpu() -> str:
    """Return what PyTorch can compute on, in words."""
    if importlib.util.find_spec("torch") is None:
        return "no PyTorch"
    from assay.models import describe_gpu

    return describe_gpu()


@dataclass(frozen=True)
class CachedKind:
    """Folders of the cache that hold one kind of thing."""

    name: str
    folders: tuple[Path, ...]
    bytes: int


def _caches() -> list[CachedKind]:
    """Return what the cache holds, by kind, with sizes; a name may end with a hash."""
    home = cache_folder()
    kinds: dict[str, list[Path]] = {}
    for path in sorted(path for path in home.iterdir() if path.is_dir()) if home.is_dir() else ():
        kinds.setdefault(path.name.partition("-")[0], []).append(path)
    return [CachedKind(kind, tuple(paths), sum(map(_size, paths))) for kind, paths in kinds.items()]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def clean(names: Sequence[str] = (), *, yes: bool = False) -> Facts:
    """Return what Assay keeps in its cache folder, and empty it on request.

    Everything there can be made again; datasets and runs in folders of your own are never touched.

    Parameters
    ----------
    names
        Only these caches; by default all.
    yes
        Whether to empty them; without it, they are only listed.
    """
    caches = {cache.name: cache for cache in _caches()}
    for name in names:
        if name not in caches:
            raise UnknownName(f"there is no cache called {name!r}{suggestion(name, caches)}")
    chosen = [caches[name] for name in names or caches]
    if yes:
        for folder in (folder for cache in chosen for folder in cache.folders):
            shutil.rmtree(folder)
    rows = [
        {"name": cache.name, "folders": [str(folder) for folder in cache.folders], "bytes": cache.bytes, "removed": yes}
        for cache in chosen
    ]
    if not chosen:
        return Facts(rows, ("the cache is empty",))
    table = [[cache.name, size_in_words(cache.bytes), HOLDS.get(cache.name, "")] for cache in chosen]
    total = size_in_words(sum(cache.bytes for cache in chosen))
    note = f"removed {total}" if yes else f"{total} in all; to remove them: assay clean --yes"
    return Facts(rows, (Listing(["cache", "size", "what it holds"], table),), (note,))
