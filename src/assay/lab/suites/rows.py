"""The rows of a board: one for each model, dataset and seed, with every measure, the verdict, or why there is none.

A row is made of what is known of a model on a dataset: a finished run, or predictions that anyone wrote.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import ConfigDict, TypeAdapter, ValidationError

from assay.base import VERSION, Array, DataError, cut, locked, refuse_links, safe_link, write_atomically
from assay.contracts import Predictions, parquet_bytes, read_parquet
from assay.dataset import Dataset
from assay.diagnosis import Diagnosis, headline
from assay.lab.judged import JUDGED_BY, JudgedBy, facts_of
from assay.lab.steps import RECORDS
from assay.metrics import Evidence, gather_from
from assay.runs import USAGE, RunFolder
from assay.worlds import HARD

Status = Literal["done", "refused", "failed"]
"""A model was judged; or cannot take the dataset, and says why; or broke."""
ROWS = "records"
"""The folder of rows beside the data and runs of a suite."""
TEST, OOD = "test", "ood"
SHOWN = 100
"""How many first examples of test a row remembers the errors of, so that a board can show their pictures."""
MOST_MISREAD = 3


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

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data, None for a number that does not apply."""
        return {key: None if isinstance(x, float) and math.isnan(x) else x for key, x in asdict(self).items()}

    @property
    def key(self) -> tuple[str, int]:
        """What is one row of a model: its dataset and seed."""
        return self.dataset, self.seed


ROW: TypeAdapter[BoardRow] = TypeAdapter(BoardRow)
EXAMPLES = TypeAdapter(dict[int, str])
STATISTICS = TypeAdapter(dict[str, Any])
THRESHOLDS = TypeAdapter(dict[str, float], config=ConfigDict(allow_inf_nan=False))
HASH = re.compile(r"([0-9a-f]{64})?")


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
        kept = [*read_rows(path), *(_checked(asdict(row), path) for row in rows)]
        write_rows({row.key: row for row in kept}.values(), path)


def add_entry(rows: Sequence[BoardRow], records: Path) -> None:
    """Write the rows of an entry; a second entry of the same name is refused."""
    path = records / f"{rows[0].model}.parquet"
    with locked(records):
        refuse_second(rows[0].model, rows[0].scored, records)
        write_rows([_checked(asdict(row), path) for row in rows], path)


def refuse_second(name: str, scored: str, records: Path) -> None:
    """Refuse an entry where another one, scored from other files, has rows under its name."""
    path = records / f"{name}.parquet"
    if any(row.scored != scored for row in read_rows(path)):
        raise DataError(f"{str(path)!r} holds rows of another entry that is called {name!r}; choose another name")


@dataclass(frozen=True)
class Judged:
    """Which model of which level was judged on which dataset, with which seed."""

    suite: str
    dataset: str
    model: str
    level: str
    seed: int
    run: str = ""
    link: str = ""
    scored: str = ""

    def row(self, **found: Any) -> BoardRow:
        """Return the row of what was found."""
        return BoardRow(
            *(self.suite, self.dataset, self.model, self.level, self.seed),
            run=self.run,
            link=self.link,
            scored=self.scored,
            assay=VERSION,
            **found,
        )


def row_of_run(judged: Judged, folder: Path, dataset: Dataset, sees_concepts: bool) -> BoardRow:
    """Return the row of a run that a study has scored."""
    record = json.loads((folder / RECORDS).read_text(encoding="utf-8"))
    run, usage = RunFolder(folder), folder / USAGE
    seconds = json.loads(usage.read_text(encoding="utf-8"))["seconds"] if usage.exists() else math.nan
    predictions = run.all_predictions(dataset.knowledge, dataset.sizes)[TEST]
    scores = {
        split: {score["metric"]: _number(score["value"]) for score in scores}
        for split, scores in record["scores"].items()
    }
    curve = {number["metric"]: number["value"] for number in record["numbers"]}
    line = record["headline"]
    return replace(judged, scored=hash_of_files(folder / "predictions")).row(
        status="done",
        **{key: line[key] for key in ("verdict", "tone", "why")},
        also=", ".join(record["findings"][1:]),
        **_judged(record),
        **_measures(scores, record["counterfactuals"]),
        intervention_area=area_under(curve, len(dataset.knowledge.space)),
        parameters=math.nan if run.record.parameters is None else run.record.parameters,
        **_seen(dataset, sees_concepts),
        seconds=float(seconds),
        fingerprint=dataset.fingerprint,
        **_errors(gather_from(dataset, predictions), predictions.index, dataset),
    )


def hash_of_files(folder: Path) -> str:
    """Return a hash that stands for the names and the contents of the files in a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(folder).as_posix()}\0".encode("utf-8", "surrogateescape"))
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def row_of_predictions(
    judged: Judged, diagnosis: Diagnosis, by: JudgedBy, test: Predictions, dataset: Dataset, sees_concepts: bool
) -> BoardRow:
    """Return the row of a diagnosis of predictions; what only a model could tell stays unknown."""
    line, effects = headline(diagnosis), diagnosis.counterfactuals
    scores = {split: {name: s.value for name, s in found.items()} for split, found in diagnosis.scores.items()}
    return judged.row(
        status="done",
        verdict=line.verdict,
        tone=line.tone,
        why=line.why,
        also=", ".join(diagnosis.kinds[1:]),
        **_judged(facts_of(diagnosis, by)),
        **_measures(scores, None if effects is None else effects.to_dict()),
        **_seen(dataset, sees_concepts),
        fingerprint=dataset.fingerprint,
        **_errors(gather_from(dataset, test), test.index, dataset),
    )


def _judged(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return by what a verdict was judged, how certain it is, and the numbers that decided."""
    by = facts.get(JUDGED_BY, {})
    known = {"thresholds": by.get("thresholds", {}), **facts.get("statistics", {})}
    return {
        "diagnosis": by.get("diagnosis", 1),
        "certainty": _number(facts.get("certainty", {}).get("share")),
        "statistics": json.dumps(known, ensure_ascii=False, sort_keys=True),
    }


def _measures(scores: Mapping[str, Mapping[str, float]], effects: Mapping[str, Any] | None) -> dict[str, float]:
    """Return the measures that scores by split, and the effects of changed concepts, give."""
    test, hard = scores[TEST], scores.get(HARD, scores[TEST])
    same = ("label_f1", "concept_f1", "collapse", "rule_consistency", "label_ece", "concept_ece")
    shifted = [found["label_f1"] for split, found in scores.items() if split.startswith(OOD)]
    known = [value for value in shifted if not math.isnan(value)]
    return {
        **{name: test[name] for name in same},
        "boundary": hard["near_accuracy"],
        "follows": math.nan if effects is None else _number(effects["all"]["follows"]["value"]),
        "ood": float(np.mean(known)) if known else math.nan,
    }


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def area_under(curve: Mapping[str, float], concepts: int) -> float:
    """Return the area under label accuracy over the share of concepts intervened on; NaN without a curve.

    >>> area_under({"accuracy_k0": 0.5, "accuracy_k1": 0.75, "accuracy_max": 1.0}, 2)
    0.75
    """
    points = {int(name.removeprefix("accuracy_k")): v for name, v in curve.items() if name.startswith("accuracy_k")}
    if "accuracy_max" not in curve or 0 not in points:
        return math.nan
    points[concepts] = curve["accuracy_max"]
    asked = sorted(points)
    return float(np.trapezoid([points[k] for k in asked], [k / concepts for k in asked]))


def _seen(dataset: Dataset, sees_concepts: bool) -> dict[str, float]:
    """Return how many examples, and how many annotated concepts of them, a model learned from."""
    train = dataset.read("train")
    annotated = int((train.annotated_concepts >= 0).sum()) if sees_concepts else 0
    return {"examples": float(len(train)), "concept_labels": float(annotated)}


def _errors(evidence: Evidence, index: Array, dataset: Dataset) -> dict[str, str]:
    """Return what went wrong with the first examples of test, by their number: wrong labels, and misread concepts."""
    labels, concepts = dataset.knowledge.labels, dataset.knowledge.space.concepts
    wrong, misread = {}, {}
    for row in np.flatnonzero(index < SHOWN)[np.argsort(index[index < SHOWN])]:
        true, said = evidence.labels[row], evidence.predicted_labels[row]
        if (true != said).any():
            wrong[int(index[row])] = ", ".join(_value(labels[i].values, said[i]) for i in range(len(labels)))
            continue
        pairs = zip(concepts, evidence.concepts[row], evidence.predicted_concepts[row], strict=True)
        read = [f"{c.name} {c.values[is_]}→{c.values[as_]}" for c, is_, as_ in pairs if is_ >= 0 <= as_ != is_]
        if read:
            more = f" and {len(read) - MOST_MISREAD} more" if len(read) > MOST_MISREAD else ""
            misread[int(index[row])] = ", ".join(read[:MOST_MISREAD]) + more
    return {"wrong": json.dumps(wrong), "misread": json.dumps(misread, ensure_ascii=False)}


def _value(values: Sequence[Any], code: int) -> str:
    return str(values[code]) if code >= 0 else "none"
