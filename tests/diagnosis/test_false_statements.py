"""False statements of diagnoses that reviewers found: what is true is said now, and what was false is not.

Each test has the smallest model of which the statement was made. `kinds` are all words that are said of a model, the
verdict first.
"""

from dataclasses import replace

import numpy as np
import pytest

from assay.base import Settings, rng_for
from assay.dataset import recipe_from
from assay.diagnosis import identifiability, used_concepts
from assay.logic import Concept, ConceptSpace, Knowledge
from tests.diagnosis.models import (
    COLOUR,
    DOTS,
    FINE,
    FRAME,
    SHAPE,
    SIGNS,
    STRIPE,
    Model,
    Random,
    certain,
    clear_case,
    every,
    evidence,
    on_test,
    redrawn,
    rule,
    signs,
    silent,
    some,
    turned,
    unruled,
    worlds,
)

OR = rule("(a and b) or c")
ROBOTS = rule("(a and b) or (not a and c)", "abcdefg")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> Random:
    """Return a generator of each test's own."""
    return rng_for(0, request.node.name)


def random_rule(rng: Random, letters: str = "abcde") -> Knowledge:
    """Return two or three terms of two or three literals, of which a quarter to three quarters of the worlds fulfil one."""
    while True:
        terms = []
        for _ in range(rng.integers(2, 4)):
            chosen = rng.choice(list(letters), rng.integers(2, 4), replace=False)
            terms.append(" and ".join(f"{'not ' * int(rng.integers(2))}{letter}" for letter in chosen))
        knowledge = rule(" or ".join(f"({term})" for term in terms), letters)
        if 0.25 < knowledge.labels_of(every(knowledge.space)).mean() < 0.75:
            return knowledge


# -- a perfect model beside wrong annotations was a shortcut -----------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0.08, 0.1, 0.15, 0.2])
def test_wrong_annotations_are_no_shortcut(share: float, seed: int) -> None:
    rng = rng_for(seed, "annotations", share)
    knowledge = random_rule(rng)
    test = worlds(knowledge.space, 600, rng)
    table = redrawn(test, share, rng, range(5), knowledge.space)
    found = on_test(knowledge, table, test, labels=knowledge.labels_of(test), training=test).diagnosed()
    assert found.verdict == "annotations"
    assert not {"shortcut", "noisy", "wrong rule", "inconsistent"} & set(found.kinds)


@pytest.mark.parametrize("seed", range(5))
def test_misreadings_that_keep_labels_are_a_shortcut_all_the_same(seed: int) -> None:
    rng = rng_for(seed, "real shortcut")
    knowledge = random_rule(rng)
    test, column = worlds(knowledge.space, 600, rng), min(used_concepts(knowledge))
    other = turned(test, np.full(600, True), column)
    kept = (knowledge.labels_of(other) == knowledge.labels_of(test))[:, 0] & (rng.random(600) < 0.5)
    found = on_test(knowledge, test, turned(test, kept, column), training=test).diagnosed()
    assert found.verdict == "shortcut" and "annotations" not in found.kinds


def test_where_labels_follow_the_wrong_table_it_cannot_be_told_whose_errors_they_are(rng: Random) -> None:
    training, test, _ = signs(600, rng)
    found = on_test(FINE, redrawn(test, 0.1, rng, range(5)), test, training=training).diagnosed()
    assert found.verdict == "noisy" and "annotations" not in found.kinds


# -- leaking: labels that were no better than the concepts allow --------------------------------------------------------


def test_confidence_that_depends_on_another_concept_is_no_leak(rng: Random) -> None:
    test = every(OR.space, 50)
    unsure = np.where(test[:, 1] == 1, 0.8, 0.95) + rng.uniform(-0.03, 0.03, len(test))
    sure = [certain(test[:, 0], unsure), certain(test[:, 1], 0.97), certain(test[:, 2], 0.97)]
    found = on_test(OR, test, sure=sure, training=test).diagnosed()
    assert found.kinds == ("sound",) and "labels are better" not in " ".join(found.sentences)


def test_a_bad_label_head_over_right_concepts_is_a_wrong_rule_and_no_leak(rng: Random) -> None:
    """Its concepts imply 100 % of the labels, it gets some 60 %: the fault stood second to a leak."""
    training, test, _ = signs(500, rng)
    unsure = np.clip(0.95 - 0.15 * test[:, STRIPE] + rng.uniform(-0.03, 0.03, 500), 0.6, 0.99)
    sure = [certain(test[:, column], unsure, size) for column, size in enumerate(SIGNS.sizes)]
    linear = (test[:, COLOUR] == 2) + 0.8 * (test[:, SHAPE] == 0) + 0.2 * rng.normal(size=500) > 0.9
    found = on_test(FINE, test, predicted=linear, sure=sure, training=training).diagnosed()
    assert found.verdict == "wrong rule" and "leaking" not in found.kinds


def test_labels_below_the_ceiling_do_not_leak(rng: Random) -> None:
    """Three concepts of digits determine 71 % of them; confidences hold more, which the labels do not use."""
    digits = rng.integers(0, 10, 600)
    concepts, likeliest = read_digits(digits)
    unsure = [certain(column, 0.7 + 0.02 * digits, size) for column, size in zip(concepts.T, DIGITS.sizes, strict=True)]
    model = on_test(unruled(DIGITS, range(10)), concepts, None, likeliest, digits[:, None], sure=unsure)
    assert "leaking" not in model.diagnosed().kinds


def test_exact_inference_over_calibrated_concepts_follows_and_does_not_leak(rng: Random) -> None:
    chances = rng.uniform(0.05, 0.95, (2000, 3))
    test = (rng.random(chances.shape) < chances).astype(np.int64)
    both = chances[:, 0] * chances[:, 1]
    label = both + (1 - both) * chances[:, 2]
    sure = [np.stack([1 - p, p], axis=1) for p in chances.T]
    odds = [np.stack([1 - label, label], axis=1)]
    said = (chances > 0.5).astype(np.int64)
    found = on_test(OR, test, said, label > 0.5, sure=sure, odds=odds, training=test).diagnosed()
    assert found.verdict == "noisy" and not {"leaking", "inconsistent", "wrong rule"} & set(found.kinds)


def test_labels_past_the_concepts_leak_with_a_rule_and_without_one(rng: Random) -> None:
    """The bypass that needs no rule was called `no rule: labels and concepts are right`."""
    assert clear_case("leaking").diagnosed().verdict == "leaking"
    capped = clear_case("incomplete").splits["test"]
    knows_more = on_test(capped.knowledge, capped.concepts, None, capped.labels, capped.labels)
    found = knows_more.diagnosed()
    assert found.verdict == "leaking" and "no rule" not in found.kinds
    assert not any("about as good as they allow" in finding.meaning for finding in found.findings)


# -- memorised: worlds that were not new, and a region that was missed -------------------------------------------------


def test_a_fall_on_equal_worlds_is_no_memory(rng: Random) -> None:
    test, other = every(OR.space, 13)[:100], every(OR.space, 25)
    labels, wrong = OR.labels_of(test), turned(OR.labels_of(other), some(200, 0.3, rng))
    ood = evidence(OR, other, silent(other), wrong, split="ood")
    found = Model({"test": evidence(OR, test, silent(test), labels), "ood": ood}, every(OR.space)).diagnosed()
    assert found.verdict == "shifted" and "memorised" not in found.kinds


def test_a_watermark_that_is_not_declared_is_no_memory(rng: Random) -> None:
    """Labels go by a mark that goes with them on test and by chance on the other split, of much the same worlds."""
    training, test, labels = signs(500, rng)
    other = worlds(SIGNS, 500, rng)
    marks = [turned(labels, some(500, 0.02, rng)), turned(FINE.labels_of(other), some(500, 0.25, rng))]
    splits = {
        "test": evidence(FINE, test, silent(test), marks[0]),
        "ood": evidence(FINE, other, silent(other), marks[1], split="ood"),
    }
    found = Model(splits, training).diagnosed()
    assert found.verdict == "shifted" and "memorised" not in found.kinds


@pytest.mark.parametrize("share", [0.12, 0.3])
def test_validation_examples_are_no_new_worlds(share: float, rng: Random) -> None:
    training, test, labels = signs(500, rng)
    valid = worlds(SIGNS, 500, rng)
    wrong = turned(FINE.labels_of(valid), some(500, share, rng))
    splits = {
        "test": evidence(FINE, test, silent(test), labels),
        "valid": evidence(FINE, valid, silent(valid), wrong, split="valid"),
    }
    assert not {"memorised", "shifted"} & set(Model(splits, training).diagnosed().kinds)


def test_a_region_that_is_missed_on_known_worlds_too_is_no_memory(rng: Random) -> None:
    """One of eight cells of the rule is wrong; three worlds are new, two of them in that cell (demo, robots)."""
    all_worlds = every(ROBOTS.space)
    cell = (all_worlds[:, :3] == [1, 1, 0]).all(axis=1)
    new = np.isin(np.arange(128), [*np.flatnonzero(cell)[[3, 9]], *np.flatnonzero(~all_worlds[:, :3].any(axis=1))[:1]])
    test = np.concatenate([all_worlds[~new][rng.integers(0, 125, 2771)], all_worlds[new].repeat(15, axis=0)])
    missed = (test[:, :3] == [1, 1, 0]).all(axis=1)
    wrong = turned(ROBOTS.labels_of(test), missed)
    found = on_test(ROBOTS, test, silent(test), wrong, training=all_worlds[~new]).diagnosed()
    assert found.verdict == "missed region" and "memorised" not in found.kinds
    first = found.findings[0]
    assert {"a", "b", "not c"} <= set(str(first.why_numbers["where"]).split(" and ")) and first.numbers[
        "inside"
    ] == missed.sum()


def test_memory_is_still_told() -> None:
    assert clear_case("memorised").diagnosed().verdict == "memorised"


# -- sound although labels were not right ------------------------------------------------------------------------------


def test_eleven_of_a_hundred_labels_wrong_are_not_sound(rng: Random) -> None:
    test = every(OR.space, 13)[:100]
    wrong = turned(OR.labels_of(test), some(100, 0.11, rng))
    found = on_test(OR, test, predicted=wrong, training=test).diagnosed()
    assert found.verdict in ("too few", "wrong rule") and "sound" not in found.kinds


@pytest.mark.parametrize("count", [60, 100, 200, 400])
@pytest.mark.parametrize("share", [0.1, 0.15])
def test_a_tenth_of_the_labels_wrong_is_never_sound(share: float, count: int) -> None:
    for seed in range(4):
        rng = rng_for(seed, "a tenth", share, count)
        test = worlds(OR.space, count, rng)
        wrong = turned(OR.labels_of(test), some(count, share, rng))
        assert on_test(OR, test, predicted=wrong, training=test).diagnosed().verdict in ("too few", "wrong rule")


@pytest.mark.parametrize("count", [500, 1500])
def test_a_rare_value_that_is_missed_is_named(count: int, rng: Random) -> None:
    """Of the 4 % that are true nearly half are missed; labels are right in 98 %."""
    knowledge, test = rule("colour == 'red' and stripe and dots == 3", SIGNS), worlds(SIGNS, count, rng)
    positive = np.flatnonzero(knowledge.labels_of(test)[:, 0])
    said = turned(knowledge.labels_of(test), np.isin(np.arange(count), positive[: int(0.45 * len(positive))]))
    found = on_test(knowledge, test, predicted=said, training=test).diagnosed()
    assert found.verdict == "wrong rule" and "True" in found.findings[0].text


def test_what_a_black_box_misses_needs_no_more_examples(rng: Random) -> None:
    knowledge, test = rule("colour == 'red' and stripe and dots == 3", SIGNS), worlds(SIGNS, 1500, rng)
    positive = np.flatnonzero(knowledge.labels_of(test)[:, 0])
    said = turned(knowledge.labels_of(test), np.isin(np.arange(1500), positive[: int(0.45 * len(positive))]))
    found = on_test(knowledge, test, silent(test), said, training=test).diagnosed()
    assert not {"sound", "too few"} & set(found.kinds)


# -- boundary: pairs with values that nobody has shown ------------------------------------------------------------------
# tests/diagnosis/test_counterfactual.py: such pairs are told apart; tests/dataset/test_pairs.py: none is drawn


def test_a_sum_has_no_far(rng: Random) -> None:
    """`right far from the boundary` was said of a label whose every world is near it."""
    knowledge = rule("a + b", ConceptSpace(tuple(Concept(name, tuple(range(5))) for name in "ab")))
    test = worlds(knowledge.space, 400, rng)
    labels = knowledge.labels_of(test)
    found = on_test(
        knowledge, test, silent(test), turned(labels, some(400, 0.1, rng), size=9), training=test
    ).diagnosed()
    assert "boundary" not in found.kinds


# -- incomplete concepts -----------------------------------------------------------------------------------------------

DIGITS = ConceptSpace((Concept("loops", (0, 1, 2)), Concept("curved", (False, True)), Concept("bar", (False, True))))
LOOKS = np.array(
    [[1, 1, 0], [0, 0, 0], [0, 1, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1], [2, 1, 0], [1, 1, 0]]
)


def read_digits(digits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the concepts of digits, and the first digit that has them."""
    first = [int((look == LOOKS).all(axis=1).argmax()) for look in LOOKS]
    return LOOKS[digits], np.array(first)[digits]


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("count", [270, 600, 1500])
def test_at_the_ceiling_of_incomplete_concepts_labels_are_learned(count: int, reads: bool) -> None:
    rng = rng_for(count, "ceiling", reads)
    training, test, labels = signs(count, rng)
    kept = [SHAPE, COLOUR, STRIPE, FRAME]
    space = ConceptSpace(tuple(SIGNS.concepts[column] for column in kept))
    likeliest = (test[:, COLOUR] == 2) & (test[:, STRIPE] == 1)
    said = test[:, kept] if reads else silent(test[:, kept])
    model = on_test(unruled(space), test[:, kept], said, likeliest, labels, training=training[:, kept])
    found = model.diagnosed()
    assert found.verdict == "incomplete" and not {"underfit", "leaking", "too few", "noisy"} & set(found.kinds)


@pytest.mark.parametrize("reads", [True, False])
def test_digits_that_share_their_concepts_are_no_missed_region(reads: bool) -> None:
    rng = rng_for(0, "digits", reads)
    digits = rng.integers(0, 10, 1500)
    concepts, likeliest = read_digits(digits)
    said = concepts if reads else silent(concepts)
    model = on_test(unruled(DIGITS, range(10)), concepts, said, likeliest, digits[:, None], training=concepts)
    found = model.diagnosed()
    assert found.verdict == "incomplete" and not {"underfit", "missed region"} & set(found.kinds)


def test_far_below_the_ceiling_labels_are_not_learned(rng: Random) -> None:
    digits = rng.integers(0, 10, 600)
    concepts, likeliest = read_digits(digits)
    guessed = np.where(rng.random(600) < 0.5, rng.integers(0, 10, 600), likeliest)
    found = on_test(unruled(DIGITS, range(10)), concepts, None, guessed, digits[:, None]).diagnosed()
    assert found.verdict == "underfit" and "incomplete" not in found.kinds


# -- what the rule uses, and by how much misreadings keep labels by themselves -------------------------------------------


def test_only_unused_concepts_are_wrong_where_the_others_are_right(rng: Random) -> None:
    """Used concepts wrong in 8 % cost labels: `only concepts that the rule does not use are wrong` was false."""
    training, test, _ = signs(640, rng)
    said = redrawn(test, 0.08, rng, [COLOUR, STRIPE, DOTS])
    said = redrawn(said, 0.4, rng, [SHAPE])
    found = on_test(FINE, test, said, training=training).diagnosed()
    assert "unidentified" not in found.kinds and found.errors["test"].perception > 20


def test_random_errors_of_a_concept_that_seldom_decides_are_noise(rng: Random) -> None:
    """`stripe` decides an eighth of the worlds, so that any errors of it keep 87 % of the labels."""
    training, test, _ = signs(500, rng)
    for said in (redrawn(test, 0.25, rng, [STRIPE]), test * [1, 1, 0, 1, 1]):
        found = on_test(FINE, test, said, training=training).diagnosed()
        assert found.kinds == ("noisy",) and "keeps the labels" not in found.text


def test_noisy_pictures_do_not_make_a_supervised_concept_a_shortcut(rng: Random) -> None:
    training, test, _ = signs(500, rng)
    said = redrawn(test, 0.3, rng, [STRIPE])
    splits = {"test": evidence(FINE, test), "ood": evidence(FINE, test, said, split="ood")}
    found = Model(splits, training).diagnosed()
    assert found.verdict in ("noisy", "shifted") and "shortcut" not in found.kinds


def test_without_a_rule_nothing_is_said_of_what_the_rule_uses(rng: Random) -> None:
    training, test, labels = signs(500, rng)
    said = redrawn(test, 0.15, rng, [SHAPE])
    found = on_test(unruled(SIGNS), test, said, labels, labels, training=training).diagnosed()
    assert found.verdict == "noisy" and "rule" not in " ".join((found.meaning, *found.reasons))
    box = on_test(unruled(SIGNS), test, silent(test), labels, labels, training=training).diagnosed()
    assert box.verdict == "opaque" and "rule" not in " ".join((box.meaning, *box.reasons))


def test_neighbours_of_a_threshold_are_noise_and_a_shift_of_all_values_is_a_shortcut(rng: Random) -> None:
    space = ConceptSpace(tuple(Concept(name, tuple(range(20))) for name in "ab"))
    knowledge, test = rule("a >= 10", space), worlds(space, 600, rng)
    near, shifted = test.copy(), test.copy()
    near[:, 0] = np.clip(test[:, 0] + rng.choice([-1, 0, 0, 0, 0, 1], 600), 0, 19)
    shifted[:, 0] = np.minimum(test[:, 0] + 1, 19)
    assert on_test(knowledge, test, near, training=test).diagnosed().verdict == "noisy"
    assert on_test(knowledge, test, shifted, training=test).diagnosed().verdict == "shortcut"


def test_follow_is_not_used_by_the_rule_of_sdd_oia(rng: Random) -> None:
    """No possible world's label depends on it, though it stands in the formula."""
    task = recipe_from("sdd-oia", Settings({})).task
    knowledge, place = task.knowledge, task.knowledge.space.place("follow")
    assert place not in used_concepts(knowledge) and len(used_concepts(knowledge)) == 21
    test = next(task.source_for(split, 0) for split in task.splits() if split.name == "test").codes(np.arange(400))
    for rows in (np.full(400, True), some(400, 0.35, rng)):
        found = on_test(knowledge, test, turned(test, rows, place), training=test).diagnosed()
        assert found.verdict == "unidentified" and found.findings[0].concepts == ("follow",)


# -- gaps --------------------------------------------------------------------------------------------------------------


def test_with_gaps_shares_are_of_the_examples_whose_used_concepts_are_known(rng: Random) -> None:
    training, test, labels = signs(500, rng)
    table = np.where(rng.random(test.shape) < 0.3, -1, test)
    found = on_test(FINE, table, np.minimum(test, [2, 2, 1, 2, 1]), labels=labels, training=training).diagnosed()
    known = (table[:, [COLOUR, STRIPE, DOTS]] >= 0).all(axis=1)
    misread = known & (test[:, DOTS] == 3)
    assert found.verdict == "shortcut"
    assert (found.findings[0].numbers["misread"], found.findings[0].numbers["examples"]) == (misread.sum(), known.sum())
    (gaps,) = [note for note in found.notes if "not known" in note]
    assert f"the {known.sum()} of 500 examples" in gaps


# -- advice ------------------------------------------------------------------------------------------------------------


def test_advice_names_what_the_rule_uses_and_is_misread(rng: Random) -> None:
    """`Supervising colour, shape and frame` was advised, and `stripe`, which is misread, left out."""
    knowledge, training = rule("stripe and dots >= 2", SIGNS), worlds(SIGNS, 300, rng)
    taught = identifiability(knowledge, training)
    assert taught is not None and {name.split()[0] for name in taught.settle} <= {"stripe", "dots"}
    test = worlds(SIGNS, 500, rng)
    found = on_test(knowledge, test, redrawn(test, 0.25, rng, [STRIPE]), training=training).diagnosed()
    assert "stripe" in found.next and not {"colour", "shape", "frame"} & set(found.next.replace(",", "").split())


def test_advice_does_not_name_what_is_supervised_already(rng: Random) -> None:
    knowledge = rule("xor(a, b, c)")
    free = identifiability(knowledge, every(knowledge.space))
    taught = identifiability(knowledge, every(knowledge.space), supervised={"a": None, "b": None})
    assert free is not None and free.settle and taught is not None
    assert not {"a", "b"} & {name.split()[0] for name in taught.settle}


# -- what was not told -------------------------------------------------------------------------------------------------


def test_a_disjunct_that_a_black_box_misses_is_told(rng: Random) -> None:
    """`Labels are right` was said where 43 of 43 examples of one reason were wrong."""
    found = clear_case("missed region").diagnosed()
    test = clear_case("missed region").splits["test"]
    wrong = int((test.labels != test.predicted_labels).sum())
    assert found.verdict == "missed region" and found.findings[0].wrong_labels == wrong
    assert {"colour", "red", "stripe"} <= set(str(found.findings[0].why_numbers["where"]).split())


def test_a_fall_from_all_to_nine_tenths_is_told(rng: Random) -> None:
    test = worlds(ROBOTS.space, 500, rng)
    fallen = turned(ROBOTS.labels_of(test), some(500, 0.096, rng))
    splits = {
        "test": evidence(ROBOTS, test, silent(test), ROBOTS.labels_of(test)),
        "ood": evidence(ROBOTS, test, silent(test), fallen, split="ood"),
    }
    found = Model(splits, every(ROBOTS.space)).diagnosed()
    assert found.verdict == "shifted" and found.findings[0].split == "ood"


def test_labels_below_the_majority_are_not_called_right(rng: Random) -> None:
    """Of 66 % right labels, below the 87 % of the majority, the review was told one thing and the page another."""
    knowledge = rule("a and b and c")
    test = every(knowledge.space, 25)
    wrong = turned(knowledge.labels_of(test), some(200, 0.34, rng))
    assert on_test(knowledge, test, predicted=wrong, training=test).diagnosed().verdict == "wrong rule"


def test_labels_by_chance_over_concepts_by_chance_are_not_the_rules(rng: Random) -> None:
    """Concepts are all right in 28 of 500 examples; a label head by the rule would mend nothing."""
    training, test, labels = signs(500, rng)
    said = redrawn(test, 0.6, rng, range(5))
    found = on_test(FINE, test, said, rng.permutation(labels), training=training).diagnosed()
    assert found.verdict in ("underfit", "noisy", "inconsistent")


def test_a_share_is_not_more_exact_than_its_interval(rng: Random) -> None:
    """`0.1 % (0 to 0 %) of 1,500` was said of one example."""
    followed = clear_case("spurious").reliance[0]
    text = replace(followed.labels, usual=1499, usual_of=1500, unusual=1, unusual_of=1500).text
    assert "of 1,500" in text and "(0 to 0 %)" not in text and "(100 to 100 %)" not in text
