"""The Croissant description of a dataset, so that machines find and read it (checked with `mlcroissant` in tests)."""

from typing import Any

from assay.contracts import (
    BOUNDARY,
    CONCEPT,
    GIVEN,
    LABEL,
    PAIR_CONCEPT,
    PAIR_ROW,
    PAIRS,
    Manifest,
    ShardRecord,
    kind_of_values,
)

OWN_TERMS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet", "format",
    "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references",
    "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
"""The terms that Croissant defines by itself."""
CONTEXT: dict[str, Any] = {
    **{term: f"cr:{term}" for term in OWN_TERMS},
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}
TYPES = {"bool": "sc:Boolean", "int": "sc:Integer", "symbol": "sc:Text"}


def croissant(manifest: Manifest) -> dict[str, Any]:
    """Return the Croissant JSON-LD of a dataset: a set of files and a record set for each split."""
    task = manifest.task.name
    common = "https://creativecommons.org/licenses/"
    licence = f"{common}by-sa/3.0/" if "digits" in manifest.sources else f"{common}by/4.0/"
    if "coco" in manifest.sources:
        licence = "https://cocodataset.org/#termsofuse"  # each photograph has its own
    if manifest.task.imported is not None:
        licence = "https://assay.invalid/licence-of-the-source"
    shards = {split.name: split.shards for split in manifest.splits}
    if manifest.pairs.shards:
        shards[PAIRS] = manifest.pairs.shards
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"assay-{task}",
        "description": f"{manifest.summary} (task {task}, seed {manifest.seed}, made by assay).",
        "license": licence,
        "version": f"{manifest.task.version}.0.0",
        "url": f"https://assay.invalid/{manifest.fingerprint}",
        "citeAs": "Assay: is it the concept, the rule, or a shortcut?",
        "datePublished": "2026-01-01",
        "isLiveDataset": False,
        "distribution": [
            *(_file(shard) for part in shards.values() for shard in part),
            *(_files(split) for split in shards),
        ],
        "recordSet": [_records(manifest, split) for split in shards],
    }


def _file(shard: ShardRecord) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": shard.file,
        "name": shard.file.replace("/", "-"),
        "contentUrl": shard.file,
        "contentSize": f"{shard.bytes} B",
        "encodingFormat": "application/x-parquet",
        "sha256": shard.sha256,
    }


def _files(split: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"{split}-shards",
        "name": f"{split}-shards",
        "encodingFormat": "application/x-parquet",
        "includes": f"{split}/*.parquet",
    }


def _records(manifest: Manifest, name: str) -> dict[str, Any]:
    knowledge = manifest.knowledge
    columns = [("index", "sc:Integer"), ("style", "sc:Text")]
    columns += [(CONCEPT + c["name"], TYPES[kind_of_values(c["values"])]) for c in knowledge["concepts"]]
    columns += [(LABEL + x["name"], TYPES[kind_of_values(x["values"])]) for x in knowledge["labels"]]
    columns += [(BOUNDARY + x["name"], "sc:Text") for x in knowledge["labels"]]
    kinds, annotated = dict(columns), [] if manifest.task.annotation is None else manifest.task.annotation.given
    if name == PAIRS:
        columns += [(PAIR_ROW, "sc:Integer"), (PAIR_CONCEPT, "sc:Text")]
    else:
        columns += [(column, kinds[column.removeprefix(GIVEN)]) for column in annotated]
    columns += [(column, "sc:Text") for column in manifest.columns if column == "text"]
    fields = [_field(name, column, kind) for column, kind in columns]
    for column in manifest.columns:
        if column in ("image", "instances", "parts", "depth"):
            image = _field(name, column, "sc:ImageObject")
            image["source"]["transform"] = {"jsonPath": "bytes"}
            fields.append(image)
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def _field(split: str, column: str, kind: str) -> dict[str, Any]:
    source: dict[str, Any] = {"fileSet": {"@id": f"{split}-shards"}, "extract": {"column": column}}
    return {"@type": "cr:Field", "@id": f"{split}/{column}", "name": column, "dataType": kind, "source": source}
