"""`assay train`: train a model on a dataset."""

import math
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import (
    ConfigOption,
    DataArgument,
    JsonFlag,
    LogOption,
    ModelFileOption,
    OutOption,
    SeedOption,
    SetOption,
    parse_seeds,
    print_json,
    say,
    settings_from,
)

if TYPE_CHECKING:
    from assay.contracts import RunRecord


def train(
    model: Annotated[str, typer.Argument(help="A model's name, see 'assay list models', or FILE.py.")],
    data: DataArgument,
    output: OutOption,
    seed: SeedOption = 0,
    seeds: Annotated[
        str | None, typer.Option(help="Train several seeds at once, such as 0-9 or 1,5; a run each in OUTPUT.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="The maximum number of epochs.")] = None,
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    log: LogOption = None,
    perception_model: ModelFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Train a model and write its predictions.

    Predictions are written for every split except the training split.
    """
    from assay.api import train as train_model
    from assay.base import Settings

    values = settings_from(settings, config)
    if epochs is not None:
        values = values.merge(Settings({"epochs": epochs}, {"epochs": "--epochs"}))
    if seeds is not None:
        runs = train_model(model, data, output, seeds=parse_seeds(seeds), log=log, config=values)
        folders = [str(run.folder) for run in runs]
        if as_json:
            print_json(folders)
            return
        done = f"trained {runs[0].record.model}: {', '.join(folders)}"
        say(done if any(run.is_new for run in runs) else f"{output} is finished already")
        return
    run = train_model(model, data, output, seed=seed, log=log, config=values)
    if not run.is_new and not as_json:
        say(f"{output} is finished already  next: assay diagnose {output} {data}")
        return
    trained, name = run.model, run.record.model
    last = [epoch.score for epoch in trained.history if epoch.phase == trained.history[-1].phase]
    if as_json:
        words = {"learned": trained.in_words(), "coverage": trained.coverage()}
        print_json({"run": str(output), **trained.about(), "history": trained.history_as_dicts(), **words})
        return
    for line in (*trained.in_words(), *trained.coverage(), *_notes(run.record)):
        say(line)
    best = "not computed" if math.isnan(max(last)) else f"{max(last):.3f}"
    say(f"trained {name} for {len(trained.history)} epochs; best F1 on validation {best}")
    say(f"{output}  next: assay diagnose {output} {data}")


def _notes(record: "RunRecord") -> list[str]:
    """Return what is to be said of how a run was trained."""
    lines = []
    why = record.training.get("not_captured")
    if why:
        lines.append(f"note: the steps of {record.model} ran one kernel after the other: {why}")
    if record.stages is not None:
        accuracy = record.stages["label_accuracy"]
        lines.append(
            f"after the last of {len(record.stages['after_each'])} stages: label accuracy {accuracy['average']:.3f} on "
            f"average, forgetting {accuracy['forgetting']:.3f}"
        )
    return lines
