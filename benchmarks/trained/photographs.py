"""Pictures that nobody drew: scikit-learn's handwritten digits, micrographs of blood, and photographs of COCO.

Micrographs and photographs are read from the folder of data beside the project, where it is; none is kept.
"""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

from assay.base import Array, Codes, rng_for
from assay.logic import Concept, ConceptSpace, Knowledge
from benchmarks.trained.sources import Batch, Look, marked

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
LOOPS = (1, 0, 0, 0, 1, 0, 1, 0, 2, 1)
CURVED = (1, 0, 1, 1, 0, 1, 1, 0, 1, 1)
TILE, SIDE, PHOTO = 160, 24, 48
THINGS = ("dining table", "cup", "bowl", "bottle", "fork", "knife", "spoon")
VEHICLES = ("car", "truck", "bus", "motorcycle", "bicycle", "train")


@dataclass(frozen=True)
class Album:
    """Pictures with annotated concepts, divided into those of each split."""

    images: Array
    codes: Codes
    pools: dict[str, Array]


@dataclass(frozen=True)
class Pictures:
    """Examples from an album; with `several`, an example is so many pictures side by side, each with its concepts."""

    album: Album
    knowledge: Knowledge
    several: int = 1
    drawn: bool = False

    def worlds(self, split: str, count: int, seed: int) -> Batch:
        """Return examples of a split, each picture once where an example is one picture."""
        pool = self.album.pools[{"ood": "fresh"}.get(split, split)]
        rng = rng_for(seed, "album", split)
        if self.several == 1:
            rows = rng.permutation(pool)[:count]
            return Batch(self.album.codes[rows], rows)
        rows = rng.choice(pool, size=(count, self.several))
        numbers = rows @ (len(self.album.codes) ** np.arange(self.several))
        return Batch(np.concatenate([self.album.codes[part] for part in rows.T], axis=1), numbers)

    def draw(self, batch: Batch, seed: int, look: Look, marks: Array | None = None) -> Array:
        """Return the pictures of examples."""
        size = len(self.album.codes)
        parts = [self.album.images[batch.pictures // size**turn % size] for turn in range(self.several)]
        return look.apply(marked(np.concatenate(parts, axis=3), marks), rng_for(seed, "style"))


def divided(count: int, shares: tuple[float, float], purpose: str) -> dict[str, Array]:
    """Return the pictures of training, test and later use, drawn at random."""
    rows = rng_for(11, "album", purpose).permutation(count)
    first, second = round(shares[0] * count), round((shares[0] + shares[1]) * count)
    return {"train": rows[:first], "test": rows[first:second], "fresh": rows[second:]}


@cache
def digit_album() -> Album:
    """Return scikit-learn's digits; the concept is the digit."""
    digits = load_digits()
    images = np.repeat(np.repeat(digits.images / 16, 2, axis=1), 2, axis=2)[:, None]
    return Album(images, digits.target.astype(np.int64)[:, None], divided(len(images), (0.5, 0.3), "digits"))


def digit_traits(rule: str, digit: bool = False) -> Pictures:
    """Return single digits: whether even, at least 5, curved, the number of loops, and if asked for the digit."""
    album = digit_album()
    digits = album.codes[:, 0]
    traits = [1 - digits % 2, digits >= 5, np.array(LOOPS)[digits], np.array(CURVED)[digits]]
    concepts = [Concept(name, (False, True)) for name in ("even", "ge5", "curved")]
    concepts.insert(2, Concept("loops", (0, 1, 2), counts=True))
    if digit:
        traits.append(digits)
        concepts.append(Concept("digit", tuple(range(10))))
    codes = np.stack(traits, axis=1).astype(np.int64)
    return Pictures(Album(album.images, codes, album.pools), Knowledge.of(ConceptSpace(tuple(concepts)), {"y": rule}))


def digit_pairs(rule: str) -> Pictures:
    """Return two digits side by side, `a` and `b`."""
    space = ConceptSpace(tuple(Concept(name, tuple(range(10))) for name in ("a", "b")))
    return Pictures(digit_album(), Knowledge.of(space, {"y": rule}), several=2)


@cache
def micrograph_album() -> Album:
    """Return tiles of micrographs: is there a white cell, a platelet, are there three red cells or more."""
    folder = DATA / "bccd" / "BCCD"
    images, codes, owners = [], [], []
    for number, path in enumerate(sorted((folder / "JPEGImages").glob("*.jpg"))):
        boxes = _boxes(folder / "Annotations" / f"{path.stem}.xml")
        picture = Image.open(path).convert("RGB")
        for top in range(0, 480, TILE):
            for left in range(0, 640, TILE):
                tile = picture.crop((left, top, left + TILE, top + TILE)).resize((SIDE, SIDE), Image.Resampling.BOX)
                images.append(np.asarray(tile).transpose(2, 0, 1) / 255)
                codes.append(_cells_in(boxes, left, top))
                owners.append(number)
    shares = divided(max(owners) + 1, (0.55, 0.25), "micrographs")
    pools = {split: np.flatnonzero(np.isin(owners, numbers)) for split, numbers in shares.items()}
    return Album(np.stack(images), np.array(codes, dtype=np.int64), pools)


def _boxes(path: Path) -> list[tuple[str, tuple[int, ...]]]:
    found = []
    for part in ElementTree.parse(path).getroot().iter("object"):
        edges = tuple(int(part.findtext(f"bndbox/{edge}", "0")) for edge in ("xmin", "ymin", "xmax", "ymax"))
        found.append((part.findtext("name", ""), edges))
    return found


def _cells_in(boxes: list[tuple[str, tuple[int, ...]]], left: int, top: int) -> tuple[int, int, int]:
    """Return whether a tile has a good part of a white cell, the middle of a platelet, and of three red cells."""
    middles, white = {"RBC": 0, "Platelets": 0}, False
    for name, (x0, y0, x1, y1) in boxes:
        across = max(0, min(x1, left + TILE) - max(x0, left))
        down = max(0, min(y1, top + TILE) - max(y0, top))
        white |= name == "WBC" and across * down > 0.15 * TILE**2
        if name in middles and left <= (x0 + x1) / 2 < left + TILE and top <= (y0 + y1) / 2 < top + TILE:
            middles[name] += 1
    return int(white), int(middles["Platelets"] > 0), int(middles["RBC"] >= 3)


def micrographs(rule: str) -> Pictures:
    """Return tiles of micrographs."""
    space = ConceptSpace(tuple(Concept(name, (False, True)) for name in ("white", "platelet", "crowded")))
    return Pictures(micrograph_album(), Knowledge.of(space, {"y": rule}))


@cache
def photograph_album() -> Album:
    """Return photographs: is there a person, a thing of the table, a vehicle."""
    images, codes = [], []
    for part in ("train", "val"):
        text = (DATA / "coco_tiny" / "annotations" / f"instances_{part}2017.json").read_text(encoding="utf-8")
        listed = json.loads(text)
        names = {kind["id"]: kind["name"] for kind in listed["categories"]}
        for image in sorted(listed["images"], key=lambda image: image["id"]):
            seen = {names[a["category_id"]] for a in listed["annotations"] if a["image_id"] == image["id"]}
            path = DATA / "coco_tiny" / f"{part}2017" / image["file_name"]
            picture = Image.open(path).convert("RGB").resize((PHOTO, PHOTO), Image.Resampling.BOX)
            images.append(np.asarray(picture).transpose(2, 0, 1) / 255)
            codes.append(("person" in seen, bool(seen & set(THINGS)), bool(seen & set(VEHICLES))))
    pools = divided(len(images), (0.45, 0.45), "photographs")
    return Album(np.stack(images), np.array(codes, dtype=np.int64), pools)


def photographs(rule: str) -> Pictures:
    """Return photographs."""
    space = ConceptSpace(tuple(Concept(name, (False, True)) for name in ("person", "things", "vehicle")))
    return Pictures(photograph_album(), Knowledge.of(space, {"y": rule}))


def there() -> bool:
    """Return whether the folder of data is there."""
    return (DATA / "coco_tiny").is_dir() and (DATA / "bccd").is_dir()
