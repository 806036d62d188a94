"""Clauses: objects and the literals that hold of them; and programs of clauses, as formulas and as Prolog."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from assay.base import DataError
from assay.logic import TRUE, Formula, Quantified, conjunction, disjunction
from assay.prolog import Bias, Literal, Program, Term, Variable, chain_of, deref, key_of, merge_pairs

Places = tuple[int, ...]


@dataclass(frozen=True)
class PlacedLiteral:
    """A literal and the objects of a clause that are its arguments."""

    literal: Literal
    places: Places


@dataclass(frozen=True)
class IlpClause:
    """The groups of the objects that there are, and the literals that hold of them."""

    groups: tuple[str, ...]
    body: tuple[PlacedLiteral, ...]

    def __len__(self) -> int:
        return len(self.body)

    def objects(self) -> set[int]:
        """Return the objects that occur in literals."""
        return {place for placed in self.body for place in placed.places}

    def formula(self, names: Sequence[str] = ("a", "b", "c", "d", "e", "f")) -> Formula:
        """Return it as a formula: objects that no literal ties together apart."""
        conditions: list[Formula] = [placed.literal.formula() for placed in self.body if not placed.places]
        for group in self._tied():
            conditions.append(merge_pairs(self._some(sorted(group), names, set())))
        return conjunction(*conditions)

    def _some(self, objects: list[int], names: Sequence[str], bound: set[int]) -> Formula:
        """Return "there are objects of which this holds", each literal as far out as it can be."""
        if not objects:
            return TRUE
        now = bound | {objects[0]}
        conditions = [
            placed.literal.formula([names[place] for place in placed.places])
            for placed in self.body
            if objects[0] in placed.places and set(placed.places) <= now
        ]
        inside = self._some(objects[1:], names, now)
        body = conjunction(*conditions, *([] if inside == TRUE else [inside]))
        return Quantified("any", (names[objects[0]],), self.groups[objects[0]], body)

    def _tied(self) -> list[set[int]]:
        """Return the objects in sets that literals tie together."""
        sets = [{place} for place in range(len(self.groups))]
        for placed in self.body:
            touched = [tied for tied in sets if tied & set(placed.places)]
            sets = [tied for tied in sets if tied not in touched] + ([set().union(*touched)] if touched else [])
        return sorted(sets, key=min)

    def text(self, head: str, bias: Bias) -> str:
        """Return it as Prolog.

        Objects are introduced first, then the literals about them.
        """
        names = ["W", *(f"X{place + 1}" for place in range(len(self.groups)))]
        has = [bias.vocabulary.relation("has", group).name for group in self.groups]
        goals = [f"{name}(W,{names[place + 1]})" for place, name in enumerate(has)]
        for placed in self.body:
            goals.append(placed.literal.head([names[place + 1] for place in placed.places] or ["W"]))
        return f"{head}(W) :- {', '.join(goals)}." if goals else f"{head}(W)."


def program_formula(clauses: Iterable[IlpClause]) -> Formula:
    """Return "one of the clauses holds"."""
    return disjunction(*dict.fromkeys(clause.formula() for clause in clauses))


def definitions(clauses: Iterable[IlpClause]) -> list[str]:
    """Return the definitions of the literals that clauses use, in Prolog."""
    return list(dict.fromkeys(placed.literal.definition for clause in clauses for placed in clause.body))


def placements(literal: Literal, groups: Sequence[str]) -> Iterator[Places]:
    """Give each choice of different objects as arguments of a literal."""
    fitting = [[place for place, own in enumerate(groups) if own == group] for group in literal.groups]
    for places in product(*fitting):
        if len(set(places)) == len(places) and not (literal.symmetric and list(places) != sorted(places)):
            yield places


def canonical(groups: Sequence[str], body: Iterable[tuple[int, Places, bool]]) -> tuple[tuple[int, Places], ...]:
    """Return a body (literals by number, places, whether these may be swapped) as it is whatever objects' names are."""
    body = list(body)
    best: tuple[tuple[int, Places], ...] | None = None
    for order in permutations(range(len(groups))):
        if any(groups[place] != groups[to] for place, to in enumerate(order)):
            continue
        moved = []
        for number, places, symmetric in body:
            there = tuple(order[place] for place in places)
            moved.append((number, tuple(sorted(there)) if symmetric else there))
        renamed = tuple(sorted(moved))
        best = renamed if best is None or renamed < best else best
    return best or ()


def clause_of(clause: tuple[Term, Term], bias: Bias) -> IlpClause:
    """Return a clause of Prolog that another learner wrote, its literals being those of the bias."""
    head, body = clause
    world = deref(head[1])
    objects: list[Term] = []
    groups: list[str] = []
    literals: list[tuple[Literal, list[Term]]] = []
    has = {relation.name: relation.group for relation in bias.vocabulary.relations if relation.what == "has"}
    for goal in chain_of(body, ","):
        goal = deref(goal)
        if goal == "true":
            continue
        name, arguments = key_of(goal)[0], [deref(part) for part in goal[1:]]
        if name in has and len(arguments) == 2 and type(arguments[1]) is Variable:
            if not any(arguments[1] is known for known in objects):
                objects.append(arguments[1])
                groups.append(has[name])
        elif name in bias.by_name:
            literals.append((bias.by_name[name], arguments))
        else:
            raise DataError(f"a learner wrote {name}/{len(arguments)}, which the bias does not declare")
    placed = []
    for literal, arguments in literals:
        if literal.arity == 0:
            if arguments[0] is not world:
                raise DataError(f"a learner wrote {literal.name} of something that is not the world")
            placed.append(PlacedLiteral(literal, ()))
            continue
        places = []
        for argument, group in zip(arguments, literal.groups, strict=True):
            position = next((place for place, known in enumerate(objects) if known is argument), None)
            if position is None:  # an object that only literals name: there is such an object
                objects.append(argument)
                groups.append(group)
                position = len(objects) - 1
            places.append(position)
        placed.append(PlacedLiteral(literal, tuple(places)))
    return IlpClause(tuple(groups), tuple(placed))


def clauses_of(program: Program, head: str, bias: Bias) -> list[IlpClause]:
    """Return the clauses of a program that another learner wrote."""
    return [clause_of((clause.head, clause.body), bias) for clause in program.clauses.get((head, 1), ())]
