"""`assay clean`: show what Assay keeps in the user's cache folder, and empty it."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from assay.base import UnknownName, suggestion
from assay.cli.console import JsonFlag, print_json, print_table, print_text, say

PURPOSES = {
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


@dataclass(frozen=True)
class CachedKind:
    """Folders of the cache that hold one kind of thing."""

    name: str
    folders: tuple[Path, ...]
    bytes: int
    gives: str


def caches() -> list[CachedKind]:
    """Return what the cache holds, by kind, with sizes; a name may end with a hash."""
    from assay.dataset import cache_folder

    home = cache_folder()
    kinds: dict[str, list[Path]] = {}
    for path in sorted(path for path in home.iterdir() if path.is_dir()) if home.is_dir() else ():
        kinds.setdefault(path.name.partition("-")[0], []).append(path)
    return [
        CachedKind(kind, tuple(paths), sum(map(_size, paths)), PURPOSES.get(kind, "")) for kind, paths in kinds.items()
    ]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def clean(
    names: Annotated[list[str] | None, typer.Argument(metavar="CACHE...", help="Only these; by default all.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Empty them; without it, they are only listed.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """List what Assay keeps in its cache folder, and empty it on request.

    Everything there can be made again; datasets and runs in folders of your own are never touched.
    """
    there = {cache.name: cache for cache in caches()}
    for name in names or ():
        if name not in there:
            raise UnknownName(f"there is no cache called {name!r}{suggestion(name, there)}")
    chosen = [there[name] for name in names or there]
    if yes:
        for folder in (folder for cache in chosen for folder in cache.folders):
            shutil.rmtree(folder)
    if as_json:
        rows = [(c.name, [str(folder) for folder in c.folders], c.bytes) for c in chosen]
        print_json([{"name": n, "folders": folders, "bytes": size, "removed": yes} for n, folders, size in rows])
        return
    if not chosen:
        print_text("the cache is empty")
        return
    from assay.base import size_in_words

    print_table(["cache", "size", "what it holds"], [[c.name, size_in_words(c.bytes), c.gives] for c in chosen])
    total = size_in_words(sum(cache.bytes for cache in chosen))
    say(f"removed {total}" if yes else f"{total} in all; to remove them: assay clean --yes")
