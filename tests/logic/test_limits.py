"""Constraints joined are the conjunction, whichever way they are grouped within a budget."""

import numpy as np
import pytest

from assay import Concept, ConceptSpace, Constraint, Knowledge, Slot, bits, digits, evaluate, parse
from assay.base import KnowledgeError
from assay.logic import ABSENT, Limits, true_outcomes
from tests.boards import solutions, sudoku

SLOTS = "slots_are_whole"


ODD = ["count(a, b, c, d) == 2", "a or b or c", "iff(a, d)", "implies(b, c and d)"]


def odd() -> Knowledge:
    limits = [Constraint(f"r{n}", parse(text)) for n, text in enumerate(ODD)]
    return Knowledge.of(bits(["a", "b", "c", "d"]), {"y": "a"}, limits)


def test_sudoku_has_288_boards():
    limits = Limits(sudoku())
    assert limits.exact and limits.diagram(limits.names).counts[(True,)] == len(solutions()) == 288


@pytest.mark.parametrize("budget", [6, 8, 1000])
def test_groups_hold_all_constraints_whatever_the_budget(budget):
    knowledge = odd()
    limits = Limits(knowledge, budget)
    assert sorted([name for group in limits.groups for name in group] + list(limits.left_out)) == [
        "r0",
        "r1",
        "r2",
        "r3",
    ]
    codes = knowledge.space.all_codes()
    for group in limits.groups:
        diagram = limits.diagram(group)
        flags = knowledge.violations(codes)[:, [int(name[1]) for name in group]].any(axis=1)
        assert diagram.size <= budget and (true_outcomes(diagram)[diagram.outcome_of(codes)] == ~flags).all()
    assert limits.exact == (len(limits.groups) == 1 and not limits.left_out)
    assert (budget == 1000) == limits.exact


def test_slots_are_whole_without_being_asked():
    values = ("red", "blue", ABSENT)
    concepts = tuple(Concept(f"o{n}.{name}", values) for n in (1, 2) for name in ("fill", "edge"))
    space = ConceptSpace(concepts, tuple(Slot(f"o{n}", "things", ("fill", "edge")) for n in (1, 2)))
    limits = Limits(Knowledge.of(space, {"y": "o1.fill == 'red'"}))
    assert limits.names == (SLOTS,) and limits.diagram([SLOTS]).counts[(True,)] == 5 * 5


def test_constraints_that_cannot_hold_together_are_named():
    space = bits(["a", "b"])
    limits = [Constraint("one", parse("count(a, b) == 1")), Constraint("same", parse("iff(a, b)"))]
    with pytest.raises(KnowledgeError, match="no world keeps these constraints together: one, same"):
        Limits(Knowledge.of(space, {"y": "a"}, limits)).of_groups()


def test_constraints_need_names_of_their_own():
    limits = [Constraint("one", parse("a")), Constraint("one", parse("b"))]
    with pytest.raises(KnowledgeError, match="two constraints have the same name"):
        Limits(Knowledge.of(bits(["a", "b"]), {"y": "a"}, limits))


def test_small_diagrams_come_first_and_as_many_are_joined_as_fit():
    limits = Limits(odd(), 1000)
    sizes = {name: limits.diagram([name]).size for name in limits.names}
    order = limits.small_first(limits.names)
    assert sorted(order) == list(limits.names) and [sizes[n] for n in order] == sorted(sizes.values())
    assert limits.as_many(limits.names) == order
    for budget in range(3, 13):
        few = Limits(odd(), budget)
        joined = few.as_many(few.names)
        order = few.small_first(few.names)
        assert joined == order[: len(joined)] and (not joined or few.diagram(joined).size <= budget)
        if len(joined) < 4:
            assert few.diagram([*joined, order[len(joined)]]) is None
    assert 0 < len(joined) < 4 or budget > max(sizes.values())


def test_chosen_constraints_keep_the_budget_and_those_too_large_come_last():
    knowledge = Knowledge.of(
        digits([*"abcd"], range(4)),
        {"y": "a"},
        [
            Constraint("wide", parse("(a + 4 * b + 16 * c + 64 * d) % 11 == 3")),
            Constraint("z", parse("a != 3")),
            Constraint("b", parse("a != 0")),
            Constraint("sum", parse("a + b + c + d == 5")),
        ],
    )
    sizes = {name: Limits(knowledge).diagram([name]).size for name in ("wide", "z", "b", "sum")}
    assert sizes["z"] == sizes["b"] < sizes["sum"] < sizes["wide"]
    tight = Limits(knowledge, sizes["wide"] - 1)
    assert tight.left_out == ("wide",) and tight.small_first(tight.names) == ["b", "z", "sum", "wide"]
    assert not tight.exact and "wide" not in {name for group in tight.groups for name in group}
    few = tight.only(["wide", "z"])
    assert few.budget == tight.budget and few.left_out == ("wide",) and few.groups == (("z",),) and not few.exact
    assert tight.only(["z", "b"]).exact and tight.as_many(["wide", "z", "b"]) == ["b", "z"]
    for budget in (sizes["sum"], sizes["sum"] - 1):  # just enough, and one too few
        assert (Limits(knowledge, budget).diagram(["sum"]) is None) == (budget < sizes["sum"])
    exact = Limits(knowledge).diagram(["z", "sum", "b"])
    codes = knowledge.space.all_codes()
    expected = np.isin(codes[:, 0], (1, 2)) & (codes.sum(axis=1) == 5)
    assert (true_outcomes(exact)[exact.outcome_of(codes)] == expected).all()


def test_groups_are_filled_in_turn_and_each_constraint_is_in_one():
    rules = ["a + b + c == 4", "b + c + d == 4", "a == 1", "a + d == 2", "c == 0"]
    space = digits([*"abcd"], range(4))
    knowledge = Knowledge.of(space, {"y": "a"}, [Constraint(f"r{n}", parse(text)) for n, text in enumerate(rules)])
    truths = [evaluate(parse(text), space, space.all_codes()) for text in rules]
    for budget in (12, 16, 20, 30, 1000):
        limits = Limits(knowledge, budget)
        expected = list[list[str]]()
        for name in limits.names:
            if limits.diagram([name]) is not None:
                fits = [group for group in expected if limits.diagram([*group, name]) is not None]
                if fits:
                    fits[0].append(name)
                else:
                    expected.append([name])
        assert limits.groups == tuple(map(tuple, expected))
        assert limits.exact == (len(expected) <= 1 and not limits.left_out)
        assert [diagram.counts[(True,)] for diagram in limits.of_groups()] == [
            np.all([truths[int(name[1])] for name in group], axis=0).sum() for group in limits.groups
        ]
