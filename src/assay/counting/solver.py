"""Exact counting by residuals: assign an entry, restrict the constraints, split into independent parts, remember.

Constraints are interned terms, so that equal residuals are one term and a part of the problem is a set of numbers. What
is remembered survives between calls, so that counts under further conditions come almost free.

Of values that constraints never name, any two can be exchanged, so that one stands for all in a count. A rule that only
compares concepts with one another ("the same shape") treats all values alike. Once some entries are known, the values
they have are named; the others are still alike.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from assay.base import AssayError
from assay.logic import ConceptSpace, Formula, Residuals

Term = int
"""A constraint, by its number in the `Residuals`."""
Part = frozenset[Term]

LONG = 4
"""Constraints about so many concepts or more count alike in the choice of the next, so that maps are completed."""


class OutOfTime(AssayError):
    """The budget is used up."""

    exit_code = 1


def check_time(deadline: float) -> None:
    """Raise if the time is up."""
    if time.monotonic() > deadline:
        raise OutOfTime("the time for counting is used up")


class Solver:
    """Counts the assignments of a space's concepts that satisfy constraints."""

    def __init__(self, space: ConceptSpace, seconds: float = float("inf")) -> None:
        self.space = space
        self.terms = Residuals(space)
        self.known: dict[Part, int] = {}
        self.clauses: dict[Term, frozenset[Term]] = {}
        self.allowed: dict[Term, int] = {}
        self.interchange = Interchange(self.terms)
        self.deadline = time.monotonic() + seconds

    def part(self, constraints: Iterable[Formula]) -> Part:
        """Return constraints as a part of a problem, simplified."""
        terms = dict[Formula, Term]()
        for constraint in constraints:
            check_time(self.deadline)  # long rules over many worlds take long before anything is counted
            if constraint not in terms:
                terms[constraint] = self.terms.term(constraint)
        return self.simplify(terms.values())

    def total(self, part: Part) -> int:
        """Return the number of assignments of all concepts that satisfy a part."""
        return self.count(part) * self.free(self.mask(part))

    def mask(self, part: Part) -> int:
        """Return the concepts that a part mentions, as bits."""
        bits = 0
        for term in part:
            bits |= self.terms.nodes[term].mask
        return bits

    def free(self, mask: int) -> int:
        """Return the number of assignments of the concepts that are not in the mask."""
        ways = 1
        for place, size in enumerate(self.space.sizes):
            if not mask >> place & 1:
                ways *= size
        return ways

    def count(self, part: Part) -> int:
        """Return the number of assignments of the concepts that a part mentions."""
        if self.terms.false in part:
            return 0
        if part not in self.known:
            ways = 1
            for component in self.components(part):
                ways *= self._counted(component)
                if not ways:
                    break
            self.known[part] = ways
        return self.known[part]

    def _counted(self, part: Part) -> int:
        """Count one connected part by trying the values of one concept, one of those that are alike for all."""
        if part in self.known:
            return self.known[part]
        check_time(self.deadline)
        place = self.choice(part)
        mask = self.mask(part)
        alike = self.interchange.alike(part, place).codes if self.space.sizes[place] > 2 else ()
        ways = 0
        for code in range(self.space.sizes[place]):
            if code in alike[1:]:
                continue
            rest = self.assign(part, place, code)
            unused = mask & ~(1 << place) & ~self.mask(rest)
            ways += self.count(rest) * self._sizes(unused) * (len(alike) if code in alike else 1)
        self.known[part] = ways
        return ways

    def _sizes(self, mask: int) -> int:
        ways, place = 1, 0
        while mask >> place:
            if mask >> place & 1:
                ways *= self.space.sizes[place]
            place += 1
        return ways

    def assign(self, part: Part, place: int, code: int) -> Part:
        """Return what is left of a part once a concept has a value."""
        return self.simplify(self.terms.restrict(term, place, code) for term in part)

    def simplify(self, terms: Iterable[Term]) -> Part:
        """Split conjunctions, drop what is true, and drop clauses that another constraint makes true."""
        nodes, constraints = self.terms.nodes, set[Term]()
        stack = list(terms)
        while stack:
            term = stack.pop()
            node = nodes[term]
            if node.op == "and":
                stack.extend(node.operands)
            elif node.op == "not" and nodes[node.operands[0]].op == "or":
                stack.extend(self.terms.negate(part) for part in nodes[node.operands[0]].operands)
            else:
                constraints.add(term)
        constraints.discard(self.terms.true)
        if self.terms.false in constraints or any(
            nodes[t].op == "not" and nodes[t].operands[0] in constraints for t in constraints
        ):
            return frozenset([self.terms.false])
        return frozenset(term for term in constraints if not (self.clause(term) & constraints))

    def clause(self, term: Term) -> frozenset[Term]:
        """Return the alternatives of a constraint that is a disjunction; none for any other."""
        if term not in self.clauses:
            node, parts = self.terms.nodes[term], frozenset[Term]()
            if node.op == "or":
                parts = frozenset(node.operands)
            elif node.op == "not" and self.terms.nodes[node.operands[0]].op == "and":
                parts = frozenset(self.terms.negate(part) for part in self.terms.nodes[node.operands[0]].operands)
            self.clauses[term] = parts
        return self.clauses[term]

    def components(self, part: Part) -> list[Part]:
        """Return the parts that share no concept."""
        groups: list[tuple[int, list[Term]]] = []
        for term in part:
            mask, members = self.terms.nodes[term].mask, [term]
            apart = []
            for other, terms in groups:
                if other & mask:
                    mask, members = mask | other, members + terms
                else:
                    apart.append((other, terms))
            groups = [*apart, (mask, members)]
        return [frozenset(members) for _, members in groups]

    def choice(self, part: Part) -> int:
        """Return the concept to try next: one with few values left, and in many constraints, short ones above all."""
        weights: dict[int, float] = {}
        left: dict[int, int] = {}
        for term in part:
            mask = self.terms.nodes[term].mask
            weight = 0.5 ** min(mask.bit_count(), LONG)
            if weight == 0.5:
                place = mask.bit_length() - 1
                left[place] = left.get(place, -1) & self._allowed(term, place)
            while mask:
                lowest = mask & -mask
                place = lowest.bit_length() - 1
                weights[place] = weights.get(place, 0.0) + weight
                mask ^= lowest
        few = {
            place: max(left[place].bit_count(), 0.1) if place in left else self.space.sizes[place] for place in weights
        }
        return max(weights, key=lambda place: (weights[place] / few[place], -place))

    def _allowed(self, term: Term, place: int) -> int:
        """Return the values that a constraint about one concept allows, as bits."""
        if term not in self.allowed:
            codes = range(self.space.sizes[place])
            allowed = [code for code in codes if self.terms.restrict(term, place, code) != self.terms.false]
            self.allowed[term] = sum(1 << code for code in allowed)
        return self.allowed[term]


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
class EquivalentValues:
    """Values, as codes, any two of which can be exchanged in all of these entries without changing a part."""

    codes: tuple[int, ...]
    entries: frozenset[int]


class Interchange:
    """Finds the values that parts of a problem treat alike."""

    def __init__(self, terms: Residuals) -> None:
        self.terms = terms
        self.known: dict[Term, Uses] = {}

    def alike(self, part: Iterable[Term], place: int) -> EquivalentValues:
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
                return EquivalentValues((), frozenset([place]))
            distinguished |= named.get(entry, set())
            following = set(links.get(entry, ())) - met
            met |= following
            stack.extend(following)
        codes = tuple(code for code in range(self.terms.space.sizes[place]) if code not in distinguished)
        return EquivalentValues(codes, frozenset(met))

    def uses(self, term: Term) -> Uses:
        """Return how a term uses entries."""
        if term not in self.known:
            node, uses = self.terms.nodes[term], Uses()
            if node.op in ("not", "and", "or", "xor", "if"):
                for part in node.operands:
                    uses |= self.uses(part)
            else:
                uses = self._compared(term)
            self.known[term] = uses
        return self.known[term]

    def _compared(self, term: Term) -> Uses:
        """Return the uses of a comparison of entries and values; anything else tells values apart."""
        nodes = [self.terms.nodes[part] for part in self._sides(term)]
        places = [side.operands[0] for side in nodes if side.op == "var"]
        values = {self.terms.space.concepts[place].values for place in places}
        if len(values) != 1 or any(side.op not in ("var", "const") for side in nodes):
            return Uses(rigid=self.terms.nodes[term].mask)
        (offered,) = values
        constants = [side.operands[0] for side in nodes if side.op == "const"]
        codes = [offered.index(value) for value in constants if value in offered]
        return Uses(
            frozenset((places[0], other) for other in places[1:]), frozenset((places[0], code) for code in codes)
        )

    def _sides(self, term: Term) -> tuple[Term, ...]:
        """Return what a comparison is between; nothing for any other term."""
        node = self.terms.nodes[term]
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
