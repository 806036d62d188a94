"""What to do next: advice, some with numbers or claims of its own."""

import re
from collections.abc import Iterator

from benchmarks.claims.meanings import MEANINGS
from benchmarks.claims.on_label_findings import region_of
from benchmarks.claims.patterns import listed, says
from benchmarks.claims.regions import inside
from benchmarks.claims.told import Place, holds


@says(
    "Correct the annotations: `assay audit DATA` lists the rows that contradict the rule.",
    "Correct the labels: `assay audit DATA` lists the rows that contradict the rule.",
)
def correct(at: Place) -> Iterator[str]:
    yield from holds("some rows contradict the rule", at.rows.contradicts.any())


@says(
    "Annotate {names} in some training examples: `assay mend RUN` plans which to buy first.",
    "Annotate {names} if you need {them:name}; the labels do not.",
)
def annotate(at: Place, names: str, them: str = "") -> Iterator[str]:
    for name in listed(names):
        if not re.fullmatch(r"\d+ more", name):
            yield from holds(
                f"{name} is a concept of the finding", at.finding is not None and name in at.finding.concepts
            )


@says(
    "Train the label head on concepts alone: `assay train cbm DATA --set mode=independent`.",
    "Give the model the rule as its label head, so that labels follow: `assay train cbm DATA --set head=rule`.",
    "Give the model the rule as its label head, or let it learn one: `assay train cbm DATA --set head=rule`.",
    "Train with more examples of these values, or give the model the rule as its label head.",
    "Train with more examples near the boundary: `assay make` draws a split `hard` of them.",
    "Train with counterfactual pairs, or look at which concepts are ignored: `assay diagnose RUN --full`.",
    "Look at which concepts move labels: `assay diagnose RUN --full`.",
    "Annotate a further concept that tells such examples apart: `assay audit DATA` lists values that share all concepts.",
    "Train on more different worlds; more pictures of the same ones do not help: `assay make` with more examples.",
    "Probe its features for the concepts: `assay probe RUN`.",
    "Probe its features for these concepts: `assay probe RUN`.",
    "Look for what differs in the pictures: `assay audit DATA` compares nuisances of the splits.",
    "Look where it may break: predict a split `ood`, and counterfactual pairs.",
    "Have rules proposed: `assay train rules|tree|ilp|synthesis DATA`.",
    "Train longer, with more examples or a larger network.",
    "Train longer or with more examples, and look at the wrong ones: `assay report RUN`.",
    "Mend the largest cause first; `assay diagnose RUN --full` shows all.",
    "Train the concepts longer, or calibrate them: their probabilities, not their values, make labels wrong.",
    "Predict more examples; at these rates many more are needed.",
    "Annotate every concept that the rule uses in some examples.",
    "Make the nuisance vary apart from the label in training: `assay confound` draws such data.",
)
def advice(at: Place) -> Iterator[str]:
    yield from holds("advice belongs to a finding", at.finding is not None and at.finding.meaning in MEANINGS)


@says("Look at the training examples where {where}: `assay view DATA`.")
def look(at: Place, where: str) -> Iterator[str]:
    yield from same_region(at, where)


@says(
    "Train on more different worlds where {where}.",
    "Look at training labels where {where}: they are wrong there, or there are none.",
    "Look at the training labels where {where}: `assay view DATA`; then train with more, or with corrected ones.",
)
def look_at_labels(at: Place, where: str) -> Iterator[str]:
    yield from same_region(at, where)


@says("Add training examples where {where}; only these tell a missed region from memorised worlds.")
def add(at: Place, where: str) -> Iterator[str]:
    yield from same_region(at, where)
    within = inside(where, at.told.knowledge.space, at.told.training)
    yield from holds(f"training hardly shows it ({within.sum()})", within.sum() < max(10, 0.002 * len(within)))


def same_region(at: Place, where: str) -> Iterator[str]:
    """Yield that advice is about another region than the finding."""
    yield from holds(f"{where} is the region of the finding", where == region_of(at))


@says("Train on some of the new worlds: only this tells memorised worlds from a missed region.")
def train_on_new(at: Place) -> Iterator[str]:
    yield from holds(
        "there are new worlds", any(rows.new is not None and rows.new.any() for rows in at.told.splits.values())
    )


@says("Draw {split:name} again with worlds of {first:name}: only this tells other pictures from new worlds.")
def draw_again(at: Place, split: str, first: str) -> Iterator[str]:
    yield from holds("these are splits", {split, first} <= set(at.told.splits) and split != first)


@says("Predict about {n:n} more examples: at these rates they would decide.")
def more_examples(at: Place, n: int) -> Iterator[str]:
    yield from holds("more are needed", n > 0)


@says("Check these {n:n} annotations by hand, or annotate more examples.")
def by_hand(at: Place, n: int) -> Iterator[str]:
    yield from holds(f"{n} annotations", n == at.rows.misread.sum())
