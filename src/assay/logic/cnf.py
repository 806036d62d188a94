"""Conjunctive normal form: knowledge to clauses and back, and clauses as text (DIMACS).

A boolean concept is one literal; a concept with more values has one literal for each (one-hot), and exactly one of them
is true. Connectives are encoded by Tseitin's definitions, arithmetic through the decision diagram; both keep the number
of models. Comments in the text say which literal is which value.
"""

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.base import DataError
from assay.logic import formula as f
from assay.logic.build import conjunction, disjunction
from assay.logic.circuit import Diagram, compile_diagram, compile_part
from assay.logic.concepts import ConceptSpace, Value, bits
from assay.logic.formula import Formula
from assay.logic.ground import ground_formula, shape_of
from assay.logic.knowledge import Knowledge

Clause = tuple[int, ...]


@dataclass(frozen=True)
class CNF:
    """Clauses over variables 1..n, and the meaning of some literals as (name, value)."""

    variables: int
    clauses: tuple[Clause, ...]
    meanings: Mapping[int, tuple[str, Value]] = field(default_factory=dict)

    def to_dimacs(self) -> str:
        """Return the DIMACS text; a comment `c LITERAL NAME = VALUE` says what a literal means."""
        comments = [f"c {literal} {name} = {value!r}" for literal, (name, value) in self.meanings.items()]
        projection = sorted({abs(literal) for literal in self.meanings})
        projected = [f"c p show {' '.join(map(str, projection))} 0"] if projection else []
        lines = [" ".join(map(str, (*clause, 0))) for clause in self.clauses]
        return "\n".join([*comments, *projected, f"p cnf {self.variables} {len(self.clauses)}", *lines]) + "\n"


def parse_dimacs(text: str) -> CNF:
    """Read a DIMACS CNF; comments of any kind are allowed, and those that `to_dimacs` writes are understood.

    >>> parse_dimacs("c hello\\np cnf 2 1\\n1 -2 0\\n").clauses
    ((1, -2),)
    """
    header: tuple[int, int] | None = None
    numbers: list[int] = []
    meanings: dict[int, tuple[str, Value]] = {}
    for place, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        if words[0] == "%":  # the trailer of SATLIB's files: '%', then a line '0' that is no clause
            break
        if words[0] == "c":
            meanings.update(_meaning(line))
        elif words[0] == "p":
            header = _header(words, place)
        else:
            numbers.extend(_literals(words, place))
    if header is None:
        raise DataError("DIMACS text has no line 'p cnf VARIABLES CLAUSES'")
    return CNF(header[0], _clauses(numbers, *header), meanings)


def _header(words: list[str], place: int) -> tuple[int, int]:
    if len(words) != 4 or words[1] != "cnf" or not (words[2].isdecimal() and words[3].isdecimal()):
        raise DataError(f"DIMACS line {place}: expected 'p cnf VARIABLES CLAUSES', found {' '.join(words)!r}")
    return int(words[2]), int(words[3])


def _literals(words: list[str], place: int) -> list[int]:
    try:
        return [int(word) for word in words]
    except ValueError:
        raise DataError(f"DIMACS line {place}: literals are whole numbers, found {' '.join(words)!r}") from None


def _meaning(line: str) -> dict[int, tuple[str, Value]]:
    """Read `c LITERAL NAME = VALUE`; any other comment means nothing."""
    words = line.split(maxsplit=4)
    if len(words) < 5 or words[3] != "=" or not words[1].removeprefix("-").isdecimal():
        return {}
    try:
        value = ast.literal_eval(words[4])
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        value = words[4]
    return {int(words[1]): (words[2], value if isinstance(value, (bool, int, str)) else words[4])}


def _clauses(numbers: list[int], variables: int, expected: int) -> tuple[Clause, ...]:
    clauses: list[Clause] = []
    current: list[int] = []
    for number in numbers:
        if number:
            current.append(number)
        else:
            clauses.append(tuple(current))
            current = []
    if current:
        raise DataError("DIMACS text ends inside a clause; each clause ends with 0")
    if len(clauses) != expected:
        raise DataError(f"DIMACS header announces {expected} clauses, the text has {len(clauses)}")
    largest = max((abs(literal) for clause in clauses for literal in clause), default=0)
    if largest > variables:
        raise DataError(f"DIMACS header announces {variables} variables, the text uses {largest}")
    return tuple(clauses)


def knowledge_from_cnf(cnf: CNF, label: str = "y") -> Knowledge:
    """Return knowledge whose label says whether the clauses hold; comments may name the variables."""
    named = {literal: name for literal, (name, value) in cnf.meanings.items() if value is True and literal > 0}
    names = [named.get(variable, f"x{variable}") for variable in range(1, cnf.variables + 1)]
    return Knowledge.of(bits(names), {label: clauses_formula(cnf.clauses, names)})


def clauses_formula(clauses: Iterable[Clause], names: Sequence[str]) -> Formula:
    """Return the formula of clauses over named bits."""

    def literal(number: int) -> Formula:
        variable = f.Var(names[abs(number) - 1])
        return variable if number > 0 else f.Not(variable)

    return conjunction(*(disjunction(*map(literal, clause)) for clause in clauses))


def to_cnf(knowledge: Knowledge, given: Mapping[str, Value] | None = None) -> CNF:
    """Return the CNF of the rule: models are the worlds with their labels, or the worlds with the `given` labels.

    >>> from assay.logic.concepts import digits
    >>> cnf = to_cnf(Knowledge.of(digits(["a", "b"]), {"sum": "a + b"}), given={"sum": 3})
    >>> cnf.meanings[1]
    ('a', 0)
    """
    encoder = _Encoder(knowledge.space)
    given = {knowledge.label(name).name: value for name, value in (given or {}).items()}
    for label in knowledge.labels:
        literals = encoder.values_of(label.formula)
        for value, literal in literals.items():
            if label.kind != "bool" or value:
                encoder.meanings[encoder.without_meaning(literal)] = (label.name, value)
        if label.name in given:
            encoder.add(literals.get(given[label.name], encoder.literal(f.Const(False))))
    if knowledge.possible != f.Const(True):
        encoder.require(ground_formula(knowledge.possible, knowledge.space))
    return CNF(encoder.variables, tuple(encoder.clauses), encoder.meanings)


class _Encoder:
    """Hands out variables and writes the clauses that define them."""

    def __init__(self, space: ConceptSpace) -> None:
        self.space = space
        self.variables = 0
        self.clauses: list[Clause] = []
        self.meanings: dict[int, tuple[str, Value]] = {}
        self.literals = [self._concept_literals(place) for place in range(len(space))]
        self.defined: dict[Formula, int] = {}

    def fresh(self) -> int:
        self.variables += 1
        return self.variables

    def add(self, *literals: int) -> None:
        self.clauses.append(literals)

    def _concept_literals(self, place: int) -> list[int]:
        """Return the literal of each value of a concept."""
        concept = self.space.concepts[place]
        if concept.kind == "bool" and concept.values == (False, True):
            variable = self.fresh()
            self.meanings[variable] = (concept.name, True)
            return [-variable, variable]
        literals = [self.fresh() for _ in concept.values]
        for literal, value in zip(literals, concept.values, strict=True):
            self.meanings[literal] = (concept.name, value)
        self.exactly_one(literals)
        return literals

    def exactly_one(self, literals: Sequence[int]) -> None:
        self.add(*literals)
        for place, literal in enumerate(literals):
            for other in literals[place + 1 :]:
                self.add(-literal, -other)

    def require(self, formula: Formula) -> None:
        """Write that the formula holds, a conjunction of plain clauses as it stands."""
        if isinstance(formula, f.And):
            for part in formula.parts:
                self.require(part)
        elif isinstance(formula, f.Or):
            self.add(*(self.literal(part) for part in formula.parts))
        else:
            self.add(self.literal(formula))

    def without_meaning(self, literal: int) -> int:
        """Return the literal, or an equal one where it has a meaning already."""
        if literal not in self.meanings and -literal not in self.meanings:
            return literal
        equal = self.fresh()
        self.clauses += [(-equal, literal), (equal, -literal)]
        return equal

    def values_of(self, formula: Formula) -> dict[Value, int]:
        """Return a literal for each value that the formula can take."""
        flat = ground_formula(formula, self.space)
        if shape_of(flat, self.space).kind == "bool" and (_connective(flat) or isinstance(flat, (f.Var, f.Const))):
            literal = self.literal(flat)
            return {False: -literal, True: literal}
        diagram = compile_diagram([flat], self.space)
        literals = self._follow(diagram)
        return {outcome[0]: literal for outcome, literal in zip(diagram.outcomes, literals, strict=True)}

    def literal(self, formula: Formula) -> int:
        """Return a literal that is true exactly where the formula is."""
        if isinstance(formula, f.Not):
            return -self.literal(formula.body)
        if isinstance(formula, f.Var):
            place = self.space.place(formula.name)
            values = self.space.concepts[place].values
            return self.literals[place][values.index(True)] if True in values else self.literal(f.Const(False))
        if formula not in self.defined:
            self.defined[formula] = self._define(formula)
        return self.defined[formula]

    def _define(self, formula: Formula) -> int:
        match formula:
            case f.Const(value):
                variable = self.fresh()
                self.add(variable)
                return variable if value else -variable
            case f.And(parts):
                return self._all([self.literal(part) for part in parts])
            case f.Or(parts):
                return self._either([self.literal(part) for part in parts])
            case f.Implies(premise, conclusion):
                return self._either([-self.literal(premise), self.literal(conclusion)])
            case f.Iff(left, right):
                return -self._odd(self.literal(left), self.literal(right))
            case f.Xor(parts):
                whole = self.literal(f.Const(False))
                for part in parts:
                    whole = self._odd(whole, self.literal(part))
                return whole
        return self._of_diagram(compile_part([formula], self.space))

    def _of_diagram(self, diagram: Diagram) -> int:
        """Return the literal of a true-or-false diagram's outcome True."""
        if len(diagram.outcomes) == 1:
            return self.literal(f.Const(bool(diagram.outcomes[0][0])))
        literals = self._follow(diagram)
        return literals[diagram.outcomes.index((True,))]

    def _either(self, literals: list[int]) -> int:
        whole = self.fresh()
        self.add(-whole, *literals)
        for literal in literals:
            self.add(whole, -literal)
        return whole

    def _all(self, literals: list[int]) -> int:
        whole = self.fresh()
        self.add(whole, *(-literal for literal in literals))
        for literal in literals:
            self.add(-whole, literal)
        return whole

    def _odd(self, left: int, right: int) -> int:
        whole = self.fresh()
        self.clauses += [(-whole, left, right), (-whole, -left, -right), (whole, -left, right), (whole, left, -right)]
        return whole

    def _follow(self, diagram: Diagram) -> list[int]:
        """Write that exactly one node of each layer is reached, and that values lead on; return the outcomes."""
        reached = [self.fresh()]
        self.add(reached[0])
        for place, layer, width in zip(diagram.order, diagram.layers, diagram.next_widths, strict=True):
            if width == layer.shape[0] and all((row == number).all() for number, row in enumerate(layer)):
                continue  # this concept decides nothing here
            following = [self.fresh() for _ in range(width)]
            self.exactly_one(following)
            for node, row in enumerate(layer):
                for code, target in enumerate(row):
                    self.add(-reached[node], -self.literals[place][code], following[target])
            reached = following
        return reached


def _connective(formula: Formula) -> bool:
    return isinstance(formula, (f.Not, f.And, f.Or, f.Xor, f.Implies, f.Iff))
