"""`assay import`, `annotate`, `confound`, `export` and `push`: what comes and goes, and copies with changes."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import (
    ConfigOption,
    DataArgument,
    JsonFlag,
    OutOption,
    SeedOption,
    SetOption,
    TaskFileOption,
    print_json,
    print_table,
    say,
    settings_from,
)


def import_data(
    source: Annotated[Path, typer.Argument(help="A folder with pictures and a table of concepts, or another layout.")],
    output: OutOption,
    layout: Annotated[
        str | None, typer.Option(help="table, cub, celeba, awa2, derm7pt, coco, label_studio, cvat or hf; else found.")
    ] = None,
    label: Annotated[list[str], typer.Option(help="A column that is a label; can be repeated.")] = [],  # noqa: B006
    concept: Annotated[list[str], typer.Option(help="A column that is a concept; can be repeated.")] = [],  # noqa: B006
    rule: Annotated[
        Path | None, typer.Option(help="The rule of the labels; by default rule.yaml of the folder.")
    ] = None,
    seed: SeedOption = 0,
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Import pictures, concepts and labels of your own as a dataset.

    A folder with concepts.csv (columns file, concept_NAME, label_NAME) and perhaps rule.yaml, or one of the layouts
    above. Settings: picture, table, split, shares, size, resize (letterbox, crop, stretch), counts, name.
    """
    from assay.api import import_folder
    from assay.dataset import describe_import

    values = settings_from(settings, config)
    dataset = import_folder(
        source, output, layout=layout, labels=label, concepts=concept, rule=rule, seed=seed, config=values
    )
    if as_json:
        print_json(dataset.manifest.to_dict())
        return
    if dataset.manifest.task.imported is not None:
        say(describe_import(dataset.manifest.task.imported))
    if not dataset.knowledge.has_rule:
        say(f"no rule is known: have rules proposed by 'assay train rules {output} -o RUN' (or tree, ilp, synthesis)")
    say(f"{output}  next: assay audit {output}")


def annotate(
    data: DataArgument,
    output: OutOption,
    seed: SeedOption = 0,
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Write a copy of a dataset with imperfect annotations.

    Concepts can be missing, noisy, fewer or others, labels noisy, rows skewed. The ground truth stays; models are
    trained on the annotated columns `given_...` beside it.
    """
    from assay.api import annotate as write

    copy = write(data, output, seed=seed, config=settings_from(settings, config))
    usage, annotation = copy.usage, copy.manifest.task.annotation
    counts = {} if annotation is None else annotation.found
    if as_json:
        facts = {"folder": str(output), "fingerprint": copy.fingerprint, "splits": counts}
        print_json({**facts, **({"usage": usage} if usage else {})})
        return
    rows = [[name, f"{n['examples']:,}", *(f"{100 * n[key]:.1f} %" for key in CHANGES)] for name, n in counts.items()]
    print_table(["split", "examples", "concepts missing", "concepts wrong", "labels wrong"], rows)
    if usage:
        cached, unreadable = f"{usage['from_cache']} from the cache", f"{usage['unreadable']} pictures not read"
        tokens = f"tokens: {usage['tokens_in']:,} + {usage['tokens_out']:,}, cost: {usage['cost']:g}"
        say(f"answers: {usage['requests']} ({cached}), {unreadable}, {tokens}")
    say(f"{output}  fingerprint {copy.fingerprint}  next: assay train cbm {output} -o RUN")


CHANGES = ("missing", "wrong", "wrong_labels")


def confound(
    data: DataArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder of the confounded copy.")],
    what: Annotated[
        str,
        typer.Option(help="The mark: watermark, frame, patch, brightness, noise, blur, compression, position."),
    ] = "watermark",
    goes_with: Annotated[
        str | None,
        typer.Option("--with", help="A label, a concept, or a formula over concepts; by default the first label."),
    ] = None,
    strength: Annotated[
        float, typer.Option(min=0, max=1, help="In what share of the examples the mark goes with it.")
    ] = 0.95,
    where: Annotated[
        list[str], typer.Option("--where", help="A split in which it does; can be repeated; by default all.")
    ] = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Plant a spurious feature: a mark on pictures that goes with the label.

    Writes a copy of the dataset, imported or made, whose pictures carry the mark. The test split comes twice more:
    `unconfounded` with the mark drawn freely, and `reversed` with a mark that goes with another label. A model that
    follows the mark gets the verdict `spurious` from `assay diagnose`.
    """
    from assay.api import confound as plant
    from assay.api import load

    dataset = load(data)
    partner = goes_with or dataset.knowledge.label_names[0]
    copy = plant(dataset, output, what, partner, strength, where=where)
    if as_json:
        planted = copy.manifest.task.confound[0]
        print_json({"folder": str(output), "fingerprint": copy.fingerprint, "confound": planted})
        return
    say(f"{what} goes with {partner} in {100 * strength:.0f} % of the examples; new splits: unconfounded, reversed")
    say(f"{output}  fingerprint {copy.fingerprint}")


def export(
    data: DataArgument,
    form: Annotated[str, typer.Option("--to", metavar="FORM", help="The format to write; see 'assay list exports'.")],
    output: OutOption,
    split: Annotated[list[str], typer.Option(help="A split to write; can be repeated; by default all.")] = [],  # noqa: B006
    task_file: TaskFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Write a dataset in the format of another program.

    File names, folders and keys are those that the program reads.
    """
    from assay.api import export as write

    counts = write(data, form, output, splits=split, tasks=task_file)
    if as_json:
        print_json({"folder": str(output), "form": form, "splits": counts})
        return
    print_table(["split", "examples"], [[name, f"{count:,}"] for name, count in counts.items()])
    say(f"{output}  in the format {form!r}")


def push(
    data: DataArgument,
    where: Annotated[str, typer.Argument(help="A folder, an address such as s3://..., or hf://USER/NAME for the hub.")],
    private: Annotated[bool, typer.Option("--private", help="On the hub, let nobody else see it.")] = False,
) -> None:
    """Copy a whole dataset to another place.

    With it go the card and the Croissant description, so that Hugging Face datasets opens it there.
    """
    from assay.api import push as copy

    say(f"{copy(data, where, private=private)}  next: assay show {where}")
