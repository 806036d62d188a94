"""Concepts and their values in plain words, for a reader: made from names by templates, or given for each value."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from assay.base import Config, ConfigError, UnknownName, load_yaml, suggestion
from assay.exchange import plain_name
from assay.logic import ABSENT, Concept, ConceptSpace, Value

ConceptText = str | dict[str, str | list[str]]
"""What a concept is called in words, or for some of its values the texts that say that it has them."""


class TextsConfig(Config):
    """What every reader can set."""

    texts: dict[str, ConceptText] = {}
    """By concept: what it is called in words, or for each value a text or several, such as {head: {round: a robot with
    a round head}}; or the YAML file that has them. What is not named follows from the names of concepts and values."""
    concepts: list[str] = []
    """For `assay annotate`: true-or-false concepts of your own in free words, in place of the dataset's."""

    @field_validator("texts", mode="before")
    @classmethod
    def _read(cls, given: Any) -> Any:
        """Read a file; keys that YAML takes for truth values or numbers are values of concepts."""
        values = load_yaml(Path(given)).values if isinstance(given, str) else given
        if not isinstance(values, Mapping):
            return values
        return {
            str(name): {_key(value): text for value, text in one.items()} if isinstance(one, Mapping) else one
            for name, one in values.items()
        }

    @field_validator("concepts")
    @classmethod
    def _differ(cls, given: list[str]) -> list[str]:
        names = [plain_name(word) for word in given]
        if len(set(names)) < len(names):
            raise ValueError("concepts need different names")
        return given


class ClipConfig(TextsConfig):
    """Settings of CLIP as a reader. Of several texts for a value their embeddings are averaged."""

    template: str = "a photo with {value} {concept}"
    """The text for a value, with {value} and {concept} in plain words."""
    template_true: str = "a photo with {concept}"
    """The text for a concept that is true."""
    template_false: str = "a photo without {concept}"
    """The text for a concept that is false, and for an object that is absent."""
    batch_size: int = Field(64, ge=1)
    device: str = "auto"


def _key(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def own_concepts(words: Sequence[str]) -> list[Concept]:
    """Return true-or-false concepts named after free words.

    >>> own_concepts(["Gradient color"])
    [Concept(name='Gradient_color', values=(False, True), counts=False, nothing=None)]
    """
    return [Concept(plain_name(word), (False, True)) for word in words]


def plain_words(name: str) -> str:
    """Return a name in plain words.

    >>> plain_words("car1.load_shape")
    'car 1 load shape'
    """
    return " ".join(re.sub(r"(?<=[a-zA-Z])(?=\d)", " ", name.replace(".", " ").replace("_", " ")).split())


def concept_words(concept: Concept, texts: Mapping[str, ConceptText]) -> str:
    """Return what a concept is called in words."""
    given = texts.get(concept.name)
    return given if isinstance(given, str) else plain_words(concept.name)


def given_texts(concept: Concept, value: Value, texts: Mapping[str, ConceptText]) -> list[str]:
    """Return the texts that are given for a value, none where there are none."""
    given = texts.get(concept.name, {})
    text = {} if isinstance(given, str) else {key.lower(): text for key, text in given.items()}
    found = text.get(str(value).lower(), [])
    return [found] if isinstance(found, str) else list(found)


def prompts(concept: Concept, config: ClipConfig) -> list[list[str]]:
    """Return for each value of a concept the texts that say that it has it.

    >>> prompts(Concept("head_shape", ("round", "square")), ClipConfig())
    [['a photo with round head shape'], ['a photo with square head shape']]
    """
    return [given_texts(concept, v, config.texts) or [_prompt(concept, v, config)] for v in concept.values]


def _prompt(concept: Concept, value: Value, config: ClipConfig) -> str:
    words = concept_words(concept, config.texts)
    if value == ABSENT:
        slot = concept.name.rpartition(".")[0]
        return config.template_false.replace("{concept}", plain_words(slot) if slot else words)
    template = config.template
    if isinstance(value, bool):
        template = config.template_true if value else config.template_false
    return template.replace("{value}", plain_words(str(value))).replace("{concept}", words)


def refuse_unknown_texts(texts: Mapping[str, ConceptText], space: ConceptSpace) -> None:
    """Refuse texts of concepts and values that there are not: a typo would silently change nothing."""
    for name, given in texts.items():
        if name not in space.names:
            raise UnknownName(f"texts: no concept named {name!r}{suggestion(name, space.names)}")
        known = [str(value).lower() for value in space.concept(name).values]
        for value in () if isinstance(given, str) else given:
            if value.lower() not in known:
                raise UnknownName(f"texts: concept {name!r} has no value {value!r}{suggestion(value, known)}")
            if not given_texts(space.concept(name), value, texts):
                raise ConfigError(f"texts: {name!r} has an empty list for {value!r}")
