"""Diagnoses, interventions and scores of predictors with known faults, on rules of several kinds, as plain data."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import assay.testing.zoo_specimens  # noqa: F401 - they register
from assay.arrays import Array, Codes
from assay.concepts import Concept, ConceptSpace, Slot, bits, digits
from assay.data.dataset import SplitData
from assay.data.rebuild import redrawing_for
from assay.diagnosis.automation import coverage_curve, fit_abstention
from assay.diagnosis.calibration import fit_scalings
from assay.diagnosis.discovery.matching import UnitSplit, concept_values, fit_matches, score_matches
from assay.diagnosis.discovery.readout import fit_readout
from assay.diagnosis.discovery.scores import score_stability, score_units
from assay.diagnosis.headline import headline
from assay.diagnosis.identifiability import identifiability
from assay.diagnosis.interventions.curve import Trial, Truth, budgets_from
from assay.diagnosis.interventions.intervenable import BottleneckModel, model_from_predictions
from assay.diagnosis.interventions.intervene import InterventionPlan, intervene
from assay.diagnosis.interventions.label_heads import LinearHead, rule_head
from assay.diagnosis.interventions.policies import POLICIES, ValidationRanking, policy_of
from assay.diagnosis.interventions.sources import (
    answers_from,
    certain_answers,
    check_answers,
    draw_expert_answers,
    even_confusion,
)
from assay.diagnosis.interventions.units import Units
from assay.diagnosis.leakage import leakage
from assay.diagnosis.maps import MapFitter
from assay.diagnosis.propagation import through_and, through_any, through_linear, through_rule
from assay.diagnosis.reliance import reliance_table
from assay.diagnosis.rule_relation import relate
from assay.diagnosis.runs import diagnose_predictions
from assay.diagnosis.saliency import (
    ExampleScores,
    RandomisationCheck,
    RandomisedStage,
    ScoredTarget,
    describe_blank,
    describe_marks,
    score_rows,
    summarise,
)
from assay.diagnosis.soft_leakage import soft_leaks
from assay.diagnosis.verdict import Diagnosis, diagnose
from assay.logic.knowledge import NO_RULE, Constraint, Knowledge
from assay.logic.parse import parse
from assay.metrics.evidence import Evidence
from assay.seeds import rng_for
from assay.testing.zoo import SPECIMENS, Habitat, answers, certain, misread
from tests.conftest import write
from tests.pins import Cases, digest, digests, refusal, without
from tests.predictors import predictions

APART = ("forty examples, 82 %",)
"""Specimens that are tested elsewhere."""
SIZES = {"train": 60, "test": 130, "ood": 70, "hard": 50}


# -- rules and worlds --------------------------------------------------------------------------------------------------


def xor() -> Knowledge:
    """Return a rule over three of four bits with two labels."""
    return Knowledge.of(bits([*"abcd"]), {"y": "a ^ b", "z": "b and not c"})


def sums() -> Knowledge:
    """Return the sum of two digits of five values that share an encoder."""
    return Knowledge.of(digits(["first", "second"], range(5)), {"sum": "first + second"})


def shelf() -> Knowledge:
    """Return objects in two slots, the second perhaps missing, with tagged constraints."""
    colour, size = ("red", "green", "blue"), ("small", "big")
    concepts = (
        Concept("one.colour", colour), Concept("one.size", size),
        Concept("two.colour", (*colour, "none"), nothing="none"), Concept("two.size", (*size, "none"), nothing="none"),
    )  # fmt: skip
    slots = tuple(Slot(name, "object", ("colour", "size")) for name in ("one", "two"))
    limits = (
        Constraint("whole", parse("(two.colour == 'none') == (two.size == 'none')"), ("shape",)),
        Constraint("no big blue", parse("not (one.colour == 'blue' and one.size == 'big')"), ("taste", "shape")),
        Constraint("not both red", parse("not (one.colour == 'red' and two.colour == 'red')"), ("taste",)),
    )
    labels = {"alike": "one.size == two.size or one.colour == two.colour", "alone": "two.colour == 'none'"}
    return Knowledge.of(ConceptSpace(concepts, slots), labels, limits)


def mixed() -> Knowledge:
    """Return concepts of two, three and four values with labels of two, three and five values."""
    space = ConceptSpace((Concept("a", (False, True)), Concept("b", ("x", "y", "z")), Concept("c", (0, 1, 2, 3))))
    return Knowledge.of(space, {"truth": "a or b == 'x'", "number": "c + a", "far": "c >= 2 and b != 'z'"})


RULES = {"xor": xor, "sums": sums, "shelf": shelf, "mixed": mixed}


@cache
def home(name: str) -> Habitat:
    """Return worlds of a rule: training has but some, new ones come in `ood`, and `hard` are near the boundary."""
    knowledge = RULES[name]()
    rng = rng_for(0, "pinned", name)
    worlds = knowledge.space.all_codes()
    worlds = worlds[knowledge.can_be(worlds)]
    order = rng.permutation(len(worlds))
    seen, new = worlds[np.sort(order[: 2 * len(worlds) // 3])], worlds[np.sort(order[2 * len(worlds) // 3 :])]
    near = np.any([side.in_types.any(axis=1) for side in truths(knowledge, worlds).sides], axis=0)
    pools = {"train": seen, "test": worlds, "ood": new, "hard": worlds[near] if near.any() else worlds}
    splits = {split: pool[rng.integers(len(pool), size=SIZES[split])] for split, pool in pools.items()}
    training = splits.pop("train")
    return Habitat(name, 0, knowledge, splits, training)


def truths(knowledge: Knowledge, worlds: Codes) -> Evidence:
    """Return the evidence of who is right."""
    silent = (None,) * len(knowledge.labels), (None,) * len(knowledge.space)
    labels = knowledge.labels_of(worlds)
    return Evidence(knowledge, "test", labels, worlds, labels, worlds, *silent)


def spreads(rows: int, sizes: tuple[int, ...], *purpose: object) -> list[Array]:
    """Draw concept probabilities."""
    rng = rng_for(0, "spreads", *purpose)
    drawn = [rng.random((rows, size)) ** 2 + 1e-3 for size in sizes]
    return [one / one.sum(axis=1, keepdims=True) for one in drawn]


def soft(place: Habitat, split: str, share: float = 0.2) -> Evidence:
    """Return a predictor that misreads some, with probabilities of concepts and of labels."""
    rng = rng_for(0, "soft", place.task, split)
    worlds = place.splits[split]
    read = misread(place, worlds, share, rng)
    sure = [0.55 + 0.44 * rng.random(len(worlds)) for _ in place.knowledge.space.concepts]
    spoken = answers(place, split, read, confidence=sure)
    sizes = [len(label.values) for label in place.knowledge.labels]
    said = tuple(
        certain(spoken.predicted_labels[:, i], size, 0.5 + 0.49 * rng.random(len(worlds)))
        for i, size in enumerate(sizes)
    )
    return replace(spoken, label_probabilities=said)


# -- diagnoses ---------------------------------------------------------------------------------------------------------


def told(diagnosis: Diagnosis, scores: bool = False) -> dict[str, Any]:
    """Return a whole diagnosis; scores, which metrics pin, by a few alone."""
    facts = diagnosis.to_dict()
    kept = facts["scores"] if scores else {s: sorted(n for n in x if x[n]["value"] is not None)
                                           for s, x in facts["scores"].items()}  # fmt: skip
    maps = {s: [state.map for state in states] for s, states in diagnosis.concepts.items()}
    more = {"scores": kept, "maps": maps, "headline": headline(diagnosis).to_dict(), "repr": repr(diagnosis)}
    return {**facts, **more, "text": diagnosis.text}


def outlined(facts: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return what is found and why, and some parts, as they are, and digests of all else."""
    kept = ("findings", "reasons", "headline", *keys)
    return {**digests(facts), **{key: facts[key] for key in kept}}


def specimens(name: str, chosen: tuple[str, ...], _: Path) -> dict[str, Any]:
    """Diagnose planted faults."""
    place, found = home(name), {}
    for kind in (one for one in chosen if one not in APART):
        planted = SPECIMENS[kind][1](place, rng_for(0, "pinned", kind, name))
        if planted is not None:
            found[kind] = digests(told(diagnose(planted.evidence, place.training)))
    return found


def gaps(name: str, _: Path) -> dict[str, Any]:
    """Diagnose where some truths are not known, some answers are missing, and probabilities are given."""
    place = home(name)
    evidence = {split: soft(place, split) for split in place.splits}
    rng = rng_for(0, "gaps", name)
    for split, rows in evidence.items():
        unknown = rng.random(rows.concepts.shape) < (0.1 if split == "test" else 0)
        silent = rng.random(rows.concepts.shape) < 0.05
        evidence[split] = replace(
            rows,
            concepts=np.where(unknown, -1, rows.concepts),
            predicted_concepts=np.where(silent, -1, rows.predicted_concepts),
        )
    taught = identifiability(place.knowledge, place.training)
    diagnosis = diagnose(evidence, place.training, {"model": "gaps"}, taught=taught, level=0.02)
    return outlined({**told(diagnosis, scores=True), "html": diagnosis._repr_html_()})


def alone(name: str, _: Path) -> dict[str, Any]:
    """Diagnose without training worlds, few examples, one split."""
    place = home(name)
    rows = soft(place, "test", 0.03)
    few = {"test": rows.take(np.arange(17))}
    return {
        "few": outlined(told(diagnose(few))),
        "half": outlined(told(diagnose({"test": rows.take(np.arange(60))}, place.training))),
    }


def ruleless(_: Path) -> dict[str, Any]:
    """Diagnose where no rule is known."""
    place = home("mixed")
    blank = Knowledge(place.knowledge.space, tuple(replace(one, formula=NO_RULE) for one in place.knowledge.labels))
    found = {}
    for share in (0.0, 0.03, 0.3):
        evidence = {split: replace(soft(place, split, share), knowledge=blank) for split in place.splits}
        found[str(share)] = outlined(told(diagnose(evidence, place.training)))
    return found


def shifted(split: SplitData) -> Codes:
    """Return the first mark of each example."""
    return np.array([json.loads(style)["nuisances"]["watermark"] for style in split.table["style"].to_pylist()])


def confounded(folder: Path) -> dict[str, Any]:
    """Diagnose models that follow a mark, or read a concept from it, on splits with, without and against it."""
    listed = [{"what": "watermark", "with": "y"}, {"what": "frame", "with": "a", "strength": 0.7}]
    sizes = {"train": 60, "valid": 0, "test": 120, "hard": 0, "ood": 0, "pairs": 60}
    data = write(folder / "data", "mnlogic", k=3, splits=sizes, confound=listed)
    parts = [data.symbols(name) for name in ("test", "unconfounded", "reversed", "pairs")]
    found = {}
    for name in ("mark", "half", "first", "knows", "blind"):
        answered = {}
        for part in parts:
            read, labels = part.concepts.copy(), part.labels
            mark = shifted(part)
            if name == "mark":
                labels = mark[:, None]
            if name == "half":
                labels = np.where(np.arange(len(part))[:, None] % 2, mark[:, None], labels)
            if name == "first":
                read[:, 0] = read[:, 0] ^ (labels[:, 0] ^ mark)
                labels = part.knowledge.labels_of(read)
            if name == "blind":
                read[:, 1] = 0
                labels = part.knowledge.labels_of(read)
            answered[part.name] = predictions(part, labels, None if name == "mark" else read)
        diagnosis = diagnose_predictions(data, answered)
        facts = without(told(diagnosis), "about", "scores")
        found[name] = outlined({**facts, "table": reliance_table(diagnosis.reliance)}, "counterfactuals", "table")
    return found


def studies(folder: Path) -> dict[str, Any]:
    """Carry out whole plans on a dataset: confirmation and manipulation, from sources of every kind."""
    data = write(folder / "data", "mnlogic", k=3, splits={"train": 20, "valid": 24, "test": 30, "hard": 0, "ood": 0})
    test, path = data["test"], folder / "expert.json"
    path.write_text(json.dumps({"a": 0.6, "b": [[0.9, 0.1], [0.4, 0.6]]}), encoding="utf-8")
    rows = folder / "answers.csv"
    lines = [
        f"{index},{bool(codes[2])},{bool(codes[0])}" for index, codes in zip(test.index, test.concepts, strict=True)
    ]
    rows.write_text("\n".join(["index,c,a", *lines[3:20]]) + "\n", encoding="utf-8")
    predictions(test, test.labels, test.concepts[:, [1, 0, 2]]).write(folder / "other.parquet", data.knowledge)

    def answering(part: SplitData) -> BottleneckModel:
        rng = rng_for(0, "answering", len(part))
        sure = [certain(np.where(rng.random(len(part)) < 0.25, 1 - codes, codes), 2, 0.55 + 0.4 * rng.random(len(part)))
                for codes in part.concepts.T]  # fmt: skip
        return BottleneckModel("known", sure, rule_head(part.knowledge))

    plans: dict[str, dict[str, Any]] = {
        "defaults": {},
        "expert": {"source": "expert:0.8", "policy": "uncertainty", "seed": 2, "threshold": 0.6},
        "confusions": {"source": f"expert:{path}", "policy": "random", "budget": "1,max"},
        "file": {"source": f"file:{rows}", "policy": "fixed", "order": ["c"], "budget": "1,2"},
        "model": {"source": f"model:{folder / 'other.parquet'}", "policy": "validation"},
        "self": {"source": "self", "policy": "cooperative"},
        "target": {"target": 0.8, "policy": "uncertainty", "batch_budget": 9.0, "baseline": 0.4},
        "groups": {"groups": {"ab": ["a", "b"]}, "costs": {"c": 0.5}, "policy": "cooperative"},
        "toggle": {"kind": "manipulation", "policy": "fixed", "budget": "0,1,max"},
        "expert toggle": {"kind": "manipulation", "source": "expert:0.3", "policy": "uncertainty", "budget": "2"},
    }
    found = {}
    for name, settings in plans.items():
        plan = InterventionPlan(**settings)
        done = intervene(plan, data, answering, redrawing_for(plan.kind, data))
        asked = np.stack([one.units for one in done.curve.asked])
        points = [[one.to_dict() for one in curve.points] for curve in (done.curve, done.control)]
        found[name] = [digest(points), asked, done.control_changed, repr(done), digest(done._repr_html_())]
    return found


# -- parts -------------------------------------------------------------------------------------------------------------


def leaks(name: str, _: Path) -> dict[str, Any]:
    """Measure leakage, soft leaks and maps."""
    place = home(name)
    rows = soft(place, "test")
    hints = rng_for(0, "hints", name).random(len(rows)) * 0.2
    sure = [0.6 + 0.18 * (rows.labels[:, 0] > 0) + hints for _ in place.knowledge.space.concepts]
    leaking = answers(place, "test", rows.predicted_concepts, rows.labels, sure)
    fitter = MapFitter(leaking, 0.01)
    places = range(len(place.knowledge.space))
    return {
        "leakage": [leakage(one, seed).to_dict() for one in (rows, leaking) for seed in (0, 1)],
        "soft": [soft_leaks(one) for one in (rows, leaking)],
        "maps": [[fitter.own(i), fitter.elsewhere(i), bool(fitter.clearly_misread(i))] for i in places],
        "sources": fitter.by_source,
    }


def linear(knowledge: Knowledge) -> LinearHead:
    """Return a linear head with weights drawn."""
    rng = rng_for(0, "linear", len(knowledge.space))
    labels = tuple(len(label.values) for label in knowledge.labels)
    weights = [1.5 * rng.normal(size=(size, sum(labels))) for size in knowledge.space.sizes]
    return LinearHead(weights, rng.normal(size=sum(labels)), labels)


def models(name: str, rows: int, purpose: str) -> list[BottleneckModel]:
    """Return the same concept probabilities under the rule and under a linear head."""
    knowledge = RULES[name]()
    own, head = spreads(rows, knowledge.space.sizes, name, purpose), linear(knowledge)
    return [
        BottleneckModel("rule", own, rule_head(knowledge)),
        BottleneckModel("linear", own, head, linear=head),
    ]


def interventions(name: str, _: Path) -> dict[str, Any]:
    """Run every policy, with plain and with costly groups, of perfect, expert and own answers."""
    knowledge = RULES[name]()
    space, rng = knowledge.space, rng_for(0, "worlds", name)
    codes = rng.integers(np.array(space.sizes), size=(40, len(space)))
    truth = Truth(codes, knowledge.labels_of(codes))
    expert = draw_expert_answers(codes, [even_confusion(size, 0.7) for size in space.sizes], 3, "test")
    gappy = np.where(rng.random(codes.shape) < 0.2, -1, expert)
    sources = {"perfect": certain_answers(codes, space), "expert": certain_answers(gappy, space)}
    pair = {"pair": space.names[1:3]}
    ways = {
        "plain": (Units.of(space), None, None),
        "costs": (Units.of(space, pair, {space.names[0]: 0.75, "pair": 1.5}), 20.0, 0.5),
    }
    held = rng.integers(np.array(space.sizes), size=(30, len(space)))
    found: dict[str, Any] = {}
    for model, valid in zip(models(name, 40, "test"), models(name, 30, "valid"), strict=True):
        abstention = fit_abstention(valid.answer(slice(None), {}).labels, knowledge.labels_of(held), 0.1)
        ranking = ValidationRanking(valid, held, knowledge.labels_of(held))
        for way, (units, total, baseline) in ways.items():
            budgets = budgets_from("0-2,max", units, total)
            for policy in POLICIES:
                for source, answered in sources.items():
                    rule = policy_of(policy, ranking=ranking, units=units)
                    stops = None if way == "plain" else abstention
                    trial = Trial(model, units, answered, truth, 5, stops, baseline)
                    curve = trial.run(rule, budgets)
                    points = digest([point.to_dict() for point in curve.points])
                    asked = np.stack([one.units for one in curve.asked])
                    found[f"{model.name}, {way}, {policy}, {source}"] = [points, asked]
        found[f"{model.name}, abstention"] = abstention.to_dict()
    found["units"] = [units.to_dict(space) for units, _, _ in ways.values()]
    return found


def calibrations(_: Path) -> dict[str, Any]:
    """Fit scalings, abstention and coverage."""
    found: dict[str, Any] = {}
    for values, labels in (((2, 3), 2), ((4,), 1), ((2,), 1)):
        said = spreads(80, values, "calibrated", labels)
        rng = rng_for(0, "truth", labels)
        truth = np.stack([(rng.random((80, 1)) > np.cumsum(p, axis=1)).sum(axis=1) for p in said], axis=1)
        scalings = fit_scalings(said, truth)
        rule = fit_abstention(said, truth, 0.6)
        right = (np.stack([p.argmax(axis=1) for p in said], axis=1) == truth).all(axis=1)
        found[str(values)] = [
            scalings, [scale(p) for scale, p in zip(scalings, said, strict=True)], rule.to_dict(),
            rule.confidence(said), rule.decides(said), coverage_curve(rule.confidence(said), right),
        ]  # fmt: skip
    return found


def propagations(_: Path) -> dict[str, Any]:
    """Send probabilities through rules and heads."""
    found: dict[str, Any] = {"and": through_and(spreads(6, (2, 2, 2), "and")),
                             "some": through_and(spreads(6, (2, 3, 2), "and"), [1, 2, 0])}  # fmt: skip
    for name in ("xor", "mixed", "shelf"):
        knowledge = RULES[name]()
        own, head = spreads(9, knowledge.space.sizes, "through"), linear(knowledge)
        found[name] = [
            through_rule(knowledge, own), through_linear(head, own), through_linear(head, own, 0.05),
            through_any(head, own), through_any(rule_head(knowledge), own),
        ]  # fmt: skip
    return found


def discoveries(_: Path) -> dict[str, Any]:
    """Match units with concepts and score them."""
    space, rng = mixed().space, rng_for(0, "units")
    values = concept_values(space)
    parts = []
    for rows in (70, 50):
        codes = rng.integers(np.array(space.sizes), size=(rows, len(space)))
        holds = np.stack([codes[:, v.concept] == v.value for v in values], axis=1)
        units = 1.3 * holds[:, [2, 0, 1, 4, 3, 6]] * [1, -1, 2, 1, 1, -0.5] + 0.6 * rng.normal(size=(rows, 6))
        units = np.concatenate([units.round(1), np.zeros((rows, 1))], axis=1)
        codes = np.where(rng.random(codes.shape) < 0.06, -1, codes)
        parts.append(UnitSplit(units, codes, np.maximum(codes[:, :1], 0)))
    fit, test = parts
    matches = fit_matches(fit, values)
    scored = score_units(fit, test, space, 0, 2)
    again = [fit.units, fit.units[:, ::-1] + 0.4 * rng.normal(size=fit.units.shape), rng.normal(size=(70, 3))]
    return {
        "matches": [one.to_dict() for one in score_matches(test, matches)],
        "scores": {key: one.to_dict() for key, one in scored.scores.items()},
        "of": [one.to_dict() for one in scored.of_concept(1)],
        "readout": fit_readout(fit, matches, space).probabilities(test.units),
        "stability": score_stability(again, 1, 3).to_dict(),
    }


def saliencies(_: Path) -> dict[str, Any]:
    """Score maps on masks."""
    rng = rng_for(0, "maps")
    masks = np.zeros((24, 6, 7), dtype=bool)
    for row, (top, left) in enumerate(rng.integers(0, 4, size=(24, 2))):
        masks[row, top : top + 2 + row % 3, left : left + 2] = row != 5
    maps = rng.normal(size=masks.shape).round(1) + 0.8 * masks
    maps[3] = -1
    scores = ExampleScores.of(maps, masks)
    fresh = ExampleScores.of(rng.normal(size=masks.shape), masks)
    words = ["yes" if row % 3 else "no" for row in range(24)]
    targets = [("label y", "label", "its concepts", False), ("label y", "label", "frame", True),
               ("concept a", "concept", "a", False)]  # fmt: skip
    told = [summarise(ScoredTarget(*one), scores, words, fresh if i else None) for i, one in enumerate(targets)]
    rest = summarise(
        ScoredTarget("label z", "label", "mark", True), ExampleScores.of(rng.random(masks.shape), masks), words
    )
    rows = [one for one in (*told, rest) if one]
    checks = [
        RandomisationCheck((RandomisedStage.of(1, "head", maps, maps + noise * rng.normal(size=maps.shape)),
                            RandomisedStage.of(2, "all", maps, maps + 2 * noise * rng.normal(size=maps.shape))))
        for noise in (0.1, 0.4, 3)
    ]  # fmt: skip
    joined = ExampleScores.join([scores.take(np.arange(4)), fresh])
    return {
        "scores": scores, "joined": joined, "rows": [one.to_dict() for one in rows], "table": score_rows(rows),
        "marks": describe_marks(rows), "blank": describe_blank(rows), "checks": [one.to_dict() for one in checks],
    }  # fmt: skip


def relations(_: Path) -> dict[str, Any]:
    """Relate learned rules with the rule, and tell what labels identify."""
    knowledge, pairs = mixed(), {
        "a or b == 'x'": "b == 'x' or a", "a": "a or b == 'x'", "a or c > 1": "c == 3", "not a": "a", "b == 'y'": "a",
    }  # fmt: skip
    told = [relate(parse(one), parse(two), knowledge, "truth") for one, two in pairs.items()]
    places = {name: identifiability(home(name).knowledge, home(name).training) for name in RULES}
    return {
        "relations": [[one.to_dict(), one.text] for one in told],
        "identified": {name: [one.to_dict(), one.text] for name, one in places.items() if one},
    }


def refused(folder: Path) -> dict[str, Any]:
    """Ask for what cannot be."""
    data = write(folder / "data", "mnlogic", k=3, splits={"train": 10, "valid": 0, "test": 8, "hard": 0, "ood": 0})
    test, space = data["test"], data.knowledge.space
    expert, table = folder / "expert.json", folder / "answers.csv"

    def answering(part: SplitData) -> BottleneckModel:
        sure = [certain(codes, 2, 0.9) for codes in part.concepts.T]
        return BottleneckModel("known", sure, rule_head(part.knowledge), soft=False)

    plans: tuple[dict[str, Any], ...] = (
        {"source": "perfect:x"}, {"source": "self:x"}, {"source": "expert"}, {"source": "expert:2"}, {"source": "expert:none.json"},
        {"source": "q"}, {"source": "model"}, {"source": "vlm"}, {"source": "clip:x"}, {"source": "clip"},
        {"source": "toggle"}, {"kind": "q"}, {"kind": "manipulation"}, {"policy": "q"}, {"policy": "uncertainty"}, {"policy": "validation"},
        {"policy": "random", "threshold": 0.1}, {"policy": "random", "order": ["a"]}, {"policy": "fixed", "order": ["q"]},
        {"policy": "random", "budget": "3-1"}, {"policy": "random", "budget": "x"}, {"policy": "random", "budget": "0.5"},
        {"policy": "random", "budget": "-1"}, {"policy": "random", "budget": "inf"}, {"policy": "random", "costs": {"q": 1}},
        {"policy": "random", "costs": {"a": 0}}, {"policy": "random", "groups": {"g": ["q"]}},
        {"policy": "random", "groups": {"g": ["a"], "h": ["a"]}}, {"policy": "random", "groups": {"a": ["b"]}},
        {"policy": "random", "batch_budget": -1.0}, {"policy": "random", "target": 0.9}, {"policy": "random", "split": "q"},
        {"policy": "random", "source": "perfect", "budget": "0,1"},
    )  # fmt: skip
    found = {
        str(plan): refusal(lambda plan=plan: intervene(InterventionPlan(**plan), data, answering), folder)
        for plan in plans
    }
    confusions = (
        "[]",
        '{"q": 1}',
        '{"a": 2}',
        '{"a": [[1, 0]]}',
        '{"a": [[0.5, 0.4], [0, 1]]}',
        '{"a": "x"}',
        '{"a": [[2, -1], [0, 1]]}',
    )
    for text in confusions:
        expert.write_text(text, encoding="utf-8")
        found[text] = refusal(lambda: answers_from(f"expert:{expert}", test, answering(test)), folder)
    for text in ("x\n1\n", "a\ntrue\n", "index,a\n99,true\n", "a\n5\n"):
        table.write_text(text, encoding="utf-8")
        found[text] = refusal(lambda: answers_from(f"file:{table}", test, answering(test)), folder)
    spread = certain(test.concepts[:, 0], 2, 0.9)
    gappy = np.where(np.arange(2)[None, :] == 1, np.nan, spread)
    shapes = ([spread] * 2, [spread[:3]] * 3, [-spread] * 3, [spread / 2] * 3, [gappy] * 3, [spread] * 3)
    found["shapes"] = [refusal(lambda given=given: check_answers(given, 8, (2, 2, 2))) for given in shapes]
    found["codes"] = [
        refusal(lambda c=c: certain_answers(c, space))
        for c in (test.concepts[:, :2], test.concepts + 2, test.concepts[0])
    ]
    found["targets"] = [refusal(lambda t=t: fit_abstention([spread], test.labels, t)) for t in (0.0, 1.0, 1.1, -0.5)]
    found["silent"] = [refusal(lambda: model_from_predictions(predictions(test, test.labels), data.knowledge)),
                       model_from_predictions(predictions(test, test.labels, test.concepts), data.knowledge).soft]  # fmt: skip
    return found


ALL = tuple(SPECIMENS)
PLENTY: dict[str, Callable[[Path], Any]] = {
    f"specimens of {name}, {part}": partial(specimens, name, ALL[part::6]) for name in RULES for part in range(6)
}
CASES: Cases = {
    **PLENTY,
    **{f"gaps of {name}": partial(gaps, name) for name in RULES},
    **{f"alone in {name}": partial(alone, name) for name in ("xor", "sums")},
    **{f"leaks of {name}": partial(leaks, name) for name in ("xor", "mixed")},
    **{f"interventions in {name}": partial(interventions, name) for name in ("xor", "mixed")},
    "without a rule": ruleless,
    "refused": refused,
    "confounded": confounded,
    "studies": studies,
    "calibrations": calibrations,
    "propagations": propagations,
    "discoveries": discoveries,
    "saliencies": saliencies,
    "relations": relations,
}
