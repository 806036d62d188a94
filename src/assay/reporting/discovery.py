"""The page of discovered concepts: scores beside chance, and each unit with the value it matches and top pictures."""

import base64
import io
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import Array, find_rows, write_atomically
from assay.dataset import Dataset, SplitData
from assay.metrics import MEANINGS, ConceptValue, UnitScores, UnitSplit, concept_values, live_units
from assay.reporting.examples import COARSE
from assay.reporting.pages import page_environment
from assay.runs import units_of

TOP, MOST_OTHERS = 8, 24
"""How many pictures are shown of a unit, and how many units that match no value."""
THUMBNAIL = 128
"""Larger pictures are made smaller, in pixels of the longer side."""


@dataclass(frozen=True)
class UnitCard:
    """A unit, the concept value that it matches, and the examples where it is largest in the direction of the match."""

    unit: int
    name: str
    """What the method calls it, empty where it names no units."""
    value: str
    """The value that it is matched with; of a unit without one, the value most in excess among its top examples."""
    matched: bool
    direction: int
    f1: float | None
    share: float
    """The share of all examples that have the value."""
    rows: tuple[int, ...]
    """The numbers of its top examples in the split."""
    has: tuple[bool | None, ...]
    """Which of them have the value; None where that is not known."""
    pictures: tuple[str, ...] = ()
    """The pictures of its top examples, as data addresses."""
    coarse: bool = False
    """Whether pictures are so small that their pixels are to be seen as squares."""

    @property
    def right(self) -> int:
        """How many of the top examples have the value."""
        return sum(has is True for has in self.has)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data without pictures, as the viewer reads it."""
        names = ("unit", "name", "value", "matched", "direction", "f1", "share")
        return {name: getattr(self, name) for name in names} | {"rows": list(self.rows), "has": list(self.has)}


def unit_cards(scores: UnitScores, units: Array, data: SplitData, names: Sequence[str]) -> list[UnitCard]:
    """Return a card for each matched unit in the order of the concepts, and then for units that match no value.

    Parameters
    ----------
    scores
        How well units match concept values.
    units
        What each unit says of each example.
    data
        The split whose pictures are shown.
    names
        The names of the units.
    """
    split = UnitSplit(units, data.concepts, data.labels)
    cards = []
    for score in scores.matches:
        match = score.match
        if match.unit is not None:
            card = _card(split, data, match.unit, match.direction, match.value)
            f1 = None if np.isnan(score.f1) else score.f1
            cards.append(replace(card, matched=True, f1=f1, name=_name(names, match.unit)))
    used = {card.unit for card in cards}
    others = [int(unit) for unit in live_units(units) if int(unit) not in used]
    for unit in others[:MOST_OTHERS]:
        top = np.argsort(-units[:, unit], kind="stable")[:TOP]
        card = _card(split, data, unit, 1, _in_excess(split, top, concept_values(data.knowledge.space)))
        cards.append(replace(card, name=_name(names, unit)))
    return cards


def _name(names: Sequence[str], unit: int) -> str:
    return names[unit] if unit < len(names) else ""


def _card(split: UnitSplit, data: SplitData, unit: int, direction: int, value: ConceptValue) -> UnitCard:
    holds, known = (part[:, 0] for part in split.truth((value,)))
    top = np.argsort(-direction * split.units[:, unit], kind="stable")[:TOP].tolist()
    has = tuple(bool(holds[row]) if known[row] else None for row in top)
    share = float(holds[known].mean()) if known.any() else 0.0
    rows = tuple(int(data.index[row]) for row in top)
    return UnitCard(unit, "", value.name, False, direction, None, share, rows, has)


def _in_excess(split: UnitSplit, top: Array, values: tuple[ConceptValue, ...]) -> ConceptValue:
    """Return the value whose share among some examples is most above its share among all."""
    holds, known = split.truth(values)
    shares = [(holds & known)[rows].sum(axis=0) / np.maximum(known[rows].sum(axis=0), 1) for rows in (top, slice(None))]
    return values[int((shares[0] - shares[1]).argmax())]


def _with_pictures(cards: Sequence[UnitCard], data: SplitData) -> tuple[UnitCard, ...]:
    """Return the cards with the pictures of their top examples in a split."""
    wanted = sorted({row for card in cards for row in card.rows})
    places = find_rows(np.array(wanted, dtype=np.int64), data.index)
    if not wanted or (places < 0).any():
        return tuple(cards)
    files = data.files(places)
    coarse = max(struct.unpack(">II", files[0][16:24])) <= COARSE
    addresses = {row: _address(file) for row, file in zip(wanted, files, strict=True)}
    return tuple(replace(c, pictures=tuple(addresses[row] for row in c.rows), coarse=coarse) for c in cards)


def cards_of(folder: Path, dataset: Dataset) -> tuple[UnitCard, ...]:
    """Return the units of a run of discovered concepts with their pictures; none for any other run."""
    content = units_of(folder) if folder.is_dir() else None
    if content is None or content["split"] not in dataset:
        return ()
    known = [field.name for field in fields(UnitCard) if field.name not in ("pictures", "coarse")]
    listed = [{name: unit[name] for name in known} for unit in content["units"]]
    cards = [UnitCard(**{**unit, "rows": tuple(unit["rows"]), "has": tuple(unit["has"])}) for unit in listed]
    return _with_pictures(cards, dataset[content["split"]])


def _address(png: bytes) -> str:
    """Return a picture as a data address, smaller where it is large."""
    if max(struct.unpack(">II", png[16:24])) > THUMBNAIL:
        from assay.render import open_image

        shrunk = io.BytesIO()
        with open_image(png, "a top picture") as picture:
            picture.thumbnail((THUMBNAIL, THUMBNAIL))
            picture.save(shrunk, "PNG")
        png = shrunk.getvalue()
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def concept_rows(scores: UnitScores, data: SplitData) -> list[dict[str, Any]]:
    """Return a row for each concept: how many of its values are matched, their mean F1 and mutual information."""
    rows = []
    for place, concept in enumerate(data.knowledge.space.concepts):
        own = scores.of_concept(place)
        if own:
            row: dict[str, Any] = {"concept": concept.name, "values": len(own)}
            row["matched"] = sum(score.match.unit is not None for score in own)
            for name in ("f1", "information", "purity", "share"):
                row[name] = float(np.mean([getattr(score, name) for score in own]))
            rows.append(row)
    return rows


def write_discovery(
    path: Path, record: Mapping[str, Any], scores: UnitScores, cards: Sequence[UnitCard], data: SplitData
) -> None:
    """Write the page of the units of a split, which needs no other file.

    Parameters
    ----------
    path
        The page.
    record
        What was discovered, as the run keeps it.
    scores
        How well units match concept values.
    cards
        What is shown of each unit.
    data
        The split whose pictures are shown.
    """
    concepts, cards = concept_rows(scores, data), _with_pictures(cards, data)
    template = page_environment().get_template("discovery.html")
    page = template.render(record=record, concepts=concepts, cards=cards, meanings=MEANINGS)
    write_atomically(path, page.encode())
