"""Rule learners at their edges: some rows set, impossible concepts, truths of nought, settings handed on."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from assay.concepts import Concept, ConceptSpace
from assay.config import Settings
from assay.errors import ConfigError, KnowledgeError, UnknownName
from assay.logic import Constraint, Diagram, Knowledge, Label, parse
from assay.logic import formula as f
from assay.models import MODELS
from assay.models.core.tensors import Annotations
from assay.models.rule import fuzzy_logic
from assay.models.rule.circuit import LEAST_LOG, DiagramLayer, RuleLayer, _add_logs
from assay.models.rule.fuzzy_logic import (
    FuzzyRule,
    FuzzyValues,
    Semantics,
    _count_truths,
    cases_hold,
    each_holds,
    fitting,
)
from assay.models.rule.ltn import LTN
from assay.render import Layout
from tests.models.limits import NOT_NEGATIVE, require_limits
from tests.models.tiles import model_of

SPACE = ConceptSpace((Concept("n", (0, 1, 2)), Concept("a", (False, True)), Concept("m", (3, 4))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a and n > 0", "z": "n + a"}, [Constraint("c", parse("n < 2 or a"))])


def model(name, knowledge=KNOWLEDGE, **settings):
    return MODELS[name](
        knowledge, Layout(3, 2), Settings({"device": "cpu", "backbone": "mlp", **settings}), seed=1
    ).eval()


def pictures(count=4):
    return torch.rand(count, 1, 2, 3, generator=torch.Generator().manual_seed(0))


def shares(count=4, seed=0):
    drawn = torch.Generator().manual_seed(seed)
    return [torch.randn(count, size, generator=drawn).softmax(dim=1) for size in SPACE.sizes]


def close(found, wanted, atol=1e-5):
    np.testing.assert_allclose(np.asarray(found.detach()), np.asarray(wanted), atol=atol)


# -- what is taught ----------------------------------------------------------------------------------------------------


def test_what_is_taught_keeps_the_constraints_and_the_order_of_labels():
    made = model("dpl", further_labels={"w": "m == 4", "v": "n == m"})
    assert made.taught.label_names == ("y", "z", "w", "v") and made.taught.constraints == KNOWLEDGE.constraints
    assert model("dpl").taught is KNOWLEDGE
    own = model("dpl", rule={"z": "n + (m == 4)"})
    assert own.taught.label_names == ("y", "z") and str(own.taught.label("y").formula) == "a and n > 0"
    assert own.taught.constraints == KNOWLEDGE.constraints
    with pytest.raises(UnknownName, match="no label named 'x'"):
        model("dpl", rule={"x": "a"})
    with pytest.raises(ConfigError, match="rule: 'a' gives other values than label 'z' of the data has"):
        model("dpl", rule={"z": "a"})


def test_further_labels_follow_from_concepts_of_every_example():
    made = model("ltn", further_labels={"w": "m == 4", "v": "n * 2"})
    concepts = torch.tensor([[2, 1, 0], [0, 0, 1], [1, 1, 1]])
    labels = torch.tensor([[1, 0], [0, 2], [0, 3]])
    given = Annotations(labels, concepts, torch.arange(3))
    assert made.labels_taught(given).tolist() == [[1, 0, 0, 2], [0, 2, 1, 0], [0, 3, 1, 1]]
    exact = model("dpl", further_labels={"w": "m == 4"})
    truth = torch.from_numpy(np.ascontiguousarray(KNOWLEDGE.labels_of(concepts.numpy())))
    found = exact.labels_taught(Annotations(truth, concepts, torch.arange(3)))
    wanted = [exact.rule.numbers[tuple(own)] for own in [[*row, int(m)] for row, m in zip(truth.tolist(), (0, 1, 1), strict=True)]]  # fmt: skip
    assert found.tolist() == [[number] for number in wanted]
    for row in range(3):
        missing = concepts.clone()
        missing[row, 2] = -1
        with pytest.raises(ConfigError, match="further_labels follow from concepts, and some of those are missing"):
            made.labels_taught(Annotations(labels, missing, torch.arange(3)))


def test_pictures_can_be_drawn_again_only_where_they_are_read():
    given = Settings({"device": "cpu", "backbone": "mlp", "input": "features", "reconstruction_weight": 1.0})
    made = MODELS["dpl"](KNOWLEDGE, Layout(0, 0), given)
    reads = SimpleNamespace(layout=Layout(5, 1), kind="features", usual_backbone="mlp")
    with pytest.raises(ConfigError, match="draws pictures again, and this model reads input=features"):
        made.read_as(reads)
    plain = MODELS["dpl"](KNOWLEDGE, Layout(0, 0), Settings({"device": "cpu", "backbone": "mlp", "input": "features"}))
    plain.read_as(reads)
    assert not hasattr(plain, "decoder") and plain.answer(torch.rand(2, 1, 1, 5), {}).labels[1].shape == (2, 4)
    wide = MODELS["dpl"](KNOWLEDGE, Layout(4, 3, 2), Settings({"backbone": "mlp", "reconstruction_weight": 0.5}))
    assert wide.decoder.style[1].in_features == 24 and wide.decoder.draw[0].in_features == 7 + 16


def test_pictures_are_not_drawn_again_where_concepts_are_perceived():
    made = model("dpl")
    made.perception = "a run"
    made.config = made.config.model_copy(update={"reconstruction_weight": 1.0})
    with pytest.raises(ConfigError, match="draws pictures again, and with perception none are read"):
        made.build("mlp")


@torch.no_grad()
def test_losses_through_the_rule_are_means_over_examples():
    made, own = model("dpl"), model("dpl", rule={"y": "a or n > 1"})
    logits = [share.log() + 0.5 for share in shares(3)]
    concepts = [scores.softmax(dim=1) for scores in logits]
    outcomes = torch.tensor([[0], [2], [1]])
    chances = made.rule(concepts).gather(1, outcomes)
    assert made.rule_loss(logits, outcomes).item() == pytest.approx(-chances.log().mean().item(), abs=1e-5)
    labels = torch.tensor([[1, 2], [0, 0], [1, 3]])
    marginals = own.rule.marginals(own.rule(concepts))
    smooth = [(part + 1e-5) / (part + 1e-5).sum(dim=1, keepdim=True) for part in marginals]
    wanted = np.mean([-part.log()[torch.arange(3), labels[:, i]].mean().item() for i, part in enumerate(smooth)])
    assert own.rule_loss(logits, labels).item() == pytest.approx(wanted, abs=1e-5)
    impossible = [torch.tensor([[50.0, 0, 0]]), torch.tensor([[50.0, 0]]), torch.tensor([[0.0, 0]])]
    assert np.isfinite(own.rule_loss(impossible, torch.tensor([[1, 3]])).item())


@pytest.mark.parametrize(("name", "perceives"), [("dpl", True), ("ltn", True), ("bears", False)])
def test_what_a_rule_learner_is_before_anything_is_set(name, perceives):
    kind = MODELS[name]
    assert (kind.name, kind.role, kind.has_concepts, kind.can_intervene) == (name, "concept", True, True)
    assert (kind.default_backbone, kind.why_pictures is None, kind.answer_cost) == ("conv-stride", perceives, 1)
    hints = {"concept": "mlp-wide", "label": "mlp"}
    assert kind.configure(Settings({}), hints).backbone == "mlp-wide"


# -- members -----------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_a_concept_is_set_in_every_member_where_it_differs_from_their_average():
    made = model("bears", members=3, further_labels={"w": "m == 4"})
    says = [[own.softmax(dim=1) for own in member(pictures())] for member in made.encoders()]
    average = [sum(own[i] for own in says) / 3 for i in range(3)]
    setting = average[0].clone()
    setting[[1, 3]] = torch.tensor([[0.5, 0.25, 0.25], [0, 0, 1.0]])
    found = made.answer(pictures(), {0: setting, 2: torch.tensor([0, 1, 1, 0])})
    rows = torch.tensor([False, True, False, True])[:, None]
    coded = F.one_hot(torch.tensor([0, 1, 1, 0]), 2).float()
    labels = [made.rule.marginals(made.rule([torch.where(rows, setting, own[0]), own[1], coded])) for own in says]
    assert len(found.labels) == 2
    for place in range(2):
        close(found.labels[place], sum(own[place] for own in labels) / 3)
    close(found.concepts[0], setting)
    close(found.concepts[1], average[1])
    close(found.concepts[2], coded)
    assert len(made.others) == 2 and made.members == made.learned == 3


@torch.no_grad()
def test_members_speak_of_every_chunk(monkeypatch):
    made = model("bears", members=2)
    given = pictures(5)
    monkeypatch.setattr(made, "feed", lambda data, device: "feed")
    monkeypatch.setattr(made, "chunks", lambda feed: [given[:2], given[2:]])
    made.train()
    found = made.member_concepts("data")
    assert not made.training
    for own, member in zip(found, made.encoders(), strict=True):
        for place, logits in enumerate(member(given)):
            np.testing.assert_allclose(own[place], logits.softmax(dim=1), atol=1e-6)
    made.learned = 1
    assert len(made.member_concepts("data")) == 1


# -- the diagram as a layer --------------------------------------------------------------------------------------------


@torch.no_grad()
def test_impossible_concepts_leave_logs_that_are_numbers():
    rule = RuleLayer(KNOWLEDGE)
    sure = [torch.tensor([[0.0, -torch.inf, -torch.inf]]), torch.tensor([[-torch.inf, 0.0]]), torch.log(torch.tensor([[0.5, 0.5]]))]  # fmt: skip
    found = rule.logs(sure)
    assert found.isfinite().all() and found.exp()[0].sum().item() == pytest.approx(1)
    assert rule.numbers[(0, 1)] == found[0].argmax().item() and found.min().item() <= -60
    concepts = shares()
    close(rule.logs([share.log() for share in concepts]).exp(), rule(concepts))
    bits = RuleLayer(Knowledge.of(ConceptSpace((Concept("n", (0, 1, 2)),)), {"y": "2 - n"}))
    values = [value for (value,) in bits.knowledge.diagram.outcomes]
    close(bits(concepts[:1]), concepts[0][:, [2 - value for value in values]])
    assert bits.diagram.one_to_one == [True]
    close(bits.logs([concepts[0].log()]).exp(), bits(concepts[:1]))
    shut = bits.logs([torch.tensor([[-torch.inf, 0.0, -torch.inf]])])
    assert shut.isfinite().all() and shut.min().item() == pytest.approx(LEAST_LOG)


@torch.no_grad()
def test_a_diagram_may_ask_for_concepts_in_any_order():
    space = ConceptSpace((Concept("n", (0, 1, 2)), Concept("b", (False, True))))
    layers = np.array([[1, 0]]), np.array([[0, 1, 0], [2, 0, 1]])
    layer = DiagramLayer(Diagram(space, (1, 0), layers, (("x",), ("y",), ("z",))))
    n, b = shares(4)[:2]
    wanted = [
        b[:, 1] * (n[:, 0] + n[:, 2]) + b[:, 0] * n[:, 1],
        b[:, 1] * n[:, 1] + b[:, 0] * n[:, 2],
        b[:, 0] * n[:, 0],
    ]
    close(layer([n, b]), torch.stack(wanted, dim=1))
    close(layer.logs([n.log(), b.log()]).exp(), torch.stack(wanted, dim=1))
    assert layer.one_to_one == [True, False] and layer.widths == [2, 3] and layer.outcomes == 3


def test_logs_are_added_up_by_target():
    shares_ = torch.log(torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.25, 0.0, 0.75, 0.0]]))
    found = _add_logs(shares_, torch.tensor([2, 0, 2, 0]), 4)
    close(found[:, [0, 2]].exp(), [[0.6, 0.4], [0.0, 1.0]])
    assert found.isfinite().all() and (found[:, [1, 3]] < -1e20).all()


def test_outcomes_are_numbered_row_by_row():
    rule = RuleLayer(KNOWLEDGE)
    labels = KNOWLEDGE.labels_of(SPACE.all_codes())
    rows = labels[[11, 0, 5, 0, 7]]
    assert rule.outcome_numbers(rows).tolist() == [rule.numbers[tuple(row)] for row in rows.tolist()]
    for place, label in enumerate(KNOWLEDGE.labels):
        table = getattr(rule, f"label_{place}")
        for codes, number in rule.numbers.items():
            assert table[number].tolist() == F.one_hot(torch.tensor(codes[place]), len(label.values)).tolist()


# -- fuzzy logic -------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_labels_of_no_truth_at_all_are_even(monkeypatch):
    made = model("ltn")
    monkeypatch.setattr(
        LTN, "truths", lambda self, concepts: [torch.zeros(1, 2), torch.tensor([[0.0, 0.5, 0.25, 0.25]])]
    )
    first, second = made.labels_from_concepts(shares(1))
    assert first.tolist() == [[0.5, 0.5]]
    close(second, [[0, 0.5, 0.25, 0.25]])


def test_connectives_are_those_that_are_set():
    made = model("ltn", conjunction="goedel", disjunction="lukasiewicz", implication="goguen", exists="or", p=3.0)
    assert made.semantics == Semantics("goedel", "lukasiewicz", "goguen", "or", 3.0)
    assert model("ltn").semantics.exists == "p-mean" and model("ltn", exists="p-mean").semantics.exists == "p-mean"
    assert [type(own).__name__ for own in made.readings] == ["FuzzyRule", "FuzzyValues"]


@pytest.mark.parametrize(("exists", "inside", "outside"), [("auto", "or", "p-mean"), ("or", "or", "or"), ("p-mean", "p-mean", "p-mean")])  # fmt: skip
@torch.no_grad()
def test_some_is_read_otherwise_for_labels_that_are_true_or_false(exists, inside, outside):
    made, given = model("ltn", exists=exists), shares()
    truth = FuzzyRule(KNOWLEDGE.label("y").formula, SPACE)(given, Semantics(exists=inside))
    first, second = made.truths(given)
    close(first, torch.stack([1 - truth, truth], dim=1))
    close(second, FuzzyValues(KNOWLEDGE.label("z").formula, SPACE, (0, 1, 2, 3))(given, Semantics(exists=outside)))


def test_p_is_that_of_its_epoch_whatever_came_before():
    made = model("ltn", p=3.0, last_p=1.0)
    found = []
    for epoch in (4, 2, 5, 1):
        made.begin(epoch, 5)
        found.append(made.semantics.p)
    assert found == [1.5, 2.5, 1.0, 3.0] and made.varies
    made.begin(1, 5)
    logits = [share.log() for share in shares()]
    first = made.rule_loss(logits, torch.zeros(4, 2, dtype=torch.long))
    made.begin(5, 5)
    assert not torch.isclose(first, made.rule_loss(logits, torch.zeros(4, 2, dtype=torch.long)))
    (phase,) = made.phases(Annotations(torch.zeros(4, 2, dtype=torch.long), torch.zeros(4, 3, dtype=torch.long), torch.arange(4)))  # fmt: skip
    assert phase.varies and phase.name == "rule" and phase.begin == made.begin
    assert not model_of("dpl", {}).varies


def test_cases_are_of_the_concepts_that_are_asked_for():
    places, cases = fitting(parse("a and n == 2"), SPACE, [True])
    order = dict(zip(places, cases.T.tolist(), strict=True))
    assert order == {0: [2], 1: [1]}
    places, cases = fitting(parse("m - 3 == n"), SPACE, [True])
    assert sorted(zip(*(cases.T.tolist()[places.index(place)] for place in (0, 2)), strict=True)) == [(0, 0), (1, 1)]
    given = shares(2)
    found = cases_hold(places, cases, given, Semantics(exists="or", disjunction="lukasiewicz"))
    close(found, given[0][:, 0] * given[2][:, 0] + given[0][:, 1] * given[2][:, 1])
    each = each_holds(places, cases, given, Semantics("goedel"))
    one = [tuple(row) for row in cases.tolist()].index((0, 0))
    close(each[:, one], torch.minimum(given[0][:, 0], given[2][:, 0]))
    nothing = torch.zeros(1, 0, dtype=torch.long)
    assert cases_hold((), nothing, given, Semantics()).tolist() == [1, 1]
    assert cases_hold((), nothing[:0], given, Semantics()).tolist() == [0, 0]


def test_disjunctions_and_conjunctions_may_differ():
    assert (fuzzy_logic.MOST_CASES, fuzzy_logic.EPSILON) == (20_000, 1e-4)
    cases, groups = torch.tensor([[0.25, 0.5, 0.75]]), torch.tensor([1, 1, 0])
    mixed = Semantics("goedel", "product", exists="or")
    close(mixed.some_of_each(cases, groups, 2), [[0.75, 1 - 0.75 * 0.5]])
    close(Semantics("product", "goedel", exists="or").some_of_each(cases, groups, 2), [[0.75, 0.5]])
    truths = [torch.tensor([0.5]), torch.tensor([0.25])]
    # exactly one by the minimum, "or" by the sum: (1 - a) and b, or a and (1 - b)
    close(_count_truths(truths, "==", 1, Semantics("goedel", "lukasiewicz")), [0.25 + 0.5])
    close(_count_truths(truths, ">", 2, Semantics()), [0.0])
    close(_count_truths(truths, "<", 1, Semantics()), [0.5 * 0.75])


def test_truths_are_kept_from_nought_by_little_and_never_above_1():
    cases, groups = torch.tensor([[0.0, 1.0, 0.5, 1.0]], dtype=torch.double), torch.tensor([0, 1, 1, 2])
    for p in (1.0, 2.0, 5.0):
        found = Semantics(p=p).some_of_each(cases, groups, 3)[0].tolist()
        half = 1e-4 + (1 - 1e-4) * 0.5
        assert found == pytest.approx([1e-4, ((1 + half**p) / 2) ** (1 / p), 1.0], abs=1e-12)
        lacking = [1.0, 1 - (1 - 1e-4) * 0.5, 1e-4]
        wanted = 1 - (sum(own**p for own in lacking) / 3) ** (1 / p)
        truths = torch.tensor([0.0, 0.5, 1.0], dtype=torch.double)
        assert fuzzy_logic.p_mean_error(truths, p).item() == pytest.approx(wanted, abs=1e-12)
    small = torch.tensor([1e-5, 1e-6], dtype=torch.double)
    assert Semantics(implication="goguen").follows(small[0], small[1]).item() == pytest.approx(1e-6 / 1e-4)
    for kind in ("goedel", "goguen"):
        equal = Semantics(implication=kind).follows(small[0], small[0])
        assert equal.item() == 1 and Semantics(implication=kind).follows(small[1], small[0]).item() == 1


BITS = ConceptSpace(tuple(Concept(name, (False, True)) for name in "abc"))
A, B, C = (f.Var(name) for name in "abc")


def minimum(one, other):
    return min(one, other)


def total(one, other):
    return min(1.0, one + other)


def follows(one, other):
    return max(1 - one, other)


def exclusive(one, other):
    return total(minimum(one, 1 - other), minimum(1 - one, other))


@pytest.mark.parametrize(
    ("formula", "wanted"),
    [
        (f.Not(A), lambda a, b, c: 1 - a),
        (f.And((A, C, f.Not(B))), lambda a, b, c: minimum(minimum(a, c), 1 - b)),
        (f.Or((A, C)), lambda a, b, c: total(a, c)),
        (f.Xor((A, B, C)), lambda a, b, c: exclusive(exclusive(a, b), c)),
        (f.Implies(A, B), lambda a, b, c: follows(a, b)),
        (f.Implies(B, f.And((A, C))), lambda a, b, c: follows(b, minimum(a, c))),
        (f.Iff(A, C), lambda a, b, c: minimum(follows(a, c), follows(c, a))),
        (f.Compare(">=", f.Count((A, B)), f.Const(1)), None),
        (f.Compare("==", f.Count((A, B)), f.Const(2)), lambda a, b, c: minimum(a, b)),
    ],
)
@torch.no_grad()
def test_connectives_of_soft_truths(formula, wanted):
    truths = torch.tensor([[0.2, 0.7, 0.4], [0.9, 0.3, 0.6], [0.5, 0.5, 1.0]], dtype=torch.double)
    concepts = [torch.stack([1 - truths[:, i], truths[:, i]], dim=1) for i in range(3)]
    found = FuzzyRule(formula, BITS)(concepts, Semantics("goedel", "lukasiewicz", "kleene-dienes", "or"))
    for row, (a, b, c) in zip(found.tolist(), truths.tolist(), strict=True):
        if wanted is None:  # one of two: exactly one, or both
            one = total(minimum(minimum(1, 1 - a), b), minimum(minimum(1, a), 1 - b))
            assert row == pytest.approx(total(one, minimum(a, b)))
        else:
            assert row == pytest.approx(wanted(a, b, c))


NOTHING = f.Count(())


@pytest.mark.parametrize(
    ("formula", "wanted"),
    [
        (f.Compare("<", NOTHING, f.Const(1)), [1.0, 1.0]),
        (f.Compare(">=", NOTHING, f.Const(1)), [0.0, 0.0]),
        (f.And((A, f.Compare("==", NOTHING, f.Const(0)))), [0.7, 0.2]),
        (f.Or((A, f.Compare("!=", NOTHING, f.Const(0)))), [0.7, 0.2]),
    ],
)
def test_of_nothing_none_is_true(formula, wanted):
    concepts = [torch.tensor([[0.3, 0.7], [0.8, 0.2]]) for _ in range(3)]
    close(FuzzyRule(formula, BITS)(concepts, Semantics(exists="or")), wanted)


def test_a_label_that_can_have_other_values_than_its_own_is_refused():
    space = ConceptSpace((Concept("n", (0, 1, 2)), Concept("a", (False, True))))
    for values in ((0, 1), (1, 2, 0, 5)):
        knowledge = Knowledge(space, (Label("y", parse("a"), (False, True)), Label("z", parse("n"), values)))
        if len(values) > 2:
            rule = RuleLayer(knowledge)
            n, a = torch.tensor([[0.5, 0.3, 0.2]]), torch.tensor([[0.25, 0.75]])
            close(rule.marginals(rule([n, a]))[1], [[0.3, 0.2, 0.5, 0.0]])
            continue
        with pytest.raises(KnowledgeError, match="label 'z' can be 2, which is none of its values"):
            RuleLayer(knowledge)


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("dpl", {}),
        ("ltn", {"p": ((1, 0.999),), "last_p": ((1, 0.999),)}),
        ("bears", {"members": ((2, 1),), "diversity": NOT_NEGATIVE}),
    ],
)
def test_settings_have_limits(name, limits):
    shared = dict.fromkeys(("concept_weight", "entropy_weight", "reconstruction_weight"), NOT_NEGATIVE)
    require_limits(MODELS[name].Config, {**shared, **limits})
