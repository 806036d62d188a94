"""Score what a model says."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.api.answers import HELP, read_answers
from assay.api.arguments import Data, open_dataset
from assay.api.running import Run, open_run
from assay.base import ConfigError
from assay.contracts import PAIRS
from assay.logic import Knowledge
from assay.metrics import METRICS, Evidence, Score, gather_from
from assay.metrics import score as score_evidence
from assay.runs import RunFolder, evidence_of, read_other_rule, under_rule


class ScoreTable(dict[str, dict[str, Score]]):
    """ScoreTable by split and metric."""

    def __init__(self, evidence: Mapping[str, Evidence], metrics: Iterable[str] | None) -> None:
        names = None if metrics is None else list(metrics)
        super().__init__({split: score_evidence(rows, names) for split, rows in evidence.items()})
        self.examples = {split: len(rows) for split, rows in evidence.items()}
        """How many examples of each split were scored."""


def score(
    dataset: Data | Run | Evidence | None,
    answers: Any = None,
    *,
    metrics: Sequence[str] | None = None,
    rule: Knowledge | Path | str | None = None,
) -> ScoreTable:
    """Return the metrics of each split that a model answered for, with 95 % intervals.

    Parameters
    ----------
    dataset
        The dataset, or where it lies. Alone, what is scored: a run, its folder, or evidence.
    answers
        What `diagnose` takes: predictions, a run, a predictions file, a model of any make.
    metrics
        Only these, by name or `FILE.py`; by default all.
    rule
        Score under another rule for the same concepts: knowledge, or a YAML file with its labels.
    """
    names = None if metrics is None else [METRICS.resolve(name) for name in metrics]
    if isinstance(dataset, Evidence):
        return ScoreTable({dataset.split: dataset}, names)
    if answers is None and isinstance(dataset, (Run, str, Path)):
        run = open_run(dataset)
        data, evidence = run.dataset, evidence_of(RunFolder(run.folder), run.dataset)
    elif isinstance(dataset, Run) or dataset is None or answers is None:
        raise ConfigError(f"score needs a dataset and what a model says: {HELP.replace('diagnose', 'score')}")
    else:
        data = open_dataset(dataset)
        said = read_answers(data, answers)
        evidence = {split: gather_from(data, found) for split, found in said.items() if split != PAIRS}
    if rule is not None:
        other = rule if isinstance(rule, Knowledge) else read_other_rule(Path(rule), data.knowledge)
        evidence = {split: under_rule(rows, other) for split, rows in evidence.items()}
    return ScoreTable(evidence, names)
