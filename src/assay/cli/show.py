"""`assay show`: a task's concepts, rule, splits and settings; what a finding tests; or what a dataset folder holds."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.console import ConfigOption, JsonFlag, SetOption, print_json, print_table, print_text, settings_from

if TYPE_CHECKING:
    from assay.base import Registry, Settings
    from assay.contracts import ImportRecord, Manifest
    from assay.diagnosis import Check
    from assay.logic import Knowledge

DIAGRAM = 20_000
MOST_VALUES = 300
"""Shortcuts are not counted for spaces with more values than this, all concepts together."""


def show(
    task: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE.py|DATA",
            help="The name of a task, model, metric, backbone or finding, a file of yours, or a dataset folder.",
        ),
    ],
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Show a task, a model, a metric, a backbone, a finding or a dataset.

    For a task: its concepts, rule, splits, settings, and how many reasoning shortcuts its training labels allow. For a
    finding: its null hypothesis, statistic, sentences, thresholds, and the findings that explain the same better.
    """
    from assay.base import is_remote
    from assay.tasks import TASKS

    if is_remote(task) or (Path(task) / "manifest.json").exists() or (task not in TASKS and Path(task).is_dir()):
        _show_dataset(Path(task), as_json)
        return
    task = _find_in_file(task)
    for registry, show_one in _kinds(task):
        if task in registry:
            show_one(task, as_json)
            return
    _show_task(task, settings_from(settings, config), as_json)


def _kinds(name: str) -> "Iterator[tuple[Registry, Callable[[str, bool], None]]]":
    """Yield every registry but that of tasks, with what shows one of its things; findings only if it is no task."""
    from assay.metrics import METRICS
    from assay.models import BACKBONES, MODELS
    from assay.tasks import TASKS

    yield METRICS, _show_metric
    yield MODELS, _show_model
    yield BACKBONES, _show_backbone
    if name not in TASKS:
        from assay.diagnosis import FINDINGS

        yield FINDINGS, _show_finding


def _show_task(task: str, settings: "Settings", as_json: bool) -> None:
    from assay.base import describe_settings
    from assay.dataset import recipe_from, split_to_dict

    recipe = recipe_from(task, settings)
    instance = recipe.task
    facts: dict[str, Any] = {
        "name": instance.name,
        "version": instance.version,
        "summary": instance.summary,
        "about": (sys.modules[type(instance).__module__].__doc__ or "").strip(),
        "knowledge": instance.knowledge.to_dict(),
        "worlds": instance.space.worlds,
        "diagram_nodes": _diagram_nodes(instance.knowledge),
        "shortcuts": _shortcuts(task, instance.knowledge, settings),
        "layout": instance.layout.to_dict(),
        "splits": [split_to_dict(split) for split in recipe.splits],
        "settings": describe_settings(type(instance.config)),
        "config": instance.config.model_dump(mode="json"),
    }
    if as_json:
        from assay.logic import latex

        print_json({**facts, "latex": {x.name: latex(x.formula) for x in instance.knowledge.labels}})
        return
    print_text(f"{facts['name']} (version {facts['version']})\n\n{facts['about']}\n")
    _print_knowledge(facts)
    rows = [[s["name"], f"{s['size']:,}", s["where"], _share(s["share"]), _even(s)] for s in facts["splits"]]
    print_table(["split", "examples", "worlds where", "share", "even over"], rows)
    print_text()
    settings_rows = [[name, str(about["default"]), about["help"]] for name, about in facts["settings"].items()]
    print_table(["setting", "default", ""], settings_rows)


def _even(split: dict[str, Any]) -> str:
    return "variant and type" if split["quota"] else split["balance"]


def _share(share: list[float]) -> str:
    return f"{100 * (share[1] - share[0]):.0f} %"


def _print_knowledge(facts: dict[str, Any]) -> None:
    from assay.logic import listing

    knowledge = facts["knowledge"]
    groups = {name: group["name"] for group in knowledge["encoders"] for name in group["concepts"]}
    print_table(
        ["concept", "values", "encoder"],
        [[c["name"], listing(c["values"]), groups[c["name"]]] for c in knowledge["concepts"]],
    )
    print_text()
    print_table(
        ["label", "values", "rule"], [[x["name"], listing(x["values"]), x["formula"]] for x in knowledge["labels"]]
    )
    nodes = "too many" if facts["diagram_nodes"] is None else f"{facts['diagram_nodes']:,}"
    print_text(f"\n{facts['worlds']:,} worlds; the rule's decision diagram has {nodes} nodes")
    print_text(f"{facts['shortcuts']}\n")


def _diagram_nodes(knowledge: "Knowledge") -> int | None:
    """Return the size of the rule's decision diagram, None if it is too large to compile for a look."""
    from assay.base import TooLarge
    from assay.logic import compile_diagram

    large = sum(len(concept.values) for concept in knowledge.space.concepts) > MOST_VALUES
    budget = DIAGRAM // 20 if large else DIAGRAM  # each node of a large formula takes long
    try:
        return compile_diagram([label.formula for label in knowledge.labels], knowledge.space, budget=budget).size
    except TooLarge:
        return None


def _shortcuts(task: str, knowledge: "Knowledge", settings: "Settings") -> str:
    """Say how many reasoning shortcuts the training worlds allow."""
    if sum(len(concept.values) for concept in knowledge.space.concepts) > MOST_VALUES:
        return f"reasoning shortcuts: not counted; run assay count {task}"
    from assay.counting import count_readings, numerals
    from assay.dataset import training_support

    knowledge, support = training_support(task, settings, 0)
    count = count_readings(knowledge, "shared", support, seconds=2.0)
    worlds, rest = f"{len(support):,} training worlds", f"; {count.unused_text}" if count.unused else ""
    return f"{numerals(*count.shortcuts)} reasoning shortcuts keep the labels of {worlds}{rest} (assay count {task})"


def _show_dataset(folder: Path, as_json: bool) -> None:
    from assay.dataset import Dataset, region_tables

    dataset = Dataset.open(folder)
    if as_json:
        print_json(dataset.manifest.to_dict())
        return
    manifest = dataset.manifest
    print_text(f"{manifest.task.name} (version {manifest.task.version}), seed {manifest.seed}")
    print_text(f"fingerprint {dataset.fingerprint}\n")
    if manifest.task.imported is not None:
        _print_imported(manifest, manifest.task.imported)
    rows = [[s.name, f"{s.size:,}", s.where, str(s.labels)] for s in manifest.splits]
    print_table(["split", "examples", "worlds where", "labels"], rows)
    names = [split.name for split in manifest.splits]
    for label, regions in region_tables(manifest).items():
        print_text()
        print_table([label, "worlds where", *names], regions)


def _find_in_file(reference: str) -> str:
    """Return the name of the task, model, metric or finding that `FILE.py` or `FILE.py:Name` stands for."""
    from assay.base import load_file, split_reference
    from assay.metrics import METRICS
    from assay.models import MODELS
    from assay.tasks import TASKS

    parts = split_reference(reference)
    if parts is None:
        return reference
    from assay.diagnosis import FINDINGS

    loaded = load_file(parts[0])
    for registry in (TASKS, MODELS, METRICS, FINDINGS):
        own = registry.defined_in(loaded)
        classes = [getattr(entry.load(), "__name__", "") for entry in own.values()]
        if own and (parts[1] is None or parts[1] in own or parts[1] in classes):
            return registry.resolve(reference)
    return TASKS.resolve(reference)  # which says what is wrong


def _show_metric(name: str, as_json: bool) -> None:
    from assay.metrics import METRICS

    facts = {"name": name, "summary": METRICS.describe(name), "better": METRICS[name].better}
    if as_json:
        print_json(facts)
        return
    print_text(f"{name}: {facts['summary']} ({facts['better']} is better)")


def _print_imported(manifest: "Manifest", about: "ImportRecord") -> None:
    from assay.dataset import describe_import
    from assay.logic import NO_RULE, listing

    print_text(describe_import(about))
    rules = {
        x["name"]: "not known" if x["formula"] == str(NO_RULE) else x["formula"] for x in manifest.knowledge["labels"]
    }
    labels = [[x["name"], listing(x["values"]), rules[x["name"]]] for x in manifest.knowledge["labels"]]
    concepts = [[x["name"], listing(x["values"]), ""] for x in manifest.knowledge["concepts"]]
    print_table(["concept or label", "values", "rule"], [*concepts, *labels])
    print_text()


def _show_model(name: str, as_json: bool) -> None:
    from assay.base import describe_settings
    from assay.models import MODELS

    model = MODELS[name]
    settings = describe_settings(model.Config)
    facts = {"name": name, "summary": MODELS.describe(name), "has_concepts": model.has_concepts}
    if as_json:
        print_json({**facts, "can_intervene": model.can_intervene, "settings": settings})
        return
    print_text(f"{name}: {facts['summary']}\n")
    print_table(["setting", "default", ""], [[key, str(x["default"]), x["help"]] for key, x in settings.items()])


def _show_backbone(name: str, as_json: bool) -> None:
    from assay.models import BACKBONES

    plan = BACKBONES[name]
    facts = {"name": name, "summary": BACKBONES.entry(name).summary, "smallest": plan.smallest, "weights": plan.weights}
    if as_json:
        print_json(facts)
        return
    setting = {"no": name, "may": f"{name} or {name}@FILE.safetensors", "must": f"{name}@FOLDER"}[plan.weights]
    print_text(f"{name}: {facts['summary']}\n")
    print_text(f"reads pictures of {plan.smallest} x {plan.smallest} pixels or more")
    print_text(f"use it by --set backbone={setting}")


def _show_finding(name: str, as_json: bool) -> None:
    from assay.diagnosis import FINDINGS

    check: Check = FINDINGS[name]()
    settings = (
        [] if check.settings is None else [(f"{check.settings.section}.{e.name}", e) for e in fields(check.settings)]
    )
    facts = {
        "name": name,
        "summary": check.summary,
        "tone": check.tone,
        "severity": check.severity,
        "null": check.null,
        "statistic": check.statistic,
        "measure": check.measure,
        "needs_rule": check.needs_rule,
        "claims": {key: {"meaning": c.meaning, "text": c.text, "next": c.next} for key, c in check.claims.items()},
        "thresholds": {key: {"value": e.default, **e.metadata} for key, e in settings},
        "rivals": {rival.kind: rival.why for rival in check.rivals},
        "refines": list(check.refines),
    }
    print_json(facts) if as_json else _print_finding(check, facts)


def _print_finding(check: "Check", facts: dict[str, Any]) -> None:
    print_text(f"{check.name}: {check.summary}\n")
    print_text(f"null hypothesis: {check.null}")
    print_text(f"statistic: {check.statistic}")
    print_text(f"told {'with a rule only' if check.needs_rule else 'with and without a rule'}; colour: {check.tone}\n")
    for key, claim in check.claims.items():
        print_text(f"{key}: {claim.meaning}\n  {claim.text}" + (f"\n  Next: {claim.next}" if claim.next else ""))
    rows = [[key, f"{x['value']:.4g}", x["about"], x["chosen"]] for key, x in facts["thresholds"].items()]
    if rows:
        print_text()
        print_table(["threshold", "default", "decides", "chosen by"], rows)
    rivals: dict[str, list[str]] = {}
    for rival in check.rivals:
        rivals.setdefault(rival.why, []).append(rival.kind)
    if rivals:
        print_text()
        print_table(["withdrawn for", "where"], [[", ".join(kinds), why] for why, kinds in rivals.items()])
    if check.refines:
        print_text(f"\nsays more exactly: {', '.join(check.refines)}")
