"""`assay study`: the experiments of the papers, ready to be run."""

from typing import Annotated, Literal

import typer

from assay.cli.console import JsonFlag, print_json, print_table, print_text

app = typer.Typer(help="The papers' experiments, ready to be run by `assay run NAME`.", no_args_is_help=True)


@app.command("list")
def list_studies(as_json: JsonFlag = False) -> None:
    """List the ready studies."""
    from assay.lab import ready_studies

    studies = ready_studies()
    if as_json:
        print_json([{"name": name, "about": ready.about} for name, ready in studies.items()])
        return
    print_table(["study", "what it repeats"], [[name, ready.about] for name, ready in studies.items()])


@app.command("show")
def show_study(
    name: Annotated[str, typer.Argument(help="A ready study.")],
    size: Annotated[Literal["small", "paper"], typer.Option(help="Its size.")] = "small",
) -> None:
    """Print a ready study as the YAML file that would run it."""
    import yaml

    from assay.base import UnknownName, suggestion
    from assay.lab import ready_studies

    known = ready_studies()
    if name not in known:
        raise UnknownName(f"no ready study named {name!r}{suggestion(name, known)}")
    print_text(yaml.safe_dump(dict(known[name].at_size(size).values), sort_keys=False, allow_unicode=True, width=120))


@app.command("fidelity")
def show_fidelity(
    name: Annotated[str, typer.Argument(help="A ready study.")],
    as_json: JsonFlag = False,
) -> None:
    """List where a ready study, in the paper's size, departs from what was published, and why."""
    from dataclasses import asdict

    from assay.lab import departures

    found = departures(name)
    if as_json:
        print_json([asdict(departure) for departure in found])
        return
    rows = [[d.model, d.setting, str(d.published), str(d.ours), d.why] for d in found]
    print_table(["model", "setting", "published", "ours", "why"], rows)
