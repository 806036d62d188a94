"""How far a world is from the boundary of a label: the least number of concepts to change so that the label changes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import Array, Codes, TooLarge
from assay.logic.build import names_in
from assay.logic.circuit import Diagram, compile_diagram
from assay.logic.concepts import ConceptSpace
from assay.logic.evaluation import Evaluator
from assay.logic.formula import TRUE, And, Formula
from assay.logic.ground import ground_formula, shape_of
from assay.logic.variants import flips

NODES = 20_000
CELLS = 4_000_000
FAR = np.int16(2**14)


@dataclass(frozen=True)
class Distances:
    """For each world the least number of changes, and whether that is exact or, where not, how many it is at least."""

    least: Array
    exact: Array


def distances(label: Formula, space: ConceptSpace, codes: Codes, within: Formula = TRUE) -> Distances:
    """Return how many concepts must change, at least, for the label to change and the world to stay within.

    Exact where the label has a decision diagram of some size; elsewhere 1 is exact, and more is a bound from below. A
    world that no change brings across has as distance one more than there are concepts.

    >>> from assay.logic.concepts import bits
    >>> from assay.logic import parse
    >>> distances(parse("a and b and c"), bits(["a", "b", "c"]), np.array([[0, 0, 1], [1, 1, 1]])).least.tolist()
    [2, 1]
    """
    try:
        diagram = compile_diagram([label, within], space, budget=NODES)
    except TooLarge:
        return _bounds(label, space, codes, within)
    least = np.zeros(len(codes), dtype=np.int64)
    step = max(1, CELLS // (diagram.width * max(space.sizes)))
    for start in range(0, len(codes), step):
        least[start : start + step] = _by_diagram(diagram, codes[start : start + step])
    return Distances(least, np.ones(len(codes), dtype=bool))


def _by_diagram(diagram: Diagram, codes: Codes) -> Array:
    """Sweep the layers: the least number of changes on any path to each outcome, then the least to another label."""
    cost = np.zeros((len(codes), 1), dtype=np.int16)
    for place, layer, width in zip(diagram.order, diagram.layers, diagram.next_widths, strict=True):
        paid = (codes[:, place, None] != np.arange(layer.shape[1])).astype(np.int16)
        options = (cost[:, :, None] + paid[:, None, :]).reshape(len(codes), -1)
        order = np.argsort(layer.ravel(), kind="stable")
        starts = np.searchsorted(layer.ravel()[order], np.arange(width))
        cost = np.minimum.reduceat(options[:, order], starts, axis=1)
    labels = {outcome[0]: number for number, outcome in enumerate(diagram.outcomes)}
    numbers = np.array([labels[outcome[0]] for outcome in diagram.outcomes])
    inside = np.array([bool(outcome[1]) for outcome in diagram.outcomes])
    now = numbers[diagram.outcome_of(codes)]
    cost = np.where(inside[None, :] & (numbers[None, :] != now[:, None]), cost, FAR)
    return np.asarray(np.minimum(cost.min(axis=1).astype(np.int64), len(diagram.space) + 1))


def _bounds(label: Formula, space: ConceptSpace, codes: Codes, within: Formula) -> Distances:
    """Return 1 where one change does it, and elsewhere a bound: each change mends only the parts that it touches."""
    single = np.asarray(flips(label, space, codes, within).any(axis=1))
    if shape_of(label, space).kind != "bool":
        return Distances(np.where(single, 1, 2), single)
    flat = ground_formula(label, space)
    parts: Sequence[Formula] = flat.parts if isinstance(flat, And) else (flat,)
    broken = sum((~Evaluator(space, part)(codes)).astype(np.int64) for part in parts)
    uses = [name for part in parts for name in names_in(part)]
    touched = max(uses.count(name) for name in set(uses))
    least = np.maximum(-(-broken // touched), 2)
    return Distances(np.where(single, 1, least), single)
