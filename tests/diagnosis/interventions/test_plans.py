"""Whole intervention studies: models whose errors are written down, every setting of a plan, changes of worlds."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from assay.base import ConfigError, UnknownName, rng_for
from assay.contracts import EVERY, BottleneckModel, rule_head
from assay.dataset import redrawing_for
from assay.diagnosis import InterventionPlan, Units, answers_from, intervene
from assay.logic import Concept, ConceptSpace, Knowledge

# -- a model that always reads one bit as false ------------------------------------------------------------------------


def blind_to_the_first(data):
    """A model that reads the first bit as false, not quite surely, and the others as they are."""
    read = data.concepts.copy()
    read[:, 0] = 0
    concepts = [0.8 * np.eye(2)[read[:, i]] + 0.1 for i in range(3)]
    concepts[0] = np.tile([0.6, 0.4], (len(data), 1))
    return BottleneckModel("blind", concepts, rule_head(data.knowledge))


def study(dataset, **plan):
    redraw = redrawing_for(plan.get("kind", ""), dataset)
    return intervene(InterventionPlan(**plan), dataset, blind_to_the_first, redraw)


def test_asking_about_what_it_cannot_see_mends_a_model(mnlogic):
    found = study(mnlogic, policy="fixed", order=mnlogic.knowledge.space.names)
    data = mnlogic["test"]
    share = (data.concepts[:, 0] == 0).mean()
    points = found.curve.points
    assert [point.budget for point in points] == [0, 1, 2, 3] and [p.whole for p in points] == [False] * 3 + [True]
    assert points[0].accuracy == pytest.approx(share) and [p.accuracy for p in points[1:]] == [1, 1, 1]
    assert [point.asked for point in points] == [0, 1, 2, 3] == [point.answered for point in points]
    assert [point.edited for point in points] == pytest.approx([0, 1 - share, 1 - share, 1 - share])
    assert [point.changed for point in points] == pytest.approx([0, 1 - share, 1 - share, 1 - share])
    assert points[0].concept_accuracy == pytest.approx((2 + share) / 3) and points[-1].concept_accuracy == 1
    assert found.control_changed == 0 and {p.accuracy for p in found.control.points} == {points[0].accuracy}
    assert found.index.tolist() == data.index.tolist() and found.truth.labels.tolist() == data.labels.tolist()
    frame = found.to_frame()
    assert frame["accuracy"].tolist() == [p.accuracy for p in points] and len(frame) == 4
    for policy in ("responsiveness", "validation"):  # both find out which question tells most
        found = study(mnlogic, policy=policy, budget="1")
        assert found.curve.asked[0].units[:, 0].all() and found.curve.points[0].accuracy == 1


def test_changed_worlds_are_judged_by_their_own_truth(mnlogic):
    names, data = mnlogic.knowledge.space.names, mnlogic["test"]
    found = study(mnlogic, policy="fixed", order=names, kind="manipulation", budget="0,1,max")
    zeros = (data.concepts[:, 0] == 0).mean()
    assert [point.accuracy for point in found.curve.points] == pytest.approx([zeros, 1 - zeros, 1 - zeros])
    assert [point.edited for point in found.curve.points] == [0, 1, 3] == [p.answered for p in found.curve.points]
    assert {point.accuracy for point in found.control.points} == {zeros} and found.plan.answered_by == "toggle"
    assert {point.edited for point in found.control.points} == {0}
    for source, edited in (("self", 0), ("expert:0", 3)):
        kept = study(mnlogic, policy="fixed", order=names, kind="manipulation", source=source, budget="max")
        assert [point.edited for point in kept.curve.points] == [edited]
    with pytest.raises(ConfigError, match="nothing to draw them with"):
        intervene(InterventionPlan(kind="manipulation"), mnlogic, blind_to_the_first)


def test_what_is_decided_alone_is_not_asked_about(mnlogic):
    def sure_of_some(data):
        sure = np.arange(len(data))[:, None] % 2 == 0
        concepts = [np.where(sure, np.eye(2)[data.concepts[:, i]], 0.5) for i in range(3)]
        return BottleneckModel("sure", concepts, rule_head(data.knowledge))

    plan = InterventionPlan(policy="random", budget="0,max", target=1.0, baseline=0.25)
    found = intervene(plan, mnlogic, sure_of_some)
    first, last = found.curve.points
    assert first.automated.coverage == 0.5 and first.automated.selective_accuracy == 1
    assert last.asked == 1.5 and last.accuracy == 1 and last.gain == 0.75  # three concepts of every second example
    assert last.automated.net_work_automated == pytest.approx(1 - 1.5 / 3)
    assert not found.curve.asked[1].units[::2].any() and found.curve.asked[1].units[1::2].all()


def test_plans_that_cannot_be():
    with pytest.raises(UnknownName, match="no kind of intervention named 'manipulate'; did you mean 'manipulation'"):
        InterventionPlan(kind="manipulate")
    with pytest.raises(ConfigError, match="source 'toggle' is for manipulation"):
        InterventionPlan(source="toggle")
    for order, groups in ((["q"], {}), (["n"], {"bn": ["b", "n"]})):
        with pytest.raises(UnknownName, match=f"order: nothing named '{order[0]}' can be asked about"):
            intervene(InterventionPlan("fixed", "1", order=order, groups=groups), DATA, answering)
    without = Dataset({name: data for name, data in DATA.items() if name != "valid"})
    for plan in (InterventionPlan("validation", "1"), InterventionPlan("fixed", "1", target=0.9)):
        with pytest.raises(ConfigError, match="needs a validation split"):
            intervene(plan, without, answering)


# -- a model that is unsure, and often wrong ---------------------------------------------------------------------------

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2)), Concept("b", (False, True))))
RULE = Knowledge.of(SPACE, {"y": "a and n > 0", "z": "b or n == 2"})


class Split(SimpleNamespace):
    """Some worlds, as interventions see a split."""

    knowledge = RULE

    @property
    def labels(self):
        return RULE.labels_of(np.maximum(self.concepts, 0))

    @property
    def index(self):
        return np.arange(100, 100 + len(self))

    def world(self, row):
        return tuple(self.concepts[row].tolist())

    def __len__(self):
        return len(self.concepts)


def split(name, rows):
    return Split(name=name, concepts=rng_for(0, name).integers(0, SPACE.sizes, (rows, 3)))


class Dataset(dict):
    knowledge = RULE


DATA = Dataset(test=split("test", 40), hard=split("hard", 25), valid=split("valid", 200))


def answering(data):
    """The worlds decide how unsure the model is."""
    chances = []
    for place, size in enumerate(SPACE.sizes):
        luck = rng_for(place, "answering", *data.concepts[:5].ravel().tolist()).dirichlet(np.ones(size), len(data))
        chances.append((luck + 0.6 * np.eye(size)[data.concepts[:, place]]) / 1.6)
    return BottleneckModel("toy", chances, rule_head(RULE))


class Drawn:
    """Worlds drawn again as they are, and remembered; n cannot be made 0."""

    def __init__(self):
        self.drawn = []

    def change(self, world, place, code):
        return None if (place, code) == (1, 0) else (*world[:place], code, *world[place + 1 :])

    def draw(self, data, worlds):
        self.drawn.append(np.array(worlds))
        return Split(name=data.name, concepts=np.array(worlds))


@pytest.mark.parametrize("policy", ["uncertainty", "random", "cooperative"])
@pytest.mark.parametrize("source", ["perfect", "expert:0.5", "vlm"])
def test_every_number_of_a_point_by_a_plain_loop(policy, source):
    plan = InterventionPlan(
        policy, "0,2,3.5,max", source, groups={"ab": ["a", "b"]}, costs={"n": 2.5}, target=0.7, baseline=0.25, seed=3
    )
    data = DATA["test"]
    made, truth = answering(data), data.concepts.copy()
    truth[::7, 1] = -1  # not known
    held = Dataset(DATA, test=Split(name="test", concepts=truth))
    gaps = [np.where(np.arange(40)[:, None] % 3 == place, np.nan, p) for place, p in enumerate(made.concepts)]
    reader = SimpleNamespace(probabilities=lambda data: gaps)
    found = intervene(plan, held, lambda split: made if len(split) == 40 else answering(split), reader=reader)
    units = Units.of(SPACE, {"ab": ["a", "b"]}, {"n": 2.5})
    answers = answers_from(source, held["test"], made, 3, reader)
    given = np.stack([~np.isnan(p[:, 0]) for p in answers], axis=1)
    told = np.stack([np.nan_to_num(p).argmax(axis=1) for p in answers], axis=1)
    own = np.stack([p.argmax(axis=1) for p in made.concepts], axis=1)
    before = made.answer(EVERY, {}).label_codes
    for budget, point, chosen, after in zip(
        (0.0, 2.0, 3.5, 4.5), found.curve.points, found.curve.asked, found.curve.outputs, strict=True
    ):
        asked = chosen.units[:, [0, 1, 0]]
        right = after.label_codes == held["test"].labels
        decided = found.abstention.decides(after.labels)
        expected = {
            "budget": budget, "whole": budget == 4.5, "accuracy": right.mean(), "all_right": right.all(axis=1).mean(),
            "concept_accuracy": (after.concept_codes == truth)[truth >= 0].mean(), "asked": asked.sum() / 40,
            "answered": (asked & given).sum() / 40, "edited": (asked & given & (told != own)).sum() / 40,
            "cost": (chosen.units @ units.cost).mean(), "exact": True,
            "changed": (after.label_codes != before).any(axis=1).mean(), "gain": right.mean() - 0.25,
            "coverage": decided.mean(), "selective_accuracy": right.all(axis=1)[decided].mean(),
            "net_work_automated": decided.mean() - asked.sum() / 40 / 3,
        }  # fmt: skip
        assert point.to_dict() == pytest.approx(expected)
        open_rows = ~found.abstention.decides(found.curve.outputs[0].labels)
        assert not chosen.units[~open_rows].any()
    assert found.control_changed == 0


def test_splits_groups_costs_and_budgets():
    plan = InterventionPlan(
        "uncertainty", "0,max", split="hard", groups={"ab": ["a", "b"]}, costs={"n": 4.0}, batch_budget=9.0
    )
    found = intervene(plan, DATA, answering)
    assert found.units == Units.of(SPACE, {"ab": ["a", "b"]}, {"n": 4.0})
    assert found.truth.labels.tolist() == DATA["hard"].labels.tolist() and found.index.tolist() == list(range(100, 125))
    none, most = found.curve.points
    assert (none.budget, most.budget) == (0.0, 6.0) and none.cost == 0 and 0 < most.cost * 25 <= 9.0
    assert found.abstention is None and none.to_dict()["gain"] is None and "coverage" not in none.to_dict()


def right(data):
    """A model all of whose labels are right, though it is not sure of its concepts."""
    concepts = [
        sure * np.eye(size)[data.concepts[:, i]] + (1 - sure) / size
        for i, (sure, size) in enumerate(zip((0.7, 0.9, 0.6), SPACE.sizes, strict=True))
    ]
    return BottleneckModel("right", concepts, rule_head(RULE))


@pytest.mark.parametrize("model", [answering, right])
def test_units_are_ranked_on_validation_by_accuracy_then_by_the_chance_of_the_truth(model):
    held = DATA["valid"] if model is answering else Split(name="valid", concepts=np.array([[1, 1, 1], [0, 0, 1]]))
    gains = []
    for place in range(3):
        output = model(held).answer(EVERY, {place: np.eye(SPACE.sizes[place])[held.concepts[:, place]]})
        likely = np.mean([p[np.arange(len(held)), held.labels[:, i]] for i, p in enumerate(output.labels)])
        gains.append(((output.label_codes == held.labels).mean(), likely))
    assert len({accuracy for accuracy, _ in gains}) == (3 if model is answering else 1)
    found = intervene(InterventionPlan("validation", "1"), Dataset(DATA, valid=held), model).policy
    assert found.order == tuple(sorted(range(3), key=lambda unit: gains[unit], reverse=True)) != (0, 1, 2)


def test_seeds_reach_policies_experts_and_toggles():
    def drawn(seed, policy="fixed", budget="max", **more):
        redraw = Drawn() if "kind" in more else None
        found = intervene(InterventionPlan(policy, budget, seed=seed, **more), DATA, answering, redraw)
        kept = [] if redraw is None else redraw.drawn[0].tolist()
        return found.curve.asked[0].units.tolist(), found.curve.outputs[0].concept_codes.tolist(), kept

    for plan in (
        {"policy": "random", "budget": "1"},
        {"source": "expert:0.5"},
        {"kind": "manipulation"},
    ):
        assert drawn(1, **plan) == drawn(1, **plan) != drawn(2, **plan)


# -- manipulation ------------------------------------------------------------------------------------------------------


def test_toggled_concepts_have_any_other_value_and_what_cannot_be_changed_stays():
    redraw = Drawn()
    data = Dataset(test=Split(name="test", concepts=np.tile([0, 1, 1], (2000, 1))))
    found = intervene(InterventionPlan("fixed", "max", kind="manipulation"), data, answering, redraw)
    after = redraw.drawn[0]
    assert (after[:, 0] == 1).all() and (after[:, 2] == 0).all()
    n = np.bincount(after[:, 1], minlength=3)
    assert n[0] == 0 and n[2] == pytest.approx(1000, rel=0.1)  # in the other half, n was to become 0
    assert found.curve.points[0].answered == 2 + n[2] / 2000 == found.curve.points[0].edited
    right = answering(Split(name="test", concepts=after)).answer(EVERY, {}).label_codes == RULE.labels_of(after)
    assert found.curve.points[0].accuracy == right.mean() and found.curve.points[0].asked == 3


def test_concepts_of_worlds_are_changed_to_what_a_source_says_and_left_where_it_says_nothing():
    data, redraw = DATA["test"], Drawn()
    said = [p.copy() for p in answering(data).concepts]
    said[2][::2] = np.nan
    reader = SimpleNamespace(probabilities=lambda data: said)
    plan = InterventionPlan("fixed", "max", "vlm", kind="manipulation")
    found = intervene(plan, DATA, answering, redraw, reader)
    expected = np.stack([np.nan_to_num(p).argmax(axis=1) for p in said], axis=1)
    expected[::2, 2] = data.concepts[::2, 2]
    impossible = expected[:, 1] == 0
    expected[impossible, 1] = data.concepts[impossible, 1]
    assert redraw.drawn[0].tolist() == expected.tolist() and impossible.any()
    (point,) = found.curve.points
    assert point.edited == (expected != data.concepts).sum() / 40
    assert point.answered == 3 - impossible.mean() - 0.5  # a value that it has already counts


# -- results -----------------------------------------------------------------------------------------------------------


def test_control_follows_the_same_questions_unless_they_depend_on_answers():
    found = intervene(InterventionPlan("random", "1,2"), DATA, answering)
    assert found.curve.asked == found.control.asked
    found = intervene(InterventionPlan("cooperative", "1,2"), DATA, answering)
    assert len(found.control.points) == 2
    points = tuple(
        replace(point, changed=share) for point, share in zip(found.control.points, (0.25, 0.125), strict=True)
    )
    assert replace(found, control=replace(found.control, points=points)).control_changed == 0.25


def test_a_result_is_drawn_over_what_was_asked():
    found = intervene(InterventionPlan("fixed", "0,1,2,max", source="perfect", costs={"a": 2.0}), DATA, answering)
    points = found.curve.points
    (axes,) = found.plot().axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines["answers"].get_xdata()) == [point.asked for point in points]
    assert list(lines["answers"].get_ydata()) == [point.accuracy for point in points]
    own = lines["own answers (control)"].get_ydata()
    assert list(own) == [point.accuracy for point in found.control.points]
    assert "toy, fixed" in repr(found) and f"{points[0].accuracy:.3f} at budget 0, 1.000 at 4" in repr(found)
    shown = re.findall(r">([0-9.]+)</td>", found._repr_html_())
    assert shown[:2] == ["0.000", f"{points[0].accuracy:.3f}"] and len(shown) == 5 * len(points)
    assert found.to_frame()["cost"].tolist() == [p.cost for p in points]


# -- abstention --------------------------------------------------------------------------------------------------------

SIZES = (2, 3)
READ = ConceptSpace(tuple(Concept(f"c{size}", tuple(range(size))) for size in SIZES))
LABELS = Knowledge.of(READ, {"y2": "c2", "y3": "c3"})
"""Labels that are the concepts: what a model thinks of one is what it thinks of the other."""


def abstaining(chances, truth, target):
    """Fit on these label probabilities, of which the truth is known, what a model decides by itself."""
    part = SimpleNamespace(concepts=truth, labels=truth, index=np.arange(len(truth)), name="valid", knowledge=LABELS)
    data = Dataset(valid=part, test=part)
    data.knowledge = LABELS
    made = BottleneckModel("m", chances, lambda concepts: [np.asarray(p) for p in concepts])
    found = intervene(InterventionPlan("fixed", "0", target=target), data, lambda _: made)
    return found.abstention, found.curve.points[0].automated


def sample(rows, sharp):
    """Calibrated chances, what is drawn from them, and the chances made so much sharper."""
    rng = rng_for(0, "calibrated", sharp)
    chances, truth = [], []
    for size in SIZES:
        scores = rng.normal(size=(rows, size)) * 1.5
        fair = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        truth.append((rng.random(rows)[:, None] > np.cumsum(fair, axis=1)).sum(axis=1).clip(max=size - 1))
        chances.append(fair**sharp / (fair**sharp).sum(axis=1, keepdims=True))
    return chances, np.stack(truth, axis=1)


@pytest.mark.parametrize("sharp", [0.5, 1.0, 3.0])
def test_confidence_is_calibrated_and_keeps_its_target_on_new_examples(sharp):
    chances, truth = sample(20_000, sharp)
    rule, _ = abstaining([p[:10_000] for p in chances], truth[:10_000], 0.7)
    assert [scaling.slope for scaling in rule.scalings] == pytest.approx([1 / sharp] * 2, rel=0.08)
    new = [p[10_000:] for p in chances]
    decided = rule.decides(new)
    right = np.all([p.argmax(axis=1) == truth[10_000:, i] for i, p in enumerate(new)], axis=0)
    assert 0.1 < decided.mean() < 0.9 and right[decided].mean() == pytest.approx(0.7, abs=0.02)


def test_a_scaling_has_the_least_cross_entropy_and_the_threshold_is_the_lowest_that_keeps_the_target():
    chances, truth = sample(400, 2.0)
    shifted = chances[0] * [1.0, 3.0]  # too often the second value
    chances[0] = shifted / shifted.sum(axis=1, keepdims=True)
    rule, automated = abstaining(chances, truth, 0.8)

    def scaled(place, slope, shift):
        logs = slope * np.log(chances[place])
        logs[:, 1] += shift
        return np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)

    for place, scaling in enumerate(rule.scalings):

        def loss(slope, shift, place=place):
            return -np.log(scaled(place, slope, shift)[np.arange(400), truth[:, place]]).mean()

        least = loss(scaling.slope, scaling.shift)
        assert (scaling.shift == 0) == (place == 1)  # a shift is for two values
        for slope, shift in ((1.05, 0.0), (0.95, 0.0), (1.0, 0.1), (1.0, -0.1)):
            moved = scaling.slope * slope, scaling.shift + (shift if place == 0 else 0.0)
            assert loss(*moved) >= least - 1e-9
    right = np.all([p.argmax(axis=1) == truth[:, i] for i, p in enumerate(chances)], axis=0)
    both = [scaled(place, scaling.slope, scaling.shift) for place, scaling in enumerate(rule.scalings)]
    sure = np.prod([p.max(axis=1) for p in both], axis=0)  # in both labels together
    decided = rule.decides(chances)
    assert decided.tolist() == (sure >= rule.threshold - 1e-12).tolist() and right[decided].mean() >= 0.8
    lower = np.unique(sure[~decided])
    assert all(right[sure >= threshold].mean() < 0.8 for threshold in lower.tolist())
    assert (automated.coverage, automated.selective_accuracy) == (decided.mean(), right[decided].mean())


def test_sure_and_right_answers_have_a_finite_scaling_and_targets_out_of_reach_are_refused():
    truth = np.stack([np.arange(60) % 2, np.arange(60) % 3], axis=1)
    sharp = [0.9 * np.eye(size)[truth[:, i]] + 0.1 / size for i, size in enumerate(SIZES)]
    rule, automated = abstaining(sharp, truth, 1.0)
    assert np.isfinite([s.slope for s in rule.scalings]).all() and automated.coverage == 1
    wrong = [p[::-1] if i == 0 else p for i, p in enumerate(sharp)]  # equal confidence is decided together
    with pytest.raises(ConfigError, match=r"no threshold reaches accuracy 0.9 on validation: the best is 0.000, dec"):
        abstaining(wrong, truth, 0.9)
    for target in (0.0, 1.01):
        with pytest.raises(ConfigError, match="a target accuracy is a number above 0 and up to 1"):
            abstaining(sharp, truth, target)
