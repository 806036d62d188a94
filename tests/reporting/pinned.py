"""Reports of interventions and of discovered units, and charts of every kind."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

from assay.diagnosis import InterventionPlan, UnitSplit, intervene, score_units
from assay.reporting import (
    Chart,
    DotChart,
    Dots,
    Line,
    PlottedValue,
    build_record,
    concept_rows,
    unit_cards,
    with_pictures,
    write_interventions,
)
from assay.reporting.interventions import charts, rows_table, summary
from assay.reporting.plot import BarChart, Bars, ConfusionMap
from assay.seeds import rng_for
from tests.canned import Models, bits
from tests.pins import Cases, digest, digests, without

CHANGING = ("versions", "fingerprint", "folder", "from_run", "files", "seal", "data", "about", "parent")


class Words(HTMLParser):
    """The texts of a page, and how many of each tag and class there are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: dict[str, int] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Count a tag by its class."""
        name = f"{tag} {dict(attributes).get('class') or ''}".strip()
        self.tags[name] = self.tags.get(name, 0) + 1

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        if data.strip():
            self.texts.append(" ".join(data.split()))


def drawing(svg: str) -> list[Any]:
    """Return the texts and tags of a chart, and its numbers by their sum."""
    words = Words(svg)
    numbers = [float(number) for number in re.findall(r"(?<![\w.])-?\d+\.?\d*", svg)]
    return [digest(words.texts), digest(dict(sorted(words.tags.items()))), sum(numbers)]


def without_pictures(cards: Any) -> list[Any]:
    """Return cards without pictures."""
    return [{**card.to_dict(), "shown": len(card.pictures), "right": card.right} for card in cards]


def interventions(folder: Path) -> dict[str, Any]:
    """Report on interventions, each plan on two runs."""
    data = bits(folder / "bits")
    plans: dict[str, dict[str, Any]] = {
        "plain": {"policy": "random"},
        "target": {"target": 0.7, "policy": "uncertainty", "costs": {"a": 2.0}, "baseline": 0.5},
    }
    found = {}
    for name, values in plans.items():
        results = {
            f"run {seed}": intervene(
                InterventionPlan(**values, seed=seed), data, Models().answering(folder, data, "test")
            )
            for seed in (0, 2)
        }
        about = {run: {"seed": place} for place, run in enumerate(results)}
        page = write_interventions(folder / name, results, data, about)
        rows = rows_table(results, data)
        found[name] = {
            "record": digests(without(json.loads(json.dumps(build_record(results, data, about))), *CHANGING)),
            "summary": summary(list(results.values())),
            "rows": {column: digest(rows[column].to_pylist()) for column in rows.column_names},
            "charts": {key: drawing(chart.svg()) for key, chart in charts(results, data).items()},
            "files": sorted(path.name for path in (folder / name).iterdir()),
            "page": page.name,
        }
    return found


def discoveries(folder: Path) -> dict[str, Any]:
    """Report on discovered units."""
    data = bits(folder / "bits")
    fit, test = data["valid"], data["test"]
    split = [
        UnitSplit(np.concatenate([part.concepts[:, ::-1] + 0.5 * rng_for(0, "u", part.name).normal(size=(len(part), 3)),
                                  np.zeros((len(part), 1))], axis=1), part.concepts, part.labels)
        for part in (fit, test)
    ]  # fmt: skip
    scores = score_units(*split, data.knowledge.space, 0, 1)
    cards = unit_cards(scores, split[1].units, test, ["w", "x", "y", "z"])
    drawn = with_pictures(cards, test)
    rows = concept_rows(scores, test)
    return {"cards": without_pictures(drawn), "rows": rows}


def plots(_: Path) -> dict[str, Any]:
    """Draw charts of every kind."""
    lines = [Line("a < b", [0, 1, 2], [0.5, 0.7, 0.6], [0.4, 0.6, 0.5], [0.6, 0.8, 0.7]), Line("c", [0, 2], [0.2, 0.4])]
    values = [PlottedValue(0.4, 0.3, 0.5), PlottedValue(0.8), PlottedValue(float("nan"))]
    counts = np.array([[48, 2, 0], [0, 0, 50], [1, 7, 0]])
    every: list[Any] = [
        Chart("T", "D", "x", "y", lines, [(0, "none"), (2, "max")], diagonal=True),
        BarChart("T", "D", "v", ["near", "far", "on"], [Bars("one", values), Bars("two", values[::-1])]),
        BarChart("T", "D", "v", ["near", "far", "on"], [Bars("one", [PlottedValue(7.0)] * 3)], share=False),
        ConfusionMap("T", "D", counts, [*"abc"], [*"abc"]),
        DotChart("T", "D", "v", [Dots("one", [0.2, 0.5])], zero=True),
    ]
    return {str(place): drawing(chart.svg(f"c{place}")) for place, chart in enumerate(every)}


CASES: Cases = {
    "interventions": interventions, "discoveries": discoveries, "plots": plots,
}  # fmt: skip
