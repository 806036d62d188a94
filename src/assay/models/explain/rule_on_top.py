"""The rule learned from discovered concepts, and whether it is the true one.

A learner on concepts (`tree`, `rules`, `ilp`, `synthesis`) sees the concepts that the matched units give for the
training examples, and their labels. What it learns is written as formulas and compared with the rule on all worlds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.base import Array, Codes, Settings
from assay.logic import Knowledge
from assay.metrics import RuleRelation, relations_in, worlds_of
from assay.models.core.perception import one_hot
from assay.models.registered import MODELS
from assay.models.symbolic.base import SymbolicModel
from assay.models.symbolic.examples import Examples, most_probable_codes
from assay.models.symbolic.tree import Tree

MOST_WORLDS = 50_000
"""On how many worlds the labels of the learned rule and of the true one are compared."""
SETTINGS: dict[str, dict[str, Any]] = {"tree": {"encoding": "values"}}
"""A tree asks for values of concepts, so that it can be written as a formula."""


@dataclass(frozen=True)
class RuleOnTop:
    """What a learner made of concepts, and how it relates to the true rule, label by label and value by value."""

    learner: str
    model: SymbolicModel
    program: Mapping[str, Any]
    """The formulas, as a run keeps them."""
    relations: tuple[RuleRelation, ...]
    """How its formulas relate to the rule; compared only where no world was found on which they differ."""
    agreement: float | None
    """The share of worlds where it gives every label that the true rule gives; None where no rule is known."""
    exact: bool
    """Whether all worlds were compared, and not a sample of them."""

    def labels(self, concepts: Sequence[Array]) -> list[Array]:
        """Return the labels that follow from the most probable concepts."""
        return self.model.labels_from_concepts(list(concepts))

    @property
    def is_equal(self) -> bool | None:
        """Whether it is the true rule on every world; None where no rule is known."""
        if self.agreement is None:
            return None
        return self.agreement == 1 and all(relation.relation == "equal" for relation in self.relations)

    @property
    def text(self) -> str:
        """The comparison in a sentence."""
        if self.agreement is None:
            return "No rule is known to compare the learned one with."
        which = "all worlds" if self.exact else "sampled worlds"
        if self.is_equal:
            return f"The rule learned by {self.learner} is equal to the true rule on {which}."
        share = f"{100 * self.agreement:.1f} % of {which}"
        return f"The rule learned by {self.learner} differs from the true rule: it gives the same labels in {share}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        numbers = {"equal": self.is_equal, "agreement": self.agreement, "exact": self.exact}
        relations = [relation.to_dict() for relation in self.relations]
        return {"learner": self.learner, **numbers, "text": self.text, "relations": relations}


def learn_rule(learner: str, knowledge: Knowledge, concepts: Sequence[Array], labels: Codes, seed: int) -> RuleOnTop:
    """Learn a rule from concept probabilities and labels, and compare it with the true one."""
    model: SymbolicModel = MODELS[learner](knowledge, None, Settings(SETTINGS.get(learner, {})), None, seed)
    codes = most_probable_codes(concepts)
    model.learn(Examples(knowledge, codes, one_hot(codes, knowledge.space), labels))  # a formula asks for values
    program = model.program() if isinstance(model, Tree) else model.state()
    if not knowledge.has_rule:
        return RuleOnTop(learner, model, program, (), None, True)
    worlds = worlds_of(knowledge, MOST_WORLDS)
    answers = model.labels_from_concepts(one_hot(worlds.codes, knowledge.space))
    same = np.stack([answer.argmax(axis=1) for answer in answers], axis=1) == knowledge.labels_of(worlds.codes)
    agreement = float(same.all(axis=1).mean())
    relations = tuple(relations_in(program, knowledge)) if agreement == 1 else ()  # a sample can only refute
    exact = all(relation.exact for relation in relations) if relations else worlds.exact
    return RuleOnTop(learner, model, program, relations, agreement, exact)
