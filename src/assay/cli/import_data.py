"""`assay import`: your own pictures and concepts as a dataset that every verb takes."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import ConfigOption, JsonFlag, OutOption, SeedOption, SetOption, print_json, say, settings_from


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
