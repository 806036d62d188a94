"""`assay train`: train a model on a dataset."""

import math
from dataclasses import replace
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
    progress_bar,
    say,
    settings_from,
)

if TYPE_CHECKING:
    from assay.contracts import RunRecord
    from assay.models import Epoch


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
    from assay.config import Settings
    from assay.data import Dataset
    from assay.models import MODELS

    model = MODELS.resolve(model)
    dataset = Dataset.open(data)
    values = settings_from(settings, config)
    if epochs is not None:
        values = values.merge(Settings({"epochs": epochs}, {"epochs": "--epochs"}))
    from assay.models import Order, finished_already, load_model, train_run, train_together

    with progress_bar() as bar:
        order = Order(model, values, seed, log=log)
        if seeds is not None:
            chosen = parse_seeds(seeds)
            folders = [output / f"seed{one}" for one in chosen]
            if all(
                finished_already(replace(order, seed=one), dataset, folder)
                for one, folder in zip(chosen, folders, strict=True)
            ):
                print_json([str(folder) for folder in folders]) if as_json else say(f"{output} is finished already")
                return
            runs = train_together(
                order, chosen, dataset, output, lambda e, whole: bar(f"training {model}", e.number, whole, _note(e))
            )
            print_json([str(run) for run in runs]) if as_json else say(f"trained {model}: {', '.join(map(str, runs))}")
            return
        again = finished_already(order, dataset, output)
        trained = (
            load_model(output)
            if again
            else train_run(order, dataset, output, lambda e, whole: bar(f"training {model}", e.number, whole, _note(e)))
        )
    if again and not as_json:
        say(f"{output} is finished already  next: assay diagnose {output} {data}")
        return
    last = [epoch.score for epoch in trained.history if epoch.phase == trained.history[-1].phase]
    if as_json:
        words = {"learned": trained.in_words(), "coverage": trained.coverage()}
        learned = trained.about(), {"history": trained.history_as_dicts(), **words}
        print_json({"run": str(output), **learned[0], **learned[1]})
        return
    for line in (*trained.in_words(), *trained.coverage()):
        say(line)
    from assay.runs import RunFolder

    for line in _notes(RunFolder(output).record):
        say(line)
    best = "not computed" if math.isnan(max(last)) else f"{max(last):.3f}"
    say(f"trained {model} for {len(trained.history)} epochs; best F1 on validation {best}")
    say(f"{output}  next: assay diagnose {output} {data}")


def _note(epoch: "Epoch") -> str:
    """Return what an epoch gave, for the progress bar."""
    score = "" if math.isnan(epoch.score) else f", validation F1 {epoch.score:.2f}"
    return f"{epoch.phase} epoch {epoch.number}, loss {epoch.loss:.3f}{score}"


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
