"""Correct concepts, and see what becomes of the labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.api.arguments import Data
from assay.api.running import Run, open_run
from assay.base import ConfigError, progress_bar
from assay.dataset import Dataset, redrawing_for
from assay.diagnosis import InterventionPlan, InterventionResult
from assay.diagnosis import intervene as carry_out
from assay.lab import accuracy_of, answering_for, runs_in
from assay.models import reader_for
from assay.reporting import build_record, write_interventions
from assay.runs import RunFolder


@dataclass(frozen=True)
class Interventions:
    """What interventions did to one run or several."""

    results: dict[str, InterventionResult]
    dataset: Dataset
    about: dict[str, dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return plan, runs and curves as plain data."""
        return build_record(self.results, self.dataset, self.about)

    def write(self, output: Path) -> Path:
        """Write the record, the curves and a page into a folder, and return the page."""
        return write_interventions(output, self.results, self.dataset, self.about)


def intervene(run: Run | Path | str, dataset: Data | None = None, **plan: Any) -> InterventionResult:
    """Correct concepts of a run within a budget and see what becomes of the labels.

    Parameters
    ----------
    run
        A run or its folder, or a predictions file.
    dataset
        The dataset; by default the one that the run was trained on.
    **plan
        The options of `assay intervene`: `policy`, `budget`, `source`, `kind`, `split`, `threshold`, `order`,
        `groups`, `costs`, `batch_budget`, `target`, `baseline`, `seed`; and `reader`, the settings of a source that is
        a machine, `vlm` or `clip:FOLDER`.
    """
    return next(iter(intervene_all(run, dataset, **plan).results.values()))


def intervene_all(
    run: Run | Path | str,
    dataset: Data | None = None,
    *,
    reader: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    baseline: float | Path | str | None = None,
    **plan: Any,
) -> Interventions:
    """Intervene on a run, or on each run of a folder, such as seeds.

    Parameters
    ----------
    run
        A run, its folder, a folder of runs, or a predictions file.
    dataset
        The dataset; by default the one that the first run was trained on.
    reader
        The settings of a source that is a machine.
    progress
        Whether to show progress on standard error.
    baseline
        A label accuracy, or the run or predictions file that has it: the gain over it is reported.
    **plan
        The other options of `assay intervene`.
    """
    known = set(InterventionPlan.__dataclass_fields__)
    unknown = [name for name in plan if name not in known]
    if unknown:
        raise ConfigError(f"intervene: no setting named {unknown[0]!r}; there are {', '.join(sorted(known))}")
    folders = [run.folder] if isinstance(run, Run) else runs_in(Path(run))
    data = open_run(run if isinstance(run, Run) else folders[0], dataset).dataset
    if isinstance(baseline, (Path, str)):
        baseline = accuracy_of(Path(baseline), data, plan.get("split", InterventionPlan.split))
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
            results[folder.name] = carry_out(asked, data, answering, redraw, answers)
            about[folder.name] = facts if answers is None else {**facts, "reader": answers.about()}
    return Interventions(results, data, about)
