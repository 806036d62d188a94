"""A language or vision-language model that infers the rule from examples in its prompt.

The rule comes as words and as a formula or a Prolog program. Then either we evaluate it on the concepts that perception
predicts, or the model is asked about each example, with the rule that it gave.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from assay.base import Array, Codes, ConfigError
from assay.contracts import Prediction, Predictions, RunRecord
from assay.dataset import SplitData
from assay.logic import Label
from assay.models.core.model import Epoch, Report
from assay.models.core.perception import MissingPerception
from assay.models.language import messages
from assay.models.language.conversation import Conversation, EndpointConfig, ReadFailure, ledger_of, open_conversation
from assay.models.language.messages import Form, Part, fill, picture_part, text_part
from assay.models.language.replies import HEAD, read_class, read_rule
from assay.models.symbolic.base import SymbolicConfig
from assay.models.symbolic.examples import LabelExamples, most_probable_codes
from assay.models.symbolic.formulas import FormulaModel, LearnedFormulas


class InContextConfig(SymbolicConfig, EndpointConfig):
    """Settings of an in-context learner. The endpoint and its key come from the environment only."""

    shots: int = Field(24, ge=1)
    """How many labelled examples the prompt has, balanced over the label's values as far as possible."""
    show: Literal["images", "symbols", "text"] = "images"
    """How an example appears in the prompt: as picture, as concepts (predicted by perception), or as text."""
    form: Form = "formula"
    """The form of the rule in the answer: words and a `formula`, words and a `prolog` program, or `words` only."""
    classify: Literal["evaluate", "ask"] = "evaluate"
    """Who applies the rule: we evaluate the formula on concepts, or the model is asked about each example."""
    splits: list[str] = ["test"]
    """The splits that the model is asked about, with classify=ask; for others use `assay predict`."""

    @model_validator(mode="after")
    def _classifies(self) -> "InContextConfig":
        if self.form == "words" and self.classify == "evaluate":
            raise ValueError("form=words leaves nothing to evaluate; use classify=ask, or form=formula or prolog")
        return self


class InContext(FormulaModel):
    """A model behind an OpenAI-compatible endpoint, with a few labelled examples in its prompt."""

    name = "incontext"
    Config: ClassVar[type[SymbolicConfig]] = InContextConfig
    config: InContextConfig

    def begin(self) -> None:
        """Open the ledger, and refuse what cannot be asked."""
        super().begin()
        self.ledger = ledger_of(self.config)
        self.where = "not asked"
        self._talk: Conversation | None = None
        self._train: SplitData | None = None
        self._asks_any = False
        if self.config.classify == "ask":  # this one speaks of no concepts; the class declares what is so by default
            vars(self).update(has_concepts=False, can_intervene=False)
        if self.config.form == "prolog" and any(label.kind != "bool" for label in self.knowledge.labels):
            raise ConfigError("form=prolog needs labels that are true or false; use form=formula")

    @property
    def conversation(self) -> Conversation:
        """The conversation, opened when first needed."""
        if self._talk is None:
            self._talk = open_conversation(self.config, self.seed, self.ledger)
            self.where = "local" if self._talk.client.endpoint.local else "remote"
        return self._talk

    # -- the rule ------------------------------------------------------------------------------------------------------

    def fit(self, train_data: SplitData, valid: SplitData, report: Report = lambda epoch, epochs: None) -> None:
        """Ask for the rule of each label."""
        _ = self.conversation  # what is wrong with the endpoint is told before anything else
        self._train = train_data
        examples = self.examples(train_data)
        self.learn(examples)
        try:
            score = self._f1(valid)
        except MissingPerception:
            score = float("nan")
        right = [1 - notes["right"] / notes["shots"] for notes in map(self._notes, self.learned) if "right" in notes]
        self.history = [Epoch("learning", 1, float(np.mean(right)) if right else 0.0, score, True)]
        report(self.history[0], 1)

    def learn_label(self, label: Label, examples: LabelExamples) -> LearnedFormulas:
        """Ask for the rule of one label, until the answer is a rule or has failed too often."""
        if not len(examples):
            raise ConfigError(f"label {label.name!r} is given for no training example")
        rows = self._chosen(label, examples)
        parts = self._rule_parts(label, examples, rows)
        shots = examples.codes[rows]
        rule = self.conversation.read(
            messages.opening(parts),
            f"rule of {label.name}",
            lambda reply: read_rule(reply, self.config.form, label, self.space, shots),
            lambda problem: fill("not_a_rule", problem=problem, form=self.config.form, head=HEAD),
        )
        notes: dict[str, Any] = {"shots": len(rows), "prompt": _readable(parts)}
        if isinstance(rule, ReadFailure):
            return LearnedFormulas({}, notes={**notes, "failed": rule.why, "answer": rule.answer})
        notes |= {"words": rule.words, "text": rule.text}
        if rule.formula is None:
            return LearnedFormulas({}, notes=notes)
        learned = LearnedFormulas({None: rule.formula}, notes=notes)
        self.learned[label.name] = learned
        right = int((self._rule(label).class_indices(shots) == examples.targets[rows]).sum())
        return LearnedFormulas(learned.formulas, notes={**notes, "right": right})

    def _chosen(self, label: Label, examples: LabelExamples) -> Array:
        """Return which examples are in the prompt: all, or balanced over label values, in a random order."""
        order = self.rng("shots", label.name).permutation(len(examples))
        if len(order) <= self.config.shots:
            return order
        turns = np.zeros(len(order), dtype=np.int64)
        for code in np.unique(examples.targets):
            mine = examples.targets[order] == code
            turns[mine] = np.arange(mine.sum())
        return order[np.sort(np.argsort(turns, kind="stable")[: self.config.shots])]

    def _rule_parts(self, label: Label, examples: LabelExamples, rows: Array) -> list[Part]:
        """Return the prompt for a rule: what it is about, the labelled examples, and how to answer."""
        form, first = self.config.form, "rule_from_images" if self.config.show == "images" else "rule_from_symbols"
        words = messages.vocabulary(self.space, form)
        parts = [text_part(fill(first, count=len(rows), values=messages.values_in_words(label), vocabulary=words))]
        place = self.knowledge.label_names.index(label.name)
        if self._train is None:
            raise ConfigError("examples are shown as they are in a split; use fit")
        source = np.flatnonzero(self._train.given_labels[:, place] >= 0)
        for number, row in enumerate(rows.tolist(), 1):
            description, picture = self._present(self._train, int(source[row]), examples.codes[row], number)
            answer = messages.value_word(label.values[int(examples.targets[row])])
            parts += [
                text_part(fill("example", number=number, answer=answer, description=description)),
                *picture,
            ]
        group, example = messages.quantifier_example(self.space)
        how = {"kind": messages.kind_in_words(label), "group": group, "example": example, "head": HEAD}
        return [*parts, text_part(fill(f"as_{form}", **how))]

    def _present(self, data: SplitData, row: int, codes: Codes, number: int) -> tuple[str, list[Part]]:
        """Return an example as it appears in the prompt: a description, or else a picture."""
        if self.config.show == "images":
            return "", [picture_part(data.files([row])[0])]
        if self.config.show == "text":
            return data.texts[row], []
        return messages.describe_example(self.space, codes, self.config.form, number), []

    # -- answers -------------------------------------------------------------------------------------------------------

    def predict(self, data: SplitData, do: Mapping[str, Array] | None = None) -> Predictions:
        """Answer for every example: by the formula on concepts, or by asking. Where there is no rule, say nothing."""
        if self.config.classify == "evaluate":
            predictions = super().predict(data, do)
            labels = {
                name: a if name not in self.failures else _silence(len(data)) for name, a in predictions.labels.items()
            }
            return Predictions(
                predictions.fingerprint,
                predictions.split,
                predictions.index,
                labels,
                predictions.concepts,
                predictions.about,
            )
        if do:
            raise ConfigError("a model that is asked about pictures has no concepts to set; use classify=evaluate")
        if not self._asks_any and data.name not in self.config.splits:
            raise MissingPerception(f"split {data.name!r} is not among those that the model is asked about; set splits")
        labels = {label.name: self._ask_labels(label, data) for label in self.knowledge.labels}
        return Predictions(data.fingerprint, data.name, data.index, labels, {}, self.metadata())

    def label_probabilities(self, concepts: list[Array]) -> list[Array]:
        """Return the label probabilities under the formulas; uniform where there is none."""
        results = []
        for label in self.knowledge.labels:
            values = len(label.values)
            bare = label.name in self.failures
            results.append(np.full((len(concepts[0]), values), 1 / values) if bare else self._rule(label)(concepts))
        return results

    def _ask_labels(self, label: Label, data: SplitData) -> Prediction:
        """Ask about each example, with the rule that the model gave."""
        notes = self._notes(label.name)
        if "failed" in notes:
            return _silence(len(data))
        codes = (
            most_probable_codes(self.perception.probabilities(data)) if self.config.show == "symbols" else data.concepts
        )
        replies = self.conversation.each(lambda row: self._class(label, notes, data, codes, row), range(len(data)))
        answers = np.array(replies, dtype=np.int64)
        known = bool((answers >= 0).all())
        return Prediction(answers, np.eye(len(label.values))[answers] if known else None)

    def _class(self, label: Label, notes: Mapping[str, Any], data: SplitData, codes: Codes, row: int) -> int:
        description, picture = self._present(data, row, codes[row], 1)
        choices = messages.values_in_words(label)
        prompt = fill(
            "classify",
            description=description,
            values=choices,
            rule=notes["words"],
            program=notes["text"],
            form=self.config.form,
            vocabulary=messages.vocabulary(self.space, self.config.form),
            choices=choices,
        )
        answer = self.conversation.read(
            messages.opening([text_part(prompt), *picture]),
            f"{label.name} of {data.name} {int(data.index[row])}",
            lambda reply: read_class(reply, label),
            lambda problem: fill("not_an_answer", problem=problem, choices=choices),
        )
        return -1 if isinstance(answer, ReadFailure) else answer

    # -- the record ----------------------------------------------------------------------------------------------------

    def _notes(self, name: str) -> Mapping[str, Any]:
        if name not in self.learned:
            raise ConfigError(f"model {self.name!r} has learned nothing yet of label {name!r}")
        return self.learned[name].notes

    @property
    def failures(self) -> dict[str, str]:
        """The labels for which no answer was a rule, and what was wrong with the last."""
        return {name: str(rule.notes["failed"]) for name, rule in self.learned.items() if "failed" in rule.notes}

    def describe(self) -> list[str]:
        """Return the rule of each label in words and as it was given, and what asking took."""
        lines = []
        for name, learned in self.learned.items():
            if "failed" in learned.notes:
                lines.append(f"{name}: no answer was a rule: {learned.notes['failed']}")
                continue
            lines.append(f"{name}: {learned.notes['words']}")
            lines += [f"{name}: {formula}" for formula in learned.formulas.values()]
        sums = self.ledger.totals()
        answers = f"answers: {sums['requests']} ({sums['from_cache']} from the cache), retries: {sums['retries']}, "
        return [*lines, f"{answers}tokens: {sums['tokens_in']:,} + {sums['tokens_out']:,}, cost: {sums['cost']:g}"]

    def history_as_dicts(self) -> list[dict[str, Any]]:
        """Return the training history; a score that is not known is null."""
        return [{k: None if v != v else v for k, v in epoch.items()} for epoch in super().history_as_dicts()]

    def metadata(self) -> dict[str, Any]:
        """Return the record of the model, the prompts and the usage; never the endpoint's address or key."""
        record = {"endpoint": self.where, "prompts": messages.hashes(), "failed": self.failures, **self.ledger.totals()}
        return {**super().metadata(), "incontext": record}

    def state(self) -> dict[str, Any]:
        """Return the rules, and every exchange."""
        return {**super().state(), "endpoint": self.where, "exchanges": self.ledger.to_list()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Take the rules and the exchanges."""
        super().set_state(state)
        self.where = state["endpoint"]
        self.ledger.take(state["exchanges"])

    @classmethod
    def load(cls, folder: Path, record: RunRecord, device: str = "cpu") -> Self:
        """Return the model of a run; it can be asked about any split."""
        model = super().load(folder, record, device)
        model._asks_any = True
        return model


def _silence(rows: int) -> Prediction:
    return Prediction(np.full(rows, -1, dtype=np.int64))


def _readable(parts: list[Part]) -> str:
    """Return a prompt for the record, pictures left out."""
    return "\n\n".join(part["text"] if part["type"] == "text" else "[picture]" for part in parts)
