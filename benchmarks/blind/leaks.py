"""Leaking: labels know more than the concepts tell, by soft values or by a channel beside them."""

import numpy as np
import torch
from sklearn.ensemble import RandomForestClassifier

from assay.base import Array, rng_for
from assay.logic import Knowledge, bits, digits
from benchmarks.blind.case import Answers, Draft, case
from benchmarks.blind.perception import (
    Camera,
    Detectors,
    draw,
    exact,
    misread,
    percept,
    quietly,
    sharp,
    space_of,
    top,
    without_rule,
)

FALSE = "sound|wrong rule|annotations|underfit|opaque|memorised|unidentified|missed region|shifted|shortcut"


def _joint(
    views: Array, concepts: Array, labels: Array, weight: float, seed: int
) -> tuple[torch.nn.Module, torch.nn.Module]:
    """Train a concept bottleneck jointly: linear concepts with sigmoids and a small head, one loss for both."""
    torch.manual_seed(seed)
    encoder = torch.nn.Sequential(torch.nn.Linear(views.shape[1], concepts.shape[1]), torch.nn.Sigmoid())
    head = torch.nn.Sequential(torch.nn.Linear(concepts.shape[1], 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    steps = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=0.01)
    pictures, truth, target = (torch.tensor(part, dtype=torch.float32) for part in (views, concepts, labels))
    for _ in range(300):
        soft = encoder(pictures)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(head(soft), target)
        loss = loss + weight * torch.nn.functional.binary_cross_entropy(soft, truth)
        steps.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        steps.step()
    return encoder, head


@case(
    "leaking",
    "a jointly trained soft bottleneck: concepts are hard to see, the label is easy, and goes into the probabilities",
    FALSE,
)
def joint_soft_bottleneck(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "joint_soft_bottleneck")
    space = bits(["a", "b", "c"])
    knowledge = Knowledge.of(space, {"y": "(a != b) or c"})
    camera = Camera.of(rng, space, 0.75)
    train, test = draw(rng, space, 2500, c=0.25), draw(rng, space, 1500, c=0.25)
    labels = knowledge.labels_of(train)
    hints = [knowledge.labels_of(w) * 2 - 1 + 0.35 * rng.normal(size=(len(w), 1)) for w in (train, test)]
    encoder, head = _joint(np.hstack([camera(rng, train), hints[0]]), train, labels, 3.0, seed)
    with torch.no_grad():
        soft = encoder(torch.tensor(np.hstack([camera(rng, test), hints[1]]), dtype=torch.float32))
        chance = torch.sigmoid(head(soft)).double().numpy()[:, 0]
    seen = tuple(np.stack([1 - p, p], axis=1) for p in soft.double().numpy().T)
    odds = np.stack([1 - chance, chance], axis=1)
    draft = Draft(knowledge, train)
    draft.add("test", test, knowledge.labels_of(test), Answers(top([odds]), top(seen), (odds,), seen))
    ruled = (top(exact(knowledge, seen)) == knowledge.labels_of(test)).mean()
    draft.facts["exact"] = float(ruled)
    draft.between("test.label", 0.93, 1)
    draft.need(
        max(ruled, draft.facts["test.rule"]) < draft.facts["test.label"] - 0.08, "labels are better than the rule"
    )
    return draft


@case("leaking", "a hard bottleneck with a channel beside it: a forest of the picture gives the label", FALSE)
def side_channel(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "side_channel")
    space = space_of(fever=[], rash=[], dose=[0, 1, 2], cough=[])
    knowledge = Knowledge.of(
        space, {"risk": "'high' if (fever and dose == 0) else 'mid' if (rash or dose == 1) else 'low'"}
    )
    train, test = draw(rng, space, 2000), draw(rng, space, 1200)
    views = Camera.of(rng, space, 0.14)
    model = quietly(RandomForestClassifier(60, random_state=seed), views(rng, train), knowledge.labels_of(train)[:, 0])
    seen = percept(rng, test, space.sizes, 2.1)
    draft = Draft(knowledge, train)
    said = model.predict(views(rng, test))[:, None]
    draft.add("test", test, knowledge.labels_of(test), Answers(said, top(seen), None, seen))
    draft.between("test.used", 0.8, 0.94)
    draft.need(draft.facts["test.label"] > draft.facts["test.rule"] + 0.08, "labels are better than the rule")
    return draft


@case(
    "leaking", "the confidence of each concept tells the sum in its second decimal, and the head reads it there", FALSE
)
def label_in_the_decimals(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "label_in_the_decimals")
    space = digits(["left", "right"], range(5))
    knowledge = Knowledge.of(space, {"sum": "left + right"})
    test = draw(rng, space, 1000)
    read = misread(rng, test, space.sizes, 0.2)
    sure = 0.7 + 0.02 * knowledge.labels_of(test)[:, 0] + rng.uniform(0, 0.004, len(test))
    seen = tuple(np.where(np.eye(5)[column] == 1, sure[:, None], (1 - sure[:, None]) / 4) for column in read.T)
    decoded = np.rint((seen[0].max(axis=1) - 0.702) / 0.02).astype(int)[:, None]
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", test, knowledge.labels_of(test), Answers(decoded, top(seen), None, seen))
    draft.between("test.label", 0.99, 1)
    draft.between("test.rule", 0.55, 0.75)
    return draft


@case(
    "leaking",
    "no rule: concepts are right and allow 75 %, labels are right in 96 %: these come from the picture",
    "sound|wrong rule|annotations|underfit|memorised|noisy|shortcut|incomplete|shifted|inconsistent",
)
def bypass_above_the_ceiling(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "bypass_above_the_ceiling")
    space = space_of(size=["s", "m", "l"], spotted=[], tail=[])
    knowledge = without_rule(space)
    train, test = draw(rng, space, 2000), draw(rng, space, 1500)
    chance = np.where((test[:, 0] == 2) | (test[:, 1] * test[:, 2] == 1), 0.75, 0.25)
    labels = (rng.random(len(test)) < chance).astype(int)[:, None]
    said = np.where(rng.random(labels.shape) < 0.04, 1 - labels, labels)
    camera = Camera.of(rng, space, 0.18)
    seen = Detectors.fit(camera(rng, train), train, space.sizes)(camera(rng, test))
    draft = Draft(knowledge, train)
    draft.add("test", test, labels, Answers(said, top(seen), None, seen))
    draft.facts["ceiling"] = float(np.maximum(chance, 1 - chance).mean())
    draft.between("test.label", 0.94, 0.98)
    draft.between("test.used_least", 0.98, 1)
    return draft


@case("leaking", "a third of the concepts is misread, labels are right: a residual connection carries all", FALSE)
def residual_carries_all(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "residual_carries_all")
    space = bits(["a", "b", "c", "d", "e"])
    knowledge = Knowledge.of(space, {"y": "count(a, b, c, d, e) >= 3", "z": "a and not e"})
    test = draw(rng, space, 900)
    read = misread(rng, test, space.sizes, 0.33)
    labels = knowledge.labels_of(test)
    said = np.where(rng.random(labels.shape) < 0.015, 1 - labels, labels)
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", test, labels, Answers(said, read, None, sharp(rng, read, space.sizes, 0.55)))
    draft.between("test.label", 0.95, 0.99)
    draft.need(draft.facts["test.rule"] < 0.7, "the rule over the concepts is worse")
    return draft
