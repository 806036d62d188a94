"""`assay audit`: is a dataset what it claims to be?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import JsonFlag, SetOption, print_json, print_table, progress_bar, say, settings_from


def audit(
    data: Annotated[Path, typer.Argument(help="A dataset folder, or one with pictures and a table concepts.csv.")],
    check: Annotated[list[str], typer.Option("--check", help="Only this check; repeat for more.")] = [],  # noqa: B006
    settings: SetOption = [],  # noqa: B006
    keep: Annotated[
        bool, typer.Option("--write/--no-write", help="Write audit.json and the card's section, unless remote.")
    ] = True,
    as_json: JsonFlag = False,
) -> None:
    """Check a dataset: labels, balance, splits, sources, duplicates, visibility, nuisances, ceilings. Fails with 1."""
    from assay.audit.audit import CHECKS, write_audit
    from assay.audit.audit import audit as examine
    from assay.audit.audited import audited_dataset
    from assay.audit.imported import is_imported, open_imported
    from assay.data.dataset import Dataset
    from assay.data.manifest import NAME
    from assay.data.remote import is_remote

    ours = (data / NAME).exists() or not is_imported(data)
    found = audited_dataset(Dataset.open(data), settings_from(settings, None)) if ours else open_imported(data)
    asked = check or list(CHECKS)
    with progress_bar() as bar:
        outcome = examine(found, check, lambda name: bar("auditing", asked.index(name), len(asked)))
    if keep and ours and not check and not is_remote(data):
        write_audit(data, outcome)
    if as_json:
        print_json(outcome.to_dict())
    else:
        print_table(["check", "outcome", ""], [[one.check, one.status, one.text] for one in outcome.results])
        failed = [one.check for one in outcome.failed]
        say(f"{data}: " + (f"failed: {', '.join(failed)}" if failed else "passed"))
    raise typer.Exit(1 if outcome.failed else 0)
