"""Folders of drawn pictures in each layout that is read, with a planted rule: alarm where it is red and dotted."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

CONCEPTS = ("red", "wide", "dotted")
RULE = {"alarm": "red and dotted"}
CLASS_RULE = {"class_name": "'loud' if red and dotted else 'calm'"}
ANIMALS = {"ant": (1, 1, 1), "bee": (1, 0, 0), "cat": (0, 0, 1), "dog": (0, 1, 0)}
ANIMAL_RULE = {
    "class_name": "'ant' if red and dotted else ('bee' if red else ('cat' if dotted else 'dog'))",
}


@dataclass(frozen=True)
class Drawn:
    """A drawn picture: its pixels, its true concepts, and those that an annotator gave."""

    pixels: Any
    truth: Mapping[str, bool]
    given: Mapping[str, bool | None]

    @property
    def alarm(self) -> bool:
        """The label."""
        return self.truth["red"] and self.truth["dotted"]


def draw(count: int, missing: float = 0.0, seed: int = 0, size: tuple[int, int] = (20, 20)) -> list[Drawn]:
    """Draw pictures; a share of their concepts is not annotated."""
    rng = np.random.default_rng(seed)
    drawn = []
    for number in range(count):
        truth = {name: bool(number >> place & 1) for place, name in enumerate(CONCEPTS)}
        given = {name: None if rng.random() < missing else value for name, value in truth.items()}
        drawn.append(Drawn(picture(truth, rng, size), truth, given))
    return [drawn[place] for place in rng.permutation(count)]


def picture(truth: Mapping[str, bool], rng: np.random.Generator, size: tuple[int, int] = (20, 20)) -> Any:
    """Return one picture: a bar that is red or blue, wide or narrow, with or without dots below."""
    pixels = rng.integers(30, 60, (size[1], size[0], 3)).astype(np.uint8)
    pixels[4:9, 3 : 3 + (14 if truth["wide"] else 5)] = (220, 40, 40) if truth["red"] else (40, 70, 220)
    if truth["dotted"]:
        pixels[12:16, 3:7] = pixels[12:16, 11:15] = (240, 240, 90)
    return pixels


def _save(pixels: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def _png(pixels: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def _write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(rows[0]) if rows else ["image_id"])
        writer.writeheader()
        writer.writerows(rows)


def _cell(value: bool | None) -> str:
    return "" if value is None else str(value)


def write_table(folder: Path, drawn: Sequence[Drawn]) -> dict[str, Any]:
    """A plain table."""
    rows = []
    for number, one in enumerate(drawn):
        _save(one.pixels, folder / f"pictures/{number}.png")
        cells = {f"concept_{name}": _cell(value) for name, value in one.given.items()}
        rows.append({"file": f"pictures/{number}.png", **cells, "label_alarm": one.alarm})
    _write_csv(folder / "concepts.csv", rows)
    return {}


def write_cub(folder: Path, drawn: Sequence[Drawn]) -> dict[str, Any]:
    """CUB-200-2011, with a class for each label; what is not annotated is marked as not visible."""
    lines: dict[str, list[str]] = {name: [] for name in ("images", "classes", "labels", "split", "names", "attributes")}
    lines["classes"] = ["1 calm", "2 loud"]
    lines["names"] = [f"{place} {name}" for place, name in enumerate(CONCEPTS, start=1)]
    for number, one in enumerate(drawn, start=1):
        path = f"{'loud' if one.alarm else 'calm'}/{number}.jpg"
        _save(one.pixels, folder / "images" / path)
        lines["images"].append(f"{number} {path}")
        lines["labels"].append(f"{number} {2 if one.alarm else 1}")
        lines["split"].append(f"{number} {int(number % 4 != 0)}")
        for place, name in enumerate(CONCEPTS, start=1):
            sure = 1 if one.given[name] is None else 4
            lines["attributes"].append(f"{number} {place} {int(bool(one.given[name]))} {sure} 3.1")
    files = {
        "images.txt": "images", "classes.txt": "classes", "image_class_labels.txt": "labels",
        "train_test_split.txt": "split", "attributes/attributes.txt": "names",
        "attributes/image_attribute_labels.txt": "attributes",
    }  # fmt: skip
    for file, key in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("\n".join(lines[key]) + "\n")
    return {}


def write_celeba(folder: Path, drawn: Sequence[Drawn]) -> dict[str, Any]:
    """CelebA as a CSV; an empty cell is not known."""
    names = [f"{number:06d}.jpg" for number in range(len(drawn))]
    truth = {True: "1", False: "-1", None: ""}
    rows = []
    for name, one in zip(names, drawn, strict=True):
        _save(one.pixels, folder / "img_align_celeba" / name)
        rows.append(
            {"image_id": name, **{key: truth[value] for key, value in one.given.items()}, "alarm": truth[one.alarm]}
        )
    _write_csv(folder / "list_attr_celeba.csv", rows)
    parts = [{"image_id": name, "partition": number % 5 // 2 if number % 5 else 0} for number, name in enumerate(names)]
    _write_csv(folder / "list_eval_partition.csv", parts)
    return {"labels": ["alarm"]}


def write_awa2(folder: Path, drawn: Sequence[Drawn]) -> dict[str, Any]:
    """Animals with Attributes 2: four classes; the concepts are those of the class."""
    rng = np.random.default_rng(1)
    for number in range(len(drawn)):
        name = list(ANIMALS)[number % 4]
        truth = {concept: bool(value) for concept, value in zip(CONCEPTS, ANIMALS[name], strict=True)}
        _save(picture(truth, rng), folder / f"JPEGImages/{name}/{number}.jpg")
    (folder / "classes.txt").write_text("".join(f"{place}\t{name}\n" for place, name in enumerate(ANIMALS, start=1)))
    (folder / "predicates.txt").write_text(
        "".join(f"{place}\t{name}\n" for place, name in enumerate(CONCEPTS, start=1))
    )
    (folder / "predicate-matrix-binary.txt").write_text(
        "".join(" ".join(map(str, row)) + "\n" for row in ANIMALS.values())
    )
    return {}


def write_derm7pt(folder: Path, drawn: Sequence[Drawn]) -> dict[str, Any]:
    """Derm7pt: columns by name, and files with the rows of each split."""
    rows: list[dict[str, Any]] = []
    for number, one in enumerate(drawn):
        _save(one.pixels, folder / f"images/{number}.jpg")
        rows.append(
            {"derm": f"{number}.jpg", **{key: _cell(value) for key, value in one.given.items()}, "alarm": one.alarm}
        )
    _write_csv(folder / "meta/meta.csv", rows)
    count = len(drawn)
    bounds = {"train": range(0, count * 6 // 10), "valid": range(count * 6 // 10, count * 8 // 10)}
    for name, places in {**bounds, "test": range(count * 8 // 10, count)}.items():
        _write_csv(folder / f"meta/{name}_indexes.csv", [{"indexes": row} for row in places])
    return {"labels": ["alarm"], "concepts": list(CONCEPTS)}


def write_coco(folder: Path, drawn: Sequence[Drawn]) -> dict[str, Any]:
    """COCO JSON: objects `dots`, and what is no object as entries of the image."""
    images, annotations = [], []
    for number, one in enumerate(drawn):
        _save(one.pixels, folder / f"images/{number}.png")
        known = {
            f"concept_{name}": value for name, value in one.given.items() if value is not None and name != "dotted"
        }
        images.append({"id": number, "file_name": f"{number}.png", **known, "label_alarm": one.alarm})
        if one.truth["dotted"]:
            annotations.append({"id": len(annotations), "image_id": number, "category_id": 7, "bbox": [3, 12, 4, 4]})
    data = {"images": images, "annotations": annotations, "categories": [{"id": 7, "name": "dotted"}]}
    (folder / "instances.json").write_text(json.dumps(data))
    return {}


def write_label_studio(folder: Path, drawn: Sequence[Drawn]) -> dict[str, Any]:
    """Label Studio: two annotators of each picture; the second answers nothing where a concept is not known."""
    tasks = []
    for number, one in enumerate(drawn):
        _save(one.pixels, folder / f"images/{number}.png")
        answers = {**one.given, "alarm": one.alarm}
        result = [
            {"from_name": name, "to_name": "image", "type": "choices", "value": {"choices": ["yes" if value else "no"]}}
            for name, value in answers.items()
            if value is not None
        ]
        people = [{"completed_by": who, "result": result} for who in (1, 2)]
        address = f"/data/local-files/?d=images/{number}.png"
        tasks.append({"id": number, "data": {"image": address}, "annotations": people})
    (folder / "export.json").write_text(json.dumps(tasks))
    return {"labels": ["alarm"]}


def write_cvat(folder: Path, drawn: Sequence[Drawn]) -> dict[str, Any]:
    """CVAT for images: a tag with attributes."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<annotations><version>1.1</version>"]
    for number, one in enumerate(drawn):
        _save(one.pixels, folder / f"images/{number}.png")
        cells = {**one.given, "alarm": one.alarm}
        attributes = "".join(
            f'<attribute name="{name}">{str(value).lower()}</attribute>'
            for name, value in cells.items()
            if value is not None
        )
        subset = ("train", "train", "train", "valid", "test")[number % 5]
        tag = f'<tag label="sign" source="manual">{attributes}</tag>'
        lines.append(f'<image id="{number}" name="{number}.png" subset="{subset}" width="20" height="20">{tag}</image>')
    (folder / "annotations.xml").write_text("\n".join([*lines, "</annotations>"]))
    return {"labels": ["sign__alarm"], "concepts": [f"sign__{name}" for name in CONCEPTS]}


def write_hf(folder: Path, drawn: Sequence[Drawn]) -> dict[str, Any]:
    """A Hugging Face dataset: a Parquet file for each split, the label a class."""
    features = {"alarm": {"names": ["calm", "loud"], "_type": "ClassLabel"}, "image": {"_type": "Image"}}
    known = {"huggingface": json.dumps({"info": {"features": features}})}
    (folder / "data").mkdir(parents=True)
    for split, part in (("train", drawn[::2]), ("test", drawn[1::2])):
        columns: dict[str, Any] = {"image": [{"bytes": _png(one.pixels), "path": None} for one in part]}
        columns |= {name: [one.given[name] for one in part] for name in CONCEPTS}
        columns["alarm"] = [int(one.alarm) for one in part]
        table = pa.table(columns).replace_schema_metadata(known)
        pq.write_table(table, folder / f"data/{split}-00000-of-00001.parquet")
    return {"labels": ["alarm"], "concepts": list(CONCEPTS)}


Writer = Callable[[Path, Sequence[Drawn]], dict[str, Any]]
LAYOUTS: dict[str, tuple[Writer, Mapping[str, str]]] = {
    "table": (write_table, RULE),
    "cub": (write_cub, CLASS_RULE),
    "celeba": (write_celeba, RULE),
    "awa2": (write_awa2, ANIMAL_RULE),
    "derm7pt": (write_derm7pt, RULE),
    "coco": (write_coco, RULE),
    "label_studio": (write_label_studio, RULE),
    "cvat": (write_cvat, {"sign__alarm": "sign__red and sign__dotted"}),
    "hf": (write_hf, {"alarm": "'loud' if red and dotted else 'calm'"}),
}
"""For each layout what writes it and returns the settings of the import, and the planted rule."""
