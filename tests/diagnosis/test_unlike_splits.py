"""Diagnoses of several splits and labels that differ: which split is judged, compared, named, and by which numbers."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from assay.concepts import Concept, ConceptSpace, bits
from assay.data.confounding.confounder import REVERSED
from assay.diagnosis import counterfactual, reliance, rule_relation, runs, verdict
from assay.diagnosis.comparisons import _Group, find_boundary, find_memorised, new_worlds, region_scores, rises
from assay.diagnosis.concepts import ConceptState, judge_concepts, used_concepts
from assay.diagnosis.counterfactual import AlignedPairs, Effects, counterfactuals
from assay.diagnosis.findings import Finding, _describe_agreement
from assay.diagnosis.identifiability import Identifiability, identifiability
from assay.diagnosis.labels import LabelState, expected_labels, judge_labels
from assay.diagnosis.maps import ConceptMap
from assay.diagnosis.reading import fit_readings
from assay.diagnosis.reliance import Reliance, Rights, reliance_of
from assay.diagnosis.rule_relation import relate, relations_in
from assay.diagnosis.verdict import diagnose
from assay.diagnosis.views import SplitView
from assay.diagnosis.violations import ConsistencySummary, RuleViolations, Violations, violations_of
from assay.diagnosis.wording import _describe_exchange, _exchanges, describe_concepts, describe_gaps
from assay.errors import DataError, TooLarge
from assay.logic.knowledge import NO_RULE, Constraint, Knowledge, Label, Odds
from assay.logic.parse import parse
from assay.metrics.consistency import set_f1_of
from assay.metrics.evidence import Evidence
from assay.metrics.random_guesser import Between
from assay.metrics.score import Score, mean_score
from assay.predictions import Predictions
from assay.seeds import rng_for
from assay.worlds.split import HARD

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2)), Concept("idle", (False, True))))
RULE = Knowledge.of(SPACE, {"y": "a and n > 0", "z": "n == 2"})


def evidence(name="test", rows=300, wrong=(), missed=(), knowledge=RULE, seed=0, **more):
    """Worlds drawn at random; in some rows the first label is wrong, in others a is misread."""
    truth = rng_for(seed, name).integers(0, SPACE.sizes, (rows, 3))
    labels = knowledge.labels_of(truth)
    said, spoken = truth.copy(), labels.copy()
    said[list(missed), 0] = 1 - said[list(missed), 0]
    spoken[list(wrong), 0] = 1 - spoken[list(wrong), 0]
    nothing = (None,) * len(knowledge.labels), (None,) * 3
    given = {"label_probabilities": nothing[0], "concept_probabilities": nothing[1], **more}
    return Evidence(knowledge, name, labels, truth, spoken, said, **given)


def view(held, level=0.01):
    used = used_concepts(held.knowledge)
    return SplitView(held.split, held, judge_concepts(held, used, level), judge_labels(held, level), used, level)


# comparisons


def test_a_split_is_compared_with_every_other_but_the_hard_one():
    good, bad = view(evidence("test")), view(evidence("ood", wrong=range(0, 300, 2)))
    new = dict.fromkeys(("test", "valid", "ood", HARD))
    fine, hard = view(evidence("valid")), view(evidence(HARD, wrong=range(200)))
    assert find_memorised({"test": good, HARD: hard, "valid": fine}, new) is None
    found = find_memorised({"test": good, "valid": fine, HARD: hard, "ood": bad}, new)
    assert (found.kind, found.split) == ("memorised", "test, ood")
    assert found.numbers == {"seen": 300, "seen_right": 300, "new": 300, "new_right": 150}
    assert "examples of test, and in 50 % (44 to 56 %) of 300 of ood." in found.text
    assert find_memorised({"ood": bad, "test": good}, new) is None  # it is better on the second


def test_worlds_of_training_are_compared_over_all_splits():
    first, second = evidence("test", wrong=range(0, 300, 3)), evidence("ood", wrong=range(1, 300, 3))
    new = {"test": np.arange(300) % 3 == 0, "ood": np.arange(300) % 3 == 1}
    found = find_memorised({"test": view(first), "ood": view(second)}, new)
    assert found.split == "test, ood"
    assert found.numbers == {"seen": 400, "seen_right": 400, "new": 200, "new_right": 0}
    assert "examples whose world is in the training set, and in 0 % (0 to 2 %) of 200 of other worlds." in found.text
    unknown = {**new, "ood": None}
    assert find_memorised({"test": view(first), "ood": view(second)}, unknown) is None
    few = {"test": np.arange(300) >= 49, "ood": np.full(300, True)}
    assert find_memorised({"test": view(evidence("test", wrong=range(49, 300)))}, few) is None


def test_groups_hold_who_is_to_blame():
    held = evidence(rows=60, wrong=(0, 1, 2), missed=(2, 3, 4))
    held.predicted_concepts[5, 1] = -1
    held.predicted_labels[5, 0] = 1 - held.labels[5, 0]
    one = view(held)
    mask = np.arange(60) < 30
    found = _Group.of([(one, mask), (one, ~mask)])
    rows = np.r_[np.flatnonzero(mask), np.flatnonzero(~mask)]
    assert found.right.tolist() == one.right[rows].tolist() and found.hits == 56
    assert np.flatnonzero(found.misread).tolist() == [2, 3, 4] and found.near.tolist() == one.near[rows].tolist()
    implied = RULE.labels_of(held.predicted_concepts.clip(0))
    blamed = [row for row in (0, 1, 2, 5) if row == 5 or (implied[row] == held.labels[row]).all()]
    assert np.flatnonzero(found.head_wrong).tolist() == blamed


@pytest.mark.parametrize(("after", "told"), [(10, False), (18, True)])
def test_a_rise_of_a_tenth_is_told(after, told):
    before = np.arange(100) < 1
    assert rises(before, np.arange(100) < after, 0.01) == told
    assert not rises(np.arange(100) < after, before, 0.01)


def test_a_rise_needs_a_tenth_and_twenty_on_each_side():
    none = np.zeros(5000, bool)
    assert not rises(none, np.arange(1000) < 99, 0.05) and rises(none, np.arange(1000) < 100, 0.05)
    assert not rises(none, np.ones(19, bool), 0.05) and rises(none, np.ones(20, bool), 0.05)


def test_the_boundary_of_each_label_is_named():
    held = evidence("far", rows=900)
    side = held.sides[1]
    near = side.in_types.any(axis=1) & ~side.in_variants.any(axis=1)
    assert near.sum() > 100 and side.far.sum() >= 0
    clear = view(held)
    assert find_boundary(clear) is None
    wide = Knowledge.of(bits(list("abcd")), {"y": "a", "z": "a and b and c and d"})
    truth = np.tile(wide.space.all_codes().astype(np.int64), (40, 1))
    labels = wide.labels_of(truth)
    wrong = labels.copy()
    side = Evidence(wide, "test", labels, truth, labels, truth, (None, None), (None,) * 4).sides[1]
    near = side.in_types.any(axis=1) & ~side.in_variants.any(axis=1)
    wrong[near, 1] = 1
    found = find_boundary(view(Evidence(wide, "test", labels, truth, wrong, truth, (None, None), (None,) * 4)))
    assert found.labels == ("z",) and found.kind == "boundary"
    assert f"z is right in 0 % (0 to 2 %) of {int(near.sum())} examples that one change" in found.text
    assert f"in 100 % (99 to 100 %) of {int(side.far.sum())} far from it; clearly wrong: " in found.text


def test_worlds_are_new_row_by_row():
    held = evidence(rows=40)
    training = held.concepts[[3, 3, 17, 25]]
    known = {tuple(world) for world in training.tolist()}
    assert new_worlds(held, training).tolist() == [tuple(world) not in known for world in held.concepts.tolist()]
    assert new_worlds(held, None) is None and new_worlds(held, training[:0]) is None
    held.concepts[7, 1] = -1
    assert new_worlds(replace(held), training) is None


def test_regions_of_each_label_by_a_plain_loop():
    held = evidence(rows=400, wrong=range(0, 400, 5))
    found = region_scores(held)
    assert len(held.distinct) < 400
    expected = []
    for place, (label, side) in enumerate(zip(("y", "z"), held.sides, strict=True)):
        right = held.labels[:, place] == held.predicted_labels[:, place]
        parts = [*zip(["variant"] * len(side.variants), side.variants, side.in_variants.T, strict=True)]
        parts += [*zip(["type"] * len(side.types), side.types, side.in_types.T, strict=True), ("far", "far", side.far)]
        expected += [
            (label, kind, name, int(rows.sum()), right[rows].mean()) for kind, name, rows in parts if rows.any()
        ]
    assert [(s.label, s.kind, s.name, s.examples, pytest.approx(s.accuracy)) for s in found] == expected
    alone = held.take(np.array([0]))
    assert {score.examples for score in region_scores(alone)} == {1}


# changes of one concept


def pairs(monkeypatch, rows=60):
    """Examples and what they were changed to in one concept, with answers that are often right."""
    rng = rng_for(0, "pairs")
    names = tuple(SPACE.names[place] for place in rng.integers(0, 3, rows))
    before = evidence("test", rows, seed=1)
    changed = before.concepts.copy()
    for row, name in enumerate(names):
        place = SPACE.place(name)
        changed[row, place] = (changed[row, place] + 1) % SPACE.sizes[place]
    moved = rng.random(rows) < 0.2
    changed[moved, 2] = 1 - changed[moved, 2]  # what must follow from a change changes too
    labels = RULE.labels_of(changed)
    after = replace(before, labels=labels, concepts=changed)
    sides = []
    for side in (before, after):
        said = np.where(rng.random((rows, 3)) < 0.8, side.concepts, -1)
        said = np.where(rng.random((rows, 3)) < 0.1, 0, said)
        spoken = np.where(rng.random((rows, 2)) < 0.75, side.labels, 0)
        sides.append(replace(side, predicted_concepts=said, predicted_labels=spoken))
    aligned = AlignedPairs(*sides, names)
    for module in (counterfactual, reliance):
        monkeypatch.setattr(module, "align_pairs", lambda dataset, first, second: aligned)
    return aligned


def shares(aligned):
    """What becomes of each pair, by plain loops."""
    values = {name: [] for name in ("follows", "stays", "noticed", "untouched")}
    before, after = aligned.before, aligned.after
    for row, name in enumerate(aligned.concepts):
        cells = {key: [] for key in values}
        for label in range(2):
            true = before.labels[row, label], after.labels[row, label]
            said = before.predicted_labels[row, label], after.predicted_labels[row, label]
            if true[0] != true[1]:
                cells["follows"].append(true == said)
            else:
                cells["stays"].append(said[0] == said[1])
        for place in range(3):
            true = before.concepts[row, place], after.concepts[row, place]
            said = before.predicted_concepts[row, place], after.predicted_concepts[row, place]
            if min(said) >= 0:
                if SPACE.names[place] == name:
                    cells["noticed"].append(said[1] == true[1])
                if true[0] == true[1]:
                    cells["untouched"].append(said[0] == said[1])
        for key, found in cells.items():
            values[key].append(np.mean(found) if found else np.nan)
    return {key: np.array(found) for key, found in values.items()}


def test_effects_of_changes_by_plain_loops(monkeypatch):
    aligned = pairs(monkeypatch)
    found = counterfactuals(SimpleNamespace(knowledge=RULE), None, None)
    values = shares(aligned)
    assert (found.split, found.pairs, list(found.by_concept)) == ("pairs", 60, ["a", "n", "idle"])

    def effects(rows):
        return Effects(**{key: mean_score(key, v[rows & ~np.isnan(v)]) for key, v in values.items()})

    def plain(one):
        return {key: pytest.approx(score, nan_ok=True) if not isinstance(score, dict) else {k: x if isinstance(x, (str, type(None))) else pytest.approx(x) for k, x in score.items()} for key, score in one.to_dict().items()}  # fmt: skip

    assert found.all.to_dict() == plain(effects(np.ones(60, bool)))
    for name, mine in found.by_concept.items():
        assert mine.to_dict() == plain(effects(np.array([n == name for n in aligned.concepts])))
    assert found.all.consistency == pytest.approx((found.all.follows.value + found.all.stays.value) / 2)
    assert found.by_concept["idle"].consistency == found.by_concept["idle"].stays.value  # it never moves a label
    assert found.text == (
        f"When one concept is changed, the label follows in {100 * found.all.follows.value:.0f} % of the changes that "
        f"should move it and stays in {100 * found.all.stays.value:.0f} % of those that should not."
    )
    only = replace(found, all=found.by_concept["idle"]).text
    assert only.startswith("When one concept is changed, stays in ") and "follows" not in only


def test_how_often_labels_move_with_each_concept(monkeypatch):
    aligned = pairs(monkeypatch)
    found = reliance._of_concepts(SimpleNamespace(knowledge=RULE), None, None)
    moved = (aligned.before.predicted_labels != aligned.after.predicted_labels).any(axis=1)
    should = (aligned.before.labels != aligned.after.labels).any(axis=1)
    expected = []
    for name in ("a", "n", "idle"):
        mine = np.array([one == name for one in aligned.concepts])
        expected.append(
            Reliance(name, "concept", "pairs", int(mine.sum()), int(moved[mine].sum()), int(should[mine].sum()))
        )
    assert found == expected and [row.should for row in found][2] == 0
    data = found[0].to_dict()
    assert (data["low"], data["high"]) == found[0].interval and data["share"] == found[0].moved / found[0].pairs


def test_reliance_is_judged_by_what_there_are_predictions_for(monkeypatch):
    marks, formulas = SimpleNamespace(is_formula=False, name="hat"), SimpleNamespace(is_formula=True, name="a and b")
    data = SimpleNamespace(split_names=("train", "test"), pairs={"split": "test"})
    monkeypatch.setattr(reliance, "confounders_of", lambda dataset: dataset.couplings)
    monkeypatch.setattr(reliance, "pairs_split", lambda names: "test")
    monkeypatch.setattr(reliance, "gather_from", lambda dataset, found: f"evidence of {found}")
    monkeypatch.setattr(reliance, "_by_pairs", lambda *given: [("pairs", *given[1:])])
    monkeypatch.setattr(reliance, "_by_groups", lambda found, coupling, level: ("groups", found, coupling, level))
    monkeypatch.setattr(reliance, "_only_learned", lambda row, usual, coupling, level: (*row, usual))
    monkeypatch.setattr(reliance, "_of_concepts", lambda dataset, first, second: [("concepts", first, second)])

    def found(*couplings, **predictions):
        data.couplings = couplings
        return reliance_of(data, predictions, 0.01)

    every = {"test": "t", REVERSED: "r", "unconfounded": "u", "pairs": "p"}
    rows, why = found(marks, formulas, **every)
    assert why == "" and rows == (
        ("pairs", "t", "r", (marks, formulas), 0.01),
        ("groups", "evidence of u", formulas, 0.01, "evidence of t"),
        ("concepts", "t", "p"),
    )
    rows, why = found(marks, formulas, unconfounded="u", pairs="p", **{REVERSED: "r"})
    assert rows == (("groups", "evidence of u", formulas, 0.01),) and why.endswith("no predictions for reversed.")
    rows, why = found(marks, formulas, test="t")
    assert rows == () and why == (
        "Whether labels follow hat and a and b is not judged: there are no predictions for reversed and unconfounded."
    )
    assert found(formulas, test="t", pairs="p") == (
        (("concepts", "t", "p"),),
        "Whether labels follow a and b is not judged: there are no predictions for unconfounded.",
    )
    assert found(test="t") == ((), "")
    data.pairs = None
    assert found(**every) == ((), "")


# runs


def test_a_diagnosis_of_predictions_hands_on_what_it_found(monkeypatch):
    calls = {}
    monkeypatch.setattr(runs, "gather_from", lambda dataset, found: f"evidence of {found.split}")
    monkeypatch.setattr(runs, "provenance", lambda dataset: {"task": "toy", "model": "none"})
    monkeypatch.setattr(runs, "training_worlds", lambda dataset: "worlds")
    monkeypatch.setattr(runs, "effects_of", lambda dataset, predictions: ("effects", "no effects"))
    monkeypatch.setattr(runs, "taught_by", lambda dataset, worlds: f"taught by {worlds}")
    monkeypatch.setattr(
        runs, "reliance_of", lambda dataset, found, level: calls.update(level=level) or ("rows", "no reliance")
    )
    sample = diagnose({"test": evidence()})
    monkeypatch.setattr(runs, "diagnose", lambda *given, **more: calls.update(given=given, more=more) or sample)
    said = {name: Predictions("f", name, np.arange(2), {}, {}, {"model": name}) for name in ("test", "ood", "pairs")}
    found = runs.diagnose_predictions("data", said)
    assert found.notes == (*sample.notes, "no effects", "no reliance")
    assert calls["level"] == verdict.LEVEL / 2 and calls["more"] == {"reliance": "rows"}
    assert calls["given"] == (
        {"test": "evidence of test", "ood": "evidence of ood"}, "worlds", {"task": "toy", "model": "test"}, "effects",
        "taught by worlds",
    )  # fmt: skip
    runs.diagnose_predictions("data", said, "known")
    assert calls["given"][4] == "known"
    with pytest.raises(DataError, match="there are no predictions to judge, but for counterfactual worlds"):
        runs.diagnose_predictions("data", {"pairs": said["pairs"]})
    monkeypatch.setattr(runs, "identifiability", lambda rule, worlds: (rule, worlds))
    monkeypatch.setattr(runs, "under_rule", lambda held, rule: f"{held} under {rule}")
    folder = SimpleNamespace(all_predictions=lambda knowledge: {"test": said["test"]})
    assert runs.diagnose_under_rule(folder, SimpleNamespace(knowledge="its"), "other") is sample
    assert calls["given"] == (
        {"test": "evidence of test under other"}, "worlds", {"task": "toy", "model": "test"}, None, ("other", "worlds"),
    )  # fmt: skip


def test_a_run_tells_of_pairs_and_of_rules_that_it_learned(monkeypatch, tmp_path):
    sample = diagnose({"test": evidence()})
    asked = []
    monkeypatch.setattr(
        runs, "diagnose_predictions", lambda data, found, taught: asked.append((dict(found), taught)) or sample
    )
    monkeypatch.setattr(runs, "read_predictions", lambda path, knowledge: f"read {path.name} by {knowledge}")
    monkeypatch.setattr(runs, "describe_learned_rules", lambda run, knowledge: run.rules)
    there = SimpleNamespace(
        all_predictions=lambda knowledge: {"test": knowledge},
        predictions=lambda split: tmp_path / split,
        rules=("A rule.",),
    )
    data = SimpleNamespace(knowledge="its rule")
    assert runs.diagnose_run(there, data).notes == (*sample.notes, "A rule.") and asked == [
        ({"test": "its rule"}, None)
    ]
    (tmp_path / "pairs").write_text("")
    there.rules = ()
    assert runs.diagnose_run(there, data, "taught") is sample
    assert asked[1] == ({"test": "its rule", "pairs": "read pairs by its rule"}, "taught")


def test_pairs_are_those_of_the_split_that_was_changed(monkeypatch):
    monkeypatch.setattr(runs, "counterfactuals", lambda *given: given)
    data = SimpleNamespace(pairs={"split": "ood"}, why_no_pairs="it has none")
    said = {"test": "t", "ood": "o", "pairs": "p"}
    assert runs.effects_of(data, said) == ((data, "o", "p"), "")
    assert runs.effects_of(data, {"test": "t", "pairs": "p"})[1].endswith("there are no predictions for split 'ood'.")
    data.pairs = None
    assert runs.effects_of(data, said) == (None, "What changing one concept does is left out: it has none.")
    assert runs.effects_of(data, {"test": "t"}) == (None, "")


# the verdict


def test_only_the_first_split_makes_a_model_underfit_or_undecided():
    first, second = evidence("test"), evidence("ood", wrong=range(0, 300, 2), missed=range(0, 300, 2))
    assert "underfit" in diagnose({"ood": second, "test": first}).kinds
    assert "underfit" not in diagnose({"test": first, "ood": second}).kinds
    small = evidence("small", rows=8)
    assert diagnose({"small": small, "test": first}).verdict == "too few"
    found = diagnose({"test": first, "small": small})
    assert found.verdict == "sound" and any(
        "Whether labels are right on small cannot be decided yet." in x for x in found.notes
    )
    assert [reading.counts.sum() for reading in found.readings] == [300, 300, 300]
    assert any("Fewer than 30 examples: small (8)" in note for note in found.notes)
    assert not any("Fewer than 30" in note for note in diagnose({"test": evidence(rows=30)}).notes)


def test_shifted_splits_are_scored_but_find_nothing_else():
    first, other = evidence("test"), evidence(REVERSED, wrong=range(0, 300, 2), missed=range(1, 300, 2))
    found = diagnose({"test": first, REVERSED: other})
    assert found.verdict == "sound" and list(found.scores) == ["test", REVERSED] == list(found.errors)
    assert found.errors[REVERSED].wrong == 150 and list(found.regions) == ["test", REVERSED]
    assert diagnose({REVERSED: other}).verdict != "sound"  # where there is no other, it is judged


def test_levels_are_shared_by_splits():
    """88 of 100 right is noise at a level of 1 %, which is not reached where three splits and three concepts share it."""
    held = evidence("test", rows=100, missed=range(12))
    alone = diagnose({"test": held}, level=0.03).concepts["test"][0]
    assert alone.state == "noisy"
    three = {name: replace(held, split=name) for name in ("test", "ood", "far")}
    assert diagnose(three, level=0.03).concepts["test"][0].state == "too few"


def taught(high=5):
    return Identifiability(6, 6, high, high, {"a": False}, ("a",))


def test_what_training_allows_is_said_beside_faults_that_it_explains():
    text = taught().text
    for held, told in (
        (evidence(), False),
        (evidence(wrong=range(0, 300, 2), missed=range(0, 300, 2)), True),
        (evidence(wrong=range(0, 300, 2)), False),  # the rule is wrong, which no reading explains
        (evidence(missed=range(0, 300, 4)), True),
    ):
        found = diagnose({"test": held}, taught=taught())
        assert (text in found.notes) == told == any(kind in found.kinds for kind in ("underfit", "noisy", "shortcut"))
        assert found.to_dict()["identifiability"]["high"] == 5


def test_constraints_are_told_of_the_first_split():
    limited = Knowledge.of(SPACE, {"y": "a and n > 0", "z": "n == 2"}, [Constraint("k", parse("n > 0 or a"), ("t",))])
    first, second = evidence("test", knowledge=limited), evidence("ood", knowledge=limited)
    for held in (first, second):
        held.concepts[:, 0] = held.predicted_concepts[:, 0] = np.maximum(held.concepts[:, 0], held.concepts[:, 1] == 0)
        held.labels[:] = held.predicted_labels[:] = limited.labels_of(held.concepts)
    second.predicted_concepts[:30] = [0, 0, 0]
    found = diagnose({"test": first, "ood": second})
    assert list(found.violations) == ["test", "ood"] and found.violations["test"].text is None
    told = found.violations["ood"].text
    assert told.startswith("On ood, 10.0 % of answers break a constraint") and told not in found.notes
    assert told in diagnose({"ood": second, "test": first}).notes


def test_frames_and_figures_of_several_splits(monkeypatch):
    found = diagnose({"test": evidence(), "ood": evidence("ood", rows=200)})
    some = replace(found, scores={"test": found.scores["test"], "ood": {"label_f1": found.scores["ood"]["label_f1"]}})
    frame = some.to_frame()
    count = len(found.scores["test"])
    assert frame["split"].tolist() == ["test"] * count + ["ood"] and frame["examples"].tolist() == [300] * count + [200]
    assert frame["metric"].tolist() == [*found.scores["test"], "label_f1"]
    monkeypatch.setattr(verdict, "bar_plot", lambda *given: given)
    bars, title, below = found.plot("boundary")
    assert title == "label accuracy" and below.startswith("ood: ") and len(bars) == min(30, len(found.regions["ood"]))
    first = found.regions["ood"][0]
    assert bars[f"{first.label}: {first.name}"] == (first.accuracy,) * 3
    monkeypatch.setattr(verdict, "heat_maps", lambda *given: given)
    tables, down, across = found.plot()
    assert (down, across) == ("ground truth", "predicted") and list(tables) == ["a", "n", "idle"]
    assert tables["n"][1:] == ((0, 1, 2), [0, 1, 2, "none"]) and tables["n"][0].shape == (3, 4)


def test_reasons_name_every_other_finding():
    sample = diagnose({"test": evidence()})
    findings = tuple(Finding(kind, "test", f"{kind}!") for kind in ("shortcut", "noisy", "boundary"))
    found = replace(sample, findings=findings, notes=("A note.", ""))
    assert found.reasons == ("shortcut!", "Also noisy: noisy!", "Also boundary: boundary!", "A note.")
    assert found.kinds == ("shortcut", "noisy", "boundary") and found.verdict == "shortcut"
    assert found.text.startswith("Verdict: shortcut. A reasoning shortcut: ") and found.text.endswith(
        "boundary! A note."
    )
    bare = replace(
        found,
        scores={
            "test": {
                "label_f1": Score("label_f1", 0.5, 0.4, 0.6, 9),
                "collapse": Score("collapse", math.nan, math.nan, math.nan, 9),
            }
        },
    )
    assert repr(bare) == "Diagnosis(shortcut, noisy, boundary; test: label_f1 0.50)"
    html = bare._repr_html_()
    assert "0.500" in html and "0.400 to 0.600" in html and "collapse</td>" not in html and "on test" in html


def test_probabilities_that_are_off_are_told_by_their_own_truth():
    held = evidence(rows=400)
    sure = np.where(held.predicted_concepts[:, [0]] == [[0, 1]], 0.99, 0.01)
    wrong = np.arange(400) % 4 == 0
    held.predicted_concepts[wrong, 0] = 1 - held.predicted_concepts[wrong, 0]
    sure[wrong] = sure[wrong][:, ::-1]
    soft = np.where(held.labels[:, [1]] == [[0, 1]], 0.6, 0.4)
    held = replace(held, concept_probabilities=(sure, None, None), label_probabilities=(None, soft))
    (text,) = [note for note in diagnose({"test": held}).notes if "probabilities are off" in note]
    assert text == (
        "On test, probabilities are off: of labels by 0.40 (underconfident: 0.60 sure, 1.00 right) and of concepts by 0.24 "
        "(overconfident: 0.99 sure, 0.75 right)."
    )


# labels and readings


def test_labels_that_are_drawn_are_expected_and_others_are_as_they_are():
    drawn = Knowledge.of(SPACE, {"y": "a", "z": "n == 2"}, odds={"y": Odds(parse("2 * a - 1"), 1.0)})
    held = evidence(knowledge=drawn, rows=8)
    luck = 1 - held.labels
    held = replace(held, labels=luck)
    expected = expected_labels(held)
    assert expected[:, 0].tolist() == held.concepts[:, 0].tolist() and expected[:, 1].tolist() == luck[:, 1].tolist()
    assert expected_labels(evidence()) is not None and (expected_labels(evidence()) == evidence().labels).all()


def test_states_of_labels_share_the_level_and_count_the_most_frequent():
    held = evidence(wrong=range(0, 300, 3))
    first, second = judge_labels(held, 0.02)
    assert isinstance(first, LabelState) and (first.label, second.label) == ("y", "z")
    assert (first.examples, first.right, second.right) == (300, 200, 300)
    assert first.majority == np.bincount(held.labels[:, 0]).max() != np.bincount(held.predicted_labels[:, 0]).max()
    assert second.majority == np.bincount(held.labels[:, 1]).max() and second.standing == "right"


def test_readings_of_values_that_are_silent_or_never_occur():
    held = evidence(rows=90)
    held.concepts[held.concepts[:, 1] == 2, 1] = 1
    said = held.predicted_concepts
    said[:, 1] = held.concepts[:, 1] * 2  # 1 is said as 2
    said[:20, 1] = -1
    _, found, idle = fit_readings(held)
    zeros = int(((held.concepts[:, 1] == 0) & (said[:, 1] == 0)).sum())
    ones = int(((held.concepts[:, 1] == 1) & (said[:, 1] == 2)).sum())
    assert found.image == (0, 2, None) and found.fidelity == pytest.approx((zeros + ones) / 90) and zeros + ones == 70
    assert found.text == "most often says n 1 as 2, and 0 as it is; never says 1" and not found.is_identity
    assert found.to_dict()["reads"] == [[0, 0], [1, 2], [2, None]] and found.to_dict()["concepts"] == ["n"]
    assert idle.is_identity and idle.text == "most often says every idle as it is"
    silent = np.full_like(said, -1)
    silent[:, 0] = said[:, 0]
    assert [reading.group for reading in fit_readings(replace(held, predicted_concepts=silent))] == ["a"]


def test_gaps_in_words_are_shares_of_cells_and_numbers_of_rows():
    known = np.ones((2000, 3), dtype=bool)
    known[:600, 0], known[500:700, 2] = False, False
    text = describe_gaps("ood", known)
    assert (
        text.startswith("On ood, 13 % of the true concepts are not known") and "on the 1,300 of 2,000 examples" in text
    )
    assert describe_gaps("ood", np.ones((2, 2), bool)) == ""


def test_shares_of_the_two_sides_are_of_their_own_number():
    rights = Rights.of(np.arange(50) < 45, np.arange(40) < 10, 0.01)
    assert rights == Rights(45, 50, 10, 40, True) and rights.shares == (0.9, 0.25)
    assert not Rights.of(np.arange(50) < 10, np.arange(40) < 36, 0.01).falls


def test_pairs_of_a_nuisance_are_found_by_the_number_of_the_example(monkeypatch):
    """Predictions in any order, some of them for one side only; of two nuisances one changes in some examples."""
    whole = evidence("test", rows=6)
    index = np.array([40, 10, 30, 20, 60, 50])
    shown = {10: 0, 20: 1, 30: 0, 40: 1, 50: 0, 60: 1}
    styles = {
        "test": [{"hat": shown[number], "dot": 0} for number in index.tolist()],
        REVERSED: [{"hat": 1 - shown[number] if number < 50 else shown[number], "dot": 0} for number in index.tolist()],
    }
    tables = {
        split: {
            "style": SimpleNamespace(
                to_pylist=lambda rows=rows: [json.dumps({reliance.NUISANCES: row}) for row in rows]
            )
        }
        for split, rows in styles.items()
    }
    data = SimpleNamespace(
        knowledge=RULE, symbols=lambda split: SimpleNamespace(name=split, index=index, table=tables[split])
    )
    before, after = (
        SimpleNamespace(split=split, index=np.array(order))
        for split, order in (("test", [60, 30, 10, 40, 20]), (REVERSED, [20, 10, 50, 60, 40]))
    )
    rows_of = {number: row for row, number in enumerate(index.tolist())}
    monkeypatch.setattr(
        reliance,
        "gather",
        lambda data, said: replace(whole.take(np.array([rows_of[n] for n in said.index.tolist()])), split=said.split),
    )
    couplings = [
        SimpleNamespace(name="hat", is_formula=False, partner=lambda codes, labels: np.ones(len(codes), dtype=int)),
        SimpleNamespace(name="a", is_formula=True),
    ]
    seen = []
    monkeypatch.setattr(reliance, "_pairs_of", lambda *given: seen.append(given) or "row")
    monkeypatch.setattr(
        reliance, "_only_learned", lambda row, usual, coupling, level: (row, len(usual), coupling.name, level)
    )
    assert reliance._by_pairs(data, before, after, couplings, 0.02) == [("row", 5, "hat", 0.02)]
    ((coupling, first, second, usual, used, level),) = seen
    common = [10, 20, 40]  # 60 shows the same hat on both sides, 30 and 50 are on one side only
    assert coupling is couplings[0] and used == [0, 1] and level == 0.02
    for side in (first, second):
        assert side.concepts.tolist() == whole.concepts[[rows_of[number] for number in common]].tolist()
    assert (first.split, second.split) == ("test", REVERSED)
    assert [side.tolist() for side in usual] == [[False, True, True], [True, False, False]]


def test_without_a_rule_nothing_is_found_by_one():
    unruled = Knowledge(SPACE, tuple(Label(name, NO_RULE, (False, True)) for name in ("y", "z")))
    held = replace(evidence(missed=range(0, 300, 4), wrong=range(0, 300, 50)), knowledge=unruled)
    found = diagnose({"test": held}, training=held.concepts)
    assert found.kinds == ("noisy",) and found.findings[0].concepts == ("a",) and found.agreement is None
    assert found.errors["test"].unknown == found.errors["test"].wrong == 6


# what a split is seen as


def test_a_view_asks_for_the_concepts_of_the_rule_alone():
    held = evidence(rows=40, missed=(0, 1), wrong=(2,))
    said = held.predicted_concepts
    said[5:9, 2], said[9, 1], said[10, 0] = -1, -1, -1
    held.concepts[11, 0], held.concepts[12, 2] = -1, -1
    held.predicted_labels[9] = -1  # silence is no label that follows from silence
    one = view(held)
    gone = np.isin(np.arange(40), [9, 10, 11])
    assert one.complete.tolist() == (~gone).tolist() and one.columns == [0, 1]
    filled = np.where(said >= 0, said, np.maximum(held.concepts, 0))
    implied = np.where(gone[:, None], -2, RULE.labels_of(np.maximum(filled, 0)))
    assert one.implied_labels.tolist() == implied.tolist()
    assert one.follows.tolist() == (implied == held.predicted_labels).all(axis=1).tolist() and not one.follows[9]
    assert one.implied_right.tolist() == (implied == held.labels).all(axis=1).tolist()
    right = (held.concepts[:, :2] == said[:, :2]).all(axis=1) & (held.concepts[:, :2] >= 0).all(axis=1)
    assert one.concepts_right.tolist() == right.tolist() and not one.concepts_right[11] and one.concepts_right[12]
    near = [side.in_types.any(axis=1) for side in held.sides]
    assert one.near.tolist() == (near[0] | near[1]).tolist() != (near[0] & near[1]).tolist()
    states = [state.concept for state in one.concepts]
    used = [state.concept for state in one.in_state([s.state for s in one.concepts])]
    assert (states, used) == (["a", "n", "idle"], ["a", "n"])
    assert [state.concept for state in one.in_state([s.state for s in one.concepts], used=False)] == ["idle"]


def test_labels_share_their_level():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a", "z": "b"})
    codes = np.stack([np.arange(300) % 2, np.arange(300) // 2 % 2], axis=1)
    labels = knowledge.labels_of(codes)
    right = next(k for k in range(300) if stats.binom.cdf(k, 300, 0.75) > 0.026)
    assert stats.binom.cdf(right, 300, 0.75) < 0.049
    said = labels.copy()
    said[: 300 - right, 0] = 1 - said[: 300 - right, 0]
    held = Evidence(knowledge, "test", labels, codes, said, codes, (None, None), (None, None))
    assert judge_labels(held, 0.05)[0].standing != "wrong" and judge_labels(held, 0.1)[0].standing == "wrong"


def test_concepts_are_exchanged_in_circles():
    def state(name, source):
        image = {(value,): value for value in ("u", "v")}
        mapping = ConceptMap(name, "source", (source,), image, {("u",): (10, 9), ("v",): (30, 21)})
        return ConceptState(name, "misread", True, 0, 60, 40, 5, mapping)

    by_source = {"a": "b", "b": "c", "c": "d", "d": "b", "e": "f", "f": "e"}
    states = [state(name, source) for name, source in by_source.items()]
    circles = _exchanges(states)
    assert [[one.concept for one in circle] for circle in circles] == [["b", "c", "d"], ["e", "f"]]
    assert _describe_exchange(circles[1]) == "It exchanges e and f: each is said for the other (75 % of 80 answers)."
    assert _describe_exchange(circles[0]) == (
        "It exchanges concepts: it reads b from c, c from d and d from b (75 % of 120 answers)."
    )
    space = ConceptSpace(tuple(Concept(name, ("u", "v")) for name in by_source))
    sentences = describe_concepts(states, SimpleNamespace(knowledge=SimpleNamespace(space=space)))
    assert len(sentences) == 3 and sentences[2] == "It reads a from b (75 % of 40 answers)."


def test_a_guesser_stands_beside_the_model_by_all_guesses():
    limits = [Constraint("k", parse("a or n > 0"), ("t", "u")), Constraint("l", parse("not (a and n == 2)"), ("u",))]
    limited = Knowledge.of(SPACE, {"y": "a and n > 0", "z": "n == 2"}, limits)
    held = evidence(knowledge=limited, rows=20, missed=range(0, 20, 3))
    found = violations_of(held)
    worlds = SPACE.all_codes().astype(np.int64)
    broken = np.stack([(worlds[:, 0] == 0) & (worlds[:, 1] == 0), (worlds[:, 0] == 1) & (worlds[:, 1] == 2)], axis=1)
    nothing = np.array([concept.nothing_code for concept in SPACE.concepts])
    f1 = np.array([set_f1_of(np.tile(true, (12, 1)), worlds, nothing) for true in held.concepts])
    guesser = found.guesser
    assert guesser.exact_match == pytest.approx(1 / 12) and guesser.mean_violations == pytest.approx(
        broken.sum(axis=1).mean()
    )
    assert guesser.contradiction_rate.low == guesser.contradiction_rate.high == pytest.approx(broken.any(axis=1).mean())
    assert guesser.set_f1 == pytest.approx(f1.mean())
    assert guesser.sane_f1.low == pytest.approx(np.where(broken.any(axis=1), 0, f1).mean())
    assert guesser.room.low == pytest.approx(guesser.set_f1 - guesser.sane_f1.high)
    assert [(tag.tag, tag.rules, tag.random_mean) for tag in found.tags] == [
        ("t", 1, pytest.approx(1 / 6)), ("u", 2, pytest.approx(1 / 3)),
    ]  # fmt: skip


# learned rules


def test_one_world_makes_a_rule_another():
    found = relate(parse("a and n > 0"), parse("a and n > 0 or (not a and n == 2 and idle)"), RULE, "y", False)
    assert (found.relation, found.only_learned, found.only_rule, found.worlds) == ("more specific", 0, 1, 12)
    assert found.text.startswith(
        "The learned formula of 'y' is more specific than the rule: of 12 worlds, in 1 only the rule"
    )
    found = relate(parse("a"), parse("a and not (n == 1 and idle)"), RULE, "y")
    assert (found.relation, found.only_learned, found.only_rule) == ("more general", 1, 0)


def test_a_large_diagram_is_tried_in_another_order(monkeypatch):
    tried = []
    compiled = rule_relation.compile_diagram

    def compile_diagram(formulas, space, *order, **more):
        tried.append((order, more))
        if len(tried) == 1:
            raise TooLarge("too many nodes")
        return compiled(formulas, space, *order, **more)

    monkeypatch.setattr(rule_relation, "compile_diagram", compile_diagram)
    found = relate(parse("a"), parse("a"), RULE, "y")
    assert found.exact and found.relation == "equal" and len(tried) == 2
    assert tried == [((SPACE.names, rule_relation.SMALL), {}), ((), {"budget": rule_relation.LARGE})]


def test_labels_after_one_without_a_rule_are_compared():
    knowledge = Knowledge(SPACE, (Label("free", NO_RULE, (False, True)), *RULE.labels))
    program = {"labels": {name: {"formulas": [[None, "a and n > 0"]]} for name in ("free", "y", "z")}}
    assert [(one.label, one.relation) for one in relations_in(program, knowledge)] == [
        ("y", "equal"),
        ("z", "different"),
    ]


def test_training_worlds_are_counted_once_each():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "xor(a, b)"})
    worlds = np.array([[0, 1], [1, 1], [0, 1], [0, 0], [1, 0], [1, 1]])
    found = identifiability(knowledge, worlds)
    assert (found.worlds, found.counted) == (4, 4) == (identifiability(knowledge, worlds[:5]).worlds, 4)
    assert found.low == found.high == identifiability(knowledge, worlds[[0, 1, 3, 4]]).high > 1
    assert identifiability(knowledge, worlds[:0]) is None and identifiability(knowledge, None) is None


# in words


def test_constraints_are_named_from_the_most_often_broken_on():
    def rule(name, rate):
        return RuleViolations(name, (), rate, 0.5)

    model = ConsistencySummary(0.5, 0.875, Between(0.625, 0.625), Between(0.25, 0.25), 1.0)
    rules = (rule("a", 0.05), rule("b", 0.0), rule("c", 0.2), rule("d", 0.125), rule("e", 0.0625))
    assert Violations("ood", 80, model, model, rules, ()).text == (
        "On ood, 25.0 % of answers break a constraint, most often c (20.0 %), d (12.5 %), e (6.2 %). Set F1 is 0.88, and "
        "0.62 if those answers are useless."
    )
    assert model.room == Between(0.25, 0.25) and math.isnan(RuleViolations("a", (), 0.5, 0.0).relative)


def test_training_worlds_that_keep_their_labels_are_all_or_a_share():
    assert _describe_agreement(1.0).startswith("Read this way, every training world keeps its labels")
    assert _describe_agreement(0.75) == "Read this way, 75 % of the training worlds keep their labels."


def test_probabilities_are_off_where_that_is_no_chance():
    scores = {
        "label_ece": Score("label_ece", 0.2, 0.049, 0.4, 20),
        "concept_ece": Score("concept_ece", *[math.nan] * 3, 20),
    }
    held = replace(evidence(rows=20), label_probabilities=(np.tile([0.75, 0.25], (20, 1)), None))
    assert verdict._calibration("test", scores, held) == ""
    scores["label_ece"] = replace(scores["label_ece"], low=0.05)
    right = (held.labels[:, 0] == 0).mean()
    word = "overconfident" if right < 0.75 else "underconfident"
    assert verdict._calibration("test", scores, held) == (
        f"On test, probabilities are off: of labels by 0.20 ({word}: 0.75 sure, {right:.2f} right)."
    )
