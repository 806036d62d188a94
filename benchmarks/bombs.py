"""Values and small files that once ended in a traceback, or unfolded to gigabytes: are they refused in one line?

Each is given to a command as a user would give it. What a stranger can write is written here: studies, formulas,
predictions, tables of concepts, records that are sealed anew, folders with names that few systems take.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.contracts import sealed, to_json
from assay.runs import RUN
from benchmarks.attempts import attempt
from benchmarks.fuzz import Work
from benchmarks.links import run

HUGE = "9" * 50
STUDIES = {
    "lists in lists": "[" * 5000,
    "keys in keys": "{a: " * 3000,
    "entries in entries": "- " * 3000,
    "nested as deep as it may be": "tasks: " + "[" * 95 + "]" * 95,
    "a hundred thousand million folds": "tasks: [mnlogic]\nmodels: [tree]\nfolds: 100000000000\n",
    "more folds than fit into a number": "tasks: [mnlogic]\nmodels: [tree]\nfolds: 99999999999999999999\n",
    "aliases of aliases": "a0: &a0 [x, x, x, x, x, x, x, x]\n"
    + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 8)}]\n" for i in range(1, 9))
    + "tasks: *a8\nmodels: [tree]\n",
    "an alias inside itself": "tasks: &x [*x]\nmodels: [tree]\n",
    "merged aliases": "a: &a {k: 1}\n"
    + "".join(f"b{i}: &b{i} {{<<: *{'b' * (i > 0) or 'a'}{i - 1 if i else ''}, x: [*a, *a]}}\n" for i in range(40))
    + "".join(f"c{i}: &c{i} {{x: *{f'c{i - 1}' if i else 'a'}, y: *{f'c{i - 1}' if i else 'a'}}}\n" for i in range(40)),
    "a name of three million letters": f"tasks: [{'x' * 3_000_000}]\nmodels: [tree]\n",
    "a value of three million letters": f"tasks: [mnlogic]\nmodels: [tree]\nn: {'x' * 3_000_000}\n",
    "a name with a null byte": 'tasks: ["x\\0y"]\nmodels: [tree]\n',
    "an output with a null byte": 'tasks: [mnlogic]\nmodels: [tree]\noutput: "x\\0y"\n',
    "a folder that links to itself": "tasks: [loop]\nmodels: [tree]\n",
}  # fmt: skip
FORMULAS = {
    "xor of a huge number": f"xor(a, b) == (a + b == {HUGE})",
    "not of a truth value beside a huge number": f"not a or b + 1 == {HUGE}",
    "implied by a huge number": f"(a + b < {HUGE}) and (not b or a)",
    "a power of powers": "a ** 9 ** 9 ** 9 == 1",
    "a product of huge numbers": f"a * {HUGE} * {HUGE} == b",
}
RECORDS: dict[str, Callable[[dict[str, Any]], Mapping[str, Any]]] = {
    "data is a number": lambda about: {"data": 3},
    "data is a text": lambda about: {"data": "x"},
    "the folder is a list": lambda about: {"data": {**about["data"], "folder": []}},
    "the folder has a null byte": lambda about: {"data": {**about["data"], "folder": "a\0b"}},
    "the fingerprint is a list": lambda about: {"data": {**about["data"], "fingerprint": ["x"]}},
    "the layout is a text": lambda about: {"layout": "x"},
    "the layout has no width": lambda about: {"layout": {"regions": {}}},
    "the layout's boxes are texts": lambda about: {"layout": {**about["layout"], "regions": {"a": "x"}}},
    "the rule is a list": lambda about: {"knowledge": []},
    "the rule has no concepts": lambda about: {"knowledge": {"labels": 3}},
    "the seed is a text": lambda about: {"seed": "x"},
    "the settings are a list": lambda about: {"config": [1]},
    "the model is a number": lambda about: {"model": 5},
    "names of a study are numbers": lambda about: {"called": {"model": 4}},
}
ROWS = 20_000


def hostile_values(place: Path) -> Iterator[tuple[str, Work]]:
    """Give attempts with values that are too deep, too large, of another type, or no name of a file."""
    (place / "loop").unlink(missing_ok=True)
    (place / "loop").symlink_to("loop")
    for name, text in STUDIES.items():
        yield f"study: {name}", partial(_study, place, text)
    for name, formula in FORMULAS.items():
        yield f"formula: {name}", partial(_make, place, formula)
    for name, change in RECORDS.items():
        for verb in ("show", "diagnose", "predict"):
            if verb != "show" or name == "data is a number":
                yield f"record: {name}: {verb}", partial(_record, place, change, verb)
    for cell in ("x\0y.png", "x" * 5000 + ".png", "loop", "\ud800.png", "..", "/"):
        yield f"picture: {cell[:20]!r}", partial(_table, place, cell)
    for words in ("report mine.parquet --data data -o loop", "export data --to prolog -o loop",
                  "train tree data -o loop", "make mnlogic -n 20 -o loop --set k=2", "view data --bundle loop",
                  "new data loop"):  # fmt: skip
        yield words, partial(_refused, place, words)
    for words in ("show BAD", "audit BAD --no-write", "pairs BAD -n 4", "export BAD --to prolog -o prolog",
                  "report mine.parquet --data BAD -o report",
                  "train tree BAD -o trained", "view BAD --bundle bundle --samples 2"):  # fmt: skip
        yield f"a name that is not UTF-8: {words}", partial(_in_odd_folder, place, words)


def _study(place: Path, text: str) -> bool:
    (place / "hostile.yaml").write_text(text)
    return _refused(place, "run hostile.yaml -o hostile-study --dry-run")


def _refused(place: Path, words: str) -> bool:
    """Do what must be refused; that it is not is a fault."""
    os.chdir(place)
    run(words)
    return False


def _make(place: Path, formula: str) -> None:
    os.chdir(place)
    shutil.rmtree("huge", ignore_errors=True)
    words = "make mnlogic -n 20 --workers 1 -o huge --set k=2 --set"
    run([*words.split(), f"formula={formula}"])


def _record(place: Path, change: Callable[[dict[str, Any]], Mapping[str, Any]], verb: str) -> None:
    """Do a command with a run whose record says something else; what it does not read may be anything."""
    folder = place / "sealed"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(place / "run", folder)
    about = json.loads((folder / RUN).read_text())
    (folder / RUN).write_bytes(to_json(sealed({**about, **change(about)})))
    os.chdir(place)
    run(f"{verb} sealed")


def _table(place: Path, cell: str) -> bool:
    folder = place / "pictures"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    text = f"file,concept_a,label_y\n{cell},1,1\n{cell},0,0\n"
    (folder / "concepts.csv").write_bytes(text.encode("utf-8", "surrogatepass"))
    return _refused(place, "import pictures -o imported")


def _in_odd_folder(place: Path, words: str) -> None:
    """Do a command with data in a folder whose name is not UTF-8; it may work or be refused."""
    os.chdir(place)
    odd = os.fsdecode(b"odd\xff")
    shutil.rmtree(odd, ignore_errors=True)
    shutil.copytree("data", odd)
    run(words.replace("BAD", odd))


# -- small files of much -----------------------------------------------------------------------------------------------


def small_files(place: Path) -> Iterator[tuple[str, Work]]:
    """Give attempts to read predictions of a few kilobytes that unfold to gigabytes."""
    manifest = json.loads((place / "data" / "manifest.json").read_text())
    size = next(split["size"] for split in manifest["splits"] if split["name"] == "test")
    files = {
        "equal long texts": {"concept_a": _texts("x" * 50_000, ROWS)},
        "equal long texts, as many as the split": {"concept_a": _texts("x" * 50_000, size)},
        "a text of two million letters": {"concept_a": _texts("x" * 2_000_000, size)},
        "texts that differ": {"concept_a": pa.array([f"{row}" + "x" * 9000 for row in range(ROWS)])},
        "a split of a long name": {"split": _texts("x" * 60_000, ROWS)},
        "a fingerprint of a long name": {"fingerprint": _texts("x" * 60_000, ROWS)},
        "sixty million equal rows": {"index": pa.array(np.zeros(60_000_000, np.int64))},
        "a split that is a list": {"split": pa.array([["test"]] * size)},
        "a fingerprint that is a struct": {"fingerprint": pa.array([{"a": "x"}] * size)},
        "rows of a million probabilities": {"concept_a_probabilities": _lists(1_000_000, size)},
    }
    for name, columns in files.items():
        attempt(partial(_write, place / "small.parquet", manifest["fingerprint"], columns))
        for words in (
            "score small.parquet data",
            "diagnose small.parquet data",
            "report small.parquet --data data -o small",
        ):
            yield f"{name}: {words}", partial(_refused, place, words)


def _texts(text: str, rows: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), pa.array([text]))


def _lists(width: int, rows: int) -> pa.Array:
    return pa.ListArray.from_arrays(
        np.arange(rows + 1, dtype=np.int32) * width, pa.array(np.zeros(width * rows, np.float32))
    )


def _write(path: Path, fingerprint: str, columns: Mapping[str, pa.Array]) -> None:
    rows = len(next(iter(columns.values())))
    table = {
        "index": pa.array(np.arange(rows)),
        "split": _texts("test", rows),
        "fingerprint": _texts(fingerprint, rows),
        "label_y": pa.array(np.zeros(rows, dtype=bool)),
    }
    pq.write_table(pa.table({**table, **columns}), path, compression="zstd")
