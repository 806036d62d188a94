"""The commands in groups, each with an example: what `assay --help` lists, and what each command's help ends with."""

from collections.abc import Sequence
from typing import Any

from typer.core import TyperGroup

GROUPS: dict[str, tuple[str, ...]] = {
    "Start": ("demo", "list", "show", "doctor", "clean"),
    "Data": ("make", "import", "annotate", "confound", "pairs", "audit", "export", "push"),
    "Train": ("train", "mend", "predict", "decode", "run", "study", "suite"),
    "Judge": (
        "score",
        "diagnose",
        "count",
        "intervene",
        "leakage",
        "probe",
        "discover",
        "saliency",
        "align",
        "attribute",
    ),
    "Share": ("report", "view", "new", "check"),
}
EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": ("assay demo -o demo",),
    "list": ("assay list models",),
    "show": ("assay show mnadd-evenodd", "assay show data"),
    "doctor": ("assay doctor",),
    "clean": ("assay clean", "assay clean decoded --yes"),
    "make": ("assay make mnadd-evenodd -o data -n 4000", "assay make clevr -o scenes -n 500 --set quality=draft"),
    "import": ("assay import pictures -o mine --rule rule.yaml",),
    "annotate": ("assay annotate data -o noisy --set concept_noise=0.1",),
    "confound": ("assay confound data -o marked --what watermark --with y --strength 0.95",),
    "pairs": ("assay pairs data -n 500",),
    "audit": ("assay audit data",),
    "export": ("assay export data -o folder --to prolog",),
    "push": ("assay push data s3://bucket/data",),
    "train": ("assay train cbm data -o run --epochs 15", "assay train dpl data -o runs --seeds 0-4"),
    "mend": ("assay mend run data -o mended --budget 200", "assay mend run -o mended --strategy random --set first=5"),
    "predict": ("assay predict run other-data -o transfer",),
    "decode": ("assay decode run/predictions/test.parquet data -o decoded.parquet",),
    "run": ("assay run rsbench-table-2", "assay run study.yaml --plan"),
    "study": ("assay study list", "assay study fidelity rsbench-table-2"),
    "suite": ("assay suite show", "assay suite make -o suite", "assay suite run cbm dpl -o suite --seeds 0"),
    "score": ("assay score run", "assay score predictions.parquet data --json"),
    "diagnose": ("assay diagnose run",),
    "count": ("assay count mnadd-evenodd", "assay count mnlogic --supervise a"),
    "intervene": ("assay intervene run --budget 0-3,max", "assay intervene run --source expert:0.8 -o page"),
    "leakage": ("assay leakage run data",),
    "probe": ("assay probe run data -o probed --method tcav",),
    "discover": (
        "assay discover sae-topk run data -o found",
        "assay discover slots input data -o found --set slots=3",
    ),
    "saliency": ("assay saliency run", "assay saliency run data --method grad-cam -n 100 -o maps"),
    "align": ("assay align run data -o aligned --set zero=[knees]",),
    "attribute": ("assay attribute run",),
    "report": ("assay report run-a run-b -o report",),
    "view": ("assay view demo", "assay view data run --bundle site"),
    "new": ("assay new task my_task.py",),
    "check": ("assay check my_task.py",),
}


class CommandGroups(TyperGroup):
    """Lists the commands of `assay` in groups instead of one list."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each group with its commands and what they do."""
        grouped = {name for names in GROUPS.values() for name in names}
        others = tuple(name for name in self.list_commands(ctx) if name not in grouped)
        for title, names in {**GROUPS, "Other": others}.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(name, command.get_short_help_str(76)) for name, command in commands if command is not None]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def examples_text(examples: Sequence[str]) -> str:
    r"""Return the end of a command's help, each example on a line of its own.

    >>> examples_text(["assay doctor"])
    'Example:\n\n\x08\n  assay doctor'
    """
    title = "Example" if len(examples) == 1 else "Examples"
    return f"{title}:\n\n\b\n" + "\n".join(f"  {line}" for line in examples)
