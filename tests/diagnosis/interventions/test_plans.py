"""Every setting of a plan reaches what it is for: splits, groups, costs, budgets, seeds, thresholds, sources, targets."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.contracts import EVERY, BottleneckModel
from assay.diagnosis import Budget, InterventionPlan, Trial, Truth, Units, answers_from, intervene, rule_head
from assay.diagnosis.interventions import intervene as module
from assay.diagnosis.interventions.manipulation import Manipulation, toggle_concepts
from assay.diagnosis.interventions.policies import FixedOrder, Responsiveness, Uncertainty
from assay.diagnosis.interventions.policy import Selection
from assay.diagnosis.interventions.sources import draw_expert_answers, even_confusion
from assay.errors import ConfigError, UnknownName
from assay.logic import Knowledge
from assay.seeds import rng_for

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2)), Concept("b", (False, True))))
RULE = Knowledge.of(SPACE, {"y": "a and n > 0", "z": "b or n == 2"})


class Split(SimpleNamespace):
    """Some worlds, as interventions see a split."""

    knowledge = RULE

    @property
    def labels(self):
        return RULE.labels_of(self.concepts)

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
    """A model that is unsure, and often wrong, in a way that the worlds decide."""
    chances = []
    for place, size in enumerate(SPACE.sizes):
        luck = rng_for(place, "answering", *data.concepts[:5].ravel().tolist()).dirichlet(np.ones(size), len(data))
        chances.append((luck + 0.6 * np.eye(size)[data.concepts[:, place]]) / 1.6)
    return BottleneckModel("toy", chances, rule_head(RULE))


def drawn(change=lambda world, place, code: (*world[:place], code, *world[place + 1 :])):
    """Worlds are drawn again as they are."""
    draw = lambda data, worlds: Split(name=data.name, concepts=np.array(worlds))  # noqa: E731
    return SimpleNamespace(change=change, draw=draw)


def test_splits_groups_costs_and_budgets():
    plan = InterventionPlan(
        "uncertainty",
        "0,max",
        split="hard",
        groups={"ab": ["a", "b"]},
        costs={"n": 4.0},
        batch_budget=9.0,
        baseline=0.5,
    )
    found = intervene(plan, DATA, answering)
    assert found.units == Units.of(SPACE, {"ab": ["a", "b"]}, {"n": 4.0}) and found.policy == Uncertainty()
    assert found.truth.labels.tolist() == DATA["hard"].labels.tolist() and found.index.tolist() == list(range(100, 125))
    assert found.truth.concepts.tolist() == DATA["hard"].concepts.tolist()
    none, most = found.curve.points
    assert (none.budget, most.budget) == (0.0, 6.0) and none.cost == 0 and 0 < most.cost * 25 <= 9.0
    assert [point.gain for point in found.curve.points] == [point.accuracy - 0.5 for point in found.curve.points]
    assert found.model == "toy" and [p.tolist() for p in found.concepts] == [
        p.tolist() for p in answering(DATA["hard"]).concepts
    ]
    assert found.control_changed == 0 and found.abstention is None


def test_policies_get_their_order_threshold_and_validation():
    for policy, given, made in (
        ("fixed", {"order": ["b", "a"]}, FixedOrder(order=(2, 0))),
        ("uncertainty", {"threshold": 0.7}, Uncertainty(0.7)),
        ("responsiveness", {"threshold": 0.05}, Responsiveness(0.05)),
    ):
        assert intervene(InterventionPlan(policy, "1", **given), DATA, answering).policy == made
    ranked = intervene(InterventionPlan("validation", "1"), DATA, answering).policy
    held = DATA["valid"]
    right = []
    for place in range(3):
        told = np.eye(SPACE.sizes[place])[held.concepts[:, place]]
        right.append((answering(held).answer(EVERY, {place: told}).label_codes == held.labels).mean())
    assert ranked.order == tuple(sorted(range(3), key=lambda unit: -right[unit])) and len(set(right)) == 3
    with pytest.raises(UnknownName, match="order: nothing named 'n' can be asked about"):
        intervene(InterventionPlan("fixed", "1", order=["n"], groups={"bn": ["b", "n"]}), DATA, answering)
    without = Dataset({name: data for name, data in DATA.items() if name != "valid"})
    for plan in (InterventionPlan("validation", "1"), InterventionPlan("fixed", "1", target=0.9)):
        with pytest.raises(ConfigError, match="needs a validation split"):
            intervene(plan, without, answering)


def test_seeds_reach_policies_experts_and_toggles():
    by_seed = {}
    for seed in (1, 2):
        random = intervene(InterventionPlan("random", "1", seed=seed), DATA, answering)
        expert = intervene(InterventionPlan("fixed", "max", source="expert:0.5", seed=seed), DATA, answering)
        toggled = intervene(InterventionPlan("fixed", "max", kind="manipulation", seed=seed), DATA, answering, drawn())
        by_seed[seed] = (
            random.curve.asked[0].units,
            expert.curve.outputs[0].concept_codes,
            toggled.curve.outputs[0].labels,
        )
        confusions = [even_confusion(size, 0.5) for size in SPACE.sizes]
        said = draw_expert_answers(DATA["test"].concepts, confusions, seed, "test")
        assert expert.curve.outputs[0].concept_codes.tolist() == said.tolist()
        changed = toggle_concepts(DATA["test"].concepts, SPACE.sizes, seed)
        assert (changed != DATA["test"].concepts).all()
        wanted = answering(Split(name="test", concepts=changed)).answer(EVERY, {}).labels
        assert [p.tolist() for p in toggled.curve.outputs[0].labels] == [p.tolist() for p in wanted]
    assert by_seed[1][0].tolist() != by_seed[2][0].tolist() and by_seed[1][1].tolist() != by_seed[2][1].tolist()
    assert not np.array_equal(by_seed[1][2][0], by_seed[2][2][0])


def test_what_worlds_are_changed_to():
    data, made = DATA["test"], answering(DATA["test"])
    plan = InterventionPlan(kind="manipulation", seed=4)
    assert module._targets(plan, data, made, None).tolist() == toggle_concepts(data.concepts, SPACE.sizes, 4).tolist()
    assert module._targets(replace(plan, source="self"), data, made, None).tolist() == data.concepts.tolist()
    holes = [p.copy() for p in made.concepts]
    holes[1][3], holes[2][::2] = np.nan, np.nan
    reader = SimpleNamespace(probabilities=lambda data: holes)
    found = module._targets(replace(plan, source="vlm"), data, made, reader)
    expected = np.stack([p.argmax(axis=1) for p in made.concepts], axis=1)
    expected[3, 1], expected[::2, 2] = -1, -1
    assert found.tolist() == expected.tolist()
    wrong = module._targets(replace(plan, source="expert:0"), data, made, None)
    assert (wrong != data.concepts).all()


def test_a_target_leaves_what_is_sure_alone():
    found = intervene(InterventionPlan("fixed", "0,2", target=0.8), DATA, answering)
    held = DATA["valid"]
    rule = module.fit_abstention(answering(held).answer(EVERY, {}).labels, held.labels, 0.8)
    assert found.abstention == rule
    decided = rule.decides(answering(DATA["test"]).answer(EVERY, {}).labels)
    asked = found.curve.asked[1].units
    assert 0 < decided.sum() < 40 and asked.any(axis=1).tolist() == (~decided).tolist()
    assert found.curve.points[0].automated.coverage == decided.mean()


def test_control_follows_the_same_questions_unless_they_depend_on_answers():
    found = intervene(InterventionPlan("random", "1,2"), DATA, answering)
    assert found.curve.asked == found.control.asked
    found = intervene(InterventionPlan("cooperative", "1,2"), DATA, answering)
    assert len(found.control.points) == 2
    drifting = replace(found, control=replace(found.control, points=tuple(
        replace(point, changed=share) for point, share in zip(found.control.points, (0.25, 0.125), strict=True)
    )))  # fmt: skip
    assert drifting.control_changed == 0.25


def test_a_result_is_drawn_over_what_was_asked():
    found = intervene(InterventionPlan("fixed", "0,1,2,max", source="perfect", costs={"a": 2.0}), DATA, answering)
    points = found.curve.points
    (axes,) = found.plot().axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines["answers"].get_xdata()) == [point.asked for point in points]
    assert list(lines["answers"].get_ydata()) == [point.accuracy for point in points]
    own = lines["own answers (control)"].get_ydata()
    assert list(own) == [point.accuracy for point in found.control.points]
    assert [p.asked for p in points] != [p.budget for p in points] and points[-1].accuracy == 1.0
    assert repr(found) == (
        f"InterventionResult(toy, fixed, confirmation: label accuracy {points[0].accuracy:.3f} at budget 0, 1.000 at 4)"
    )
    keys = ("budget", "accuracy", "concept_accuracy", "asked", "changed")
    shown = re.findall(r">([0-9.]+)</td>", found._repr_html_())
    assert shown == [f"{getattr(point, key):.3f}" for point in points for key in keys]
    frame = found.to_frame()
    assert frame["budget"].tolist() == [0.0, 1.0, 2.0, 4.0] and frame["cost"].tolist() == [p.cost for p in points]


def test_changes_of_worlds_by_hand():
    """What cannot be changed is no answer; accuracy is that of the new worlds, and what is asked is as told."""

    def change(world, place, code):
        return None if place == 1 and code == 0 else (*world[:place], code, *world[place + 1 :])

    data = DATA["hard"]
    units = Units.of(SPACE, {"ab": ["b", "a"]}, {"ab": 3.0})
    trial = Trial(
        answering(data), units, answers_from("self", data, answering(data)), Truth(data.concepts, data.labels)
    )
    targets = np.stack([1 - data.concepts[:, 0], data.concepts[:, 1] * 0, data.concepts[:, 2]], axis=1)
    targets[::3, 0] = -1
    asked = np.zeros((25, 2), dtype=bool)
    asked[::2, 0], asked[1::4, 1] = True, True
    made = Manipulation(trial, drawn(change), data, targets, answering)
    (point,) = made.run(FixedOrder(), [Budget(4.0)], [Selection(asked)]).points
    after = data.concepts.copy()
    turned = asked[:, 0] & (targets[:, 0] >= 0)
    after[turned, 0] = targets[turned, 0]
    done = int(turned.sum() + asked[:, 0].sum())  # of b each is set to what it is
    right = answering(Split(name="hard", concepts=after)).answer(EVERY, {}).label_codes == RULE.labels_of(after)
    assert point.answered == done / 25 and point.edited == turned.sum() / 25 and point.accuracy == right.mean()
    assert point.asked == (2 * asked[:, 0].sum() + asked[:, 1].sum()) / 25 and point.cost == (asked @ [3.0, 1.0]).mean()
    worlds, which = made.change_worlds(np.ones((25, 3), dtype=bool))
    assert which.tolist() == np.stack([targets[:, 0] >= 0, [False] * 25, [True] * 25], axis=1).tolist()
    assert worlds.concepts[:, 1].tolist() == data.concepts[:, 1].tolist()
