"""Mend a model: buy what it lacks, round by round, and retrain."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.api.running import Run
from assay.config import Settings, validate
from assay.data import Dataset
from assay.progress import progress_bar

if TYPE_CHECKING:
    from assay.mending import MendingCurve


def mend(
    run: Run | Path | str,
    output: Path | str,
    *,
    dataset: Dataset | None = None,
    strategy: str = "plan",
    budget: int = 200,
    progress: bool | None = None,
    **settings: Any,
) -> "MendingCurve":
    """Diagnose a run, buy what a strategy chooses, retrain, and again until it is sound or the budget is spent.

    Concept labels, examples, annotated nuisances and masks cost 1 each. Each round is a run in `output`; the same call
    goes on where an earlier one was stopped. Other keywords are settings such as `first`, `growth` and `seed`.
    """
    from assay.mending import MendSettings, mend_run

    known = run if isinstance(run, Run) else Run.open(run)
    chosen = validate(MendSettings, Settings({"strategy": strategy, "budget": budget, **settings}))
    with progress_bar(progress) as bar:
        return mend_run(known.folder, dataset or known.dataset, chosen, Path(output), bar)
