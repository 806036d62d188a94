"""The page of discovered concepts: which units get a card, what it says, and the rows of the concepts."""

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image

import assay
from assay.base import rng_for
from assay.metrics import UnitScores, UnitSplit
from assay.render import Layout, Picture
from assay.reporting import cases_of, concept_rows, unit_cards
from tests.canned import bits, run_of
from tests.conftest import write
from tests.reporting.pages import Page
from tests.toys import Coin, written

NAMES = ["w", "x", "y"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Units of which the first three follow the concepts in turn, one does not vary, and the last rises."""
    data = bits(tmp_path_factory.mktemp("discovery") / "bits")

    def units(part):
        noise = 0.3 * rng_for(0, "units", part.name).normal(size=(len(part), 3))
        rising = np.arange(len(part), dtype=float)[:, None]
        return np.concatenate([part.concepts[:, ::-1] + noise, np.ones((len(part), 1)), rising], axis=1)

    fit, test = (UnitSplit(units(part), part.concepts, part.labels) for part in (data["valid"], data["test"]))
    scores = UnitScores.of(fit, test, data.knowledge.space, 0, 1)
    return data["test"], test.units, scores, unit_cards(scores, test.units, data["test"], NAMES)


def test_matched_units_come_first_in_the_order_of_the_concepts_and_then_those_that_vary(found):
    _, _, scores, cards = found
    matched = [score.match for score in scores.matches if score.match.unit is not None]
    assert [(card.unit, card.value, card.direction) for card in cards if card.matched] == [
        (match.unit, match.value.name, match.direction) for match in matched
    ]
    assert {card.unit for card in cards} == {0, 1, 2, 4} and [card.matched for card in cards] == sorted(
        (card.matched for card in cards), reverse=True
    )
    assert {card.unit: card.name for card in cards} == {0: "w", 1: "x", 2: "y", 4: ""}
    assert {2: "a", 1: "b", 0: "c"}.items() <= {card.unit: card.value for card in cards}.items()


def test_a_card_has_the_examples_where_its_unit_is_largest(found):
    data, units, _, cards = found
    for card in cards:
        place = "abc".index(card.value)
        top = sorted(range(len(data)), key=lambda row: (-card.direction * units[row, card.unit], row))[:8]
        assert card.rows == tuple(data.index[top].tolist())
        assert card.has == tuple(data.concepts[top, place] == 1) and card.right == sum(card.has)
        assert card.share == pytest.approx(data.concepts[:, place].mean())
    if not cards[-1].matched:  # of a unit without a match, the value most in excess among its top examples
        top = np.argsort(-units[:, cards[-1].unit], kind="stable")[:8]
        excess = data.concepts[top].mean(axis=0) - data.concepts.mean(axis=0)
        assert excess["abc".index(cards[-1].value)] == pytest.approx(excess.max())


def shown_in_report(dataset, folder, cards):
    """Return the cards of a run in its report."""
    run = run_of(dataset, folder, "good")
    (run / "units.json").write_text(json.dumps({"split": "test", "units": [card.to_dict() for card in cards]}))
    return cases_of([run])[0].units


def test_a_concept_is_summed_up_over_its_values(found):
    data, _, scores, _ = found
    for row in concept_rows(scores, data):
        own = [
            score for score in scores.matches if data.knowledge.space.names[score.match.value.concept] == row["concept"]
        ]
        scored = [score for score in own if not np.isnan(score.f1)]
        assert row["values"] == len(scored) and row["matched"] == sum(one.match.unit is not None for one in scored)
        for name in ("f1", "information", "purity", "share"):
            assert row[name] == pytest.approx(np.mean([getattr(one, name) for one in scored]))


@pytest.mark.parametrize(
    ("size", "shown", "coarse"),
    [((120, 90), (120, 90), True), ((90, 121), (90, 121), False), ((260, 130), (128, 64), False)],
)
def test_large_pictures_are_made_smaller_and_small_ones_drawn_with_squares(size, shown, coarse, tmp_path):
    class Large(Coin):
        """Coins on a large table."""

        name = "large"
        layout = Layout(*size)

        def render(self, world):
            return Picture(np.full(size[::-1], 255 * world.codes[0], dtype=np.uint8))

    dataset = written(Large(), tmp_path / "data", train=4, valid=2, test=12)
    data = dataset["test"]
    units = np.arange(len(data), dtype=float)[:, None]
    split = UnitSplit(units, data.concepts, data.labels)
    cards = unit_cards(UnitScores.of(split, split, data.knowledge.space, 0, 1), units, data, [])[:1]
    (card,) = shown_in_report(dataset, tmp_path / "run", cards)
    with Image.open(io.BytesIO(base64.b64decode(card.pictures[0].partition(",")[2]))) as picture:
        assert picture.size == shown
    assert card.coarse is coarse


def test_cards_are_read_back_from_a_run_and_shown_in_its_report_with_the_pictures_of_their_rows(found, tmp_path):
    dataset = bits(tmp_path / "bits")
    told, data = [card.to_dict() for card in found[3]], dataset["test"]
    cards = shown_in_report(dataset, tmp_path / "run", found[3])
    assert [card.to_dict() for card in cards] == told
    for card in cards:
        files = data.files([data.index.tolist().index(number) for number in card.rows])
        assert [base64.b64decode(address.partition(",")[2]) for address in card.pictures] == list(files) and card.coarse
    assert shown_in_report(dataset, tmp_path / "none", []) == ()
    (tmp_path / "run" / "units.json").write_text(json.dumps({"split": "elsewhere", "units": told}))
    assert cases_of([tmp_path / "run"])[0].units == ()


def test_the_page_of_a_discovery_needs_nothing_else_and_shows_pictures_of_the_data(tmp_path):
    sizes = {"train": 40, "valid": 24, "test": 40, "hard": 0, "pairs": 0, "ood": 0}
    data = write(tmp_path / "data", "mnlogic", k=3, splits=sizes)
    assay.discover(data, "pca", output=tmp_path / "out", seeds=[0], repetitions=1, units=3, device="cpu")
    text = (tmp_path / "out" / "discovery.html").read_text()
    page, units = Page(text), json.loads((tmp_path / "out" / "units.json").read_text())
    assert page.open == [] and not {"script", "link", "iframe"} & set(page.tags) and "http" not in text
    shown = [base64.b64decode(value.partition(",")[2]) for key, value in page.links if key == "src"]
    split = data[units["split"]]
    rows = [split.index.tolist().index(number) for unit in units["units"] for number in unit["rows"]]
    assert shown == list(split.files(rows)) and all(unit["value"] in page.text for unit in units["units"])
