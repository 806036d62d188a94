"""The deep concept reasoner (DCR): for each example a rule over its concepts, written by a network and run as logic.

After Barbiero et al. (2023). Embeddings of concepts are read as in CEM. For every label value and every atom (`a`, or
`a == 3` where a concept has more than two values) one small network says whether the atom matters, and another whether
it or its opposite is meant; the value is as true as the fuzzy conjunction of the atoms that matter. The rules can be
read: those of single examples, and all that are in use, by how often they are.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from assay.dataset import SplitData
from assay.logic import Formula, Value, Var, conjunction, disjunction
from assay.models.concept.heads import harden, insert_truth, sample_mask
from assay.models.core.encoder import Context
from assay.models.core.network import ConceptModel
from assay.models.core.settings import ConceptConfig, NeuralConfig
from assay.models.core.steps import Phase
from assay.models.core.tensors import (
    Annotations,
    Batch,
    Outputs,
    apply_interventions,
    concept_loss,
    softmax_each,
)

SMALLEST = 1e-6


@dataclass(frozen=True)
class Atom:
    """A concept having a value."""

    concept: int
    code: int
    formula: Formula


@dataclass(frozen=True)
class LearnedRule:
    """A rule in use: for which value of which label, in how many examples, and how often the label was right there."""

    label: str
    value: Value
    formula: Formula
    examples: int
    right: int

    def __str__(self) -> str:
        return f"{self.label} == {self.value!r} if {self.formula}  ({self.examples} examples, {self.right} right)"


class DCRConfig(ConceptConfig):
    """Settings of the reasoner; embeddings as in `cem`."""

    width: int = Field(16, ge=1)
    """The length of an embedding."""
    intervention_chance: float = Field(0.25, ge=0, le=1)
    """The probability that a supervised concept is set to its true value in training."""
    temperature: float = Field(100.0, gt=0)
    """The lower, the fewer atoms can matter at once; at the authors' 100 all do, unless there are more than that."""
    logic: Literal["goedel", "product"] = "goedel"
    """The fuzzy logic in which rules are evaluated: the minimum, or the product, stands for "and"."""
    weight_decay: float = Field(4e-5, ge=0)


class DCR(ConceptModel):
    """Labels by rules that a network writes for each example."""

    name = "dcr"
    Config: ClassVar[type[NeuralConfig]] = DCRConfig
    config: DCRConfig

    def build(self, backbone: str) -> None:
        """Make the atoms, what reads their embeddings, and the two networks that write rules."""
        width = self.config.width
        self.atoms = [atom for place in range(len(self.space)) for atom in self._atoms(place)]
        per = Counter(atom.concept for atom in self.atoms)
        widths = {name: per[place] * 2 * width for place, name in enumerate(self.space.names)}
        self.encoder = self.read_encoder(backbone, widths)
        self.context = Context(self.encoder)
        self.scorer = nn.Linear(2 * width, 1)
        self.matters = _network(width, sum(self.label_sizes))
        self.meant = _network(width, sum(self.label_sizes))

    def _atoms(self, place: int) -> list[Atom]:
        """Return the atoms of a concept: one if it has two values, or else one for each."""
        concept = self.space.concepts[place]
        if concept.kind == "bool" and len(concept.values) == 2:
            return [Atom(place, concept.code(True), Var(concept.name))]
        codes = [1] if len(concept.values) == 2 else range(len(concept.values))
        return [Atom(place, code, Var(concept.name).eq(concept.values[code])) for code in codes]

    def embed_atoms(self, pictures: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the embeddings of each atom and of its opposite (examples x atoms x 2 x width), and concept logits."""
        read, logits = self.encoder(pictures), []
        for features, size in zip(read, self.space.sizes, strict=True):
            scores = self.scorer(F.leaky_relu(self._pair(features)).flatten(2))[..., 0]
            logits.append(torch.cat([torch.zeros_like(scores), scores], dim=1) if size == 2 else scores)
        return torch.cat([F.leaky_relu(self._pair(features)) for features in self.context(read)], dim=1), logits

    def _pair(self, read: Tensor) -> Tensor:
        return read.reshape(len(read), read.shape[1] // (2 * self.config.width), 2, self.config.width)

    def write_rules(self, embeddings: Tensor, concepts: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Return how true each atom is, and for each label value how much it matters, and how much it is meant."""
        inputs = harden(concepts) if self.config.hard else concepts
        truth = torch.stack([inputs[atom.concept][:, atom.code] for atom in self.atoms], dim=1)
        mixed = torch.stack([truth, 1 - truth], dim=2)[..., None].mul(embeddings).sum(dim=2)
        scores = self.matters(mixed).log_softmax(dim=1)
        matters = (scores - self.config.temperature * scores.mean(dim=1, keepdim=True)).sigmoid()
        return truth, matters, self.meant(mixed).sigmoid()

    def truths(self, embeddings: Tensor, concepts: Sequence[Tensor]) -> Tensor:
        """Return how true each value of each label is, side by side."""
        truth, matters, positive = self.write_rules(embeddings, concepts)
        goedel, truth = self.config.logic == "goedel", truth[..., None]
        same = _both(_either(1 - positive, truth, goedel), _either(positive, 1 - truth, goedel), goedel)
        truths = _either(same, 1 - matters, goedel)
        return truths.amin(dim=1) if goedel else truths.prod(dim=1)

    def phases(self, data: Annotations) -> list[Phase]:
        """Return one phase: labels and concepts together."""
        mask = self.supervision(data)

        def loss(batch: Batch) -> Tensor:
            embeddings, logits = self.embed_atoms(batch.pictures)
            known = mask[batch.rows]
            own = softmax_each(logits)
            inputs = insert_truth(batch.concepts, sample_mask(known, self.config.intervention_chance), own)
            truths = self.truths(embeddings, inputs).float().clamp(SMALLEST, 1 - SMALLEST)
            columns = [
                batch.labels[:, i : i + 1] == torch.arange(size, device=known.device)
                for i, size in enumerate(self.label_sizes)
            ]
            wanted = torch.cat(columns, dim=1).float()
            fit = -(wanted * truths.log() + (1 - wanted) * (1 - truths).log()).mean()
            return fit + self.config.concept_weight * concept_loss(logits, batch.concepts, known)

        return [Phase("joint", list(self.parameters()), loss, "all")]

    def answer(self, pictures: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        """Return concept probabilities, with those in `do` as given, and label truths, made to add up to 1."""
        embeddings, logits = self.embed_atoms(pictures)
        concepts = apply_interventions(softmax_each(logits), do)
        truths = torch.split(self.truths(embeddings, concepts).clamp(min=SMALLEST), self.label_sizes, dim=1)
        return Outputs([truth / truth.sum(dim=1, keepdim=True) for truth in truths], concepts)

    @torch.no_grad()
    def rules_of(self, data: SplitData) -> dict[str, list[Formula]]:
        """Return for each label the rule of each example, that of the value which the model gives it."""
        self.eval()
        feed = self.feed(data, self.device)
        rules: dict[str, list[Formula]] = {label.name: [] for label in self.knowledge.labels}
        for pictures in self.chunks(feed):
            embeddings, logits = self.embed_atoms(pictures)
            concepts = softmax_each(logits)
            _, matters, positive = self.write_rules(embeddings, concepts)
            truths = torch.split(self.truths(embeddings, concepts), self.label_sizes, dim=1)
            answers = [truth.argmax(dim=1) for truth in truths]
            for number, label in enumerate(self.knowledge.labels):
                place = (sum(self.label_sizes[:number]) + answers[number])[:, None, None].expand(-1, len(self.atoms), 1)
                chosen, signs = (weights.gather(2, place)[..., 0] > 0.5 for weights in (matters, positive))
                pairs = zip(chosen.tolist(), signs.tolist(), strict=True)
                rules[label.name] += [self._rule(*pair) for pair in pairs]
        return rules

    def _rule(self, matters: Sequence[bool], signs: Sequence[bool]) -> Formula:
        """Return the atoms that matter, as they are meant; of a concept that has a value its other values go unsaid."""
        chosen = [(atom, sign) for atom, keep, sign in zip(self.atoms, matters, signs, strict=True) if keep]
        settled = {atom.concept for atom, sign in chosen if sign}
        parts = [
            atom.formula if sign else ~atom.formula for atom, sign in chosen if sign or atom.concept not in settled
        ]
        return conjunction(*parts)

    def rules(self, data: SplitData) -> list[LearnedRule]:
        """Return the rules that are in use on this data, for each label value the most frequent first."""
        predictions, rules = self.predict(data), []
        for place, (name, formulas) in enumerate(self.rules_of(data).items()):
            codes, values = predictions.labels[name].codes, self.knowledge.labels[place].values
            right = codes == data.labels[:, place]
            used = Counter(zip(codes.tolist(), formulas, strict=True))
            well = Counter(
                pair for pair, good in zip(zip(codes.tolist(), formulas, strict=True), right, strict=True) if good
            )
            order = sorted(used, key=lambda pair: (pair[0], -used[pair], str(pair[1])))
            rules += [LearnedRule(name, values[code], rule, used[code, rule], well[code, rule]) for code, rule in order]
        return rules

    def learned_formulas(self, data: SplitData) -> dict[tuple[str, Value], Formula]:
        """Return for each label value that is given to some example all its rules as one formula, joined by or."""
        by_value: dict[tuple[str, Value], list[Formula]] = {}
        for rule in self.rules(data):
            by_value.setdefault((rule.label, rule.value), []).append(rule.formula)
        return {key: disjunction(*formulas) for key, formulas in by_value.items()}


def _network(width: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width, width), nn.LeakyReLU(), nn.Linear(width, outputs))


def _both(left: Tensor, right: Tensor, goedel: bool) -> Tensor:
    return torch.minimum(left, right) if goedel else left * right


def _either(left: Tensor, right: Tensor, goedel: bool) -> Tensor:
    return torch.maximum(left, right) if goedel else left + right - left * right
