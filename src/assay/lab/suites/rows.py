"""The rows of a board: one for each model, dataset and seed, with every measure, the verdict, or why there is none."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import ConfigDict, TypeAdapter, ValidationError

from assay.base import DataError, cut, locked, refuse_links, safe_link, write_atomically
from assay.contracts import parquet_bytes, read_parquet

Status = Literal["done", "refused", "failed"]
"""A model was judged; or cannot take the dataset, and says why; or broke."""
RECORDS = "records"
"""The folder of rows beside the data and runs of a suite."""


@dataclass(frozen=True)
class BoardMeasure:
    """A number of a row: what it is called, what it says, and whether more of it is better; None if that is no aim."""

    name: str
    title: str
    about: str
    rising: bool | None = True
    most: float = 1.0
    """No value is greater, and none is below 0."""


MEASURES = (
    BoardMeasure("label_f1", "label F1", "macro F1 of the labels on test"),
    BoardMeasure("concept_f1", "concept F1", "macro F1 of the concepts on test"),
    BoardMeasure("collapse", "collapse", "the share of concept values on test that are never predicted", False),
    BoardMeasure("rule_consistency", "consistency", "how often labels follow by the rule from the predicted concepts"),
    BoardMeasure("boundary", "boundary", "label accuracy on near-boundary types, on hard where there is such a split"),
    BoardMeasure("follows", "follow rate", "how often the label follows when one changed concept should move it"),
    BoardMeasure("ood", "ood F1", "macro F1 of the labels out of distribution, the mean of such splits"),
    BoardMeasure("label_ece", "label ECE", "expected calibration error of the labels on test", False),
    BoardMeasure("concept_ece", "concept ECE", "expected calibration error of the concepts on test", False),
    BoardMeasure("intervention_area", "interventions", "area under label accuracy over the share of concepts set"),
    BoardMeasure("certainty", "certainty", "the share of resamples of the worlds that give the same verdict", None),
    BoardMeasure("parameters", "parameters", "trained numbers", None, math.inf),
    BoardMeasure("examples", "examples", "training examples", None, math.inf),
    BoardMeasure(
        "concept_labels", "concept labels", "annotated concepts of training examples that it saw", None, math.inf
    ),
    BoardMeasure("seconds", "seconds", "time to train, on the machine of the record", None, math.inf),
)
RANKED = tuple(measure for measure in MEASURES if measure.rising is not None)


@dataclass(frozen=True)
class BoardRow:
    """A model on a dataset with a seed; a measure is NaN where it does not apply."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
    suite: str
    dataset: str
    model: str
    level: str
    seed: int
    status: Status
    reason: str = ""
    """Why it was refused, or how it broke."""
    verdict: str = ""
    tone: str = "unknown"
    why: str = ""
    also: str = ""
    """Further findings."""
    label_f1: float = math.nan
    concept_f1: float = math.nan
    collapse: float = math.nan
    rule_consistency: float = math.nan
    boundary: float = math.nan
    follows: float = math.nan
    ood: float = math.nan
    label_ece: float = math.nan
    concept_ece: float = math.nan
    intervention_area: float = math.nan
    parameters: float = math.nan
    examples: float = math.nan
    concept_labels: float = math.nan
    seconds: float = math.nan
    fingerprint: str = ""
    run: str = ""
    """The name of the run, with a hash of all that decides it."""
    assay: str = ""
    link: str = ""
    wrong: str = "{}"
    """Of the first test examples: what was said of those whose label is wrong, by number, as JSON."""
    misread: str = "{}"
    """Of the first test examples: what was misread in those whose label is right, by number, as JSON."""
    diagnosis: int = 1
    """The version of the diagnosis that judged; rows that do not say it are of the first."""
    certainty: float = math.nan
    """The share of resamples of the worlds that give the same verdict."""
    statistics: str = "{}"
    """As JSON by what it was judged and by which numbers, so that it can be judged again without predictions."""
    scored: str = ""
    """The hash of the files that it was scored from; rows of before it was kept have none."""

    @property
    def thresholds(self) -> Mapping[str, float]:
        """The thresholds that it was judged by, those that are not the defaults."""
        return dict(json.loads(self.statistics).get("thresholds", {}))

    @property
    def key(self) -> tuple[str, int]:
        """What is one row of a model: its dataset and seed."""
        return self.dataset, self.seed


def write_rows(rows: Iterable[BoardRow], path: Path) -> None:
    """Write the rows of one model, in order, so that the same rows are the same bytes."""
    ordered = sorted(rows, key=lambda row: row.key)
    write_atomically(path, parquet_bytes(pa.Table.from_pylist([asdict(row) for row in ordered], _schema())))


def _schema() -> pa.Schema:
    kinds: dict[Any, Any] = {int: pa.int64(), float: pa.float64()}
    return pa.schema([(field.name, kinds.get(field.type, pa.string())) for field in fields(BoardRow)])


def read_rows(path: Path) -> list[BoardRow]:
    """Read the rows of one file, or of every file in a folder."""
    if path.is_dir():
        refuse_links(path)
        return [row for file in sorted(path.glob("*.parquet")) for row in read_rows(file)]
    try:
        return [_checked(cells, path) for cells in read_parquet(path).to_pylist()]
    except FileNotFoundError:
        return []
    except (OSError, pa.ArrowException):
        raise DataError(f"{str(path)!r} holds no rows of a suite, or is damaged; run the suite again") from None


ROW: TypeAdapter[BoardRow] = TypeAdapter(BoardRow)
EXAMPLES = TypeAdapter(dict[int, str])
STATISTICS = TypeAdapter(dict[str, Any])
THRESHOLDS = TypeAdapter(dict[str, float], config=ConfigDict(allow_inf_nan=False))
HASH = re.compile(r"([0-9a-f]{64})?")


def _checked(cells: Mapping[str, Any], path: Path) -> BoardRow:
    """Return the row that a file holds, refusing whatever no row of ours says."""
    where = (
        f"{str(path)!r} holds a row of {cut(str(cells.get('model')), 80)!r} on {cut(str(cells.get('dataset')), 80)!r}"
    )
    try:
        row = ROW.validate_python(dict(cells))
        for examples in (row.wrong, row.misread):
            EXAMPLES.validate_json(examples)
        THRESHOLDS.validate_python(STATISTICS.validate_json(row.statistics).get("thresholds", {}))
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"])) or "its JSON"
        raise DataError(f"{where} that is no row of a suite: {field}: {fault['msg']}") from None
    if row.link and safe_link(row.link) != row.link:
        raise DataError(f"{where} that has the link {cut(row.link, 80)!r}; a link begins with https://")
    if not HASH.fullmatch(row.scored):
        raise DataError(f"{where} whose 'scored' is no hash of files: {row.scored!r}")
    for measure in MEASURES:
        value = getattr(row, measure.name)
        if not math.isnan(value) and not (0 <= value <= measure.most and math.isfinite(value)):
            raise DataError(f"{where} whose {measure.name!r} is {value:g}, which cannot be")
    return row


def add_rows(rows: Sequence[BoardRow], path: Path) -> None:
    """Add rows to a file, in place of those of the same dataset and seed; other processes may add some, too."""
    with locked(path.parent):
        write_rows(merged(read_rows(path), [_checked(asdict(row), path) for row in rows]), path)


def add_entry(rows: Sequence[BoardRow], records: Path) -> Path:
    """Write the rows of an entry, and return their file; a second entry of the same name is refused."""
    path = records / f"{rows[0].model}.parquet"
    with locked(records):
        refuse_second(rows[0].model, rows[0].scored, records)
        write_rows([_checked(asdict(row), path) for row in rows], path)
    return path


def refuse_second(name: str, scored: str, records: Path) -> None:
    """Refuse an entry where another one, scored from other files, has rows under its name."""
    path = records / f"{name}.parquet"
    if any(row.scored != scored for row in read_rows(path)):
        raise DataError(f"{str(path)!r} holds rows of another entry that is called {name!r}; choose another name")


def merged(old: Iterable[BoardRow], new: Iterable[BoardRow]) -> list[BoardRow]:
    """Return rows with those of the same dataset and seed replaced."""
    return list({row.key: row for row in (*old, *new)}.values())


def measures_of(row: BoardRow) -> Mapping[str, float]:
    """Return the measures of a row by name."""
    return {measure.name: getattr(row, measure.name) for measure in MEASURES}


def by_model(rows: Sequence[BoardRow]) -> dict[str, list[BoardRow]]:
    """Return the rows of each model, in the order in which models come."""
    groups: dict[str, list[BoardRow]] = {}
    for row in rows:
        groups.setdefault(row.model, []).append(row)
    return groups


def plain(row: BoardRow) -> dict[str, Any]:
    """Return a row as plain data, None for a number that does not apply."""
    return {key: None if isinstance(x, float) and math.isnan(x) else x for key, x in asdict(row).items()}
