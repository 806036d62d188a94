"""What there is, and what one thing is like: a task, model, metric, backbone, finding, or a dataset folder."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.api.facts import Facts, Listing
from assay.base import (
    Registry,
    Settings,
    TooLarge,
    UnknownName,
    describe_settings,
    is_remote,
    load_file,
    split_reference,
    suggestion,
)
from assay.metrics import METRICS
from assay.models import BACKBONES, MODELS
from assay.tasks import TASKS

if TYPE_CHECKING:
    from assay.api.arguments import ConfigSource
    from assay.contracts import ImportRecord, Manifest
    from assay.diagnosis import Check
    from assay.logic import Knowledge

DIAGRAM = 20_000
"""The most nodes of a rule's decision diagram that is compiled for a look."""
MOST_VALUES = 300
"""Shortcuts are not counted for spaces with more values than this, all concepts together."""


def registry_of(kind: str) -> Registry | None:
    """Return the registry of a kind by its plural, None if there is none."""
    if kind == "findings":
        from assay.diagnosis import FINDINGS

        return FINDINGS
    return _registries().get(kind)


def _registries() -> dict[str, Registry]:
    """Return every registry by the plural of its kind, but that of findings."""
    from assay.exchange import EXPORTS
    from assay.lab import STRATEGIES
    from assay.models import METHODS

    kinds = {"tasks": TASKS, "models": MODELS, "metrics": METRICS, "backbones": BACKBONES}
    return {**kinds, "discovery": METHODS, "strategies": STRATEGIES, "exports": EXPORTS}


def list(kind: str | None = None) -> Facts:
    """Return what there is of a kind, a row for each; in a notebook it shows as a table.

    >>> import assay
    >>> [row["name"] for row in assay.list("metrics").rows][:3]
    ['balanced_accuracy', 'closed_label_f1', 'collapse']

    Parameters
    ----------
    kind
        `tasks`, `models`, `metrics`, `backbones`, `discovery`, `strategies`, `exports`, `findings`, `thresholds`,
        `studies` or `suites`; by default all but the last four.
    """
    if kind in LISTED:
        return LISTED[kind]()
    known = _registries()
    if kind is not None and kind not in known:
        raise UnknownName(f"nothing to list under {kind!r}{suggestion(kind, [*known, *LISTED])}")
    chosen = known if kind is None else {kind: known[kind]}
    summaries = {
        name: [{"name": entry, "summary": registry.entry(entry).summary} for entry in registry]
        for name, registry in chosen.items()
    }
    tables = (Listing([name, ""], [[*row.values()] for row in rows]) for name, rows in summaries.items())
    notes = [note for registry in chosen.values() for note in _left_out(registry)]
    if kind is None:
        notes.append("of the diagnosis: assay list findings, assay list thresholds")
    return Facts(summaries if kind is None else summaries[kind], (*tables,), (*notes,))


def _left_out(registry: Registry) -> Iterator[str]:
    for package, why in registry.broken.items():
        yield f"left out: {package}: {why}"


def _findings() -> Facts:
    from assay.diagnosis import FINDINGS, kinds_in_order

    checks = [FINDINGS[kind] for kind in kinds_in_order()]
    rows = [{"name": check.name, "tone": check.tone, "says": check.summary} for check in checks]
    table = Listing(["findings", "tone", "says"], [[*row.values()] for row in rows])
    return Facts(rows, (table,), (*_left_out(FINDINGS),))


def _thresholds() -> Facts:
    from assay.diagnosis import described

    rows = [
        {"name": each.name, "value": round(each.default, 4), "decides": each.about, "chosen by": each.chosen}
        for each in described()
    ]
    return Facts(
        rows,
        (
            Listing(
                ["thresholds", "value", "decides", "chosen by"], [[str(cell) for cell in row.values()] for row in rows]
            ),
        ),
    )


def _studies() -> Facts:
    from assay.lab import ready_studies

    rows = [{"name": name, "about": ready.about} for name, ready in ready_studies().items()]
    return Facts(rows, (Listing(["study", "what it repeats"], [[*row.values()] for row in rows]),))


def _suites() -> Facts:
    from assay.lab import find_suite, suite_names

    suites = [find_suite(name) for name in suite_names()]
    table = [[s.name, str(len(s.config.datasets)), str(len(s.config.models)), s.config.about] for s in suites]
    rows = [{"name": suite.name, "about": suite.config.about} for suite in suites]
    return Facts(rows, (Listing(["suite", "datasets", "models", ""], table),))


LISTED = {"findings": _findings, "thresholds": _thresholds, "studies": _studies, "suites": _suites}
"""What is listed only where it is asked for: the checks of the diagnosis take a second to import."""


def show(name: str, *, config: "ConfigSource" = None, **settings: Any) -> Facts:
    """Return what one thing is like: a task, model, metric, backbone or finding, a file of your own, or a dataset.

    For a task: its concepts, rule, splits, settings, and how many reasoning shortcuts its training labels allow. For a
    finding: its null hypothesis, statistic, sentences, thresholds, and the findings that explain the same better.

    >>> import assay
    >>> print(assay.show("collapse"))
    collapse: concept collapse Cls(C), pooled over concepts that share an encoder (lower is better)

    Parameters
    ----------
    name
        A registered name, `FILE.py` or `FILE.py:Name`, or the folder or address of a dataset.
    config
        Settings, or the YAML file that has them; keywords override them.
    **settings
        Settings of the task.
    """
    if is_remote(name) or (Path(name) / "manifest.json").exists() or (name not in TASKS and Path(name).is_dir()):
        return _dataset(Path(name))
    name = _find_in_file(name)
    for registry, facts in _kinds(name):
        if name in registry:
            return facts(name)
    from assay.api.arguments import merge_settings

    return _task(name, merge_settings(config, settings))


def _kinds(name: str) -> Iterator[tuple[Registry, Callable[[str], Facts]]]:
    """Yield every registry but that of tasks, with what is known of its things; findings only if it is no task."""
    yield METRICS, _metric
    yield MODELS, _model
    yield BACKBONES, _backbone
    if name not in TASKS:
        from assay.diagnosis import FINDINGS

        yield FINDINGS, _finding


def _find_in_file(reference: str) -> str:
    """Return the name of the task, model, metric or finding that `FILE.py` or `FILE.py:Name` stands for."""
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


def _task(task: str, settings: Settings) -> Facts:
    from assay.dataset import recipe_from
    from assay.logic import latex

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
        "splits": [split.to_dict() for split in recipe.splits],
        "settings": describe_settings(type(instance.config)),
        "config": instance.config.model_dump(mode="json"),
        "latex": {label.name: latex(label.formula) for label in instance.knowledge.labels},
    }
    splits = [[s["name"], f"{s['size']:,}", s["where"], _share(s["share"]), _even(s)] for s in facts["splits"]]
    parts = (
        f"{facts['name']} (version {facts['version']})\n\n{facts['about']}\n",
        *_knowledge(facts),
        Listing(["split", "examples", "worlds where", "share", "even over"], splits),
        "",
        _settings(facts["settings"]),
    )
    return Facts(facts, parts)


def _even(split: dict[str, Any]) -> str:
    return "variant and type" if split["quota"] else str(split["balance"])


def _share(share: Sequence[float]) -> str:
    return f"{100 * (share[1] - share[0]):.0f} %"


def _settings(settings: dict[str, dict[str, Any]]) -> Listing:
    rows = [[name, str(about["default"]), about["help"]] for name, about in settings.items()]
    return Listing(["setting", "default", ""], rows)


def _knowledge(facts: dict[str, Any]) -> Iterator[str | Listing]:
    from assay.logic import listing

    knowledge = facts["knowledge"]
    groups = {name: group["name"] for group in knowledge["encoders"] for name in group["concepts"]}
    concepts = [[c["name"], listing(c["values"]), groups[c["name"]]] for c in knowledge["concepts"]]
    yield Listing(["concept", "values", "encoder"], concepts)
    yield ""
    labels = [[x["name"], listing(x["values"]), x["formula"]] for x in knowledge["labels"]]
    yield Listing(["label", "values", "rule"], labels)
    nodes = "too many" if facts["diagram_nodes"] is None else f"{facts['diagram_nodes']:,}"
    yield f"\n{facts['worlds']:,} worlds; the rule's decision diagram has {nodes} nodes"
    yield f"{facts['shortcuts']}\n"


def _diagram_nodes(knowledge: "Knowledge") -> int | None:
    """Return the size of the rule's decision diagram, None if it is too large to compile for a look."""
    from assay.logic import compile_diagram

    large = sum(len(concept.values) for concept in knowledge.space.concepts) > MOST_VALUES
    budget = DIAGRAM // 20 if large else DIAGRAM  # each node of a large formula takes long
    try:
        return compile_diagram([label.formula for label in knowledge.labels], knowledge.space, budget=budget).size
    except TooLarge:
        return None


def _shortcuts(task: str, knowledge: "Knowledge", settings: Settings) -> str:
    """Say how many reasoning shortcuts the training worlds allow."""
    if sum(len(concept.values) for concept in knowledge.space.concepts) > MOST_VALUES:
        return f"reasoning shortcuts: not counted; run assay count {task}"
    from assay.counting import count_shortcuts, numerals
    from assay.dataset import training_support

    knowledge, support = training_support(task, settings, 0)
    count = count_shortcuts(knowledge, "shared", support, seconds=2.0)
    worlds, rest = f"{len(support):,} training worlds", f"; {count.unused_text}" if count.unused else ""
    return f"{numerals(*count.shortcuts)} reasoning shortcuts keep the labels of {worlds}{rest} (assay count {task})"


def _dataset(folder: Path) -> Facts:
    from assay.dataset import Dataset, region_tables

    dataset = Dataset.open(folder)
    manifest = dataset.manifest
    imported = manifest.task.imported
    splits = [[s.name, f"{s.size:,}", s.where, str(s.labels)] for s in manifest.splits]
    names = [split.name for split in manifest.splits]
    regions = region_tables(manifest).items()
    parts = (
        f"{manifest.task.name} (version {manifest.task.version}), seed {manifest.seed}",
        f"fingerprint {dataset.fingerprint}\n",
        *(() if imported is None else _imported(manifest, imported)),
        Listing(["split", "examples", "worlds where", "labels"], splits),
        *(part for label, rows in regions for part in ("", Listing([label, "worlds where", *names], rows))),
    )
    return Facts(manifest.to_dict(), parts)


def _imported(manifest: "Manifest", about: "ImportRecord") -> tuple[str | Listing, ...]:
    from assay.dataset import describe_import
    from assay.logic import NO_RULE, listing

    labels = [
        [x["name"], listing(x["values"]), "not known" if x["formula"] == str(NO_RULE) else x["formula"]]
        for x in manifest.knowledge["labels"]
    ]
    concepts = [[x["name"], listing(x["values"]), ""] for x in manifest.knowledge["concepts"]]
    return describe_import(about), Listing(["concept or label", "values", "rule"], [*concepts, *labels]), ""


def _metric(name: str) -> Facts:
    facts = {"name": name, "summary": METRICS.describe(name), "better": METRICS[name].better}
    return Facts(facts, (f"{name}: {facts['summary']} ({facts['better']} is better)",))


def _model(name: str) -> Facts:
    model = MODELS[name]
    facts = {
        "name": name,
        "summary": MODELS.describe(name),
        "has_concepts": model.has_concepts,
        "can_intervene": model.can_intervene,
        "settings": describe_settings(model.Config),
    }
    return Facts(facts, (f"{name}: {facts['summary']}\n", _settings(facts["settings"])))


def _backbone(name: str) -> Facts:
    plan = BACKBONES[name]
    facts = {"name": name, "summary": BACKBONES.entry(name).summary, "smallest": plan.smallest, "weights": plan.weights}
    setting = {"no": name, "may": f"{name} or {name}@FILE.safetensors", "must": f"{name}@FOLDER"}[plan.weights]
    size = f"reads pictures of {plan.smallest} x {plan.smallest} pixels or more"
    return Facts(facts, (f"{name}: {facts['summary']}\n", size, f"use it by --set backbone={setting}"))


def _finding(name: str) -> Facts:
    from assay.diagnosis import FINDINGS

    check: Check = FINDINGS[name]()
    section = check.settings
    thresholds = [] if section is None else [(f"{section.section}.{e.name}", e) for e in fields(section)]
    facts: dict[str, Any] = {
        "name": name,
        "summary": check.summary,
        "tone": check.tone,
        "severity": check.severity,
        "null": check.null,
        "statistic": check.statistic,
        "measure": check.measure,
        "needs_rule": check.needs_rule,
        "claims": {key: {"meaning": c.meaning, "text": c.text, "next": c.next} for key, c in check.claims.items()},
        "thresholds": {key: {"value": e.default, **e.metadata} for key, e in thresholds},
        "rivals": {rival.kind: rival.why for rival in check.rivals},
        "refines": [*check.refines],
    }
    return Facts(facts, (*_finding_parts(check, facts),))


def _finding_parts(check: "Check", facts: dict[str, Any]) -> Iterator[str | Listing]:
    yield f"{check.name}: {check.summary}\n"
    yield f"null hypothesis: {check.null}"
    yield f"statistic: {check.statistic}"
    yield f"told {'with a rule only' if check.needs_rule else 'with and without a rule'}; colour: {check.tone}\n"
    for key, claim in check.claims.items():
        yield f"{key}: {claim.meaning}\n  {claim.text}" + (f"\n  Next: {claim.next}" if claim.next else "")
    rows = [[key, f"{x['value']:.4g}", x["about"], x["chosen"]] for key, x in facts["thresholds"].items()]
    if rows:
        yield from ("", Listing(["threshold", "default", "decides", "chosen by"], rows))
    rivals: dict[str, Sequence[str]] = {}
    for rival in check.rivals:
        rivals[rival.why] = [*rivals.get(rival.why, ()), rival.kind]
    if rivals:
        yield from ("", Listing(["withdrawn for", "where"], [[", ".join(kinds), why] for why, kinds in rivals.items()]))
    if check.refines:
        yield f"\nsays more exactly: {', '.join(check.refines)}"
