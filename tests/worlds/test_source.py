"""Worlds are drawn evenly, at any place, from those that the split allows and no others."""

from collections import Counter

import numpy as np
import pytest

from assay.arrays import Codes
from assay.concepts import bits, digits
from assay.errors import FormulaError, KnowledgeError
from assay.logic.formula import Var, parity
from assay.logic.knowledge import Constraint, Knowledge
from assay.logic.parse import parse
from assay.worlds.source import WorldSource
from assay.worlds.split import Split

SUM = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})
XOR = Knowledge.of(bits(["a", "b", "c", "d", "e"]), {"y": parity(*map(Var, "abcde"))})
BALANCED = Knowledge.of(digits(["a", "b", "c", "d"]), {"y": "a + b == c + d", "z": "a < d"})
WIDE = Knowledge.of(bits([f"b{i}" for i in range(64)]), {"y": parity(*(Var(f"b{i}") for i in range(64)))})


def source(knowledge: Knowledge, seed: int = 0, **split: object) -> WorldSource:
    return WorldSource(knowledge, Split(**{"name": "train", "size": 1, **split}), seed, "test")  # type: ignore[arg-type]


def rows(codes: Codes) -> Counter[tuple[int, ...]]:
    return Counter(map(tuple, codes.tolist()))


def test_by_world_every_world_is_drawn_once_before_any_is_drawn_twice() -> None:
    drawn = source(SUM, balance="world").codes(np.arange(300))
    assert set(rows(drawn[:100]).values()) == {1} and len(rows(drawn[:100])) == 100
    assert set(rows(drawn).values()) == {3}


def test_by_label_every_combination_of_labels_is_drawn_equally_often() -> None:
    held = source(BALANCED)
    drawn = held.codes(np.arange(400))
    assert sorted(Counter(map(tuple, BALANCED.labels_of(drawn).tolist())).values()) == [100] * 4
    assert len(rows(drawn)) == 400  # each label combination has more than 100 worlds


def test_the_worlds_of_each_label_are_counted_exactly() -> None:
    held = source(BALANCED)
    equal = sum(min(s + 1, 19 - s) ** 2 for s in range(19))  # pairs of pairs with the same sum
    assert sum(kin.total for kin in held.label_groups if kin.labels[0]) == equal == 670
    assert held.total == 10**4


@pytest.mark.parametrize("balance", ["label", "world"])
@pytest.mark.parametrize("knowledge", [SUM, XOR, BALANCED, WIDE])
def test_any_place_can_be_asked_for_alone(knowledge: Knowledge, balance: str) -> None:
    held = source(knowledge, balance=balance)
    together = held.codes(np.arange(50))
    places = np.array([49, 7, 7, 0, 31])
    assert (held.codes(places) == together[places]).all()
    assert (source(knowledge, balance=balance).codes(np.array([12]))[0] == together[12]).all()


@pytest.mark.parametrize("knowledge", [XOR, BALANCED, WIDE])
@pytest.mark.parametrize("share", [(0.0, 0.8), (0.8, 1.0), (0.3, 0.5), (0.0, 1.0)])
def test_a_source_contains_what_it_draws(knowledge: Knowledge, share: tuple[float, float]) -> None:
    held = source(knowledge, share=share)
    assert held.contains(held.codes(np.arange(200))).all()


def test_shares_part_the_worlds_of_each_label() -> None:
    cuts = [source(XOR, share=share) for share in [(0.0, 0.5), (0.5, 0.8), (0.8, 1.0)]]
    everything = XOR.space.all_codes()
    inside = np.stack([cut.contains(everything) for cut in cuts])
    assert (inside.sum(axis=0) == 1).all()
    assert [cut.total for cut in cuts] == [16, 8, 8]  # of 16 worlds a label: 8, 12 - 8, 16 - 12


def test_stages_are_shared_out_each_by_itself() -> None:
    stages = (parse("a"), parse("not a or b"))  # they overlap
    inner = [source(XOR, share=(0.0, 0.7), stages=stages, stage=stage) for stage in (0, 1)]
    outer = source(XOR, share=(0.7, 1.0), stages=stages, name="ood")
    everything = XOR.space.all_codes()
    first, second, rest = (held.contains(everything) for held in (*inner, outer))
    assert not (rest & (first | second)).any() and (first & second).any()
    assert (first | second | rest).all() and first.sum() == inner[0].total and rest.sum() == outer.total
    drawn = inner[0].codes(np.arange(40))
    assert drawn[:, 0].all() and np.bincount(XOR.labels_of(drawn)[:, 0]).tolist() == [20, 20]
    assert str(inner[1].split.formula) == "not a or b" and outer.codes(np.arange(0)).shape == (0, 5)


def test_shares_part_64_bits_too() -> None:
    inner, outer = source(WIDE, share=(0.0, 0.8)), source(WIDE, share=(0.8, 1.0), name="ood")
    assert inner.total + outer.total == 2**64
    assert not inner.contains(outer.codes(np.arange(100))).any()
    assert np.bincount(WIDE.labels_of(outer.codes(np.arange(100)))[:, 0]).tolist() == [50, 50]


def test_only_worlds_where_the_formula_holds_are_drawn() -> None:
    held = source(SUM, where=parse("a < b"), balance="world")
    drawn = held.codes(np.arange(90))
    assert held.total == 45 and set(rows(drawn).values()) == {2}
    assert (drawn[:, 0] < drawn[:, 1]).all()
    assert (held.contains(SUM.space.all_codes()) == (np.subtract(*SUM.space.all_codes().T) < 0)).all()


def test_constraints_keep_impossible_worlds_out() -> None:
    limited = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"}, [Constraint("differ", parse("a != b"))])
    drawn = source(limited, balance="world").codes(np.arange(90))
    assert len(rows(drawn)) == 90 and not limited.violations(drawn).any()


def test_other_seeds_and_splits_draw_other_worlds() -> None:
    first = source(WIDE).codes(np.arange(500))
    for other in (source(WIDE, seed=1), source(WIDE, name="valid")):
        assert not rows(first) & rows(other.codes(np.arange(500)))


@pytest.mark.parametrize(
    ("knowledge", "where", "message"),
    [
        (SUM, "a > 9", "no world fits"),
        (XOR, "a and not a", "no world fits"),
        (SUM, "a == 3 and b == 4", "label 'sum' is always 7"),
        (BALANCED, "a < d and a + b != c + d", "label 'y' is always False"),
    ],
)
def test_nothing_to_learn_is_refused(knowledge: Knowledge, where: str, message: str) -> None:
    with pytest.raises(KnowledgeError, match=message) as caught:
        source(knowledge, where=parse(where))
    assert "split 'train'" in str(caught.value) and "\n" not in str(caught.value)


def test_where_must_be_true_or_false() -> None:
    with pytest.raises(FormulaError, match=r"\(a \+ b\): .* must be true or false"):
        source(SUM, where=parse("a + b"))
