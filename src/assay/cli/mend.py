"""`assay mend`: buy what a model lacks, round by round, and retrain."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import (
    ConfigOption,
    FindingFileOption,
    JsonFlag,
    ModelFileOption,
    OutOption,
    RemoteOption,
    RunDataArgument,
    SeedOption,
    SetOption,
    TaskFileOption,
    print_json,
    print_next,
    print_table,
    print_text,
    settings_from,
)

if TYPE_CHECKING:
    from assay.lab import MendingCurve


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


def _print(curve: "MendingCurve", run: Path, output: Path) -> None:
    from assay.lab import CURVE_HEAD

    print_table(list(CURVE_HEAD), [one.cells for one in curve.rounds])
    print_text(curve.text)
    last = run if len(curve.rounds) == 1 else output / curve.rounds[-1].run
    print_next(
        [
            (f"assay diagnose {last}", "the verdict of the last round, in words"),
            (f"assay report {run} {output}/round-* -o report", "all rounds side by side"),
            (f"assay view {output}", "their pictures and predictions"),
        ]
    )
