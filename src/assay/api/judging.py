"""Judge a model: diagnose, intervene, report, view; and judge what it learned from: count, audit."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.api.answers import predictor_of
from assay.api.running import Run
from assay.auditing import Audit, audited_dataset
from assay.auditing import audit as examine
from assay.contracts import PAIRS
from assay.counting import ReadingCount, count_readings
from assay.data import Dataset, permit_remote, redrawing_for, training_support
from assay.diagnosis import (
    DEFAULTS,
    Diagnosis,
    InterventionPlan,
    InterventionResult,
    Thresholds,
    diagnose_predictions,
    diagnose_run,
    read_thresholds,
    training_worlds,
)
from assay.diagnosis import diagnose as diagnose_evidence
from assay.diagnosis import intervene as carry_out
from assay.distribution import import_extra
from assay.errors import ConfigError, DataError
from assay.logic import Knowledge
from assay.metrics import Evidence, Score, gather_from
from assay.metrics import score as score_evidence
from assay.models import reader_for
from assay.predictions import Predictions
from assay.reporting import cases_of, write_pages
from assay.runs import RunFolder
from assay.studies import RunModels

if TYPE_CHECKING:
    from assay.viewer import Viewer

HELP = "assay.diagnose(ds, answers), where answers are predictions, a run, a function, a torch module or an estimator"


def diagnose(
    dataset: Dataset | Run | Evidence,
    answers: Any = None,
    *,
    splits: Sequence[str] | None = None,
    transform: Callable[[Any], Any] | None = None,
    thresholds: Thresholds | Mapping[str, float] = DEFAULTS,
) -> Diagnosis:
    """Say what a model has learned: the concepts and the rule, or something else.

    `answers` are predictions for one split or several (`ds["test"].predictions(...)`), a run or its folder, a
    predictions file, or a model of any make: a function of pictures, a torch module, a scikit-learn estimator. A model
    is asked about `splits`, by default all but those of training, and about the counterfactual worlds. `thresholds` are
    those that differ from the defaults, such as `{"memorised.drop": 0.2}`; `assay list thresholds` has all.
    """
    by = _as_thresholds(thresholds)
    if isinstance(dataset, Evidence):
        return diagnose_evidence({dataset.split: dataset}, thresholds=by)
    if isinstance(dataset, Run) and answers is None:
        return diagnose_run(RunFolder(dataset.folder), dataset.dataset, thresholds=by)
    if not isinstance(dataset, Dataset) or answers is None:
        raise ConfigError(f"diagnose needs a dataset and what a model says: {HELP}")
    if isinstance(answers, (Run, str, Path)):
        return diagnose_run(RunFolder(_folder(answers)), dataset, thresholds=by)
    return diagnose_predictions(dataset, predictions_of(dataset, answers, splits, transform), thresholds=by)


def _as_thresholds(given: Thresholds | Mapping[str, float]) -> Thresholds:
    return given if isinstance(given, Thresholds) else read_thresholds(given)


def read_answers(dataset: Dataset, answers: Any) -> dict[str, Predictions]:
    """Return predictions by split, of a run, a predictions file, predictions, or a model of any make."""
    if isinstance(answers, (Run, str, Path)):
        return RunFolder(_folder(answers)).all_predictions(dataset.knowledge, dataset.sizes)
    return predictions_of(dataset, answers)


def predictions_of(
    dataset: Dataset, answers: Any, splits: Sequence[str] | None = None, transform: Callable[[Any], Any] | None = None
) -> dict[str, Predictions]:
    """Return predictions by split, of predictions in any number or of a model of any make."""
    if isinstance(answers, Predictions):
        return {answers.split: answers}
    if isinstance(answers, Mapping):
        answers = list(answers.values())
    if isinstance(answers, (list, tuple)):
        strangers = [type(one).__name__ for one in answers if not isinstance(one, Predictions)]
        if strangers or not answers:
            raise ConfigError(f"expected predictions, as ds['test'].predictions(...) makes them, not {strangers[:1]}")
        return {one.split: one for one in answers}
    predict = predictor_of(answers, dataset, transform)
    names = [name for name in dataset.split_names if not name.startswith("train")] if splits is None else list(splits)
    asked = sorted(names, key=lambda name: not name.startswith("test"))
    if dataset.pairs is not None and dataset.pairs.split in asked:
        asked.append(PAIRS)
    return {name: predict(dataset[name]) for name in asked}


def score(
    dataset: Dataset | Evidence, answers: Any = None, *, metrics: Sequence[str] | None = None
) -> dict[str, dict[str, Score]]:
    """Return the metrics, or those named, of each split that a model answered for, with 95 % intervals.

    `answers` are what `diagnose` takes.
    """
    if isinstance(dataset, Evidence):
        return {dataset.split: score_evidence(dataset, metrics)}
    if not isinstance(dataset, Dataset) or answers is None:
        raise ConfigError(f"score needs a dataset and what a model says: {HELP.replace('diagnose', 'score')}")
    predictions = read_answers(dataset, answers)
    judged = {split: found for split, found in predictions.items() if split != PAIRS}
    return {split: score_evidence(gather_from(dataset, found), metrics) for split, found in judged.items()}


def count(
    source: Dataset | Knowledge | str, *, family: str = "shared", seconds: float = 60.0, **supervised: Any
) -> ReadingCount:
    """Count the readings of the concepts that keep every training label: 1 means that no reasoning shortcut exists.

    Of a dataset the worlds of its training splits decide, of a task those that it would draw, of a rule all worlds.
    Keywords name concepts that are supervised: `a=True` for all values, `a=[3, 4]` for some.
    """
    from assay.counting import check_reading_class

    given = {
        name: None if values is True else list(values) for name, values in supervised.items() if values is not False
    }
    if isinstance(source, Dataset):
        knowledge, worlds = source.knowledge, training_worlds(source)
    elif isinstance(source, Knowledge):
        knowledge, worlds = source, None
    else:
        from assay.config import Settings

        knowledge, worlds = training_support(str(source), Settings(), 0)
    return count_readings(knowledge, check_reading_class(family), worlds, given, seconds)


def audit(dataset: Dataset, checks: Sequence[str] = ()) -> Audit:
    """Check whether a dataset is what it claims to be; what could not be checked is said to be."""
    return examine(audited_dataset(dataset), checks)


def intervene(run: Run, dataset: Dataset | None = None, **plan: Any) -> InterventionResult:
    """Correct concepts within a budget and see what becomes of the labels; keywords are those of `assay intervene`.

    `reader` are the settings of a source that is a machine, `vlm` or `clip:FOLDER`.
    """
    settings = plan.pop("reader", {})
    known = set(InterventionPlan.__dataclass_fields__)
    unknown = [name for name in plan if name not in known]
    if unknown:
        raise ConfigError(f"intervene: no setting named {unknown[0]!r}; there are {', '.join(sorted(known))}")
    data = dataset or run.dataset
    asked = InterventionPlan(**plan)
    reader = reader_for(asked.source, settings)
    return carry_out(asked, data, run.model.intervene, redrawing_for(asked.kind, data), reader)


def report(
    runs: Run | Path | str | Sequence[Run | Path | str],
    output: Path | str,
    *,
    title: str = "Assay report",
    dataset: Dataset | None = None,
    thresholds: Thresholds | Mapping[str, float] = DEFAULTS,
    allow_remote: bool = False,
) -> Path:
    """Write a report about runs or predictions files into a folder and return its page; files need the dataset.

    Addresses that the records of folders name are opened only if that is allowed.
    """
    several = [runs] if isinstance(runs, (Run, str, Path)) else list(runs)
    with permit_remote(allow_remote or all(isinstance(one, Run) for one in several)):  # these are open already
        cases = cases_of([_folder(one) for one in several], dataset, thresholds=_as_thresholds(thresholds))
    return write_pages(cases, Path(output), title)


def view(*sources: Dataset | Run | Path | str, port: int = 0, allow_remote: bool = False) -> "Viewer":
    """Serve the viewer on the loopback address, in the background; `.url` is its address, `.stop()` ends it.

    Addresses that the records of folders name are opened only if that is allowed.
    """
    for package in ("fastapi", "uvicorn"):
        import_extra(package, "the viewer")
    from assay.viewer import serve_in_background

    if not sources:
        raise DataError("nothing to look at; name datasets or runs")
    with permit_remote(allow_remote or all(isinstance(one, (Dataset, Run)) for one in sources)):
        return serve_in_background([_folder(source) for source in sources], RunModels(), port)


def _folder(source: Dataset | Run | Path | str) -> Path:
    """Return where something lies."""
    return source.folder if isinstance(source, (Dataset, Run)) else Path(source)
