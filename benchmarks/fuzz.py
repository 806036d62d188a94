"""Damaged and malicious input, drawn by a seed: formulas, YAML files, bit flips in every kind of file, predictions."""

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.prolog.hostile import PROGRAMS
from tests.prolog.hostile import SPACE as WORLDS

from assay.base import DataError, rng_for
from assay.contracts import Predictions, read_predictions
from assay.dataset import Dataset, SplitData
from assay.lab import find_study, read_records
from assay.logic import Concept, ConceptSpace, evaluate, parse
from assay.metrics import gather
from assay.models import load_model
from assay.models.language.conversation import Cache
from assay.models.language.endpoint import Reply
from assay.runs import RunFolder

Rng = np.random.Generator
Work = Callable[[], bool | None]

# -- formulas ----------------------------------------------------------------------------------------------------------

SPACE = ConceptSpace(
    (
        *(Concept(name, tuple(range(10))) for name in ("a", "b", "c")),
        *(Concept(name, (False, True)) for name in ("p", "q")),
        Concept("color", ("red", "green", "blue")),
    )
)
FORMULAS = (
    "a + b > c", "p and not q or color == 'red'", "xor(p, q, a == b)", "exactly(2, p, q, a > 3)",
    "max(a, b, c) % 3 == 1", "all_different(a, b, c)", "If(p, a, b) * 2 >= c",
    "color in ['red', 'blue'] and a // 2 == b", "abs(a - b) <= 1", "And(p, Not(q))", "count(p, q, a == 1) == 2",
    "at_least(1, a == b, b == c)", "(a, b) in [(1, 2), (3, 4)]",
)  # fmt: skip
TOKENS = (
    "a", "b", "color", "p", "(", ")", "[", "]", ",", "and", "or", "not", "+", "-", "*", "//", "%", "**", "==", "!=",
    "<", ">=", "in", "if", "else", "lambda x:", ".", "'red'", "'", '"', "0", "1", "9" * 400, "1e999", "True",
    "None", "__import__('os')", "a.__class__", "f'{a}'", "exists(x in cars: x.a)", "count(", "xor(", "max(", "\n",
    "#", "\\", "\x00", "\u202e", "\ud800", "∧", "(" * 300, "not " * 300, "- " * 2000, "a +" * 2000, ":=", "@", "~",
    "|", "&", "^", "...", "{", "}", ";",
)  # fmt: skip
SAME_KIND = (
    ("a", "b", "c"), ("p", "q", "color"), ("0", "1", "2", "3", "4"), ("red", "blue", "green"), ("and", "or", "=="),
    ("max", "min", "count", "abs"), ("exactly", "at_least", "at_most"), ("xor", "And", "Or", "all_different"),
)  # fmt: skip


def formulas(count: int) -> Iterator[tuple[str, Work]]:
    """Give attempts to read and evaluate random formulas; one that prints as another is damage."""
    codes = rng_for(0, "codes").integers(np.array(SPACE.sizes), size=(8, len(SPACE)))
    for number in range(count):
        text = _formula(rng_for(0, "formula", number))
        yield text, partial(_read_formula, text, codes)


def _formula(rng: Rng) -> str:
    if rng.random() < 0.3:
        return " ".join(rng.choice(TOKENS, size=rng.integers(1, 12)))
    if rng.random() < 0.4:
        return _other_words(str(rng.choice(FORMULAS)), rng)
    text = list(str(rng.choice(FORMULAS)))
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(len(text) + 1))
        match rng.integers(3):
            case 0:
                text[place:place] = list(str(rng.choice(TOKENS)))
            case 1:
                del text[place : place + int(rng.integers(1, 5))]
            case _:
                text[place : place + 1] = [chr(int(rng.integers(1, 0x300)))]
    return "".join(text)


def _other_words(text: str, rng: Rng) -> str:
    """Put other words of the same kind in place of some, which leaves many formulas well formed."""
    for kind in SAME_KIND:
        words = re.findall(rf"\b(?:{'|'.join(kind)})\b", text)
        if words:
            text = re.sub(rf"\b{rng.choice(words)}\b", str(rng.choice(kind)), text, count=1)
    return text


def _read_formula(text: str, codes: Any) -> bool:
    formula = parse(text)
    values = evaluate(formula, SPACE, codes)
    return bool((evaluate(parse(str(formula)), SPACE, codes) == values).all())


# -- YAML --------------------------------------------------------------------------------------------------------------

STUDY = """\
tasks:
  - {task: mnlogic, k: 3, pixels: true}
  - {task: mnadd}
models:
  - dpl
  - {model: cbm, mode: joint, epochs: 3}
challenges:
  - plain
  - {challenge: noise, annotate: {label_noise: 0.2}}
seeds: [0, 1, 2]
n: 64
metrics: [label_f1, collapse]
"""
LINES = (
    "!!python/object/apply:os.system ['true']", "a: &x [*x]", "<<: {tasks: []}", "tasks: [evil.py]",
    "output: ../../elsewhere", "n: -1", "n: 1e999", "n: .nan", "seeds: [" + "9, " * 3000 + "]", "x: " + "[" * 400,
    "- - - -", "\t", "%YAML 9.9", "---", "...", "n: 0x7fffffffffffffffffff", "seeds: {0: 1}",
    "models: [{model: dpl, model: cbm}]", "? [a, b]\n: c", "n: ~", "'", "\x00",
    "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: &d [*c, *c]\ne: [*d, *d]", "n: 2026-01-01",
    "seeds: !!set {1, 2}",
)  # fmt: skip


def yaml_files(count: int, place: Path) -> Iterator[tuple[str, Work]]:
    """Give attempts to read damaged study files; the whole one is read first, so that no fork imports its models."""
    _read_study(place / "fuzzed.yaml", STUDY)
    for number in range(count):
        rng = rng_for(0, "yaml", number)
        lines = STUDY.splitlines()
        for _ in range(rng.integers(1, 4)):
            at = int(rng.integers(len(lines)))
            match rng.integers(4):
                case 0:
                    lines.insert(at, str(rng.choice(LINES)))
                case 1:
                    del lines[at]
                case 2:
                    lines.insert(at, lines[int(rng.integers(len(lines)))])
                case _:
                    letter = int(rng.integers(max(1, len(lines[at]))))
                    lines[at] = lines[at][:letter] + chr(int(rng.integers(1, 0x200))) + lines[at][letter + 1 :]
            lines = lines or [""]
        text = "\n".join(lines)
        yield text, partial(_read_study, place / "fuzzed.yaml", text)


def _read_study(path: Path, text: str) -> None:
    path.write_text(text, errors="surrogateescape")
    find_study(str(path))


# -- bits --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """A kind of file: where one is, and how all that is in it is read."""

    name: str
    file: str
    read: Callable[[Path], Any]


def kinds(place: Path) -> list[Kind]:
    """Return the kinds of files whose damage must show; `place` has a dataset, a run, a study and answers."""
    knowledge = Dataset.open(place / "data").knowledge
    return [
        Kind("manifest", "data/manifest.json", _dataset),
        Kind("shard", "data/test/part-00000.parquet", _dataset),
        Kind(
            "predictions",
            "run/predictions/test.parquet",
            lambda p: _predictions(p / "run/predictions/test.parquet", knowledge),
        ),
        Kind("weights", "run/model.safetensors", lambda p: _weights(p / "run")),
        Kind("program", "tree/program.json", lambda p: load_model(p / "tree").state()),  # type: ignore[attr-defined]
        Kind("record of a run", "run/run.json", lambda p: RunFolder(p / "run").metadata()),
        Kind("records of a study", "study/records.parquet", lambda p: read_records(p / "study")),
        Kind("answer of an endpoint", _answer_file(place), _answer),
    ]


def _dataset(place: Path) -> Any:
    dataset = Dataset.open(place / "data")
    tables = {name: dataset[name].full_table().to_pylist() for name in dataset.split_names}
    return dataset.knowledge.to_dict(), dataset.layout.to_dict(), tables


def _predictions(path: Path, knowledge: Any) -> Any:
    found: Predictions = read_predictions(path, knowledge)
    answers = {**found.labels, **found.concepts}
    numbers = {
        name: (a.codes.tolist(), None if a.probabilities is None else a.probabilities.tolist())
        for name, a in answers.items()
    }
    return found.fingerprint, found.split, found.index.tolist(), numbers, found.about


def _weights(run: Path) -> Any:
    model: Any = load_model(run)
    return {name: tensor.tolist() for name, tensor in model.state_dict().items()}


REQUEST = "ab" * 32


def _answer_file(place: Path) -> str:
    return str(Cache(place / "answers").path(REQUEST).relative_to(place))


def write_answer(place: Path) -> None:
    """Keep an answer as the cache does."""
    Cache(place / "answers").put(REQUEST, Reply("RULE: a\n```formula\na == 1\n```", "stop", "model", 100, 10))


def _answer(place: Path) -> Any:
    """Return the answer; one that is damaged counts as none, so that the endpoint is asked again."""
    reply = Cache(place / "answers").get(REQUEST)
    if reply is None:
        raise DataError("no answer is kept")
    return reply


def flips(kind: Kind, count: int, place: Path) -> Iterator[tuple[str, Work]]:
    """Give attempts to read a file with one bit flipped; what is accepted must be what it was."""
    whole, expected = (place / kind.file).read_bytes(), kind.read(place)
    for number in range(count):
        bit = int(rng_for(0, "flip", kind.name, number).integers(8 * len(whole)))
        yield f"bit {bit}", partial(_read_flipped, kind, place, whole, bit, expected)
    (place / kind.file).write_bytes(whole)


def _read_flipped(kind: Kind, place: Path, whole: bytes, bit: int, expected: Any) -> bool:
    damaged = bytearray(whole)
    damaged[bit // 8] ^= 1 << bit % 8
    path = place / kind.file
    path.unlink()  # others may hold the file open
    path.write_bytes(damaged)
    return repr(kind.read(place)) == repr(expected)


# -- programs and predictions ------------------------------------------------------------------------------------------


def programs(count: int) -> Iterator[tuple[str, Work]]:
    """Give attempts to label a world by hostile Prolog programs."""
    from assay.prolog import rule_of

    world = np.array([[3, 4]])

    def label(text: str) -> None:
        evaluate(rule_of(text, WORLDS, "p"), WORLDS, world)

    label("p(_).")  # so that no fork imports what all need
    for name, text in list(PROGRAMS.items())[:count]:
        yield name, partial(label, text)


def prediction_files(count: int, place: Path) -> Iterator[tuple[str, Work]]:
    """Give attempts to score predictions that were spoilt; those that a spoiling leaves right may be accepted."""
    data = Dataset.open(place / "data")["test"]
    table = pq.ParquetFile(place / "run/predictions/test.parquet").read()
    path = place / "spoilt.parquet"
    _score_spoilt("another column", data, table, path, rng_for(0, "predictions"))  # so that no fork imports pandas
    for number in range(count):
        rng = rng_for(0, "predictions", number)
        name = str(rng.choice(list(SPOIL)))
        yield name, partial(_score_spoilt, name, data, table, path, rng)


def _score_spoilt(name: str, data: SplitData, table: pa.Table, path: Path, rng: Rng) -> bool:
    spoil, harmless = SPOIL[name]
    pq.write_table(spoil(table, rng), path)
    gather(data, read_predictions(path, data.knowledge))
    return harmless


def _set(table: pa.Table, name: str, values: Any) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def _column(table: pa.Table, rng: Rng, ending: str = "") -> str:
    chosen = [name for name in table.column_names if name.startswith(("label_", "concept_")) and name.endswith(ending)]
    return str(rng.choice(chosen))


def _probabilities(table: pa.Table, rng: Rng, change: Callable[[list[float]], Any]) -> pa.Table:
    name = _column(table, rng, "_probabilities")
    rows = table[name].to_pylist()
    at = int(rng.integers(len(rows)))
    rows[at] = change(rows[at])
    return _set(table, name, rows)


def _index(table: pa.Table, rng: Rng, value: Any) -> pa.Table:
    index = table["index"].to_pylist()
    index[int(rng.integers(1, len(index)))] = value if value != "first" else index[0]
    return _set(table, "index", index)


Spoil = Callable[[pa.Table, Rng], pa.Table]
SPOIL: dict[str, tuple[Spoil, bool]] = {
    "other order": (lambda t, rng: t.take(rng.permutation(len(t))), True),
    "another column": (lambda t, rng: t.append_column("note", pa.array(["x"] * len(t))), True),
    "no fingerprint": (lambda t, rng: t.drop_columns(["fingerprint"]), False),
    "no index": (lambda t, rng: t.drop_columns(["index"]), False),
    "another fingerprint": (lambda t, rng: _set(t, "fingerprint", ["0" * 32] * len(t)), False),
    "another split": (lambda t, rng: _set(t, "split", ["train"] * len(t)), False),
    "two splits": (lambda t, rng: _set(t, "split", ["test"] * (len(t) - 1) + ["valid"]), False),
    "an example twice": (lambda t, rng: _index(t, rng, "first"), False),
    "an example too far": (lambda t, rng: _index(t, rng, 10**9), False),
    "a negative example": (lambda t, rng: _index(t, rng, -1), False),
    "an example without number": (lambda t, rng: _index(t, rng, None), False),
    "an odd name": (lambda t, rng: t.append_column("concept_zzz", pa.array([1] * len(t))), False),
    "values as text": (lambda t, rng: _set(t, _column(t, rng), ["maybe"] * len(t)), False),
    "values as numbers": (lambda t, rng: _set(t, _column(t, rng), [0.5] * len(t)), False),
    "values too large": (lambda t, rng: _set(t, _column(t, rng), [10**18] * len(t)), False),
    "nested values": (lambda t, rng: _set(t, _column(t, rng), [[{"a": 1}]] * len(t)), False),
    "not a number": (lambda t, rng: _probabilities(t, rng, lambda p: [float("nan")] * len(p)), False),
    "infinite": (lambda t, rng: _probabilities(t, rng, lambda p: [float("inf"), *p[1:]]), False),
    "negative": (lambda t, rng: _probabilities(t, rng, lambda p: [-0.5, 1.5, *([0.0] * (len(p) - 2))]), False),
    "too many": (lambda t, rng: _probabilities(t, rng, lambda p: [*p, 0.0]), False),
    "too few": (lambda t, rng: _probabilities(t, rng, lambda p: p[:-1]), False),
    "not one": (lambda t, rng: _probabilities(t, rng, lambda p: [x / 2 for x in p]), False),
    "missing": (lambda t, rng: _probabilities(t, rng, lambda p: None), False),
    "no rows": (lambda t, rng: t.slice(0, 0), False),
}  # fmt: skip


COMMANDS = (
    "make mnlogic -o data --set k=3 --set pixels=true --set 'formula=a and b or c' "
    "--set 'splits={train: 96, valid: 24, test: 24, hard: 12}'",
    "train cbm data -o run --epochs 2 --set device=cpu --set batch_size=32",
    "train tree data -o tree",
    "run study.yaml -o study --workers 1 --no-trial",
    "new data table",
)


def prepare(place: Path) -> None:
    """Write what is damaged: a dataset, runs, a study's records, an answer, and pictures with a table.

    Each by a process of its own: threads of this one would be missing in its forks.
    """
    from benchmarks.kills import LOG, finish
    from benchmarks.kills import STUDY as SMALL

    (place / "study.yaml").write_text(SMALL)
    for command in COMMANDS:
        if finish(shlex.split(command), place) != 0:
            raise RuntimeError(f"{command}: {(place / LOG).read_text()}")
    shutil.copy(place / "run/predictions/test.parquet", place / "mine.parquet")
    write_answer(place)
