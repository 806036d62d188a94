"""`car.number` in a quantifier: the place of a slot among its group."""

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot
from assay.errors import FormulaError
from assay.logic import compile_diagram, evaluate, latex, parse


def space(attribute="loads"):
    slots = tuple(Slot(f"car{n}", "cars", (attribute,)) for n in (1, 2, 3))
    return ConceptSpace(tuple(Concept(f"car{n}.{attribute}", (0, 1, 2, 3, ABSENT)) for n in (1, 2, 3)), slots)


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("any(c.loads == c.number for c in cars)", lambda row: any(v == n for n, v in enumerate(row, 1))),
        ("any(c.loads > c.number for c in cars)", lambda row: any(v != 4 and v > n for n, v in enumerate(row, 1))),
        ("all(c.number < 3 for c in cars)", lambda row: row[2] == 4),
        ("count(c.number + c.loads == 3 for c in cars) == 2", lambda row: sum(v != 4 and v + n == 3 for n, v in enumerate(row, 1)) == 2),
    ],
)  # fmt: skip
def test_numbers_count_slots_from_one_and_absent_ones_keep_theirs(text, truth):
    held, formula = space(), parse(text)
    codes = held.all_codes()
    wanted = [bool(truth(row)) for row in codes.tolist()]
    assert evaluate(formula, held, codes).tolist() == wanted
    diagram = compile_diagram([formula], held)
    found = [diagram.outcomes[i][0] for i in diagram.outcome_of(np.asarray(codes))]
    assert found == wanted
    assert parse(str(formula)) == formula and latex(formula)


def test_an_attribute_of_that_name_comes_first():
    held = space("number")
    found = evaluate(parse("any(c.number == 3 for c in cars)"), held, np.array([[3, 0, 0], [0, 0, 0]]))
    assert found.tolist() == [True, False]


def test_outside_a_quantifier_there_is_no_number():
    with pytest.raises(FormulaError, match=r"no concept named 'car1\.number'"):
        evaluate(parse("car1.number == 1"), space(), np.zeros((1, 3), dtype=np.int64))
