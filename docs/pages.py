"""Writes into the pages of families and models what the registries know of them: `python docs/pages.py`.

A page is written by hand, but for blocks between markers such as `<!-- facts: begin -->` and `<!-- facts: end -->`. The
block of a family has its tasks, concepts, rules and settings; that of a model what it can do and its settings. A
model's page begins with its parts, `<!-- parts: picture > [encoder] > concepts > (rule) > labels -->`, of which a
picture is drawn: learned parts in brackets, given ones in parentheses.
"""

import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from assay.base import describe_settings
from assay.families import FAMILIES
from assay.logic import ConceptSpace
from assay.models import MODELS
from assay.tasks import TASKS, Preset, Task, TaskConfig

if __package__:
    from docs.parts_diagram import draw_parts, parts_of
else:
    from parts_diagram import draw_parts, parts_of

HERE = Path(__file__).parent
WORDS = {int: "integer", float: "number", bool: "true or false", str: "text", type(None): "none", Any: "any"}
LONG, MOST_SHOWN = 160, 6


@dataclass(frozen=True)
class Block:
    """What a page has between the markers of a name."""

    page: Path
    name: str
    text: str

    def put_into(self, page: str) -> str:
        """Return a page with this block between its markers."""
        begin, end = f"<!-- {self.name}: begin -->", f"<!-- {self.name}: end -->"
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise ValueError(f"{self.page.name} lacks {begin} or {end}")
        return f"{before}{begin}\n\n{self.text}\n\n{end}{after}"


def task_settings() -> Block:
    """Return the settings that every task has."""
    return Block(HERE / "tasks.md", "settings", settings_table(TaskConfig))


def network_settings() -> Block:
    """Return the settings that every network has."""
    from assay.models import NeuralConfig

    return Block(HERE / "models.md", "settings", settings_table(NeuralConfig))


def learner_settings() -> Block:
    """Return the settings that every learner on concepts has."""
    from assay.models import SymbolicConfig

    return Block(HERE / "symbolic.md", "settings", settings_table(SymbolicConfig))


def family_block(family: str) -> Block:
    """Return the block of a family's page."""
    return Block(HERE / "families" / f"{family}.md", "facts", family_facts(family))


def model_block(name: str) -> Block:
    """Return the block of a model's page."""
    return Block(HERE / "models" / f"{name}.md", "facts", model_facts(name))


def blocks() -> Iterator[Block]:
    """Give the blocks of all pages."""
    yield from (make() for make in OVERVIEWS)
    yield from map(family_block, FAMILIES)
    yield from map(model_block, MODELS)


# -- tables ------------------------------------------------------------------------------------------------------------


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def listed(names: Sequence[object]) -> str:
    """Return names as code, with the middle of many left out."""
    shown = [f"`{name}`" for name in names]
    if len(shown) > MOST_SHOWN + 1:
        shown = [*shown[: MOST_SHOWN - 1], "...", shown[-1]]
    return ", ".join(shown)


def kind_of(annotation: Any) -> str:
    """Return the type of a setting in words.

    >>> kind_of(int | None), kind_of(typing.Literal["a", "b"]), kind_of(list[str])
    ('integer or none', '`a`, `b`', 'list')
    """
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return kind_of(arguments[0])
    if origin is typing.Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(kind_of(part) for part in arguments))
    if origin in (list, tuple, set) or annotation in (list, tuple):
        return "list"
    if origin is dict or annotation is dict:
        return "mapping"
    return WORDS.get(annotation, getattr(annotation, "__name__", str(annotation)).lower())


def settings_table(config: type[BaseModel], without: Iterable[type[BaseModel]] = ()) -> str:
    """Return the settings of a class but for those that other classes have too, with the same default."""
    about = describe_settings(config)
    for base in without:
        for name, other in describe_settings(base).items():
            if name in about and about[name]["default"] == other["default"]:
                del about[name]
    rows = [
        [f"`{name}`", kind_of(config.model_fields[name].annotation), default_of(fact["default"]), fact["help"]]
        for name, fact in about.items()
    ]
    return table(["setting", "type", "default", "meaning"], rows) if rows else "None of its own."


def default_of(value: Any) -> str:
    """Return a default as it would be written, nothing for none."""
    if value is None or value in ("", [], {}, ()):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, float) and value and abs(value) < 0.001:
        return f"`{value:g}`"
    text = str(value)
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57].rstrip()} ...`"


# -- families ----------------------------------------------------------------------------------------------------------


def tasks_of(family: str) -> list[str]:
    """Return the names of a family's tasks, those that only change defaults of another last."""
    names = [name for name in TASKS if TASKS[name].__module__.startswith(f"assay.families.{family}.")]
    return sorted(names, key=lambda name: (isinstance(TASKS.entry(name), Preset), len(name)))


def family_facts(family: str) -> str:
    """Return the tables of a family."""
    tasks = [TASKS[name]() for name in tasks_of(family)]
    parts = ["### Tasks", task_table(tasks), "### Concepts and rules", concept_table(tasks[0]), rule_table(tasks)]
    parts += [
        f"`assay show {tasks[0].name}` prints rules, splits and settings in full.",
        "### Settings",
        family_settings(tasks),
    ]
    parts.append("[Tasks](../tasks.md#settings-of-every-task) lists the settings that all tasks have.")
    return "\n\n".join(parts)


def task_table(tasks: Sequence[Task]) -> str:
    """Return the tasks with their question and the sizes of their splits."""
    rows = [[f"`{task.name}`", TASKS.entry(task.name).summary, sizes_of(task), size_of(task)] for task in tasks]
    return table(["task", "what it asks", "examples", "picture"], rows)


def sizes_of(task: Task) -> str:
    return ", ".join(f"{split.name} {split.size:,}" for split in task.splits())


def size_of(task: Task) -> str:
    return f"{task.layout.width} x {task.layout.height}" if task.layout.width else ""


def concept_table(task: Task) -> str:
    """Return the concepts of a task by encoder group."""
    rows = [[listed(names), listed(values)] for names, values in groups_of(task.space)]
    return table([f"concepts of `{task.name}`", "values"], rows)


def groups_of(space: ConceptSpace) -> list[tuple[list[str], list[Any]]]:
    """Return the names of concepts that share an encoder, with their values."""
    return [(list(group.concepts), list(space.concept(group.concepts[0]).values)) for group in space.encoders]


def rule_table(tasks: Sequence[Task]) -> str:
    """Return the labels of the tasks, each rule once."""
    rules: dict[tuple[str, str], list[str]] = {}
    for task in tasks:
        for label in task.knowledge.labels:
            text = str(label.formula)
            shown = f"`{text}`" if len(text) <= LONG else "a long formula"
            rules.setdefault((label.name, shown), []).append(task.name)
    rows = [[listed(names), f"`{label}`", rule] for (label, rule), names in rules.items()]
    return table(["task", "label", "rule"], rows)


def family_settings(tasks: Sequence[Task]) -> str:
    """Return the settings of all tasks in one table, with the tasks that have a setting or default of their own."""
    about = {task.name: describe_settings(task.Config) for task in tasks}
    shared = describe_settings(TaskConfig)
    rows = []
    for name in dict.fromkeys(name for facts in about.values() for name in facts):
        users = [task for task in tasks if name in about[task.name]]
        defaults = {task.name: about[task.name][name]["default"] for task in users}
        if name in shared and all(value == shared[name]["default"] for value in defaults.values()):
            continue
        kind = kind_of(users[0].Config.model_fields[name].annotation)
        only = "" if len(users) == len(tasks) else f" Only of {listed([task.name for task in users])}."
        rows.append([f"`{name}`", kind, defaults_of(defaults), f"{about[users[0].name][name]['help']}{only}"])
    return table(["setting", "type", "default", "meaning"], rows)


def defaults_of(defaults: Mapping[str, Any]) -> str:
    """Return the default of the first task, and those of tasks that have another one."""
    (_, first), *others = defaults.items()
    different = [f"{name}: {default_of(value) or 'none'}" for name, value in others if value != first]
    return "; ".join([default_of(first) or ("none" if different else ""), *different])


# -- models ------------------------------------------------------------------------------------------------------------


def model_facts(name: str) -> str:
    """Return what a model can do, and its settings."""
    model = MODELS[name]
    shared = shared_settings(model)
    address = f"{model.__module__}.{model.__name__}"
    rows = [
        ["what it learns from", "pictures, texts or features" if model.is_network else "concepts"],
        ["predicts concepts", "yes" if model.has_concepts else "no"],
        ["concepts can be intervened on", "yes" if model.can_intervene else "no"],
        ["class", f"`{address}`"],
    ]
    where = "models.md#settings-of-every-network" if model.is_network else "symbolic.md#where-concepts-come-from"
    return "\n".join(
        [
            *("## At a glance", "", table(["property", "value"], rows), "", "## Settings", ""),
            *(
                settings_table(model.Config, shared),
                "",
                f"It also has the [settings that all such models have](../{where}).",
            ),
        ]
    )


def shared_settings(model: Any) -> list[type[BaseModel]]:
    """Return the class of the settings that all models of its kind have."""
    if model.is_network:
        from assay.models import NeuralConfig

        return [NeuralConfig]
    from assay.models import SymbolicConfig

    return [SymbolicConfig]


def model_list() -> Block:
    """Return all models, networks first, each with its page, its title and where its class is."""
    rows = []
    for name in sorted(MODELS, key=lambda name: (not MODELS[name].is_network, MODELS[name].__module__)):
        title = (HERE / "models" / f"{name}.md").read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        module, _, made = MODELS.entry(name).target.removeprefix("assay.models.").partition(":")
        rows.append([f"[`{name}`](models/{name}.md)", title, f"`{module}`", f"`{made}`"])
    text = table(["model", "method", "module below `assay.models`", "class"], rows)
    return Block(HERE / "models.md", "models", text)


OVERVIEWS = (task_settings, network_settings, learner_settings, model_list)


def main() -> None:
    """Write every page, and the picture of each model."""
    for block in blocks():
        page = block.page.read_text(encoding="utf-8")
        block.page.write_text(block.put_into(page), encoding="utf-8")
    for name in MODELS:
        parts = parts_of((HERE / "models" / f"{name}.md").read_text(encoding="utf-8"))
        (HERE / "images" / "models" / f"{name}.svg").write_text(draw_parts(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
