"""`assay train`, `mend`, `predict` and `decode`: models are trained, repaired, and asked; predictions are decoded."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import (
    ConfigOption,
    DataArgument,
    FindingFileOption,
    JsonFlag,
    LogOption,
    ModelFileOption,
    OutOption,
    RemoteOption,
    RunDataArgument,
    SeedOption,
    SetOption,
    TaskFileOption,
    parse_seeds,
    print_json,
    print_next,
    print_table,
    print_text,
    say,
    settings_from,
)

if TYPE_CHECKING:
    from assay.contracts import RunRecord
    from assay.lab import AcquisitionCurve


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
        words = {"learned": trained.describe(), "coverage": trained.coverage()}
        print_json({"run": str(output), **trained.metadata(), "history": trained.history_as_dicts(), **words})
        return
    for line in (*trained.describe(), *trained.coverage(), *_notes(run.record)):
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


def mend(
    run: Annotated[Path, typer.Argument(help="A run's folder.")],
    data: RunDataArgument = None,
    allow_remote: RemoteOption = False,
    *,
    output: OutOption,
    strategy: Annotated[str, typer.Option(help="What is bought; 'assay list strategies' has all.")] = "plan",
    budget: Annotated[
        int, typer.Option(min=1, help="The most that is spent; a concept label, example, nuisance or mask costs 1.")
    ] = 200,
    seed: SeedOption = 0,
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    task_file: TaskFileOption = [],  # noqa: B006
    model_file: ModelFileOption = [],  # noqa: B006
    finding_file: FindingFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Mend a model: diagnose it, choose what to buy within a budget, retrain, and again until it is sound.

    A strategy buys concept labels (plan, uncertainty, disagreement, boundary, random), or works against a confounder
    (augment, fresh, reweight, reasons). Each round is a run of its own in OUTPUT; run the same command again to go on.
    """
    from assay.api import mend as mend_run

    curve = mend_run(
        run,
        output,
        dataset=data,
        strategy=strategy,
        budget=budget,
        seed=seed,
        config=settings_from(settings, config),
    )
    if as_json:
        print_json({"folder": str(output), **curve.to_dict()})
        return
    _print(curve, run, output)


def _print(curve: "AcquisitionCurve", run: Path, output: Path) -> None:
    print_table(list(curve.head), [one.cells for one in curve.rounds])
    print_text(curve.text)
    last = run if len(curve.rounds) == 1 else output / curve.rounds[-1].run
    print_next(
        [
            (f"assay diagnose {last}", "the verdict of the last round, in words"),
            (f"assay report {run} {output}/round-* -o report", "all rounds side by side"),
            (f"assay view {output}", "their pictures and predictions"),
        ]
    )


def predict(
    run: Annotated[Path, typer.Argument(help="A run folder written by 'assay train'.")],
    data: RunDataArgument = None,
    allow_remote: RemoteOption = False,
    split: Annotated[str, typer.Option(help="The split to predict.")] = "test",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="For data that it was not trained on: a new folder, for all splits."),
    ] = None,
    model_file: ModelFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Write a trained model's predictions for a split.

    With -o, for another dataset with the same concepts, labels and size of pictures (transfer): score and diagnose that
    folder as any run.
    """
    from assay.api import Run
    from assay.api import predict as write

    opened = Run.open(run, data)
    paths, fingerprint = write(opened, None, output, split=split), opened.dataset.fingerprint
    if output is not None and as_json:
        print_json({"predictions": [str(path) for path in paths], "fingerprint": fingerprint})
    elif output is not None:
        say(f"{output}  next: assay diagnose {output}")
    elif as_json:
        print_json({"predictions": str(paths[0]), "split": split, "fingerprint": fingerprint})
    else:
        say(str(paths[0]))


def decode(
    predictions: Annotated[Path, typer.Argument(help="A Parquet file with the probabilities of every concept.")],
    data: DataArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="The Parquet file to write.")],
    labels_by_rule: Annotated[
        bool,
        typer.Option(
            "--labels-by-rule", help="Also replace labels by those that the rule gives for the decoded concepts."
        ),
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Decode predicted concepts under the constraints.

    Replaces them by the most probable ones that satisfy every constraint. The output is a predictions file like any
    other: `assay score` and `assay diagnose` take it.
    """
    from assay.api import decode as decode_file

    decoded = decode_file(predictions, data, output, labels_by_rule=labels_by_rule)
    counts = decoded.about["decoded"]
    if as_json:
        print_json({"file": str(output), "examples": len(decoded.index), **counts})
        return
    say(f"{counts['changed']} of {len(decoded.index)} examples changed")
    if counts["not_proven"]:
        say(
            f"{counts['not_proven']} not proven to be the most probable, {counts['not_found']} of them not found at all"
        )
    say(str(output))
