"""What each specimen of the zoo says, on a small habitat of its own where its fault can be counted."""

from dataclasses import replace

import numpy as np
import pytest

import assay.testing.zoo_specimens
from assay.concepts import Concept, ConceptSpace
from assay.diagnosis.findings import RANK
from assay.logic.knowledge import Knowledge, Odds
from assay.logic.parse import parse
from assay.seeds import rng_for
from assay.testing import zoo
from assay.testing import zoo_specimens as specimens
from assay.testing.zoo import SPECIMENS, Habitat, Planted

SPACE = ConceptSpace(
    (
        Concept("a", (0, 1, 2)),
        Concept("b", (0, 1, 2)),
        Concept("c", (0, 1)),
        Concept("d", (0, 1, 2, 3)),
        Concept("e", (5, 6)),
    )
)


def home_of(rules: dict[str, str], training: int = 400) -> Habitat:
    rng, sizes = rng_for(3, "habitat"), np.array(SPACE.sizes)
    test, ood, train = (rng.integers(sizes, size=(rows, 5)) for rows in (1000, 700, training))
    return Habitat("toy", 0, Knowledge.of(SPACE, rules), {"test": test, "ood": ood}, train)


STRICT = home_of({"y": "a + b >= 3", "z": "c == 1 or a == 0"})
"""Its readings are unique; `d` and `e` are not used."""
LOOSE = home_of({"y": "(a + b) % 2 == 0", "z": "c == 1"})
"""Labels stay when 0 and 2 are exchanged, or `a` and `b`."""


def planted(name: str, home: Habitat) -> Planted:
    predictor = SPECIMENS[name][1](home, rng_for(1, name))
    assert predictor is not None
    return predictor


def wrong(predictor: Planted, split: str = "test") -> tuple[list[float], list[float]]:
    """Return the shares of wrong concepts and labels, a column each."""
    evidence = predictor.evidence[split]
    concepts, labels = evidence.predicted_concepts != evidence.concepts, evidence.predicted_labels != evidence.labels
    return concepts.mean(axis=0).tolist(), labels.mean(axis=0).tolist()


def follows(predictor: Planted, split: str = "test") -> bool:
    """Return whether labels follow from the concepts that are said."""
    evidence = predictor.evidence[split]
    return bool((evidence.knowledge.labels_of(evidence.predicted_concepts) == evidence.predicted_labels).all())


EXPECTED = {
    "oracle": (["sound"], "sound"),
    "honest": (["sound"], "sound"),
    "nearly right": (["sound"], "sound"),
    "drawn shortcut": (["shortcut"], "shortcut, noisy, underfit, boundary"),
    "calibrated shortcut": (["shortcut"], "shortcut, noisy, underfit, boundary"),
    "shortcut with noisy labels": (["shortcut"], "shortcut, noisy, underfit, boundary, inconsistent"),
    "exchanged concepts": (["shortcut"], "shortcut, noisy, underfit, boundary"),
    "one concept": (["shortcut"], "shortcut, noisy, underfit, boundary"),
    "shortcut elsewhere": (["shortcut"], "shortcut, noisy, underfit, boundary"),
    "mixture 50 %": (["shortcut, noisy"], "shortcut, noisy, underfit, boundary"),
    "mixture 30 %": (["shortcut, noisy"], "shortcut, noisy, underfit, boundary"),
    "mixture 10 %": (["shortcut, noisy, too few, boundary"], "shortcut, noisy, underfit, boundary, unidentified"),
    "noise 12 %": (["noisy"], "noisy, underfit, boundary"),
    "noise 30 %": (["noisy"], "noisy, underfit, boundary"),
    "one noisy concept": (["noisy"], "noisy, underfit, boundary"),
    "one concept by chance": (["noisy"], "noisy, underfit, boundary"),
    "one value missed": (["noisy"], "noisy, underfit, boundary"),
    "unused noise": (["unidentified"], "unidentified"),
    "unused collapsed": (["unidentified"], "unidentified"),
    "collapsed concept": (["shortcut, noisy"], "shortcut, noisy, underfit, boundary"),
    "random labels": (["wrong rule"], "wrong rule, boundary"),
    "wrong rule": (["wrong rule"], "wrong rule, boundary, memorised"),
    "memorised head": (["memorised"], "memorised, wrong rule, boundary, underfit"),
    "memorised black box": (["memorised", "opaque"], "memorised, wrong rule, boundary, underfit, opaque"),
    "fails on ood": (["memorised, noisy"], "noisy, underfit, boundary, memorised, unidentified"),
    "black box": (["opaque"], "opaque"),
    "half silent": (["opaque"], "opaque"),
    "sometimes silent": (["opaque"], "opaque"),
    "constant": (["underfit"], "noisy, underfit, boundary"),
    "shuffled": (["underfit"], "noisy, underfit, boundary"),
    "soft leakage": (["leaking"], "leaking"),
    "bypass": (["leaking", "noisy"], "leaking, noisy, inconsistent"),
    "random concepts": (["leaking", "noisy"], "leaking, noisy, inconsistent"),
    "blind at the boundary": (["boundary, underfit", "wrong rule"], "boundary, underfit, wrong rule"),
    "black box, blind at the boundary": (["boundary, underfit", "opaque"], "boundary, underfit, opaque"),
    "overconfident": (["noisy"], "noisy, underfit, boundary"),
    "tiny split": (["too few"], ""),
    "forty examples, 82 %": (["too few, wrong rule"], "wrong rule"),
    "compensated": (["inconsistent, leaking"], "inconsistent, leaking, noisy, shortcut"),
    "read from another": (["shortcut, noisy"], "shortcut, noisy, underfit, boundary"),
    "shuffled, thirty examples": (
        ["underfit, noisy, too few, boundary"],
        "underfit, noisy, boundary, shortcut, unidentified",
    ),
    "uncertain": (["underfit, inconsistent"], "underfit, inconsistent, boundary"),
}
"""What must be reported, alternatives with commas, and what else may be."""


def kinds(text: str) -> set[str]:
    return set(text.split(", ")) - {""}


def test_every_specimen_is_expected() -> None:
    assert list(SPECIMENS) == list(EXPECTED)
    assert all(about for about, _ in SPECIMENS.values())


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_what_must_and_must_not_be_reported(name: str) -> None:
    tries = (SPECIMENS[name][1](home, rng_for(seed, name)) for seed in range(9) for home in (STRICT, LOOSE))
    predictor = next(predictor for predictor in tries if predictor is not None)
    required, allowed = EXPECTED[name]
    assert [set(options) for options in predictor.required] == [kinds(options) for options in required]
    assert set(RANK) - predictor.forbidden == kinds(allowed) | {"too few"}
    notes = {"exchanged concepts": "exchanges", "overconfident": "overconfident", "tiny split": "Fewer than 30"}
    assert predictor.note == notes.get(name, "")


def test_shortcuts_need_room() -> None:
    for name in ("drawn shortcut", "exchanged concepts", "one concept", "shortcut elsewhere", "mixture 10 %"):
        assert SPECIMENS[name][1](STRICT, rng_for(1, name)) is None


@pytest.mark.parametrize("name", ["drawn shortcut", "calibrated shortcut", "exchanged concepts", "one concept"])
def test_shortcuts_misread_and_keep_the_labels(name: str) -> None:
    predictor = planted(name, LOOSE)
    for split in ("test", "ood"):
        concepts, labels = wrong(predictor, split)
        assert labels == [0, 0] and follows(predictor, split)
        assert max(concepts[:2]) > 0.3 and concepts[2] == 0
        assert predictor.concepts <= {name for name, share in zip(SPACE.names, concepts, strict=True) if share}
    assert len(predictor.concepts) == {"exchanged concepts": 2, "one concept": 1}.get(name, 0)


def test_a_calibrated_shortcut_is_as_sure_as_it_is_right() -> None:
    predictor = planted("calibrated shortcut", LOOSE)
    for split, evidence in predictor.evidence.items():
        for column, share in enumerate(wrong(predictor, split)[0]):
            size, probabilities = SPACE.sizes[column], evidence.concept_probabilities[column]
            assert probabilities is not None
            np.testing.assert_allclose(probabilities.max(axis=1), max(1 / size, 1 - share))
            spoken = probabilities[np.arange(len(evidence)), evidence.predicted_concepts[:, column]]
            np.testing.assert_allclose(spoken, probabilities.max(axis=1))


def test_a_noisy_shortcut_has_three_labels_in_a_hundred_wrong() -> None:
    predictor = planted("shortcut with noisy labels", LOOSE)
    concepts, labels = wrong(predictor)
    assert max(concepts[:2]) > 0.3
    assert labels[0] == labels[1] and 0.01 < labels[0] < 0.05


def test_a_shortcut_elsewhere_is_right_on_test() -> None:
    predictor = planted("shortcut elsewhere", LOOSE)
    assert wrong(predictor) == ([0] * 5, [0, 0])
    concepts, labels = wrong(predictor, "ood")
    assert labels == [0, 0] and min(concepts[:2]) > 0.3 and concepts[2:] == [0] * 3
    assert predictor.concepts == {"a", "b"}
    assert SPECIMENS["shortcut elsewhere"][1](Habitat("t", 0, LOOSE.knowledge, {"test": LOOSE.training}, LOOSE.training),
                                              rng_for(1)) is None  # fmt: skip


@pytest.mark.parametrize(("name", "share"), [("mixture 50 %", 0.5), ("mixture 30 %", 0.3), ("mixture 10 %", 0.1)])
def test_mixtures_read_a_share_by_the_shortcut(name: str, share: float) -> None:
    rows = []
    for seed in range(6):
        predictor = SPECIMENS[name][1](LOOSE, rng_for(seed, name))
        if predictor is not None:
            evidence = predictor.evidence["test"]
            assert wrong(predictor)[1] == [0, 0]
            rows.append((evidence.predicted_concepts != evidence.concepts)[:, :2].any(axis=1).mean())
    assert rows and 0.6 * share < max(rows) < 1.15 * share


@pytest.mark.parametrize(
    ("name", "columns", "share"),
    [
        ("nearly right", "abcde", 0.002),
        ("noise 12 %", "abcde", 0.12),
        ("noise 30 %", "abcde", 0.3),
        ("unused noise", "de", 0.3),
        ("overconfident", "abcde", 0.2),
    ],
)
def test_noise_is_as_strong_as_it_says(name: str, columns: str, share: float) -> None:
    predictor = planted(name, STRICT)
    for split in ("test", "ood"):
        concepts, _ = wrong(predictor, split)
        expected = [share if column in columns else 0 for column in "abcde"]
        assert concepts == pytest.approx(expected, abs=0.05 if share > 0.01 else 0.006)
        assert follows(predictor, split)
    assert predictor.concepts == (set("de") if name == "unused noise" else set())


@pytest.mark.parametrize(
    ("name", "share"), [("one noisy concept", 0.2), ("one concept by chance", 0.45), ("one value missed", 0.4)]
)
def test_one_concept_of_the_rule_is_noisy(name: str, share: float) -> None:
    for seed in range(4):
        predictor = SPECIMENS[name][1](STRICT, rng_for(seed, name))
        assert predictor is not None and len(predictor.concepts) == 1
        (column,) = (SPACE.place(concept) for concept in predictor.concepts)
        assert column in (0, 1, 2)
        concepts, _ = wrong(predictor)
        assert sum(concepts) == concepts[column] > 0
        evidence = predictor.evidence["test"]
        if name == "one value missed":  # the second most frequent value is taken for the most frequent
            frequent = np.argsort(np.bincount(evidence.concepts[:, column]))[::-1]
            rows = evidence.concepts[:, column] == frequent[1]
            said = evidence.predicted_concepts[rows, column]
            assert set(said) == set(frequent[:2])
            assert (said == frequent[0]).mean() == pytest.approx(share, abs=0.08)
            assert (evidence.predicted_concepts[~rows] == evidence.concepts[~rows]).all()
        else:
            assert concepts[column] == pytest.approx(share, abs=0.05)


def test_collapsed_concepts_have_one_value() -> None:
    unused, used = planted("unused collapsed", STRICT), planted("collapsed concept", STRICT)
    (column,) = (SPACE.place(name) for name in unused.concepts)
    assert column in (3, 4)
    assert (unused.evidence["ood"].predicted_concepts[:, column] == 0).all()
    assert wrong(unused)[1] == [0, 0] and sum(share > 0 for share in wrong(unused)[0]) == 1
    (column,) = (SPACE.place(name) for name in used.concepts)
    assert column in (0, 1, 2)
    frequent = np.bincount(STRICT.splits["test"][:, column]).argmax()
    for split in ("test", "ood"):
        assert (used.evidence[split].predicted_concepts[:, column] == frequent).all()
        assert follows(used, split) and sum(share > 0 for share in wrong(used, split)[0]) == 1


def test_random_labels_are_wrong_in_a_fifth() -> None:
    predictor = planted("random labels", STRICT)
    concepts, labels = wrong(predictor)
    assert concepts == [0] * 5 and labels == pytest.approx([0.2, 0.2], abs=0.04)


def test_a_wrong_rule_takes_a_concept_for_constant() -> None:
    predictor = planted("wrong rule", STRICT)
    evidence = predictor.evidence["test"]
    assert (evidence.predicted_concepts == evidence.concepts).all()
    assert (evidence.predicted_labels != evidence.labels).any(axis=1).mean() >= 0.15
    worlds = STRICT.splits["test"]
    ignored = []
    for column in STRICT.used:
        for code in range(SPACE.sizes[column]):
            changed = worlds.copy()
            changed[:, column] = code
            if (STRICT.knowledge.labels_of(changed) == evidence.predicted_labels).all():
                ignored.append(column)
    assert len(ignored) == 1


@pytest.mark.parametrize("name", ["memorised head", "memorised black box"])
def test_the_memorised_are_right_on_worlds_of_training(name: str) -> None:
    home = home_of({"y": "a + b >= 3", "z": "c == 1 or a == 0"}, training=60)
    predictor = planted(name, home)
    seen = {tuple(world) for world in home.training.tolist()}
    known = np.array([tuple(world) in seen for world in home.splits["test"].tolist()])
    evidence = predictor.evidence["test"]
    mistaken = (evidence.predicted_labels != evidence.labels).all(axis=1)
    assert not mistaken[known].any() and mistaken[~known].mean() == pytest.approx(0.5, abs=0.08)
    expected = evidence.concepts if name == "memorised head" else np.full_like(evidence.concepts, -1)
    assert (evidence.predicted_concepts == expected).all()
    everything = Habitat("t", 0, home.knowledge, home.splits, np.concatenate([*home.splits.values()]))
    assert SPECIMENS[name][1](everything, rng_for(1)) is None  # nothing is new


def test_one_fails_on_ood_alone() -> None:
    predictor = planted("fails on ood", STRICT)
    assert wrong(predictor) == ([0] * 5, [0, 0])
    evidence = predictor.evidence["ood"]
    assert sorted(evidence.predicted_concepts.tolist()) == sorted(evidence.concepts.tolist())
    assert min(wrong(predictor, "ood")[0]) > 0.3 and follows(predictor, "ood")


def test_the_silent_say_right_labels() -> None:
    for name in ("black box", "half silent", "sometimes silent"):
        predictor = planted(name, STRICT)
        for split in ("test", "ood"):
            evidence = predictor.evidence[split]
            silent = evidence.predicted_concepts == -1
            assert (evidence.predicted_labels == evidence.labels).all()
            assert (silent | (evidence.predicted_concepts == evidence.concepts)).all()
            shares = dict(zip(SPACE.names, silent.mean(axis=0).tolist(), strict=True))
            if name == "black box":
                assert set(shares.values()) == {1.0}
            else:
                expected = 1.0 if name == "half silent" else pytest.approx(0.3, abs=0.06)
                assert len(predictor.concepts) == (2 if name == "half silent" else 1)
                assert predictor.concepts <= {"a", "b", "c"}
                assert all(shares[c] == (expected if c in predictor.concepts else 0) for c in SPACE.names)


def test_the_constant_and_the_shuffled() -> None:
    constant, shuffled = planted("constant", STRICT), planted("shuffled", STRICT)
    assert (constant.evidence["ood"].predicted_concepts == STRICT.training[0]).all()
    for predictor in (constant, shuffled):
        assert follows(predictor) and follows(predictor, "ood")
    evidence = shuffled.evidence["test"]
    assert sorted(evidence.predicted_concepts.tolist()) == sorted(evidence.concepts.tolist())
    assert min(wrong(shuffled)[0]) > 0.3
    few = planted("shuffled, thirty examples", STRICT).evidence
    worlds = STRICT.splits["test"][:30]
    assert list(few) == ["test"]
    assert few["test"].predicted_concepts.tolist() == [*worlds[23:].tolist(), *worlds[:23].tolist()]


def test_confidence_leaks_the_first_label() -> None:
    predictor = planted("soft leakage", STRICT)
    (column,) = (SPACE.place(name) for name in predictor.concepts)
    assert column in (0, 1, 2) and wrong(predictor) == ([0] * 5, [0, 0])
    evidence = predictor.evidence["test"]
    rows = np.arange(len(evidence))
    for place in range(5):
        probabilities = evidence.concept_probabilities[place]
        assert probabilities is not None
        sure = probabilities[rows, evidence.concepts[:, place]]
        if place == column:
            low, high = (sure[evidence.labels[:, 0] == code] for code in (0, 1))
            assert 0.7 <= low.min() < 0.72 and 0.78 < low.max() <= 0.8
            assert 0.9 <= high.min() < 0.92 and 0.98 < high.max() <= 1.0
        else:
            assert 0.95 <= sure.min() < 0.96 and 0.99 < sure.max() <= 1.0


def test_the_honest_are_sure_by_chance() -> None:
    predictor = planted("honest", STRICT)
    assert wrong(predictor) == ([0] * 5, [0, 0])
    for evidence in predictor.evidence.values():
        for place, probabilities in enumerate(evidence.concept_probabilities):
            assert probabilities is not None
            sure = probabilities[np.arange(len(evidence)), evidence.concepts[:, place]]
            assert 0.9 <= sure.min() < 0.92 and 0.98 < sure.max() <= 1.0


def test_the_overconfident_say_99_percent() -> None:
    for probabilities in planted("overconfident", STRICT).evidence["ood"].concept_probabilities:
        assert probabilities is not None
        np.testing.assert_allclose(probabilities.max(axis=1), 0.99)


def test_a_bypass_says_right_labels_with_wrong_concepts() -> None:
    for name, shares in (("bypass", [0.3] * 5), ("random concepts", [2 / 3, 2 / 3, 0.5, 0.75, 0.5])):
        concepts, labels = wrong(planted(name, STRICT))
        assert labels == [0, 0] and concepts == pytest.approx(shares, abs=0.06)


@pytest.mark.parametrize("name", ["blind at the boundary", "black box, blind at the boundary"])
def test_the_blind_are_wrong_near_the_boundary_of_one_label(name: str) -> None:
    predictor = planted(name, STRICT)
    evidence = predictor.evidence["test"]
    mistaken = evidence.predicted_labels != evidence.labels
    assert mistaken.any(axis=0).sum() == 1  # of one label
    (place,) = np.flatnonzero(mistaken.any(axis=0))
    sides = planted("oracle", STRICT).evidence["test"].sides
    assert min(sides[place].in_types.any(axis=1).sum(), sides[place].far.sum()) >= 40
    near = sides[place].in_types.any(axis=1)
    assert not mistaken[~near].any()
    assert mistaken[near, place].mean() == pytest.approx(0.6, abs=0.06)
    speaks = name == "blind at the boundary"
    assert (evidence.predicted_concepts == (evidence.concepts if speaks else -1)).all()


def test_small_splits_are_the_first_rows() -> None:
    tiny, forty = (planted(name, STRICT).evidence for name in ("tiny split", "forty examples, 82 %"))
    assert list(tiny) == list(forty) == ["test"]
    assert tiny["test"].predicted_concepts.tolist() == STRICT.splits["test"][:12].tolist()
    assert forty["test"].predicted_concepts.tolist() == STRICT.splits["test"][:40].tolist()
    mistaken = (forty["test"].predicted_labels != forty["test"].labels).any(axis=1)
    assert mistaken.sum() == 7 and not mistaken[38:].any()  # 33 of 40 are right


def test_the_compensated_exchange_the_two_most_frequent_values() -> None:
    for seed in range(3):
        predictor = SPECIMENS["compensated"][1](STRICT, rng_for(seed))
        assert predictor is not None
        (column,) = (SPACE.place(name) for name in predictor.concepts)
        evidence = predictor.evidence["test"]
        assert (evidence.predicted_labels == evidence.labels).all()
        first, second = np.argsort(np.bincount(evidence.concepts[:, column]))[::-1][:2]
        table = np.arange(SPACE.sizes[column])
        table[first], table[second] = second, first
        expected = evidence.concepts.copy()
        expected[:, column] = table[expected[:, column]]
        assert (evidence.predicted_concepts == expected).all()
        assert (STRICT.knowledge.labels_of(expected) != evidence.labels).any(axis=1).mean() >= 0.3


def test_one_concept_is_said_as_another_is() -> None:
    said = set()
    for seed in range(8):
        predictor = SPECIMENS["read from another"][1](STRICT, rng_for(seed))
        assert predictor is not None
        (name,) = predictor.concepts
        evidence = predictor.evidence["ood"]
        column, other = {"a": (0, 1), "b": (1, 0)}[name]
        expected = evidence.concepts.copy()
        expected[:, column] = evidence.concepts[:, other]
        assert (evidence.predicted_concepts == expected).all() and follows(predictor, "ood")
        said.add(name)
    assert said == {"a", "b"}


# thresholds


def shaped(test: np.ndarray, rules: dict[str, str], training: np.ndarray | None = None) -> Habitat:
    return Habitat("toy", 0, Knowledge.of(SPACE, rules), {"test": test}, test[:1] if training is None else training)


def column(values: list[int], place: int = 0) -> np.ndarray:
    worlds = np.zeros((len(values), 5), dtype=np.int64)
    worlds[:, place] = values
    return worlds


@pytest.mark.parametrize(("share", "room"), [(1.0, True), (0.4, False)])
def test_a_mixture_with_few_wrong_answers_is_left_out(
    monkeypatch: pytest.MonkeyPatch, share: float, room: bool
) -> None:
    def read(worlds: np.ndarray) -> np.ndarray:
        changed = worlds.copy()
        rows = np.arange(len(worlds)) % 10 < 10 * share
        changed[rows, 0] = (worlds[rows, 0] + 1) % 3
        changed[:, 3] = (worlds[:, 3] + 1) % 4  # not used
        return changed

    monkeypatch.setattr(assay.testing.zoo_specimens, "draw_shortcut", lambda home, rng: read)
    found = [SPECIMENS["mixture 10 %"][1](LOOSE, rng_for(seed)) for seed in range(5)]
    assert [predictor is not None for predictor in found] == [room] * 5


def test_other_labels_are_any_other() -> None:
    home = home_of({"n": "a + b"})
    predictor = planted("random labels", home)
    evidence = predictor.evidence["test"]
    shift = (evidence.predicted_labels - evidence.labels)[:, 0] % 5
    assert set(shift) == {0, 1, 2, 3, 4}
    np.testing.assert_allclose(np.bincount(shift)[1:] / len(shift), 0.05, atol=0.025)


@pytest.mark.parametrize(("second", "room"), [(16, True), (15, True), (14, False)])
def test_a_value_is_missed_where_it_is_frequent(second: int, room: bool) -> None:
    home = shaped(column([1] * second + [0] * (100 - second)), {"y": "a == 1"})
    assert (SPECIMENS["one value missed"][1](home, rng_for(0)) is not None) is room


@pytest.mark.parametrize(("different", "room"), [(8, True), (7, False)])
def test_one_is_read_from_another_that_differs_often(different: int, room: bool) -> None:
    worlds = np.zeros((20, 5), dtype=np.int64)
    worlds[:10, :2] = 1
    worlds[:different, 1] = 2
    assert (SPECIMENS["read from another"][1](shaped(worlds, {"y": "a > b"}), rng_for(0)) is not None) is room


@pytest.mark.parametrize(("rare", "room"), [(15, True), (14, False)])
def test_a_wrong_rule_is_wrong_often(rare: int, room: bool) -> None:
    worlds = np.tile([[0, 0, 1, 0, 0]], (100, 1))  # no single change makes the label true of these
    worlds[:rare, 0] = 1  # and of these, one of `b` does
    home = shaped(worlds, {"y": "a == 1 and b == 1 and c == 1"})
    assert (SPECIMENS["wrong rule"][1](home, rng_for(0)) is not None) is room


@pytest.mark.parametrize(("known", "new", "room"), [(60, 60, True), (59, 80, False), (80, 59, False)])
def test_memory_needs_worlds_of_both_kinds(known: int, new: int, room: bool) -> None:
    worlds = column([1] * known + [2] * new)
    home = shaped(worlds, {"y": "a == 1"}, training=worlds[:1])
    for name in ("memorised head", "memorised black box"):
        assert (SPECIMENS[name][1](home, rng_for(0)) is not None) is room


def test_uncertain_concepts_are_right_and_make_labels_wrong() -> None:
    home = home_of({"y": "a == 1 and b == 1 and c == 1", "z": "e == 6 or c == 0"})
    predictor = planted("uncertain", home)
    for split, least in (("test", 0.03), ("ood", 0.01)):
        concepts, labels = wrong(predictor, split)
        evidence = predictor.evidence[split]
        assert concepts == [0] * 5 and least < labels[0] < 0.1
        sure = [p.max(axis=1) for p in evidence.concept_probabilities if p is not None]
        assert len(sure) == 5 and len(np.unique(sure)) == 1 and 0.6 <= sure[0][0] <= 0.9
        assert evidence.predicted_labels[:, 0].max() == 0  # as sure as that nobody is of three things at once


def test_the_boundary_that_nobody_sees_is_that_of_the_last_label_with_room() -> None:
    rules = {"y": "a + b >= 3", "z": "c == 1 and a == 0", "w": "d == 3 and e == 5 or c == 1"}
    for names, place in (("yz", 1), ("zy", 1), ("wyz", 2)):
        evidence = planted("blind at the boundary", home_of({name: rules[name] for name in names})).evidence["test"]
        mistaken = (evidence.predicted_labels != evidence.labels).any(axis=0)
        assert np.flatnonzero(mistaken).tolist() == [place]


@pytest.mark.parametrize(
    ("near", "far", "room"), [(40, 40, True), (39, 80, False), (80, 39, False), (41, 40, True), (40, 200, True)]
)
def test_blindness_needs_worlds_near_and_far(near: int, far: int, room: bool) -> None:
    worlds = np.zeros((near + far, 5), dtype=np.int64)
    worlds[:near, 0] = 1  # one change makes the label true of these
    home = shaped(worlds, {"y": "a == 1 and b == 1"})
    for name in ("blind at the boundary", "black box, blind at the boundary"):
        assert (SPECIMENS[name][1](home, rng_for(0)) is not None) is room


def test_hard_worlds_do_not_count_as_room_for_memory() -> None:
    worlds = column([1] * 60 + [2] * 30)
    home = Habitat(
        "toy", 0, Knowledge.of(SPACE, {"y": "a == 1"}), {"test": worlds, "hard": column([2] * 50)}, worlds[:1]
    )
    for name in ("memorised head", "memorised black box"):
        assert SPECIMENS[name][1](home, rng_for(0)) is None
        more = replace(home, splits={"test": worlds, "hard": column([2] * 50), "ood": column([2] * 30)})
        predictor = SPECIMENS[name][1](more, rng_for(0))
        assert predictor is not None and list(predictor.evidence) == ["test", "hard", "ood"]
        wrong_in_hard = (predictor.evidence["hard"].predicted_labels != predictor.evidence["hard"].labels).mean()
        assert 0.3 < wrong_in_hard < 0.7


def test_a_leak_is_as_strong_as_the_first_label_is_high() -> None:
    home = home_of({"n": "a + b", "z": "c == 1"})
    predictor = planted("soft leakage", home)
    (place,) = (SPACE.place(name) for name in predictor.concepts)
    for evidence in predictor.evidence.values():
        probabilities = evidence.concept_probabilities[place]
        assert probabilities is not None
        sure = probabilities[np.arange(len(evidence)), evidence.concepts[:, place]]
        rest = sure - 0.7 - 0.2 * evidence.labels[:, 0] / 4
        assert 0 <= rest.min() < 0.01 and 0.09 < rest.max() <= 0.1


def test_of_many_labels_each_is_another_in_the_same_rows() -> None:
    home = home_of({"n": "a + b", "z": "c == 1", "m": "d + e"})
    rows = np.arange(1000) % 3 == 1
    labels = home.knowledge.labels_of(home.splits["test"])
    changed = specimens._other_labels(home, labels, rows, rng_for(2))
    assert ((changed != labels) == rows[:, None]).all() and (changed >= 0).all()
    for place, label in enumerate(home.knowledge.labels):
        shifts = (changed - labels)[rows, place] % len(label.values)
        assert set(shifts) == set(range(1, len(label.values))) and changed[:, place].max() < len(label.values)


def test_one_of_some_columns_is_picked_by_chance() -> None:
    assert {specimens._pick([4, 7, 9], rng_for(seed)) for seed in range(30)} == {4, 7, 9}
    assert specimens._pick([], rng_for(0)) is None
    small = specimens._smaller(STRICT, 3)
    assert list(small.splits) == ["test"] and small.splits["test"].tolist() == STRICT.splits["test"][:3].tolist()
    assert (small.task, small.knowledge) == ("toy", STRICT.knowledge)


@pytest.mark.parametrize(("second", "room"), [(20, True), (19, False)])
def test_the_compensated_exchange_values_that_are_frequent(second: int, room: bool) -> None:
    worlds = np.zeros((100, 5), dtype=np.int64)
    worlds[:second, 0] = 2
    home = shaped(worlds, {"y": "a == 2"})
    predictor = SPECIMENS["compensated"][1](home, rng_for(0))
    assert (predictor is not None) is room
    if predictor is not None:
        evidence = predictor.evidence["test"]
        assert evidence.predicted_concepts[:, 0].tolist() == [0] * second + [2] * (100 - second)
        assert (evidence.predicted_labels == evidence.labels).all() and predictor.concepts == {"a"}


@pytest.mark.parametrize(("share", "room"), [(30, True), (29, False)])
def test_the_compensated_would_have_many_labels_wrong(share: int, room: bool) -> None:
    worlds = np.zeros((100, 5), dtype=np.int64)
    worlds[::2, 0] = 2
    worlds[share:65, 1], worlds[65:, 1] = 1, 2  # only where `b` is 0 does `a` decide
    home = shaped(worlds, {"y": "a == 2 and b == 0"})
    assert (SPECIMENS["compensated"][1](home, rng_for(0)) is not None) is room


def test_the_first_confidence_at_which_labels_go_wrong_is_taken() -> None:
    home = home_of({"y": "a == 1 and b == 1 and c == 1", "z": "e == 6 or c == 0"})
    evidence = planted("uncertain", home).evidence["test"]
    taken = float(np.asarray(evidence.concept_probabilities[0]).max())
    head = specimens.rule_head(home.knowledge)
    shares = {}
    for confidence in (0.9, 0.8, 0.7, 0.6):
        spoken = zoo.answers(home, "test", home.splits["test"], confidence=[confidence] * 5)
        labels = np.stack([p.argmax(axis=1) for p in head(list(spoken.concept_probabilities))], axis=1)
        shares[confidence] = (labels != spoken.labels).any(axis=1).mean()
        if confidence == taken:
            assert (labels == evidence.predicted_labels).all()
    assert taken == next(confidence for confidence, share in shares.items() if share >= 0.15) and shares[0.9] < 0.15
    plain = home_of({"y": "c == 1"})
    assert SPECIMENS["uncertain"][1](plain, rng_for(1)) is None  # as long as one is surer than not, it is right
    chance = Knowledge.of(SPACE, {"y": "a > b"}, odds={"y": Odds(parse("a - b"), 1.0)})
    assert SPECIMENS["uncertain"][1](replace(home, knowledge=chance), rng_for(1)) is None


STILL = shaped(np.tile([[1, 2, 1, 3, 0]], (50, 1)), {"y": "a + b >= 3", "z": "c == 1"})
"""One world and no other."""


@pytest.mark.parametrize(
    "name",
    [
        "one noisy concept", "one concept by chance", "one value missed", "unused noise", "unused collapsed", "collapsed concept", "soft leakage",
        "fails on ood", "shortcut elsewhere", "compensated", "read from another", "blind at the boundary", "black box, blind at the boundary",
        "memorised head", "memorised black box", "drawn shortcut", "calibrated shortcut", "shortcut with noisy labels", "one concept",
    ],
)  # fmt: skip
def test_a_habitat_where_nothing_varies_has_no_room(name: str) -> None:
    assert SPECIMENS[name][1](replace(STILL, training=SPACE.all_codes()), rng_for(3, name)) is None


@pytest.mark.parametrize(("frequent", "room"), [(10, True), (9, False)])
def test_a_concept_that_varies_too_little_is_left_alone(frequent: int, room: bool) -> None:
    used, unused = column([1] * frequent + [0] * (100 - frequent)), column([1] * frequent + [0] * (100 - frequent), 3)
    for names, worlds in (
        (("one noisy concept", "one concept by chance", "collapsed concept", "soft leakage"), used),
        (("unused noise", "unused collapsed"), unused),
    ):
        for name in names:
            assert (SPECIMENS[name][1](shaped(worlds, {"y": "a == 1"}), rng_for(0, name)) is not None) is room


# the same draws, one by one


def said(predictor: Planted) -> dict[str, list[list[int]]]:
    return {split: evidence.predicted_concepts.tolist() for split, evidence in predictor.evidence.items()}


@pytest.mark.parametrize(
    ("name", "share"),
    [("nearly right", 0.002), ("noise 12 %", 0.12), ("noise 30 %", 0.3), ("overconfident", 0.2), ("bypass", 0.3)],
)
def test_every_concept_is_misread_in_just_this_share(name: str, share: float) -> None:
    rng = rng_for(1, name)
    expected = {split: zoo.misread(STRICT, worlds, share, rng).tolist() for split, worlds in STRICT.splits.items()}
    assert said(planted(name, STRICT)) == expected


@pytest.mark.parametrize(("name", "share"), [("one noisy concept", 0.2), ("one concept by chance", 0.45)])
def test_one_concept_is_misread_in_just_this_share(name: str, share: float) -> None:
    rng = rng_for(1, name)
    column = [0, 1, 2][int(rng.integers(3))]
    expected = {s: zoo.misread(STRICT, w, share, rng, [column]).tolist() for s, w in STRICT.splits.items()}
    assert said(planted(name, STRICT)) == expected


@pytest.mark.parametrize(("name", "share"), [("mixture 50 %", 0.5), ("mixture 30 %", 0.3)])
def test_mixtures_are_drawn_row_by_row(name: str, share: float) -> None:
    rng = rng_for(1, name)
    read = zoo.draw_shortcut(LOOSE, rng)
    assert read is not None
    expected = {}
    for split, worlds in LOOSE.splits.items():
        rows = rng.random(len(worlds)) < share
        expected[split] = [
            (read(world[None])[0] if row else world).tolist() for row, world in zip(rows, worlds, strict=True)
        ]
    assert said(planted(name, LOOSE)) == expected


def test_labels_are_drawn_row_by_row() -> None:
    for name, share in (("random labels", 0.2), ("shortcut with noisy labels", 0.03)):
        home, rng = (STRICT, rng_for(1, name)) if share == 0.2 else (LOOSE, rng_for(1, name))
        read = (lambda worlds: worlds) if home is STRICT else zoo.draw_shortcut(LOOSE, rng)
        assert read is not None
        predictor = planted(name, home)
        for split, worlds in home.splits.items():
            rows = rng.random(len(worlds)) < share
            labels = specimens._other_labels(home, home.knowledge.labels_of(read(worlds)), rows, rng)
            assert predictor.evidence[split].predicted_labels.tolist() == labels.tolist()
            assert predictor.evidence[split].predicted_concepts.tolist() == read(worlds).tolist()


def test_silence_and_slips_are_drawn_row_by_row() -> None:
    rng = rng_for(1, "sometimes silent")
    column = int(rng.permutation([0, 1, 2])[0])
    expected = {}
    for split, worlds in STRICT.splits.items():
        silent = worlds.copy()
        silent[rng.random(len(worlds)) < 0.3, column] = -1
        expected[split] = silent.tolist()
    assert said(planted("sometimes silent", STRICT)) == expected
    rng = rng_for(1, "one value missed")
    column = [0, 1, 2][int(rng.integers(3))]
    first, second = np.argsort(np.bincount(STRICT.splits["test"][:, column]))[::-1][:2]
    expected = {}
    for split, worlds in STRICT.splits.items():
        missed = (worlds[:, column] == second) & (rng.random(len(worlds)) < 0.4)
        read = worlds.copy()
        read[missed, column] = first
        expected[split] = read.tolist()
    assert said(planted("one value missed", STRICT)) == expected


def test_memory_and_blindness_are_drawn_row_by_row() -> None:
    home = home_of({"y": "a + b >= 3", "z": "c == 1 or a == 0"}, training=60)
    for name in ("memorised head", "memorised black box"):
        rng, evidence = rng_for(1, name), planted(name, home).evidence
        for split, worlds in home.splits.items():
            guess = ~zoo.rows_in_training(home, split) & (rng.random(len(worlds)) < 0.5)
            labels = specimens._other_labels(home, home.knowledge.labels_of(worlds), guess, rng)
            assert evidence[split].predicted_labels.tolist() == labels.tolist()
    for name in ("blind at the boundary", "black box, blind at the boundary"):
        rng, evidence = rng_for(1, name), planted(name, STRICT).evidence
        for split, worlds in STRICT.splits.items():
            near = zoo.answers(STRICT, split, worlds).sides[0].in_types.any(axis=1)
            labels = STRICT.knowledge.labels_of(worlds)
            changed = specimens._other_labels(STRICT, labels, near & (rng.random(len(worlds)) < 0.6), rng)
            assert evidence[split].predicted_labels[:, 0].tolist() == changed[:, 0].tolist()
            assert evidence[split].predicted_labels[:, 1].tolist() == labels[:, 1].tolist()  # nothing is far from it


def test_confidence_is_drawn_column_by_column() -> None:
    rng, evidence = rng_for(1, "honest"), planted("honest", STRICT).evidence
    for split, worlds in STRICT.splits.items():
        sure = [rng.uniform(0.9, 1.0, len(worlds)) for _ in range(5)]
        for place, own in enumerate(sure):
            found = evidence[split].concept_probabilities[place]
            assert found is not None
            np.testing.assert_allclose(found, zoo.certain(worlds[:, place], SPACE.sizes[place], own))
    rng, evidence = rng_for(1, "soft leakage"), planted("soft leakage", STRICT).evidence
    column = [0, 1, 2][int(rng.integers(3))]
    for split, worlds in STRICT.splits.items():
        sure = [rng.uniform(0.95, 1.0, len(worlds)) for _ in range(5)]
        sure[column] = 0.7 + 0.2 * STRICT.knowledge.labels_of(worlds)[:, 0] + rng.uniform(0, 0.1, len(worlds))
        for place, own in enumerate(sure):
            found = evidence[split].concept_probabilities[place]
            assert found is not None
            np.testing.assert_allclose(found, zoo.certain(worlds[:, place], SPACE.sizes[place], own))
