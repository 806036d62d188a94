"""Mend a model: acquire what it lacks, round by round, and retrain."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.api.arguments import ConfigSource, Data, merge_settings
from assay.api.running import Run, open_run
from assay.base import progress_bar, validate

if TYPE_CHECKING:
    from assay.lab import MendingCurve


def mend(
    run: Run | Path | str,
    output: Path | str,
    *,
    dataset: Data | None = None,
    strategy: str = "plan",
    budget: int = 200,
    progress: bool | None = None,
    config: ConfigSource = None,
    **settings: Any,
) -> "MendingCurve":
    """Diagnose a run, buy what a strategy chooses, retrain, and again until it is sound or the budget is spent.

    Each round is a run in `output`; the same call goes on where an earlier one was stopped.

    Parameters
    ----------
    run
        A run or its folder.
    output
        The folder of the rounds.
    dataset
        The dataset; by default the one that the run was trained on.
    strategy
        What is bought; `assay list strategies` has all.
    budget
        The most that is spent: concept labels, examples, annotated nuisances and masks cost 1 each.
    progress
        Whether to show progress on standard error.
    config
        Settings, or the YAML file that has them; keywords override them.
    **settings
        Settings such as `first`, `growth` and `seed`.
    """
    from assay.lab import STRATEGIES

    STRATEGIES.entry(strategy)
    values = merge_settings(config, {"strategy": strategy, "budget": budget, **settings})
    opened = open_run(run, dataset)
    from assay.lab import MendSettings, mend_run

    with progress_bar(progress) as bar:
        return mend_run(opened.folder, opened.dataset, validate(MendSettings, values), Path(output), bar)
