"""Numbers that pages name and that can be computed: sizes of diagrams, chances, shares of worlds, readings.

`python -m benchmarks.facts` computes each again and says whether its page has it, as `tests/test_numbers.py`
does. A number that is measured, and not computed, has a command of its own beside it.
"""

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from assay.base import Codes, Draws
from assay.counting import count_shortcuts
from assay.families.chess.settings import Board
from assay.families.coco.drawing.scene_templates import OBJECT_KINDS
from assay.families.coco.synthetic import synthetic_album
from assay.families.sudoku.boards import BoardShape, valid_boards
from assay.families.sudoku.source import corrupt_by_actions
from assay.logic import Knowledge, bits, digits, evaluate, true_outcomes, truth_diagram
from assay.tasks import TASKS

DOCS = Path(__file__).parent.parent / "docs"
RULES = {
    "one king": "white_one_king",
    "kings apart": "kings_apart",
    "at most 16 pieces": "white_at_most_16",
    "at most 8 pawns": "white_at_most_8_pawns",
    "no pawn at the ends": "white_no_pawn_at_the_ends",
    "none promoted": "white_none_promoted",
    "promoted for missing pawns": "white_promoted",
    "bishops on both colours": "white_bishops_differ",
}
"""Rules of chess as `docs/consistency.md` calls them, and their constraints."""


def sizes_of_diagrams() -> list[str]:
    """Return how many nodes decision diagrams have."""
    names = [f"x{i}" for i in range(64)]
    summed = Knowledge.of(digits(names[:8]), {"y": " + ".join(names[:8])}).diagram.size
    parity = Knowledge.of(bits(names), {"y": f"xor({', '.join(names)})"}).diagram.size
    single = Knowledge.of(bits(names), {"y": f"exactly(1, {', '.join(names)})"}).diagram.size
    equations = TASKS["mnmath"]().knowledge.diagram.size
    return [
        f"sum of eight digits has {summed} nodes, of the parity of 64 bits {parity}, of",
        f'"exactly one of 64" {single}, and of the two equations over eight digits (10^8 worlds) {equations}',
    ]


def chances_of_guesses() -> list[str]:
    """Return how often a random guesser breaks each rule of chess, and the size of the largest diagram."""
    knowledge = Board().knowledge()
    formulas = {constraint.name: constraint.formula for constraint in knowledge.constraints}
    diagrams = {name: truth_diagram(formulas[rule], knowledge.space) for name, rule in RULES.items()}
    even = [np.full((1, size), 1 / size) for size in knowledge.space.sizes]
    chances = {name: 1 - d.probabilities(even)[0, true_outcomes(d)].sum() for name, d in diagrams.items()}
    largest = max(diagram.size for diagram in diagrams.values())
    return [*(f"{name} | {chance:.5f} |" for name, chance in chances.items()), f"has {largest:,} nodes"]


def training_pairs() -> Codes:
    """Return the pairs of digits that `mnadd-evenodd` shows in training."""
    task = TASKS["mnadd-evenodd"]()
    worlds = np.array(list(np.ndindex(10, 10)))
    return worlds[evaluate(task.in_distribution(), task.space, worlds).astype(bool)]


def readings_left() -> list[str]:
    """Return how many readings keep the training sums, by the digits that are annotated."""
    knowledge, worlds = TASKS["mnadd-evenodd"]().knowledge, training_pairs()
    shown = {"nothing": None, "0": [0], "0 and 1": [0, 1], "3, 4, 8 and 9": [3, 4, 8, 9]}
    counts = {
        name: count_shortcuts(knowledge, support=worlds, supervised=values and dict.fromkeys("ab", values)).total
        for name, values in shown.items()
    }
    return [f"| {name} | {count} |" for name, count in counts.items()]


def shares_of_figures() -> list[str]:
    """Return in what share of all worlds the rules over figures hold."""
    rare = [f"| {_share(task)} % |" for task in ("kand-logic-and", "kand-logic-pairs")]
    return [f"| {_share('kand-logic')} % of all worlds |", *rare]


def _share(task: str) -> str:
    counts = TASKS[task]().knowledge.diagram.counts
    return f"{100 * counts[(True,)] / sum(counts.values()):.1f}"


def shares_of_solids() -> list[str]:
    """Return how often two of so many solids share colour and shape, where all are equally frequent."""

    def share(task: str, objects: int) -> str:
        config = TASKS[task]().config
        kinds = len(config.shapes) * len(config.colours)
        return f"{100 * (1 - math.perm(kinds, objects) / kinds**objects):.0f} %"

    many = f"{share('clevr-many', 3)} (3 objects) to {share('clevr-many', 6)} (6) |"
    return [f"| {share('clevr', 2)} of all worlds |", f"| {share('clevr-small', 3)} |", f"| {many}"]


def classes_in_scenes() -> list[str]:
    """Return of each class in how many of COCO's images and of drawn scenes it is, and how many objects of it then."""
    album = synthetic_album(TASKS["cocologic"]().config.scenes).album
    counts = np.zeros((len(album), len(OBJECT_KINDS)), dtype=int)
    np.add.at(counts, (album.owners, album.classes), 1)
    rows = zip(OBJECT_KINDS.items(), counts.T, strict=True)
    return [
        f"| `{name}` | {100 * kind.images:.1f} % | {100 * np.mean(own > 0):.1f} % "
        f"| {kind.objects:.1f} | {own[own > 0].mean():.1f} |"
        for (name, kind), own in rows
    ]


def violations_by_actions() -> list[str]:
    """Return how many units boards violate that were made invalid by the published actions."""
    shape, numbers = BoardShape(3), np.arange(4000)
    boards = valid_boards(shape, Draws(0, "facts"), numbers, 50)
    violated = shape.violated_units(corrupt_by_actions(shape, boards, Draws(0), numbers, 9)).sum(axis=1)
    few = f"only {100 * np.mean(violated <= 3):.0f} % have 3 or fewer"
    return [f"{violated.mean():.1f} violated units on average, and {few}"]


FACTS: Mapping[str, Callable[[], list[str]]] = {
    "formulas.md": sizes_of_diagrams,
    "consistency.md": chances_of_guesses,
    "counting.md": readings_left,
    "families/clevr.md": shares_of_solids,
    "families/coco.md": classes_in_scenes,
    "families/kandinsky.md": shares_of_figures,
    "families/sudoku.md": violations_by_actions,
}
"""The pages, below `docs`, and what computes the texts that they must have."""


def missing_from(page: str) -> list[str]:
    """Return the computed texts that a page does not have."""
    text = " ".join((DOCS / page).read_text(encoding="utf-8").split())
    return [fact for fact in FACTS[page]() if fact not in text]


def main() -> None:
    gone = {page: missing_from(page) for page in FACTS}
    for page, facts in gone.items():
        print(f"docs/{page}: {'lacks ' + '; '.join(facts) if facts else 'as computed'}")
    sys.exit(any(gone.values()))


if __name__ == "__main__":
    main()
