"""`assay pairs`: counterfactual worlds, rendered again into a dataset or into a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import (
    DataArgument,
    JsonFlag,
    SetOption,
    TaskFileOption,
    print_json,
    progress_bar,
    say,
    settings_from,
)
from assay.errors import ConfigError

if TYPE_CHECKING:
    from assay.data import Dataset, Pairs
    from assay.tasks import Task


def pairs(
    data: DataArgument,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A Parquet file, instead of the dataset's split `pairs`.")
    ] = None,
    count: Annotated[int | None, typer.Option("-n", min=1, help="How many; by default as many as before.")] = None,
    split: Annotated[str, typer.Option("--split", help="With -o: the split whose worlds are changed.")] = "test",
    do: Annotated[
        list[str],
        typer.Option(
            "--do", help="With -o, instead: one of the task's interventions, or CONCEPT=VALUE; can be repeated."
        ),
    ] = [],  # noqa: B006
    settings: SetOption = [],  # noqa: B006
    task_file: TaskFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Render counterfactual worlds, with one concept changed.

    `assay make` writes those of the test split as the split `pairs`; this command renders that split again, or adds it
    to an older dataset. Models that `assay train` trains have predictions for it. For any other model, put predictions
    for `test` and `pairs` into FOLDER/predictions/test.parquet and pairs.parquet: then `assay diagnose FOLDER DATA`
    reports counterfactual sensitivity and invariance.

    With `-o`, the worlds of any split before and after a change go to a file of their own; with `--do` all worlds that
    an intervention applies to are changed, whether the task would sample the outcome or not.
    """
    from assay.data import MOST_PAIRS, Dataset, intervened, pairs_of, task_of

    dataset = Dataset.open(data)
    task = task_of(dataset, settings_from(settings, None))
    if output is None:
        _refresh(dataset, task, count, bool(do) or split != "test", as_json)
        return
    found = intervened(dataset, split, task, do) if do else pairs_of(dataset, split, task, count or MOST_PAIRS)
    _write(found, output)
    if as_json:
        facts = {"file": str(output), "split": found.data.name, "fingerprint": dataset.fingerprint}
        print_json({**facts, "pairs": len(found)})
        return
    say(f"{len(found)} pairs; rows {len(found)} and up are the changed worlds")
    say(f"{output}  split {found.data.name}  fingerprint {dataset.fingerprint}")


def _refresh(dataset: "Dataset", task: "Task", count: int | None, file_asked: bool, as_json: bool) -> None:
    """Draw the split of counterfactual worlds anew."""
    from assay.data import refresh_pairs

    if file_asked:
        raise ConfigError("--split and --do need -o FILE; the dataset's own split holds single changes of test worlds")
    with progress_bar() as bar:
        manifest = refresh_pairs(dataset, task, count, bar.counter("drawing counterfactual worlds", count))
    part = manifest.pairs
    if as_json:
        print_json({"folder": str(dataset.folder), "fingerprint": dataset.fingerprint, "pairs": part.size})
        return
    say(f"{part.size} worlds of split {part.split} with one concept changed")
    say(f"{dataset.folder}  split pairs  fingerprint {dataset.fingerprint}")


def _write(pairs: "Pairs", output: Path) -> None:
    from assay.data import parquet_bytes
    from assay.files import write_atomically

    write_atomically(output, parquet_bytes(pairs.data.table))
