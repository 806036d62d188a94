"""Worlds are drawn evenly, at any place, from those that the split allows and no others."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from assay.base import Codes, FormulaError, KnowledgeError
from assay.logic import Concept, ConceptSpace, Constraint, Knowledge, LabelNoise, Var, bits, digits, parity, parse
from assay.worlds import LUCK, Split, Style, WorldSource, labels_of

SUM = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})
XOR = Knowledge.of(bits(["a", "b", "c", "d", "e"]), {"y": parity(*map(Var, "abcde"))})
BALANCED = Knowledge.of(digits(["a", "b", "c", "d"]), {"y": "a + b == c + d", "z": "a < d"})
WIDE = Knowledge.of(bits([f"b{i}" for i in range(64)]), {"y": parity(*(Var(f"b{i}") for i in range(64)))})


def source(knowledge: Knowledge, seed: int = 0, **split: object) -> WorldSource:
    return WorldSource(knowledge, Split(**{"name": "train", "size": 1, **split}), seed, "test")  # type: ignore[arg-type]


def rows(codes: Codes) -> Counter[tuple[int, ...]]:
    return Counter(map(tuple, codes.tolist()))


def test_by_label_every_combination_of_labels_is_drawn_equally_often() -> None:
    held = source(BALANCED)
    drawn = held.codes(np.arange(400))
    assert sorted(Counter(map(tuple, BALANCED.labels_of(drawn).tolist())).values()) == [100] * 4
    assert len(rows(drawn)) == 400  # each label combination has more than 100 worlds


def test_the_worlds_of_each_label_are_counted_exactly() -> None:
    held = source(BALANCED)
    equal = sum(min(s + 1, 19 - s) ** 2 for s in range(19))  # pairs of pairs with the same sum
    assert held.total == 10**4 and source(BALANCED, where=parse("a + b == c + d"), one_sided=True).total == equal == 670


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


def test_a_share_takes_whole_worlds_and_one_at_least() -> None:
    for total, share, count in ((10, 0.35, 3), (10, 0.05, 1), (7, 0.5, 3), (3, 0.999, 2), (2, 0.2, 1)):
        space = ConceptSpace((Concept("a", tuple(range(total))), *bits(["b"]).concepts))
        parts = [source(Knowledge.of(space, {"y": "b"}), share=cut).total for cut in ((0.0, share), (share, 1.0))]
        assert parts == [2 * count, 2 * (total - count)]  # of each label


def test_styles_are_drawn_for_a_place_with_its_concepts_and_pool() -> None:
    asked: list[tuple[list[int], str]] = []

    def style(rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        asked.append((list(codes), pool))
        return {"drawn": int(rng.integers(10**9))}

    def drawn(knowledge: Knowledge, places: list[int], seed: int = 0, name: str = "train", purpose: str = "p") -> Any:
        held = WorldSource(knowledge, Split(name, 9, pool="spare"), seed, purpose, style=style)
        return held.worlds(np.array(places)), held.codes(np.array(places))

    worlds, codes = drawn(BALANCED, [5, 0, 3])
    assert [list(world.codes) for world in worlds] == codes.tolist() == [row for row, _ in asked]
    assert {pool for _, pool in asked} == {"spare"} and all(set(world.style) == {"drawn"} for world in worlds)
    first = [world.style["drawn"] for world in worlds]
    assert len({*first}) == 3 and [world.style["drawn"] for world in drawn(BALANCED, [3, 5])[0]] == [first[2], first[0]]
    for changed in ({"seed": 1}, {"name": "valid"}, {"purpose": "q"}):
        assert not {world.style["drawn"] for world in drawn(BALANCED, [5, 0, 3], **changed)[0]} & {*first}


def test_each_label_left_to_chance_has_a_number_of_its_own() -> None:
    odds = {name: LabelNoise(parse("2 * a - 1"), 0.5) for name in ("y", "z")}
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a", "x": "b", "z": "a"}, odds=odds)
    held = WorldSource(knowledge, Split("train", 50), 0, "test", style=lambda *_: {"own": 1})
    worlds, codes = held.worlds(np.arange(50)), held.codes(np.arange(50))
    luck = np.array([world.style[LUCK] for world in worlds])
    assert luck.shape == (50, 3) and len(np.unique(luck)) == 150 and {world.style["own"] for world in worlds} == {1}
    chance = 1 / (1 + np.exp(-0.5 * (2 * codes[:, 0] - 1)))
    expected = np.stack([luck[:, 0] < chance, codes[:, 1], luck[:, 2] < chance], axis=1)
    assert (labels_of(knowledge, codes, worlds) == expected).all()
    sure = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    assert labels_of(sure, np.array([[1, 1], [0, 1]]), []).tolist() == [[1], [0]]


def test_a_split_of_one_value_is_drawn_where_that_is_allowed() -> None:
    held = source(XOR, where=parse("a and b and not (c or d)"), one_sided=True, share=(0.0, 1.0), balance="world")
    assert held.total == 2
    alone = source(XOR, where=parse("a and b and not (c or d or e)"), one_sided=True)
    assert alone.codes(np.arange(3)).tolist() == [[1, 1, 0, 0, 0]] * 3
    with pytest.raises(FormulaError, match=r"a \+ 1 must be true or false"):
        source(SUM, stages=(parse("a > 1"), parse("a + 1")))
