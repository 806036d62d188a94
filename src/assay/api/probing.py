"""Look into a trained model: what its layers encode, and its label head under constraints."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.api.arguments import ConfigSource, Data, merge_settings
from assay.api.running import Run, open_run
from assay.base import UnknownName, progress_bar, suggestion, validate
from assay.runs import RunFolder

if TYPE_CHECKING:
    from assay.models import Aligned, Probed

PROBES = ("linear", "tcav")


def probe(
    run: Run | Path | str,
    dataset: Data | None,
    output: Path | str,
    *,
    method: str = "linear",
    layers: Sequence[str] = (),
    every: bool = False,
    seed: int = 0,
    progress: bool | None = None,
    config: ConfigSource = None,
    **settings: Any,
) -> "Probed":
    """Probe the layers of a trained model for the concepts; the predictions of the best probe are written as a run.

    Parameters
    ----------
    run
        A run or its folder.
    dataset
        The dataset; None for the one that the run was trained on.
    output
        The folder for what was found.
    method
        `linear` or `tcav`.
    layers
        Only these; by default all with weights.
    every
        Also layers without weights.
    seed
        The random seed.
    progress
        Whether to show progress on standard error.
    config
        Settings of the probes, or the YAML file that has them; keywords override them.
    **settings
        Settings of the probes.
    """
    if method not in PROBES:
        raise UnknownName(f"no method named {method!r}{suggestion(method, PROBES)}")
    trained = _trained(run, dataset)
    from assay.models import Ask, ProbeConfig, probe_run

    plan = validate(ProbeConfig, merge_settings(config, settings))
    ask = Ask("tcav" if method == "tcav" else "linear", tuple(layers), every, plan, seed)
    with progress_bar(progress) as bar:
        return probe_run(trained.folder, trained.dataset, Path(output), ask, bar)


def align(
    run: Run | Path | str,
    dataset: Data | None,
    output: Path | str,
    *,
    config: ConfigSource = None,
    **settings: Any,
) -> "Aligned":
    """Refit the linear label head of a run under constraints on its weights, and write the run that comes out.

    Parameters
    ----------
    run
        A run or its folder, of a model with a linear label head.
    dataset
        The dataset; None for the one that the run was trained on.
    output
        The folder of the new run.
    config
        The constraints, or the YAML file that has them; keywords override them.
    **settings
        The constraints: weights that are `zero`, `positive`, `negative` or bounded.
    """
    trained = _trained(run, dataset)
    from assay.models import Alignment, align_run

    alignment = validate(Alignment, merge_settings(config, settings))
    return align_run(trained.folder, trained.dataset, alignment, Path(output))


def _trained(run: Run | Path | str, dataset: Data | None) -> Run:
    """Return a run that was trained, refusing a folder that holds none before the dataset is opened."""
    RunFolder(run.folder if isinstance(run, Run) else Path(run)).about()
    return open_run(run, dataset)
