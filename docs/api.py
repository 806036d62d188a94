"""Writes the pages on the public interface: the list of names, and for each group what mkdocstrings reads.

`python docs/api.py` writes `api.md`, which can be read anywhere, and `api/GROUP.md`, from which `mkdocs` builds the
reference with signatures and docstrings.
"""

import inspect
from pathlib import Path
from typing import Any

import assay
from assay.base import Registry
from assay.doors import homes_in

HERE = Path(__file__).parent
GROUPS = {
    "looking": ("Looking around", "list show new check doctor clean demo Facts"),
    "data": (
        "Data",
        "make load import_folder from_table from_hf annotate confound pairs audit export push Dataset SplitData Split "
        "Recipe TorchSplit",
    ),
    "models": (
        "Models and runs",
        "train predict Run wrap MODELS BACKBONES run_study StudyResult make_suite run_suite score_entry SuiteResult",
    ),
    "judging": (
        "Scores and diagnoses",
        "diagnose Diagnosis FINDINGS score METRICS count intervene attribute leakage probe discover saliency align "
        "mend report view Predictions Prediction predictions_for read_predictions decode "
        "Evidence gather accuracy exact_match label_f1 concept_f1 collapse "
        "rule_consistency RunningMetric class_indices plot_errors plot_coverage write_report",
    ),
    "rules": (
        "Rules and concepts",
        "Knowledge Constraint Concept ConceptSpace EncoderGroup Slot bits digits parse evaluate latex count_shortcuts "
        "compile_diagram to_cnf knowledge_from_cnf parse_dimacs",
    ),
    "tasks": ("Tasks and worlds", "TASKS Task World Style Picture Layout Box"),
    "checks": (
        "Checks and errors",
        "check_task check_model check_metric check_finding require oracle given_mapping AssayError __version__",
    ),
}
"""Each group's title and names, in the order of its page."""


def index() -> str:
    """Return the list of all public names, by group."""
    parts = [
        "# The public interface",
        "These names are imported by `import assay` and called as `assay.NAME`. Each is imported when first used, "
        "so that `import assay` is fast. The pages of the groups have signatures and examples. The list is written by "
        "`python docs/api.py`.",
    ]
    for group, (title, names) in GROUPS.items():
        rows = [f"| `{name}` | {first_line(name)} | `{home_of(name)}` |" for name in names.split()]
        parts += [f"## [{title}](api/{group}.md)", "\n".join(["| name | | module |", "| --- | --- | --- |", *rows])]
    return "\n\n".join(parts) + "\n"


def home_of(name: str) -> str:
    """Return the module that defines a public name, behind the doors that lead to it."""
    module = "assay"
    while (door := HERE.parent.joinpath("src", *module.split("."), "__init__.py")).exists():
        homes = homes_in(door.read_text(encoding="utf-8"))
        if name not in homes:
            break
        module = homes[name]
    return module


def first_line(name: str) -> str:
    """Return the first line about a public name."""
    thing: Any = getattr(assay, name)
    if isinstance(thing, Registry):
        return f"The registry of {thing.kind}s by name."
    if name == "__version__":
        return "The version of this package."
    if not (inspect.isclass(thing) or callable(thing)):
        return "What is random about a world besides its concepts, by name."
    return (inspect.getdoc(thing) or "").partition("\n")[0].replace("|", "\\|")


def page(group: str) -> str:
    """Return the page of a group, which mkdocstrings fills."""
    title, names = GROUPS[group]
    head = f"# {title}\n\nThe [list of all names](../api.md) has one line about each.\n"
    return "\n".join([head, *(f"::: {home_of(name)}.{name}\n" for name in names.split())])


def pages() -> dict[Path, str]:
    """Return every page by its file."""
    return {HERE / "api.md": index(), **{HERE / "api" / f"{group}.md": page(group) for group in GROUPS}}


if __name__ == "__main__":
    (HERE / "api").mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
