"""What describes a dataset beside its manifest: the card, a datasheet that a person reads, and the Croissant file.

All who write datasets write them alike. The front matter of the card is what Hugging Face reads.
"""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import yaml

from assay.base import Folder, Markdown, code_text, escape_text, markdown_table, prose_text, write_atomically
from assay.contracts import MENDING, PAIRS, ImportRecord, Manifest, PairsRecord, SplitRecord, to_json
from assay.dataset.croissant import croissant
from assay.dataset.folder import NAME
from assay.dataset.recipe import MOST_PAIRS
from assay.logic import NO_RULE, Boundary, Knowledge, listing

CARD, CROISSANT = "README.md", "croissant.json"
MOST = 30
"""How many regions of a label are shown."""
SHEET = """\
# {title}

{summary} {made}; fingerprint {fingerprint}.

## Motivation

**Why was it made?** To tell whether a model has learned the concepts and the rule, or a shortcut: {why}

## Composition

**What is an example?** {shown}, {example}

{concepts}

{labels}

{constraints}

{splits}

**Are there counterfactuals?** {pairs}

{hardness}{regions}

**Is anything missing, noisy or redundant?** {noise}

**Does it relate to people, or hold anything confidential or offensive?** {people}

## Collection and preprocessing

{collected}

## Uses

{uses}

## Distribution and maintenance

`manifest.json` has the hash of every file, `croissant.json` describes the columns, and `datasets.load_dataset` opens
the folder as it is.{maintained}
"""
DRAWN = {
    "made": "Made by Assay {version} with seed {seed}",
    "why": """\
every example carries
its concepts, its labels follow from them by the rule below, and `assay diagnose` compares what a model says with \
both.""",
    "example": """\
the concepts that are true of it, the labels that the rule gives, and the style (every
random draw that decided its look).""",
    "hardness": """\
**How hard are the examples?** Where each lies in the rule of each label is in the columns `boundary_...`: in which of
the ways in which the rule holds, in which of those in which a world just misses it by one concept, or far from both. An
example can be in several.

""",
    "noise": """\
{noise} Examples of one split can share concepts; which of them share a
picture is up to chance. {sources}""",
    "people": "{people}",
    "collected": """\
{drawn}; pictures were
rendered from them. Item `i` of a split depends on the task, its version, the seed, the split and `i`
alone, so that the data can be made again to the byte: {remake}.""",
    "uses": """\
Concept quality, reasoning shortcuts, interventions, generalisation to combinations not seen in training. It says
nothing about photographs of the world, and should not be used to compare models on anything but such questions.""",
    "maintained": " A task's version rises when its worlds, pixels or labels change.",
}
IMPORTED = {
    "made": "Imported by Assay {version}",
    "why": """\
`assay diagnose`
compares what a model says with the concepts and labels that people gave.""",
    "example": "the concepts that annotators gave, and the labels.",
    "hardness": "",
    "noise": """\
{missing} Labels are those of the source; whether they follow the rule, if
one is given, is what `assay audit` tells.""",
    "people": "Not known to Assay: see the source.",
    "collected": """\
It was {how}. The style of an example has the name of its file, and how far annotators agree where there were several.
It cannot be redrawn: it is not made from a rule.""",
    "uses": "What the source allows; its licence holds for this copy as well.",
    "maintained": "",
}
"""What is said of drawn worlds would be false of a dataset that was imported."""


def describe(manifest: Manifest) -> dict[str, bytes]:
    """Return the card and the Croissant file of a dataset, by file name."""
    return {CROISSANT: to_json(croissant(manifest)), CARD: _card(manifest).encode()}


def write_description(folder: Folder, manifest: Manifest) -> Manifest:
    """Write all that describes a dataset, the manifest last, without which it does not load; return the manifest."""
    for name, data in {**describe(manifest), NAME: to_json(manifest.to_dict())}.items():
        write_atomically(folder / name, data)
    return manifest


def _card(manifest: Manifest) -> str:
    """Return the text of the card."""
    knowledge, about = manifest.knowledge, manifest.task.imported
    facts: dict[str, str] = {
        "version": escape_text(str(manifest.versions["assay"])),
        "seed": escape_text(str(manifest.seed)),
    }
    if about is None:
        facts |= {
            "noise": _noise(knowledge) + _annotation(manifest),
            "sources": _sources(manifest.sources),
            "people": _people(manifest.sources),
            "drawn": prose_text(manifest.drawn.replace("{balance}", _balance(manifest.splits))),
            "remake": _remake(manifest),
        }
    else:
        gaps = _gaps(about)
        facts["missing"] = (
            escape_text(f"Concepts are not known in {listing(gaps)}.") if gaps else "Every concept has a value."
        )
        facts["how"] = escape_text(describe_import(about))
    sentences = DRAWN if about is None else IMPORTED
    body = SHEET.format(
        title=escape_text(manifest.task.name),
        summary=prose_text(manifest.summary.rstrip(".") + "."),
        fingerprint=code_text(manifest.fingerprint),
        shown=_example(manifest.columns, manifest.layout),
        concepts=_concepts(knowledge),
        labels=_labels(knowledge),
        constraints=_constraints(knowledge),
        splits=_splits(manifest),
        pairs=_pairs(manifest.pairs),
        regions=_regions(manifest),
        **{name: sentence.format(**facts) for name, sentence in sentences.items()},
    )
    return f"---\n{_front(manifest)}---\n\n{body}"


def _balance(splits: Sequence[SplitRecord]) -> str:
    unit = "label values" if splits[0].balance == "label" else "worlds"
    hard = [split.name for split in splits if split.quota]
    return f"{unit} ({listing(hard)}: over the ways to keep and to just miss the rule)" if hard else unit


def _people(sources: Mapping[str, Any]) -> str:
    if "coco" in sources:
        return "Yes: photographs of people, who are not named."
    return "Handwriting only; writers are not named." if "digits" in sources else "No."


def _licence(sources: Mapping[str, Any]) -> str:
    """Return the licence; photographs of COCO are each under a licence of its own, that its annotations name."""
    if "coco" in sources:
        return "other"
    return "cc-by-sa-3.0" if "digits" in sources else "cc-by-4.0"


def _example(columns: Sequence[str], layout: Mapping[str, Any]) -> str:
    colour = "grey" if layout["channels"] == 1 else "colour"
    words = {
        "image": f"a picture of {layout['width']} x {layout['height']} pixels ({colour})",
        "things": "the box of each object",
        "instances": "a map of which pixel shows which object",
        "parts": "a map of which pixel shows which part of an object",
        "depth": "a map of how far away each pixel is",
        "text": "a text",
    }
    text = listing([words[column] for column in columns]) or "a row"
    return text[0].upper() + text[1:]


def _remake(manifest: Manifest) -> str:
    sizes = {split.name: split.size for split in manifest.splits} | dict.fromkeys(manifest.left_out, 0)
    asked = MOST_PAIRS if manifest.pairs.asked is None else manifest.pairs.asked
    sizes |= {PAIRS: asked} if asked != MOST_PAIRS else {}
    config = {key: value for key, value in manifest.task.config.items() if value not in (None, [])}
    pairs = [f"{k}={json.dumps(v, sort_keys=True)}" for k, v in sorted({**config, "splits": sizes}.items())]
    options = " ".join(f"--set {shlex.quote(pair)}" for pair in pairs)
    if manifest.task.annotation is not None:
        return "`assay make` makes the dataset that was annotated, `assay annotate` this one"
    return code_text(f"assay make {manifest.task.name} --seed {manifest.seed} {options} -o DIR")


def _front(manifest: Manifest) -> str:
    files = [{"split": split.name, "path": f"{split.name}/*.parquet"} for split in manifest.splits]
    configs = [{"config_name": "default", "data_files": files}]
    if manifest.pairs.shards:
        configs.append({"config_name": PAIRS, "data_files": [{"split": PAIRS, "path": f"{PAIRS}/*.parquet"}]})
    size = sum(split.size for split in manifest.splits)
    bounds = [(1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")]
    category = next((name for bound, name in bounds if size < bound), "n>1M")
    head = {
        "pretty_name": f"assay {manifest.task.name}",
        "license": "other" if manifest.task.imported is not None else _licence(manifest.sources),
        "tags": ["assay", "concepts", "reasoning-shortcuts", "neuro-symbolic"],
        "size_categories": [category],
        "configs": configs,
    }
    return str(yaml.safe_dump(head, sort_keys=False))


def _concepts(knowledge: Mapping[str, Any]) -> str:
    group_of = {name: group["name"] for group in knowledge["encoders"] for name in group["concepts"]}
    rows = [[c["name"], listing(c["values"]), group_of[c["name"]]] for c in knowledge["concepts"]]
    return markdown_table(["concept", "values", "read by encoder"], rows)


def _labels(knowledge: Mapping[str, Any]) -> str:
    rows = [
        [x["name"], Markdown(code_text(_rule(x["formula"])) + _odds(x)), listing(x["values"])]
        for x in knowledge["labels"]
    ]
    return markdown_table(["label", "rule", "values"], rows)


def _odds(label: Mapping[str, Any]) -> str:
    if "odds" not in label:
        return ""
    scale, score = escape_text(str(label["odds"]["scale"])), code_text(str(label["odds"]["score"]))
    return f", drawn: True with probability 1 / (1 + exp(-{scale} x)), x = {score}"


def _annotation(manifest: Manifest) -> str:
    """Say that this is an annotated copy, and what was asked for."""
    about = manifest.task.annotation
    if about is None:
        return ""
    settings = ", ".join(code_text(f"{key}: {json.dumps(value)}") for key, value in about.settings.items())
    if about.machine == MENDING:
        settings = "concept labels bought by `assay mend`"
    if about.reader is not None:
        settings = ", ".join(
            [escape_text(f"concepts read by {about.reader['reader']}"), *([settings] if settings else [])]
        )
    return (
        f" That is so of the columns `concept_...` and `label_...`; the columns `given_...`, from which models learn, "
        f"were changed by `assay annotate` in the splits {escape_text(listing(about.splits))} "
        f"({settings or 'nothing asked'}; seed {escape_text(str(about.seed))}) from the dataset with fingerprint "
        f"{code_text(about.parent)}."
    )


def _noise(knowledge: Mapping[str, Any]) -> str:
    drawn = [label["name"] for label in knowledge["labels"] if "odds" in label]
    if not drawn:
        return "No value is missing and no noise was added."
    names = escape_text(listing(drawn))
    return f"No value is missing. Drawn by chance: {names}; examples with the same concepts can differ in it."


def _constraints(knowledge: Mapping[str, Any]) -> str:
    rows = [[c["name"], code_text(c["formula"]), ", ".join(c["tags"])] for c in knowledge["constraints"]]
    return (
        markdown_table(["constraint", "formula", "tags"], rows)
        if rows
        else "No constraints: every combination is possible."
    )


def _splits(manifest: Manifest) -> str:
    values = {label["name"]: label["values"] for label in manifest.knowledge["labels"]}
    parts = manifest.splits
    rows = [[s.name, str(s.size), code_text(s.where), _share(s), _counts(s.labels, values)] for s in parts]
    return markdown_table(["split", "examples", "worlds where", "share", "labels"], rows)


def _pairs(part: PairsRecord) -> str:
    if not part.shards:
        return prose_text(f"No: {part.none or 'none were asked for'}.")
    return (
        f"Yes: split `pairs` holds {part.size} examples of split {escape_text(str(part.split))}, each with one "
        "concept changed and the style kept. `pair_row` is the number of the example that was changed, `pair_concept` "
        "the concept."
    )


def _regions(manifest: Manifest) -> str:
    head = ["worlds where", *(split.name for split in manifest.splits)]
    tables = region_tables(manifest, code_text)
    return "\n\n".join(markdown_table([label, *head], rows) for label, rows in tables.items())


def _share(split: SplitRecord) -> str:
    low, high = split.share
    return f"{100 * (high - low):.0f} %"


def _counts(labels: Mapping[str, Mapping[str, int]], values: Mapping[str, Sequence[Any]]) -> str:
    """Return how often each value of each label occurs, in the order of the rule and of the values."""
    texts = []
    for name in [name for name in values if name in labels]:
        counts = labels[name]
        occurring = [f"{value} x {counts[str(value)]}" for value in values[name] if str(value) in counts]
        texts.append(f"{name}: " + listing(occurring))
    return "; ".join(texts)


def _sources(sources: Mapping[str, Any]) -> str:
    texts = [
        escape_text(f"{name}: {about['name']}") + f" (sha256 {code_text(about['sha256'][:16])})"
        for name, about in sources.items()
    ]
    return f"Made from {'; '.join(texts)}; images of one pool never occur in another." if texts else ""


def _rule(formula: str) -> str:
    return "not known" if formula == str(NO_RULE) else formula


def describe_import(about: ImportRecord) -> str:
    """Return in a sentence where a dataset came from and what was done to it.

    >>> describe_import(ImportRecord(layout="CelebA", examples=60, resize="crop", splits="as in the source",
    ...     missing={"train": 0.2}))
    'imported from CelebA: 60 examples, splits as in the source, pictures resized by crop; not known: 20 % of train'
    """
    text = (
        f"imported from {about.layout}: {about.examples:,} examples, splits {about.splits}, pictures "
        f"resized by {about.resize}"
    )
    gaps = _gaps(about)
    text += f"; not known: {', '.join(gaps)}" if gaps else ""
    return text + (f"; annotators agree to {100 * about.agreement:.0f} %" if about.agreement is not None else "")


def _gaps(about: ImportRecord) -> list[str]:
    return [f"{100 * share:.0f} % of {name}" for name, share in about.missing.items() if share]


def region_tables(manifest: Manifest, shown: Callable[[str], str] = str) -> dict[str, list[list[str]]]:
    """Return for each label how many examples of each split lie in each variant and near-boundary type of its rule.

    A row is the kind of a region, its name as `shown`, and a count for each split; regions without examples are left
    out. Of a label that no region tells about, the worlds whose label one concept changes are counted.
    """
    knowledge = Knowledge.from_dict(manifest.knowledge)
    if not knowledge.has_rule:
        return {}
    pairs = zip(knowledge.label_names, knowledge.boundaries, strict=True)
    return {label: _region_rows(label, boundary, manifest.splits, shown) for label, boundary in pairs}


def _region_rows(
    label: str, boundary: Boundary, splits: Sequence[SplitRecord], shown: Callable[[str], str]
) -> list[list[str]]:
    regions = [("holds", region.name) for region in boundary.variants]
    regions += [("just misses", region.name) for region in boundary.types]
    if not boundary.explicit:
        regions += [("changes", f"change {name}") for name in boundary.space.names]
    rows = []
    for kind, name in [*regions, ("far", "far")]:
        counts = [split.boundary.get(label, {}).get(name, 0) for split in splits]  # older datasets have none
        if any(counts):
            rows.append([kind, "all others" if kind == "far" else shown(name), *map(str, counts)])
    if len(rows) > MOST:
        rows[MOST:] = [["", f"and {len(rows) - MOST} more, in manifest.json", *("" for _ in splits)]]
    return rows
