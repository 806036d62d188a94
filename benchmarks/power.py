"""How often the first word is right by the number of examples: sound predictors, and faults of exactly or about 10 %.

`python -m benchmarks.power` prints a table; `--draws N` says how many predictors each row has, evenly over eight tasks,
and the name of a page writes the table there, between two markers. A fault is planted in the answers.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from assay.base import Codes, rng_for
from assay.diagnosis import diagnose, read_thresholds
from assay.metrics import Evidence
from assay.testing import ZooTask, zoo_task
from benchmarks.pages import write_between

TASKS = ("mnadd-evenodd", "mnlogic", "kand-logic", "clevr", "robots", "sdd-oia", "trains", "cocologic")
COUNTS = (60, 100, 200, 400, 1000, 5000)
DRAWS = 200
BEGIN, END = "<!-- power: begin -->", "<!-- power: end -->"
TENTH = 0.1
ALONE = {"verdict.resamples": 0}
Random = np.random.Generator
Answers = tuple[Codes, Codes]
"""The concepts and the labels that a predictor says."""


def sound(home: ZooTask, worlds: Codes, rng: Random) -> Answers:
    """In one or two examples in a hundred a label is wrong, or a used concept, from which labels follow by the rule."""
    rows = rng.random(len(worlds)) < rng.uniform(0.01, 0.02)
    if rng.random() < 0.5:
        return worlds, _one_label(home, worlds, rows, rng)
    read, columns = worlds.copy(), rng.choice(_columns(home), len(worlds))
    for column in np.unique(columns).tolist():
        read = _misread(home, read, column, rows & (columns == column), rng)
    return read, home.knowledge.labels_of(read)


def misread_exactly(home: ZooTask, worlds: Codes, rng: Random) -> Answers:
    """One used concept is wrong in exactly a tenth of the examples."""
    return _one_concept(home, worlds, _exactly(len(worlds), rng), rng)


def misread_at_random(home: ZooTask, worlds: Codes, rng: Random) -> Answers:
    """One used concept is wrong with chance 0.1 in each example."""
    return _one_concept(home, worlds, rng.random(len(worlds)) < TENTH, rng)


def wrong_exactly(home: ZooTask, worlds: Codes, rng: Random) -> Answers:
    """One label is wrong in exactly a tenth of the examples."""
    return worlds, _one_label(home, worlds, _exactly(len(worlds), rng), rng)


def wrong_at_random(home: ZooTask, worlds: Codes, rng: Random) -> Answers:
    """One label is wrong with chance 0.1 in each example."""
    return worlds, _one_label(home, worlds, rng.random(len(worlds)) < TENTH, rng)


@dataclass(frozen=True)
class Predictors:
    """Predictors with one fault, or none, and the bounds on the share of a first word."""

    what: str
    draw: Callable[[ZooTask, Codes, Random], Answers]
    bounds: Sequence[tuple[str, float, int]]
    """`sound` at least, or at most, a share (`other`: neither sound nor too few), from so many examples on."""


KINDS = (
    Predictors("sound, 1-2 % noise", sound, (("other", 0.01, 0), ("sound", 0.95, 400))),
    Predictors("one used concept wrong in exactly 10 %", misread_exactly, (("never sound", 0.0, 0),)),
    Predictors("one used concept wrong with chance 0.1", misread_at_random, (("never sound", 0.05, 0),)),
    Predictors("one label wrong in exactly 10 %", wrong_exactly, (("never sound", 0.0, 0),)),
    Predictors("one label wrong with chance 0.1", wrong_at_random, (("never sound", 0.03, 0),)),
)


def _exactly(rows: int, rng: Random) -> np.ndarray:
    chosen = np.zeros(rows, dtype=bool)
    chosen[rng.permutation(rows)[: round(TENTH * rows)]] = True
    return chosen


def _columns(home: ZooTask) -> list[int]:
    """Return the used concepts that have another value to be taken for."""
    return [column for column in home.used if home.knowledge.space.sizes[column] > 1]


def _one_concept(home: ZooTask, worlds: Codes, rows: np.ndarray, rng: Random) -> Answers:
    """Misread one used concept in some rows; labels follow by the rule, or are right."""
    read = _misread(home, worlds, int(rng.choice(_columns(home))), rows, rng)
    return read, home.knowledge.labels_of(read if rng.random() < 0.5 else worlds)


def _misread(home: ZooTask, worlds: Codes, column: int, rows: np.ndarray, rng: Random) -> Codes:
    read, size = worlds.copy(), home.knowledge.space.sizes[column]
    read[rows, column] = (worlds[rows, column] + rng.integers(1, size, int(rows.sum()))) % size
    return read


def _other_labels(home: ZooTask, worlds: Codes, cells: np.ndarray, rng: Random) -> Codes:
    labels = home.knowledge.labels_of(worlds)
    for place, label in enumerate(home.knowledge.labels):
        shift = rng.integers(1, len(label.values), len(worlds))
        labels[:, place] = np.where(cells[:, place], (labels[:, place] + shift) % len(label.values), labels[:, place])
    return labels


def _one_label(home: ZooTask, worlds: Codes, rows: np.ndarray, rng: Random) -> Codes:
    cells = np.zeros((len(worlds), len(home.knowledge.labels)), dtype=bool)
    cells[:, int(rng.integers(cells.shape[1]))] = rows
    return _other_labels(home, worlds, cells, rng)


@cache
def _home(task: str) -> ZooTask:
    return zoo_task(task, 0, {"train": 2000, "test": max(COUNTS)})


def first_word(home: ZooTask, kind: Predictors, count: int, draw: int) -> str:
    """Return the first word on a predictor that is drawn."""
    rng = rng_for(draw, "power", home.task, kind.what, count)
    test = home.splits["test"]
    worlds = (
        test[rng.permutation(len(test))[:count]] if len(test) >= count else test[rng.integers(len(test), size=count)]
    )
    concepts, labels = kind.draw(home, worlds, rng)
    knowledge = home.knowledge
    silent = (None,) * len(knowledge.labels), (None,) * len(knowledge.space)
    evidence = Evidence(knowledge, "test", knowledge.labels_of(worlds), worlds, labels, concepts, *silent)
    return diagnose({"test": evidence}, home.training, thresholds=read_thresholds(ALONE)).verdict


def rows(
    draws: int, counts: Sequence[int] = COUNTS, tasks: Sequence[str] = TASKS
) -> Iterator[tuple[Predictors, int, Counter[str]]]:
    """Yield for each kind of predictor and number of examples how often each first word comes."""
    for kind in KINDS:
        for count in counts:
            words = Counter(first_word(_home(tasks[draw % len(tasks)]), kind, count, draw) for draw in range(draws))
            yield kind, count, words


def broken(kind: Predictors, count: int, words: Mapping[str, int]) -> list[str]:
    """Return which bounds do not hold."""
    total, right = sum(words.values()), words.get("sound", 0)
    other = total - right - words.get("too few", 0)
    found = []
    for what, share, least in kind.bounds:
        value = {"other": other, "sound": right, "never sound": right}[what] / total
        if count >= least and (value < share if what == "sound" else value > share):
            found.append(f"{what} {value:.1%}")
    return found


def markdown(made: Sequence[tuple[Predictors, int, Counter[str]]], draws: int, tasks: int) -> str:
    """Return the table, with a sentence on what it shows."""
    head = ["predictor", "examples", "sound", "too few", "other words", "bound", "held"]
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join(['---'] * len(head))} |"]
    for kind, count, words in made:
        total = sum(words.values())
        others = [f"{word} {n / total:.1%}" for word, n in words.most_common() if word not in ("sound", "too few")]
        shares = [f"{words[word] / total:.1%}" for word in ("sound", "too few")]
        bounds = [_bound(what, share) for what, share, least in kind.bounds if count >= least]
        missed = ", ".join(broken(kind, count, words)) or "yes"
        lines.append(
            f"| {' | '.join((kind.what, f'{count:,}', *shares, ', '.join(others[:3]), '; '.join(bounds), missed))} |"
        )
    text = f"First words by the number of examples: {draws} predictors a row, evenly over {tasks} tasks."
    return "\n".join([text, "", *lines])


def _bound(what: str, share: float) -> str:
    return {"other": f"others at most {share:.0%}", "sound": f"sound at least {share:.0%}"}.get(
        what, f"sound at most {share:.0%}"
    )


def main() -> None:
    """Print the table, and write it into pages."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.power", description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path, help="pages to write the table into")
    parser.add_argument("--draws", type=int, default=DRAWS, help="predictors for each kind and number of examples")
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS, metavar="TASK")
    parser.add_argument("--counts", nargs="+", type=int, default=list(COUNTS), metavar="N")
    chosen = parser.parse_args()
    text = markdown(list(rows(chosen.draws, chosen.counts, chosen.tasks)), chosen.draws, len(chosen.tasks))
    print(text)
    write_between([str(page) for page in chosen.pages], BEGIN, END, text)


if __name__ == "__main__":
    main()
