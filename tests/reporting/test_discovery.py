"""The page of discovered concepts: which units get a card, what it says, and the rows of the concepts."""

import base64
import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from assay.concepts import Concept, ConceptSpace
from assay.diagnosis import ConceptValue, UnitScores, UnitSplit
from assay.diagnosis.discovery.matching import MatchScore, UnitMatch
from assay.logic import Knowledge
from assay.reporting import concept_rows, discovery, unit_cards, with_pictures, write_discovery
from assay.reporting.discovery import UnitCard, cards_of

SPACE = ConceptSpace((Concept("big", (False, True)), Concept("n", (0, 1, 2))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "big and n == 1"})
BIG, N0, N1, N2 = ConceptValue(0, 1, "big"), *(ConceptValue(1, n, f"n = {n}") for n in range(3))
ROWS = 12


def png(width, height, level=0):
    file = io.BytesIO()
    Image.fromarray(np.full((height, width), level, dtype=np.uint8)).save(file, "PNG")
    return file.getvalue()


class Data:
    """A split of twelve examples; of the last one nothing is known of `n`."""

    index = np.arange(ROWS) + 100
    knowledge = KNOWLEDGE
    concepts = np.array([[row % 2, row // 4] for row in range(ROWS)])
    concepts[11, 1] = -1
    labels = np.zeros((ROWS, 1), dtype=int)
    size = (30, 20)

    def files(self, places):
        return [png(*self.size, level=int(place)) for place in places]


def match(value, unit, direction=1, f1=0.5, information=0.25, purity=0.75, share=0.1):
    return MatchScore(UnitMatch(value, unit, direction), f1, information, purity, share)


def units():
    """Return a unit that rises, one that is `big`, one that does not vary, and one that falls."""
    rising = np.arange(ROWS, dtype=float)
    return np.stack([rising, Data.concepts[:, 0] + 0.01 * rising, np.ones(ROWS), -rising], axis=1)


def test_matched_units_come_first_in_the_order_of_the_concepts():
    scores = UnitScores((match(BIG, 1, -1, f1=0.9), match(N0, None), match(N2, 0, f1=np.nan)), {})
    first, second, third = unit_cards(scores, units(), Data(), ["a", "b"])
    assert (first.unit, first.name, first.value, first.matched, first.direction, first.f1) == (
        1,
        "b",
        "big",
        True,
        -1,
        0.9,
    )
    assert first.rows == (100, 102, 104, 106, 108, 110, 101, 103) and first.has == (False,) * 6 + (True,) * 2
    assert first.right == 2 and first.share == 0.5
    assert (second.unit, second.name, second.value, second.f1) == (0, "a", "n = 2", None)
    assert second.rows == (111, 110, 109, 108, 107, 106, 105, 104)
    assert second.has == (None, True, True, True, False, False, False, False) and second.right == 3
    assert second.share == pytest.approx(3 / 11)
    assert (third.unit, third.name, third.matched, third.direction, third.f1) == (3, "", False, 1, None)
    assert third.value == "n = 0" and third.rows == tuple(range(100, 108)) and third.right == 4
    assert first.to_dict() == {
        "unit": 1, "name": "b", "value": "big", "matched": True, "direction": -1, "f1": 0.9, "share": 0.5,
        "rows": list(first.rows), "has": list(first.has),
    }  # fmt: skip


def test_few_units_without_a_value_are_shown(monkeypatch):
    many = np.stack([np.roll(np.arange(ROWS, dtype=float), shift) for shift in range(6)], axis=1)
    monkeypatch.setattr(discovery, "MOST_OTHERS", 3)
    cards = unit_cards(UnitScores((match(BIG, 1),), {}), many, Data(), [])
    assert [card.unit for card in cards] == [1, 0, 2, 3]
    assert all(len(card.rows) == 8 for card in cards)


def test_the_value_most_in_excess_is_that_of_the_top_examples():
    split = UnitSplit(units(), Data.concepts, Data.labels)
    values = (BIG, N0, N1, N2)
    assert discovery._in_excess(split, np.array([1, 5, 9]), values) == BIG
    assert discovery._in_excess(split, np.array([4, 5, 6]), values) == N1
    # of those two n is known once, and it is 2: 1 against 3 of 11; `big` is 1 against 1/2
    assert discovery._in_excess(split, np.array([11, 9]), values) == N2


def test_pictures_are_those_of_the_rows():
    cards = [UnitCard(0, "", "big", True, 1, 0.5, 0.5, rows, (True, False)) for rows in ((105, 100), (105, 111))]
    first, second = with_pictures(cards, Data())

    def level(address):
        assert address.startswith("data:image/png;base64,")
        with Image.open(io.BytesIO(base64.b64decode(address.split(",")[1]))) as picture:
            return picture.getpixel((0, 0)), picture.size

    assert [level(address) for address in first.pictures] == [(5, (30, 20)), (0, (30, 20))]
    assert [level(address)[0] for address in second.pictures] == [5, 11]
    assert first.coarse and second.coarse
    assert with_pictures([], Data()) == ()
    stray = UnitCard(0, "", "big", True, 1, 0.5, 0.5, (999,), (True,))
    assert with_pictures([stray], Data()) == (stray,)


@pytest.mark.parametrize(
    ("size", "shown", "coarse"),
    [((120, 90), (120, 90), True), ((90, 121), (90, 121), False), ((128, 64), (128, 64), False), ((260, 130), (128, 64), False)],
)  # fmt: skip
def test_large_pictures_are_made_smaller(size, shown, coarse):
    data = Data()
    data.size = size
    (card,) = with_pictures([UnitCard(0, "", "big", True, 1, 0.5, 0.5, (100,), (True,))], data)
    with Image.open(io.BytesIO(base64.b64decode(card.pictures[0].split(",")[1]))) as picture:
        assert picture.size == shown
    assert card.coarse is coarse


def test_cards_are_read_back_from_a_run(tmp_path):
    card = UnitCard(3, "b", "big", True, -1, 0.9, 0.5, (100, 105), (True, None))
    (tmp_path / "units.json").write_text(json.dumps({"split": "test", "units": [card.to_dict()]}))
    (read,) = cards_of(tmp_path, {"test": Data()})
    assert len(read.pictures) == 2
    assert UnitCard(**{**read.__dict__, "pictures": (), "coarse": False}) == card
    assert cards_of(tmp_path, {"train": Data()}) == ()
    (tmp_path / "empty").mkdir()
    assert cards_of(tmp_path / "empty", {"test": Data()}) == () and cards_of(tmp_path / "no", {"test": Data()}) == ()


def test_a_concept_is_summed_up_over_its_values():
    scores = UnitScores(
        (
            match(BIG, 1, f1=np.nan),
            match(N0, 0, f1=0.5, information=0.25, purity=1.0, share=0.5),
            match(N1, None, f1=0.0, information=0.0, purity=0.5, share=0.25),
            match(N2, 2, f1=np.nan),
        ),
        {},
    )
    assert concept_rows(scores, Data()) == [
        {"concept": "n", "values": 2, "matched": 1, "f1": 0.25, "information": 0.125, "purity": 0.75, "share": 0.375}
    ]


def test_the_page_is_written(tmp_path, monkeypatch):
    rendered = {}

    def render(**content):
        rendered.update(content)
        return "page"

    template = SimpleNamespace(
        get_template=lambda name: SimpleNamespace(render=render) if name == "discovery.html" else None
    )
    monkeypatch.setattr(discovery, "page_environment", lambda: template)
    write_discovery(tmp_path / "page.html", {"a": 1}, [{"concept": "n"}], [])
    assert (tmp_path / "page.html").read_text() == "page"
    assert rendered == {"record": {"a": 1}, "concepts": [{"concept": "n"}], "cards": [], "meanings": discovery.MEANINGS}
