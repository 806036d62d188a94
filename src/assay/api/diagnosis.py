"""What a model has learned: the verdict, what concepts leak and which errors they cause, and interventions on them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from assay.api.arguments import Data, open_dataset
from assay.api.predictions import HELP, predictions_of
from assay.api.runs import Run
from assay.base import ConfigError, DataError, MissingExtra, find_rows, progress_bar
from assay.contracts import EVERY, IntervenableModel, read_predictions
from assay.dataset import Dataset, SplitData
from assay.diagnosis import (
    DEFAULTS,
    Diagnosis,
    Thresholds,
    diagnose_predictions,
    diagnose_run,
    read_thresholds,
)
from assay.diagnosis import diagnose as diagnose_evidence
from assay.exchange import read_other_rule
from assay.logic import Knowledge
from assay.metrics import Evidence, gather, gather_from
from assay.runs import RUN, RunFolder

if TYPE_CHECKING:
    from assay.diagnosis import Attribution, InterventionResult, Leakage
    from assay.models import Bypass


def diagnose(
    dataset: Data | Run | Evidence | None,
    answers: Any = None,
    *,
    splits: Sequence[str] | None = None,
    transform: Callable[[Any], Any] | None = None,
    thresholds: Thresholds | Mapping[str, float] = DEFAULTS,
    rule: Knowledge | Path | str | None = None,
) -> Diagnosis:
    """Say what a model has learned: the concepts and the rule, or something else.

    Parameters
    ----------
    dataset
        The dataset, or where it lies. Alone, what is judged: a run, its folder, or evidence.
    answers
        Predictions for one split or several (`ds["test"].predictions(...)`), a run or its folder, a predictions file,
        or a model of any make: a function of pictures, a torch module, a scikit-learn estimator.
    splits
        What a model is asked about, by default all splits but those of training; counterfactual worlds beside them.
    transform
        What makes a model's input of a batch of pictures (bytes, examples x height x width x channels).
    thresholds
        Those that differ from the defaults, such as `{"memorised.drop": 0.2}`; `assay list thresholds` has all.
    rule
        Diagnose a run under another rule for the same concepts: knowledge, or a YAML file with its labels.
    """
    by = thresholds_of(thresholds)
    if isinstance(dataset, Evidence):
        return diagnose_evidence({dataset.split: dataset}, thresholds=by)
    if answers is None and isinstance(dataset, (Run, str, Path)):
        return _diagnose_run(Run.open(dataset), by, rule)
    if isinstance(dataset, Run) or dataset is None or answers is None:
        raise ConfigError(f"diagnose needs a dataset and what a model says: {HELP}")
    data = open_dataset(dataset)
    if isinstance(answers, (Run, str, Path)):
        return _diagnose_run(Run.open(answers, data), by, rule)
    if rule is not None:
        raise ConfigError("diagnose under another rule takes a run, its folder or a predictions file")
    return diagnose_predictions(data, predictions_of(data, answers, splits, transform), thresholds=by)


def _diagnose_run(run: Run, thresholds: Thresholds, rule: Knowledge | Path | str | None) -> Diagnosis:
    """Return the diagnosis of a run, perhaps under another rule."""
    folder, data = RunFolder(run.folder), run.dataset
    other = rule if rule is None or isinstance(rule, Knowledge) else read_other_rule(Path(rule), data.knowledge)
    return diagnose_run(folder, data, thresholds=thresholds, rule=other)


def thresholds_of(given: Thresholds | Mapping[str, float]) -> Thresholds:
    """Return thresholds, read if they are given by name."""
    return given if isinstance(given, Thresholds) else read_thresholds(given)


@dataclass(frozen=True)
class LeakageReport:
    """What the predicted concepts of a split carry beyond the concepts, and whether labels bypass them."""

    dataset: Dataset
    seed: int
    precision: float
    leakage: "Leakage"
    bypass: "Bypass | None"
    why_no_bypass: str

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain data."""
        about = {"fingerprint": self.dataset.fingerprint, "seed": self.seed, "precision": self.precision}
        return {**about, **self.leakage.to_dict(), "bypass": None if self.bypass is None else self.bypass.to_dict()}


def leakage(
    run: Run | Path | str,
    dataset: Data | None = None,
    *,
    split: str = "test",
    seed: int = 0,
    precision: float = 0.01,
) -> LeakageReport:
    """Measure how much predicted concepts reveal of labels and of each other beyond the true concepts.

    For models that support interventions, also whether labels survive when the concepts are shuffled or constant.

    Parameters
    ----------
    run
        A run or its folder, or a predictions file.
    dataset
        The dataset; by default the one that the run was trained on.
    split
        The split to evaluate.
    seed
        The random seed.
    precision
        Probabilities that differ by less count as equal.
    """
    from assay.diagnosis import leakage as measure_leakage

    opened = Run.open(run, dataset)
    data, folder = opened.dataset, opened.folder
    predictions = RunFolder(folder).all_predictions(data.knowledge, data.sizes)
    if split not in predictions:
        raise DataError(
            f"{str(folder)!r} has no predictions for split {split!r}: assay predict RUN DATA --split {split}"
        )
    measured = measure_leakage(gather_from(data, predictions[split]), seed, precision)
    passes, why = _bypass(opened, split, seed)
    return LeakageReport(data, seed, precision, measured, passes, why)


def _bypass(run: Run, split: str, seed: int) -> "tuple[Bypass | None, str]":
    """Return the bypass of a run, or why there is none."""
    if run.folder.is_file():
        return None, "a predictions file has no model"
    from assay.models import bypass

    try:
        return bypass(run.model, run.dataset[split], seed), ""  # a network needs torch, a program does not
    except (ConfigError, DataError, MissingExtra) as error:
        return None, str(error)


def attribute(run: Run | Path | str, dataset: Data | None = None, *, split: str = "test") -> "Attribution":
    """Attribute every wrong label to one cause, as a diagnosis counts them.

    The label head (the true rule gives the right label for the predicted concepts), misread concepts (the label follows
    from them), both, or uncertain concepts.

    Parameters
    ----------
    run
        A run or its folder, or a predictions file.
    dataset
        The dataset; by default the one that the run was trained on.
    split
        The split to evaluate.
    """
    from assay.diagnosis import attribute as attribute_errors
    from assay.lab import answering_for

    opened = Run.open(run, dataset)
    data, folder = opened.dataset, opened.folder
    answering, _ = answering_for(folder, data, split)
    examples = data[split]
    examples.with_known_concepts("attribution")
    path = folder if folder.is_file() else RunFolder(folder).predictions(split)
    if path.exists():  # what is diagnosed
        predictions = read_predictions(path, data.knowledge, data.sizes)
        evidence = gather(examples, predictions)
        model = answering(examples.take(find_rows(predictions.index, examples.index)))
    else:
        model = answering(examples)
        evidence = _evidence_of(model, examples)
    return attribute_errors(model, evidence, own_head=not folder.is_file())


def _evidence_of(model: IntervenableModel, examples: SplitData) -> Evidence:
    """Return the truth of examples beside what a model says of them when nothing is set."""
    own = model.answer(EVERY, {})
    said = own.label_codes, own.concept_codes, tuple(own.labels), tuple(own.concepts)
    return Evidence(examples.knowledge, examples.name, examples.labels, examples.concepts, *said)


@dataclass(frozen=True)
class Interventions:
    """What interventions did to one run or several."""

    results: dict[str, "InterventionResult"]
    dataset: Dataset
    about: dict[str, dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return plan, runs and curves as plain data."""
        from assay.reporting import build_record

        return build_record(self.results, self.dataset, self.about)

    def write(self, output: Path) -> Path:
        """Write the record, the curves and a page into a folder, and return the page."""
        from assay.reporting import write_interventions

        return write_interventions(output, self.results, self.dataset, self.about)


@overload
def intervene(run: Run | Path | str, dataset: Data | None = None, **options: Any) -> "InterventionResult": ...
@overload
def intervene(run: Sequence[Run | Path | str], dataset: Data | None = None, **options: Any) -> Interventions: ...
def intervene(
    run: Run | Path | str | Sequence[Run | Path | str],
    dataset: Data | None = None,
    *,
    reader: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    baseline: float | Path | str | None = None,
    **plan: Any,
) -> "InterventionResult | Interventions":
    """Correct concepts of a run within a budget and see what becomes of the labels.

    Of a list of runs, such as seeds, the results of all come back together.

    Parameters
    ----------
    run
        A run, its folder, or a predictions file; or a list of them, and of folders that hold runs.
    dataset
        The dataset; by default the one that the (first) run was trained on.
    reader
        The settings of a source that is a machine, `vlm` or `clip:FOLDER`.
    progress
        Whether to show progress on standard error.
    baseline
        A label accuracy, or the run or predictions file that has it: the gain over it is reported.
    **plan
        The other options of `assay intervene`: `policy`, `budget`, `source`, `kind`, `split`, `threshold`, `order`,
        `groups`, `costs`, `batch_budget`, `target`, `seed`.
    """
    from assay.dataset import redrawing_for
    from assay.diagnosis import InterventionPlan
    from assay.diagnosis import intervene as run_plan
    from assay.lab import answering_for
    from assay.models import reader_for

    known = set(InterventionPlan.__dataclass_fields__)
    unknown = [name for name in plan if name not in known]
    if unknown:
        raise ConfigError(f"intervene: no setting named {unknown[0]!r}; there are {', '.join(sorted(known))}")
    several = [run] if isinstance(run, (Run, Path, str)) else list(run)
    if not several:
        raise ConfigError("intervene needs a run")
    folders = [path for one in several for path in ([one.folder] if isinstance(one, Run) else _runs_in(Path(one)))]
    data = Run.open(several[0] if isinstance(several[0], Run) else folders[0], dataset).dataset
    if isinstance(baseline, (Path, str)):
        baseline = _accuracy_of(Path(baseline), data, plan.get("split", InterventionPlan.split))
    asked = InterventionPlan(**plan, baseline=baseline)
    redraw = redrawing_for(asked.kind, data)
    results: dict[str, InterventionResult] = {}
    about: dict[str, dict[str, Any]] = {}
    with progress_bar(progress) as bar:
        answers = reader_for(asked.source, reader or {}, bar)
        for number, folder in enumerate(folders):
            title = f"{RunFolder(folder).title}, {number + 1} of {len(folders)}"
            bar("intervening", number, len(folders), title)
            answering, facts = answering_for(folder, data, asked.split)
            name = str(folder) if folder.name in results else folder.name
            results[name] = run_plan(asked, data, answering, redraw, answers)
            about[name] = facts if answers is None else {**facts, "reader": answers.metadata()}
    return next(iter(results.values())) if isinstance(run, (Run, Path, str)) else Interventions(results, data, about)


def _runs_in(folder: Path) -> list[Path]:
    """Return the runs that a path stands for: itself, or those in its folders, such as seeds."""
    if folder.is_file() or (folder / RUN).exists():
        return [folder]
    runs = sorted(path.parent for path in folder.glob(f"*/{RUN}"))
    if not runs:
        raise DataError(f"{str(folder)!r} holds no finished run and is no predictions file")
    return runs


def _accuracy_of(path: Path, dataset: Dataset, split: str) -> float:
    """Return the label accuracy of a run or a predictions file on a split."""
    predictions = RunFolder(path).all_predictions(dataset.knowledge)
    if split not in predictions:
        raise DataError(f"{str(path)!r} has no predictions for split {split!r}")
    evidence = gather_from(dataset, predictions[split])
    return float((evidence.predicted_labels == evidence.labels).mean())
