"""The steps of a suite, as a study has them: datasets to be made, copies to be annotated, models to be trained."""

from collections.abc import Sequence
from pathlib import Path

from assay.base import ConfigError, DataError, Settings, validate
from assay.lab.studies.entries import short_hash
from assay.lab.studies.study import PLAIN, CopyStep, DataStep, RunStep, Study, StudyConfig
from assay.lab.suites.suite import Suite, SuiteDataset

POLICY = "uncertainty"
"""The order in which concepts are intervened on: those of which a model is least sure first."""
PARTS = 4
"""In how many equal steps, up to all concepts."""


def data_steps(datasets: Sequence[SuiteDataset]) -> tuple[tuple[DataStep, ...], tuple[CopyStep, ...]]:
    """Return the datasets to be made, and the copies to be annotated."""
    made = tuple(DataStep(data.name, recipe) for data in datasets if (recipe := data.recipe) is not None)
    copies = tuple(
        CopyStep(data.name, data.config.of, data.config.annotate) for data in datasets if data.config.of is not None
    )
    return made, copies


def suite_study(
    suite: Suite, models: Sequence[str], datasets: Sequence[SuiteDataset], seeds: Sequence[int], output: Path
) -> Study:
    """Return the study that trains these models on these datasets, with these seeds, on data that is there."""
    runs = [run_step(suite, model, data, seed) for data in datasets for model in models for seed in seeds]
    return Study(study_config(suite, datasets), output, (), (), tuple(runs))


def study_config(suite: Suite, datasets: Sequence[SuiteDataset]) -> StudyConfig:
    """Return what a study is called whose steps are those of a suite."""
    names = {"tasks": [data.name for data in datasets] or [suite.name], "models": list(suite.config.models)}
    return validate(StudyConfig, Settings({"name": suite.name, "seeds": suite.config.seeds, **names}))


def run_step(suite: Suite, model: str, data: SuiteDataset, seed: int) -> RunStep:
    """Return the run of a model on a dataset; its name has a hash of all that decides its numbers."""
    if not data.fingerprint:
        raise ConfigError(f"dataset {data.name!r} of suite {suite.name!r} has no fingerprint yet")
    registered, settings = suite.settings_of(model)
    analyses = (("intervene", Settings({"policy": POLICY, "budget": budgets_for(_concepts(suite, data))})),)
    decisive = [data.fingerprint, registered, dict(settings.values), seed, [dict(a[1].values) for a in analyses]]
    name = f"{data.name}-{model}-seed{seed}-{short_hash(decisive)}"
    by = suite.judged_by
    return RunStep(
        name, data.name, data.name, PLAIN, registered, model, settings, seed, None, 0, analyses, judged_by=by
    )


def _concepts(suite: Suite, data: SuiteDataset) -> int:
    """Return how many concepts a dataset has."""
    source = data if data.config.of is None else suite.dataset(data.config.of)
    recipe = source.recipe
    if recipe is None:
        raise DataError(f"dataset {source.name!r} of suite {suite.name!r} has no task")
    return len(recipe.task.space)


def budgets_for(concepts: int) -> str:
    """Return how many concepts are intervened on: none, in equal steps some, all.

    >>> budgets_for(2), budgets_for(12)
    ('0,1,max', '0,3,6,9,max')
    """
    steps = sorted({concepts * part // PARTS for part in range(PARTS)})
    return ",".join([*map(str, steps), "max"])
