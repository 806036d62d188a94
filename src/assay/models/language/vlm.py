"""A vision-language model behind an endpoint as a reader: one question for each picture, a JSON object back.

Answers are kept on disk like all that an endpoint is asked, so that what was interrupted goes on where it stopped, and
annotation, interventions and perception of the same pictures share them.
"""

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import Field

from assay.base import Array, Codes, DataError, ProgressCallback
from assay.contracts import one_hot
from assay.dataset import SplitData
from assay.logic import Concept, Value
from assay.models.language.conversation import Conversation, EndpointConfig, ReadFailure, ledger_of, open_conversation
from assay.models.language.messages import fill, hashes, opening, picture_part, text_part
from assay.models.language.replies import find_values, read_values
from assay.models.language.texts import (
    ConceptText,
    TextsConfig,
    concept_words,
    given_texts,
    own_concepts,
    refuse_unknown_texts,
)

PROMPTS = ("system_reader", "read_concepts", "not_the_concepts")
DECISIVE = {"model", "seed", "temperature", "max_tokens", "extra", "tries", "texts", "concepts"}
"""The settings that decide the answers; how fast and at what cost they come is no part of what they are."""


class VlmConfig(TextsConfig, EndpointConfig):
    """Settings of a vision-language model as a reader. The endpoint and its key come from the environment only."""

    tries: int = Field(2, ge=1)
    """How often a picture is asked about until the answer can be read; after that, what cannot be read is missing."""
    seed: int = Field(0, ge=0)
    """The seed of the requests; another one asks anew."""
    splits: list[str] | None = None
    """As perception of a model: the splits that are read; by default all but counterfactual worlds."""


class VlmReader:
    """Concepts as a vision-language model sees them, with certainty; NaN where it says nothing that can be read."""

    Config = VlmConfig

    def __init__(self, config: VlmConfig, report: ProgressCallback = lambda *_: None) -> None:
        self.config, self.report = config, report
        self.ledger = ledger_of(config)
        self.unreadable: set[str] = set()
        """The pictures whose answers could not be read to the end."""

    @cached_property
    def conversation(self) -> Conversation:
        """The conversation, opened when first needed."""
        return open_conversation(self.config, self.config.seed, self.ledger)

    @property
    def words(self) -> tuple[str, ...]:
        """The true-or-false concepts of its own."""
        return tuple(self.config.concepts)

    def probabilities(self, data: SplitData) -> list[Array]:
        """Return what the model says of each concept."""
        space = data.knowledge.space
        refuse_unknown_texts(self.config.texts, space)
        codes = self._codes(data, space.concepts, self.config.texts)
        return [one_hot(codes[:, place], size) for place, size in enumerate(space.sizes)]

    def scores(self, data: SplitData) -> Array:
        """Return 1 where the model says that a picture shows a word, and 0 where not."""
        concepts = own_concepts(self.words)
        texts: dict[str, ConceptText] = {concept.name: word for concept, word in zip(concepts, self.words, strict=True)}
        codes = self._codes(data, concepts, texts)
        if (codes < 0).any():
            row, place = np.argwhere(codes < 0)[0]
            raise DataError(
                f"the model does not say whether example {data.index[row]} of split {data.name!r} shows "
                f"{self.words[place]!r}; raise tries, or ask another model"
            )
        return codes.astype(np.float64)

    def _codes(self, data: SplitData, concepts: Sequence[Concept], texts: dict[str, ConceptText]) -> Codes:
        """Ask about each picture, and return a row of codes for each, -1 for what is missing."""
        if "image" not in data.columns:
            raise DataError(f"split {data.name!r} has no pictures to be read")
        form = "{" + ", ".join(f"{json.dumps(concept.name)}: ..." for concept in concepts) + "}"
        asked = fill("read_concepts", concepts="\n".join(_line(concept, texts) for concept in concepts), form=form)
        done = 0

        def count(more: int) -> None:
            nonlocal done
            done += more
            self.report(f"reading {data.name}", done, len(data))

        def read(row: int) -> list[int]:
            purpose = f"concepts of {data.name} {int(data.index[row])}"
            answer = self.conversation.read(
                opening([text_part(asked), picture_part(data.files([row])[0])], "system_reader"),
                purpose,
                lambda reply: read_values(reply, concepts),
                lambda problem: fill("not_the_concepts", problem=problem, form=form),
            )
            if isinstance(answer, ReadFailure):
                self.unreadable.add(purpose)
                answer = find_values(answer.answer, concepts)
            return answer.codes

        rows = self.conversation.each(read, range(len(data)), count)
        return np.array(rows, dtype=np.int64).reshape(len(data), len(concepts))

    def metadata(self) -> dict[str, Any]:
        """Return which model is asked, and how; never the endpoint's address or key."""
        settings = self.config.model_dump(mode="json", exclude_defaults=True, include=DECISIVE)
        return {"reader": "vlm", "model": self.config.model, "prompts": hashes(PROMPTS), "settings": settings}

    def usage(self) -> dict[str, Any]:
        """Return how many answers there were, what they took, and how many could not be read."""
        return {**self.ledger.totals(), "unreadable": len(self.unreadable)}


def _line(concept: Concept, texts: dict[str, ConceptText]) -> str:
    """Return a concept with its values as the question has it."""
    values = [_value(concept, value, texts) for value in concept.values]
    listed = f"{', '.join(values[:-1])} or {values[-1]}" if len(values) > 1 else values[0]
    return f"- {json.dumps(concept.name)} ({concept_words(concept, texts)}): {listed}"


def _value(concept: Concept, value: Value, texts: dict[str, ConceptText]) -> str:
    """Return a value as JSON has it, and in words where there are some."""
    words = given_texts(concept, value, texts)
    return json.dumps(value) + (f" ({'; '.join(words)})" if words else "")
