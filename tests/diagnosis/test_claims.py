"""No sentence of a diagnosis is false about its own tables: random predictors, every claim counted again from the data."""

import re

import numpy as np
import pytest

from assay.arrays import Array, Codes
from assay.concepts import Concept, ConceptSpace, EncoderGroup, Slot, bits, digits
from assay.diagnosis.verdict import Diagnosis, diagnose
from assay.logic.knowledge import Knowledge
from assay.metrics.evidence import Evidence
from assay.seeds import rng_for

SHAPES, COLOURS = ("square", "circle", "star"), ("red", "green", "blue")
OBJECTS = ConceptSpace(
    tuple(Concept(f"o{i}.{what}", values) for i in (1, 2) for what, values in (("shape", SHAPES), ("colour", COLOURS))),
    tuple(Slot(f"o{i}", "object", ("shape", "colour")) for i in (1, 2)),
    (EncoderGroup("shape", ("o1.shape", "o2.shape")), EncoderGroup("colour", ("o1.colour", "o2.colour"))),
)
RULES = [
    Knowledge.of(bits(list("pqrs")), {"y": "p and q or r"}),
    Knowledge.of(bits(list("pqr")), {"y": "xor(p, q, r)", "z": "p or q"}),
    Knowledge.of(digits(["u", "v"], range(5)), {"sum": "u + v"}),
    Knowledge.of(OBJECTS, {"same": "o1.shape == o2.shape"}),
]
SEEDS = range(40)


def random_reading(truth: Codes, knowledge: Knowledge, rng: np.random.Generator) -> Codes:
    """Return concepts read through random maps, exchanges, noise and silence, each now and then."""
    said, sizes = truth.copy(), knowledge.space.sizes
    if rng.random() < 0.3:
        one, other = rng.permutation(len(sizes))[:2]
        if sizes[one] == sizes[other]:
            said[:, [one, other]] = truth[:, [other, one]]
    for column, size in enumerate(sizes):
        kind = rng.choice(
            ["as it is", "map", "noise", "silent", "some silent", "constant"], p=[0.4, 0.25, 0.2, 0.05, 0.05, 0.05]
        )
        if kind == "map":
            said[:, column] = rng.integers(0, size, size=size)[said[:, column]]
        elif kind == "constant":
            said[:, column] = rng.integers(size)
        elif kind == "silent":
            said[:, column] = -1
        elif kind == "some silent":
            said[rng.random(len(said)) < 0.3, column] = -1
        if kind in ("noise", "map"):
            rows = rng.random(len(said)) < rng.choice([0.02, 0.1, 0.3, 0.5])
            said[rows, column] = rng.integers(0, size, size=int(rows.sum()))
    return said


def random_labels(truth: Codes, labels: Codes, said: Codes, knowledge: Knowledge, rng: np.random.Generator) -> Codes:
    kind = rng.choice(["rule", "true", "noise", "shuffled"])
    if kind == "true":
        return labels
    if kind == "shuffled":
        return labels[rng.permutation(len(labels))]
    made = knowledge.labels_of(np.where(said >= 0, said, truth))
    if kind == "noise":
        rows = rng.random(len(made)) < 0.15
        made[rows] = labels[rng.permutation(len(labels))][rows]
    return made


def random_case(knowledge: Knowledge, seed: int) -> tuple[dict[str, Evidence], Codes]:
    rng, evidence = rng_for(seed, "claims", str(knowledge.labels[0].formula)), {}
    sizes = knowledge.space.sizes
    training = rng.integers(0, np.array(sizes), size=(60, len(sizes)))
    for split in ("test", "ood")[: 1 + int(rng.random() < 0.5)]:
        count = int(rng.choice([12, 45, 150, 400]))
        truth = rng.integers(0, np.array(sizes), size=(count, len(sizes)))
        labels, said = knowledge.labels_of(truth), random_reading(truth, knowledge, rng)
        told = random_labels(truth, labels, said, knowledge, rng)
        silent = (None,) * labels.shape[1], (None,) * len(sizes)
        evidence[split] = Evidence(knowledge, split, labels, truth, told, said, *silent)
    return evidence, training


def columns_of(name: str, knowledge: Knowledge) -> list[int]:
    """Return the columns of a concept, or of the encoder group of this name."""
    space = knowledge.space
    if name in space.places:
        return [space.place(name)]
    return [space.place(n) for group in space.encoders if group.name == name for n in group.concepts]


def stated(text: str, right: int, total: int) -> bool:
    """Return whether a percentage as it is written is that of two counts."""
    if not total:
        return False
    share = 100 * right / total
    number = float(text)
    return abs(number - share) <= (0.5 if "." not in text else 0.06) or (
        number in (0.1, 99.9) and abs(number - share) < 0.1
    )


def check_claims(found: Diagnosis, evidence: dict[str, Evidence], training: Codes) -> int:
    """Check every claim that can be counted again, and return how many there were."""
    checked = 0
    for finding in found.findings:
        held = evidence.get(finding.split)
        if held is not None:
            checked += sum(
                claim(finding.text, held) for claim in (maps, sources, exchanges, rates, silences, misreadings)
            )
            if finding.kind == "shortcut":
                checked += agreements(finding.text, found, held, training)
    checked += label_claims(found, evidence)
    for reading in found.readings:
        checked += never(
            reading.text,
            columns_of(reading.group, next(iter(evidence.values())).knowledge),
            next(iter(evidence.values())),
        )
    return checked


def values_of(columns: list[int], held: Evidence) -> dict[str, int]:
    concept = held.knowledge.space.concepts[columns[0]]
    return {str(value): code for code, value in enumerate(concept.values)}


def most_said(columns: list[int], code: int, held: Evidence) -> Array:
    truth, said = held.concepts[:, columns].ravel(), held.predicted_concepts[:, columns].ravel()
    return np.bincount(
        said[(truth == code) & (said >= 0)], minlength=len(held.knowledge.space.concepts[columns[0]].values)
    )


def maps(text: str, held: Evidence) -> int:
    """`It reads X a as b, ...`, and `says v for each`: the values most often said; the share that follows."""
    checked = 0
    for name, body, share, answers in re.findall(
        r"It reads (\S+) ([^()]*? as [^()]*?) \(([\d.]+) % of ([\d,]+) answers\)", text
    ):
        if body.startswith("from ") or name not in {
            *held.knowledge.space.names,
            *(g.name for g in held.knowledge.space.encoders),
        }:
            continue
        columns = columns_of(name, held.knowledge)
        values, follow, total = values_of(columns, held), 0, 0
        told = dict(re.findall(r"(\w+) as (\w+)", body.split(";")[0]))
        for code in np.unique(held.concepts[:, columns]).tolist():
            counts = most_said(columns, code, held)
            true = next(value for value, number in values.items() if number == code)
            expected = values[told.get(true, true)]
            if counts.sum():
                assert counts[expected] == counts.max(), (text, name, true)
            follow, total = follow + int(counts.max()), total + int(counts.sum())
        assert total == int(answers.replace(",", "")) and stated(share, follow, total), text
        checked += 1 + never(body, columns, held)
    for name, value, share, answers in re.findall(
        r"values of (\S+) apart: it says (\w+) for each \(([\d.]+) % of ([\d,]+)", text
    ):
        columns = columns_of(name, held.knowledge)
        said = held.predicted_concepts[:, columns]
        assert stated(share, int((said == values_of(columns, held)[value]).sum()), int((said >= 0).sum())), text
        assert int(answers.replace(",", "")) == int((said >= 0).sum())
        checked += 1
    return checked


def sources(text: str, held: Evidence) -> int:
    """`It reads X from Y`, as it is or by a map: the values most often said for those of Y."""
    checked, space = 0, held.knowledge.space
    for name, source, body, share, answers in re.findall(
        r"It reads (\S+) from ([^\s:]+)(:[^()]*)? \(([\d.]+) % of ([\d,]+) answers\)", text
    ):
        i, j = space.place(name), space.place(source)
        values, theirs = values_of([i], held), values_of([j], held)
        told = dict(re.findall(r"(\w+) as (\w+)", body)) if body else {value: value for value in theirs}
        rows, follow = held.predicted_concepts[:, i] >= 0, 0
        for value, code in theirs.items():
            counts = np.bincount(
                held.predicted_concepts[rows & (held.concepts[:, j] == code), i], minlength=len(values)
            )
            if counts.sum():
                assert counts[values[told[value]]] == counts.max(), text
            follow += int(counts.max())
        assert int(answers.replace(",", "")) == rows.sum() and stated(share, follow, int(rows.sum())), text
        checked += 1
    return checked


def never(text: str, columns: list[int], held: Evidence) -> int:
    """`never says v or w`: not once, though they occur."""
    found = re.search(r"never says ([\w, ]+)", text)
    if found is None:
        return 0
    for value in re.split(r", | or ", found[1]):
        code = values_of(columns, held)[value.strip()]
        assert not (held.predicted_concepts[:, columns] == code).any() and (held.concepts[:, columns] == code).any(), (
            text
        )
    return 1


def exchanges(text: str, held: Evidence) -> int:
    """`It exchanges a and b`: how often each is said for the other."""
    checked = 0
    for one, other, share, answers in re.findall(
        r"It exchanges (\S+) and (\S+): each .*?\(([\d.]+) % of ([\d,]+) answers\)", text
    ):
        i, j = (held.knowledge.space.place(name) for name in (one, other))
        said, true = held.predicted_concepts[:, [i, j]], held.concepts[:, [j, i]]
        spoken = said >= 0
        assert int(answers.replace(",", "")) == spoken.sum() and stated(
            share, int(((said == true) & spoken).sum()), int(spoken.sum())
        )
        checked += 1
    return checked


def rates(text: str, held: Evidence) -> int:
    """`X is noisy: right in p % of n answers`."""
    pattern = r"(\S+) is (?:noisy|hardly learned): right in ([\d.]+) % \((\d+) to (\d+) %\) of ([\d,]+) answers"
    checked = 0
    for name, share, low, high, answers in re.findall(pattern, text):
        columns = columns_of(name, held.knowledge)
        said, true = held.predicted_concepts[:, columns], held.concepts[:, columns]
        spoken = int((said >= 0).sum())
        right = int((said == true).sum())
        assert int(answers.replace(",", "")) == spoken and stated(share, right, spoken), text
        assert int(low) - 1 <= 100 * right / spoken <= int(high) + 1
        checked += 1
    return checked


def silences(text: str, held: Evidence) -> int:
    """`it does not say X in n of m examples`, and `it says no concept that the rule uses`."""
    checked = 0
    for name, count, total in re.findall(r"(\S+) in ([\d,]+) of ([\d,]+) examples(?=[,.]| and)", text):
        if name in held.knowledge.space.places:
            silent = (held.predicted_concepts[:, held.knowledge.space.place(name)] < 0).sum()
            assert (int(count.replace(",", "")), int(total.replace(",", ""))) == (silent, len(held)), text
            checked += 1
    return checked


def misreadings(text: str, held: Evidence) -> int:
    """`misread in n of m examples, and the rule (?:still|then) gives the right labels in p %`."""
    found = re.search(
        r"uses are misread in ([\d,]+) of ([\d,]+) examples, and the rule (?:still|then) gives the right labels in ([\d.]+) %",
        text,
    )
    if found is None:
        return 0
    assert int(found[2].replace(",", "")) == len(held) and 0 < int(found[1].replace(",", "")) <= len(held)
    return 1


def agreements(text: str, found: Diagnosis, held: Evidence, training: Codes) -> int:
    """`every training world keeps its labels`, or how many do, by maps of single concepts counted from the answers."""
    states = {state.concept: state for state in found.concepts[next(n for n in found.concepts if n == held.split)]}
    space, worlds = held.knowledge.space, np.unique(training, axis=0)
    wrong = [state for state in states.values() if state.used and state.state in ("misread", "collapsed")]
    if any(state.map is None or state.map.kind != "own" for state in wrong) or "Read this way" not in text:
        return 0
    read = worlds.copy()
    for state in wrong:
        column = space.place(state.concept)
        for code in np.unique(worlds[:, column]).tolist():
            counts = most_said([column], code, held)
            if counts.sum() and counts[code] < counts.max():
                read[worlds[:, column] == code, column] = counts.argmax()
    kept = (held.knowledge.labels_of(read) == held.knowledge.labels_of(worlds)).all(axis=1)
    stated_share = re.search(r"Read this way, ([\d.]+) % of the training worlds", text)
    if stated_share is None:
        assert kept.all() and "Read this way, every training world keeps its labels" in text
    else:
        assert stated(stated_share[1], int(kept.sum()), len(kept))
    return 1


def label_claims(found: Diagnosis, evidence: dict[str, Evidence]) -> int:
    """How right the labels are, from where to where they fall, and whose errors they are."""
    first, held = next(iter(evidence.items()))
    right = (held.labels == held.predicted_labels).all(axis=1)
    text = " ".join(found.notes)
    share = re.search(rf"On {first}, .*?right.*? in ([\d.]+) % \(\d+ to \d+ %\) of ([\d,]+) examples", text)
    assert (
        share is not None
        and stated(share[1], int(right.sum()), len(right))
        and int(share[2].replace(",", "")) == len(right)
    )
    checked = 1
    for word, before, after in re.findall(r"(falls|rises) from (\d\.\d+) to (\d\.\d+)", text):
        other = evidence["ood"]
        now = (other.labels == other.predicted_labels).all(axis=1).mean()
        assert float(before) == pytest.approx(right.mean(), abs=0.006) and float(after) == pytest.approx(now, abs=0.006)
        assert (now < right.mean()) == (word == "falls")
        checked += 1
    errors = re.search(r"Of ([\d,]+) wrong labels, (.*?): this", text)
    if errors is not None:
        counts = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) to", errors[2])]
        assert int(errors[1].replace(",", "")) == (held.labels != held.predicted_labels).sum() == sum(counts)
        checked += 1
    if found.verdict == "sound":
        assert right.mean() >= 0.85 and all(s.state == "right" for s in found.concepts[first] if s.used)
    return checked


@pytest.mark.parametrize("number", range(len(RULES)))
def test_every_claim_is_true_of_the_data(number: int) -> None:
    checked = kinds = 0
    told = set()
    for seed in SEEDS:
        evidence, training = random_case(RULES[number], seed)
        found = diagnose(evidence, training)
        checked += check_claims(found, evidence, training)
        told |= set(found.kinds)
        kinds += 1
    assert kinds == len(SEEDS) and checked > 2 * len(SEEDS) and len(told) >= 6  # the claims were there to be checked
