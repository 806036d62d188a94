"""Values that constraints never name: any two of them can be exchanged, so that one stands for all in a count.

A rule that only compares concepts with one another ("the same shape") treats all values alike. Once some entries are
known, the values they have are named; the others are still alike.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from assay.logic import Node, Residuals, Term


@dataclass(frozen=True)
class Uses:
    """How a term uses entries: compared with one another, with a value (as code), or in a way that tells values apart.

    `links` and `named` hold places and codes; `rigid` holds places as bits.
    """

    links: frozenset[tuple[int, int]] = frozenset()
    named: frozenset[tuple[int, int]] = frozenset()
    rigid: int = 0

    def __or__(self, other: "Uses") -> "Uses":
        return Uses(self.links | other.links, self.named | other.named, self.rigid | other.rigid)


@dataclass(frozen=True)
class AlikeValues:
    """Values, as codes, any two of which can be exchanged in all of these entries without changing a part."""

    codes: tuple[int, ...]
    entries: frozenset[int]


class Interchange:
    """Finds the values that parts of a problem treat alike."""

    def __init__(self, terms: Residuals) -> None:
        self.terms = terms
        self.known: dict[Term, Uses] = {}

    def alike(self, part: Iterable[Term], place: int) -> AlikeValues:
        """Return the values of an entry that are alike; they are exchanged in all entries that are compared with it."""
        links: dict[int, list[int]] = {}
        named: dict[int, set[int]] = {}
        rigid = 0
        for term in part:
            uses = self.uses(term)
            rigid |= uses.rigid
            for left, right in uses.links:
                links.setdefault(left, []).append(right)
                links.setdefault(right, []).append(left)
            for entry, code in uses.named:
                named.setdefault(entry, set()).add(code)
        distinguished, met, stack = set[int](), {place}, [place]
        while stack:
            entry = stack.pop()
            if rigid >> entry & 1:
                return AlikeValues((), frozenset([place]))
            distinguished |= named.get(entry, set())
            following = set(links.get(entry, ())) - met
            met |= following
            stack.extend(following)
        codes = tuple(code for code in range(self.terms.space.sizes[place]) if code not in distinguished)
        return AlikeValues(codes, frozenset(met))

    def uses(self, term: Term) -> Uses:
        """Return how a term uses entries."""
        if term not in self.known:
            node, uses = self.terms.nodes[term], Uses()
            if node.op in ("not", "and", "or", "xor", "if"):
                for part in node.operands:
                    uses |= self.uses(part)
            else:
                uses = self._compared(node)
            self.known[term] = uses
        return self.known[term]

    def _compared(self, node: Node) -> Uses:
        """Return the uses of a comparison of entries and values; anything else tells values apart."""
        nodes = [self.terms.nodes[part] for part in self._sides(node)]
        places = [side.operands[0] for side in nodes if side.op == "var"]
        values = {self.terms.space.concepts[place].values for place in places}
        if len(values) != 1 or any(side.op not in ("var", "const") for side in nodes):
            return Uses(rigid=node.mask)
        (offered,) = values
        constants = [side.operands[0] for side in nodes if side.op == "const"]
        codes = [offered.index(value) for value in constants if value in offered]
        return Uses(
            frozenset((places[0], other) for other in places[1:]), frozenset((places[0], code) for code in codes)
        )

    def _sides(self, node: Node) -> tuple[Term, ...]:
        """Return what a comparison is between; nothing for any other term."""
        if node.op in ("same", "different"):
            return node.operands
        if node.op != "zero":
            return ()
        inside = self.terms.nodes[node.operands[0]]
        if inside.op != "linear":
            return node.operands[0], self.terms.const(0)
        constant, terms = inside.operands
        match terms:
            case ((1 | -1 as weight, part),):
                return part, self.terms.const(-weight * constant)
            case ((-1, one), (1, other)) if constant == 0:
                return one, other
        return ()
