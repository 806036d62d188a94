"""`assay suite`: fixed datasets, their baselines, entries of others, and the board of verdicts."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import JsonFlag, OutOption, parse_seeds, print_facts, print_json, print_table, print_text, say

app = typer.Typer(help="A fixed suite of datasets, its baselines, and the board of verdicts.", no_args_is_help=True)
SuiteOption = Annotated[str, typer.Option("--suite", metavar="NAME|FILE.yaml", help="The suite.")]
DatasetOption = Annotated[
    list[str], typer.Option("--dataset", metavar="NAME", help="Only this dataset; can be repeated.")
]
WorkersOption = Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one per processor.")]


@app.command("list")
def list_suites(as_json: JsonFlag = False) -> None:
    """List the suites."""
    from assay.api import list as list_kind

    print_facts(list_kind("suites"), as_json)


@app.command("show")
def show_suite(suite: SuiteOption = "assay-1", as_json: JsonFlag = False) -> None:
    """Print the datasets, levels and baselines of a suite."""
    from assay.lab import find_suite

    found = find_suite(suite)
    if as_json:
        print_json(found.to_dict())
        return
    print_text(f"{found.name}: {found.config.about}")
    rows = [[d.name, d.config.shows, d.fingerprint[:12], d.config.about] for d in found.datasets.values()]
    print_table(["dataset", "shows", "fingerprint", ""], rows)
    print_text()
    print_table(["level", "sees"], [[name, level.about] for name, level in found.levels.items()])
    print_text()
    print_table(["model", "level"], [[name, model.level] for name, model in found.config.models.items()])


@app.command("make")
def make_suite(
    output: OutOption,
    dataset: DatasetOption = [],  # noqa: B006
    suite: SuiteOption = "assay-1",
    workers: WorkersOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Make the datasets of a suite in OUTPUT/data and check their fingerprints. What is there is kept."""
    from assay.api import make_suite as make_data

    made = make_data(output, dataset, suite=suite, workers=workers, say=say)
    there = {name: data.fingerprint for name, data in made.there.items()}
    if as_json:
        print_json(there)
    else:
        print_table(["dataset", "fingerprint"], [[name, fingerprint] for name, fingerprint in there.items()])
    made.require_all()


@app.command("run")
def run_models(
    models: Annotated[list[str] | None, typer.Argument(metavar="[MODEL...]", help="By default all baselines.")] = None,
    output: OutOption = Path("out/suite"),
    dataset: DatasetOption = [],  # noqa: B006
    seeds: Annotated[str | None, typer.Option(help="Seeds of the suite such as 0-2 or 1; by default all.")] = None,
    records: Annotated[
        Path | None, typer.Option(help="The folder of the rows, a file for each model; by default OUTPUT/records.")
    ] = None,
    discard: Annotated[bool, typer.Option("--discard", help="Keep rows only: no weights, no predictions.")] = False,
    suite: SuiteOption = "assay-1",
    workers: WorkersOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Train and judge baselines of a suite.

    A row for each model, dataset and seed is written when its run ends. Rows that are there are kept, so that the same
    command goes on where it was stopped. A model that cannot take a dataset has a row that says why.
    """
    from assay.api import run_suite

    chosen = () if seeds is None else tuple(parse_seeds(seeds))
    rows = run_suite(
        output,
        models or (),
        dataset,
        chosen,
        suite=suite,
        records=records,
        discard=discard,
        workers=workers,
        say=say,
    ).asked
    if as_json:
        print_json([row.to_dict() for row in rows])
        return
    table = [[row.dataset, row.model, str(row.seed), row.verdict or row.status, row.why or row.reason] for row in rows]
    print_table(["dataset", "model", "seed", "verdict", "why"], table)


@app.command("score")
def score_folder(
    entry: Annotated[Path, typer.Argument(metavar="ENTRY", help="A folder with entry.yaml and predictions files.")],
    data: Annotated[Path, typer.Option(help="The folder of `assay suite make`.")] = Path("out/suite"),
    records: Annotated[Path, typer.Option(help="The folder that gets the rows.")] = Path("out/suite/records"),
    as_json: JsonFlag = False,
) -> None:
    """Check an entry and write its rows for the board.

    An entry has a predictions file for every split of every dataset and seed, but those of training and validation:
    DATASET/seed0/test.parquet. What is missing, about other data, or more than the level sees is refused in one line,
    and so is a second entry of the same name.
    """
    from assay.api import score_entry

    rows = score_entry(entry, data, records=records).asked
    if as_json:
        print_json([row.to_dict() for row in rows])
        return
    table = [[row.dataset, str(row.seed), row.verdict or row.status, row.why or row.reason] for row in rows]
    print_table(["dataset", "seed", "verdict", "why"], table)
    say(f"{records / f'{rows[0].model}.parquet'}  next: assay suite board {records} -o board")


@app.command("board")
def build_board(
    records: Annotated[list[Path], typer.Argument(metavar="RECORDS...", help="Folders of rows, or files of them.")],
    output: OutOption,
    data: Annotated[Path | None, typer.Option(help="The folder of `assay suite make`, for pictures of errors.")] = None,
    viewer: Annotated[
        str, typer.Option(metavar="URL", help="Where a bundle of the viewer for each dataset lies: URL/DATASET.")
    ] = "",
    suite: SuiteOption = "assay-1",
) -> None:
    """Build the board from rows: index.html, a page for each dataset, board.md and board.tex."""
    from assay.lab import find_suite, write_board

    say(str(write_board(find_suite(suite), records, output, data, viewer)))


@app.command("matrix")
def try_models(
    models: Annotated[list[str] | None, typer.Argument(metavar="[MODEL...]", help="By default all models.")] = None,
    family: Annotated[list[str], typer.Option("--family", help="Only this family; can be repeated.")] = [],  # noqa: B006
    suite: SuiteOption = "assay-1",
    as_json: JsonFlag = False,
) -> None:
    """Try every model on a small dataset of every family, from training to interventions.

    Says each cell when it is tried, and ends with the table. Exits with 1 if a model breaks; one that refuses says why.
    """
    from dataclasses import asdict

    from assay.base import RunFailed
    from assay.lab import find_suite, matrix_cells, matrix_table

    cells = []
    for cell in matrix_cells(find_suite(suite), models or (), family):
        cells.append(cell)
        why = f": {cell.why}" if cell.why else ""
        say(f"{cell.family} {cell.model} {cell.outcome} ({cell.seconds:.1f} s){why}")
    print_json([asdict(cell) for cell in cells]) if as_json else print_text(matrix_table(cells).markdown)
    broken = [cell for cell in cells if cell.outcome == "crashes"]
    if broken:
        raise RunFailed(
            f"{len(broken)} cells break; the first, {broken[0].model} on {broken[0].family}: {broken[0].why}"
        )
