"""Samples of a split: which of them a query asks for, a page of them, and all about one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.arrays import Array
from assay.concepts import Value
from assay.data.columns import CONCEPT, LABEL
from assay.errors import ConfigError, UnknownName
from assay.viewer.answers import violated_constraints
from assay.viewer.state import State
from assay.viewer.table import SplitTable

PAGE = 48
SNIPPET = 160
OF_ONE = ("right", "wrong", "misread", "hidden", "violating")
OF_TWO = ("differ", "only_first", "only_second", "both_wrong")
OUTCOMES = (*OF_ONE, *OF_TWO)
Pair = tuple[str, str]


@dataclass(frozen=True)
class Query:
    """Which samples: labels and concepts by code, tags of a label's rule, and how one run or two did."""

    labels: tuple[Pair, ...] = ()
    concepts: tuple[Pair, ...] = ()
    tags: tuple[Pair, ...] = ()
    run: str = ""
    versus: str = ""
    outcome: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, Sequence[str]]) -> "Query":
        """Read the query of an address: `label=y:1`, `concept=a:0`, `tag=y:far`, `run`, `versus`, `outcome`."""
        single = {key: (parameters.get(key) or [""])[-1] for key in ("run", "versus", "outcome")}
        if single["outcome"] and single["outcome"] not in OUTCOMES:
            raise ConfigError(f"no outcome {single['outcome']!r}; there is: {', '.join(OUTCOMES)}")
        if single["outcome"] and not single["run"]:
            raise ConfigError("an outcome is that of a run; name one")
        if single["outcome"] in OF_TWO and not single["versus"]:
            raise ConfigError("this outcome compares two runs; name the second")
        labels, concepts, tags = (tuple(map(_pair, parameters.get(key, ()))) for key in ("label", "concept", "tag"))
        return cls(labels, concepts, tags, **single)


def _pair(text: str) -> Pair:
    name, colon, value = text.partition(":")
    if not colon:
        raise ConfigError(f"expected NAME:VALUE, not {text!r}")
    return name, value


def matching_rows(state: State, key: str, split: str, query: Query) -> Array:
    """Return the numbers of the rows that a query asks for."""
    table: SplitTable = state.table(key, split)
    mask = np.ones(len(table), dtype=bool)
    space = table.knowledge.space
    for name, code in query.labels:
        mask &= table.codes(LABEL + name) == _code(code, table.knowledge.label(name).values)
    for name, code in query.concepts:
        mask &= table.codes(CONCEPT + name) == _code(code, space.concept(name).values)
    for name, tag in query.tags:
        if name not in table.sides:
            raise UnknownName(f"no boundary of label {name!r} in {key!r}")
        mask &= table.sides[name].mask(tag)
    if query.outcome:
        mask &= _outcome(state, key, split, query)
    return np.flatnonzero(mask)


def _code(text: str, values: Sequence[Value]) -> int:
    if not text.isdecimal() or int(text) >= len(values):
        raise ConfigError(f"expected a code from 0 to {len(values) - 1}, not {text!r}")
    return int(text)


def _outcome(state: State, key: str, split: str, query: Query) -> Array:
    first = state.require_answers(key, split, query.run)
    if query.outcome in OF_TWO:
        second = state.require_answers(key, split, query.versus)
        both = first.has_answer & second.has_answer
        if query.outcome == "differ":
            return np.asarray(both & (first.labels != second.labels).any(axis=1))
        wanted = {"only_first": first.right & ~second.right, "only_second": ~first.right & second.right}
        return both & wanted.get(query.outcome, ~first.right & ~second.right)
    if query.outcome == "violating":
        return _violates(first.concepts, first.table)
    return {
        "right": first.right,
        "wrong": first.has_answer & ~first.right,
        "misread": first.misread,
        "hidden": first.misread & first.right,
    }[query.outcome]


def _violates(concepts: Array, table: SplitTable) -> Array:
    mask = np.zeros(len(concepts), dtype=bool)
    complete = (concepts >= 0).all(axis=1)
    if table.knowledge.constraints and complete.any():
        mask[complete] = table.knowledge.violations(concepts[complete]).any(axis=1)
    return mask


def page_of(state: State, key: str, split: str, query: Query, page: int = 0, size: int = PAGE) -> dict[str, Any]:
    """Return a page of the samples that a query asks for, how many there are, and of which labels and tags."""
    table: SplitTable = state.table(key, split)
    rows = matching_rows(state, key, split, query)
    pages = max(1, -(-len(rows) // size))
    page = min(max(page, 0), pages - 1)
    answers = {run: state.answers(key, split, run) for run in (query.run, query.versus) if run}
    brief = [_brief(table, int(row), answers) for row in rows[page * size : (page + 1) * size]]
    return {
        "total": len(rows),
        "whole": len(table),
        "page": page,
        "pages": pages,
        "rows": brief,
        **_counts(table, rows),
    }


def _brief(table: SplitTable, row: int, answers: Mapping[str, Any]) -> dict[str, Any]:
    predictions = {run: _prediction(predicted, row) for run, predicted in answers.items() if predicted is not None}
    brief = {"row": row, "index": int(table.index[row]), "labels": table.labels[row].tolist(), "said": predictions}
    if "image" not in table.columns and "text" in table.columns:
        brief["text"] = str(table.cell("text", row))[:SNIPPET]
    return brief


def _prediction(answers: Any, row: int) -> dict[str, Any] | None:
    if not answers.has_answer[row]:
        return None
    return {
        "labels": answers.labels[row].tolist(),
        "right": bool(answers.right[row]),
        "misread": bool(answers.misread[row]),
    }


def _counts(table: SplitTable, rows: Array) -> dict[str, Any]:
    """Return how many of the rows have each value of each label, and each tag."""
    labels = {
        label.name: np.bincount(table.codes(LABEL + label.name)[rows], minlength=len(label.values)).tolist()
        for label in table.knowledge.labels
    }
    return {"labels": labels, "tags": {name: side.counts(rows) for name, side in table.sides.items()}}


def sample_of(state: State, key: str, split: str, row: int, query: Query | None = None) -> dict[str, Any]:
    """Return all about one sample, and which samples come before and after it among those of a query."""
    table: SplitTable = state.table(key, split)
    world = table.world(row)
    codes = np.array([world.codes], dtype=np.int64)
    answers = {run: state.answers(key, split, run) for run in state.shelf[key].runs}
    sample = {
        "row": row,
        "index": int(table.cell("index", row)),
        "concepts": list(world.codes),
        "labels": table.labels[row].tolist(),
        "tags": {name: side.tags(row) for name, side in table.sides.items()},
        "violated": violated_constraints(table.knowledge, codes),
        "has": [column for column in ("image", "instances", "parts", "depth") if column in table.columns],
        "things": table.cell("things", row) if "things" in table.columns else [],
        "text": table.cell("text", row) if "text" in table.columns else None,
        "world": world.text,
        "style": dict(world.style),
        "answers": {run: own.of(row) for run, own in answers.items() if own is not None},
    }
    if query is not None:
        rows = matching_rows(state, key, split, query)
        place = int(np.searchsorted(rows, row))
        after = place + 1 if place < len(rows) and rows[place] == row else place
        sample["before"] = int(rows[place - 1]) if place else None
        sample["after"] = int(rows[after]) if after < len(rows) else None
    return sample
