"""The settings of trains: rules, cars and looks; and V-LoL's own keys."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from assay.base import AssayError, ConfigError, suggestion
from assay.families.trains.drawing.appearance import Background, Visualization
from assay.families.trains.rules import HEAD, ON_LISTS, PREDICATES, RULES, TEMPLATE
from assay.families.trains.source import Distribution, train_space
from assay.logic import ConceptSpace, Formula, parse, shape_of
from assay.tasks import SceneConfig

MOST_CARS = 12

RELEASED = {"classification": "rule", "min_train_length": "min_cars", "max_train_length": "max_cars"}
WORDS: dict[str, dict[str, dict[str, Any]]] = {  # what the words of V-LoL's command line are here
    "rule": {"theoryx": {"rule": "theory_x"}, "custom": {"rule": "numerical"}},
    "distribution": {"MichalskiTrains": {"distribution": "michalski"}, "RandomTrains": {"distribution": "uniform"}},
    "visualization": {"Trains": {"visualization": "trains"}, "SimpleObjects": {"visualization": "blocks"}},
    "background": {
        "base_scene": {"background": "base"},
        "desert_scene": {"background": "desert"},
        "sky_scene": {"background": "desert_sky"},
        "fisheye_scene": {"background": "fisheye"},
    },
}


class TrainsConfig(SceneConfig):
    """Settings of the trains."""

    rule: str = "theory_x"
    """What goes east: `theory_x`, `numerical`, `complex`, `easy`, `color`, `multi`, or a formula over the cars."""
    prolog: str | None = None
    """Instead of `rule`: a Prolog program that defines `eastbound(Train)`, or the name of a `.pl` file with one;
    V-LoL's predicates are predefined."""
    prolog_form: Literal["list", "facts"] = "list"
    """Trains are lists of `c(1, rectangle, short, not_double, none, 2, l(circle, 1))`, or facts as `has_car(T, C)`."""
    distribution: Distribution = "michalski"
    """How cars are drawn: as by Muggleton's generator, or every attribute evenly."""
    min_cars: int = Field(2, ge=1, le=MOST_CARS)
    """The fewest cars of a train."""
    max_cars: int = Field(4, ge=1, le=MOST_CARS)
    """The most cars of a train."""
    ood_longer: int = Field(0, ge=0, le=MOST_CARS)
    """A split `ood_longer` of trains of so many cars, which all trains then have slots for; 0: there is none."""
    ood_uniform: bool = False
    """A split `ood_uniform` whose cars are drawn evenly, where the others are Michalski's."""
    image: bool = True
    """Draw pictures; without, a dataset has the trains as text only."""
    visualization: Visualization = "trains"
    """Wooden trains, or blocks: the same concepts in other shapes."""
    background: Background = "base"
    """A studio, a desert seen from above, a desert with sky, or the desert through a fisheye lens."""
    occlusion: bool = False
    """Turn trains by up to 70 degrees instead of 60, so that cars hide more of one another."""
    width: int = Field(480, ge=32, le=1920)
    """The width of a picture; its height is nine sixteenths of that."""

    @field_validator("rule")
    @classmethod
    def _must_be_a_rule(cls, rule: str) -> str:
        try:
            rule_of(rule)
        except AssayError as error:
            raise ValueError(str(error)) from None
        return rule

    @field_validator("prolog")
    @classmethod
    def _must_be_a_program(cls, text: str | None) -> str | None:
        return text if text is None or not text.strip().endswith(".pl") else _read(text.strip())

    @model_validator(mode="after")
    def _must_decide(self) -> "TrainsConfig":
        if self.prolog is not None:
            try:
                self.formula(train_space(self.slots, self.min_cars))
            except AssayError as error:
                raise ValueError(f"prolog: {error}") from None
        return self

    @model_validator(mode="after")
    def _must_be_trains(self) -> "TrainsConfig":
        if self.min_cars > self.max_cars:
            raise ValueError(f"min_cars: {self.min_cars} is more than max_cars, {self.max_cars}")
        if 0 < self.ood_longer <= self.max_cars:
            raise ValueError(f"ood_longer: {self.ood_longer} cars is not more than max_cars, {self.max_cars}")
        if self.ood_uniform and self.distribution == "uniform":
            raise ValueError("ood_uniform: the other splits are drawn evenly already; set 'distribution: michalski'")
        if self.combinations_in_distribution is not None:
            raise ValueError("combinations_in_distribution: trains are too many to list; use 'prop_in_distribution'")
        return self

    def formula(self, space: ConceptSpace) -> Formula:
        """Return what goes east."""
        if self.prolog is None:
            return rule_of(self.rule)
        from assay.prolog import Vocabulary, with_predefined
        from assay.prolog import rule_of as rule_of_program  # only where there is a program

        if self.prolog_form == "list":
            program = with_predefined(self.prolog, ON_LISTS + PREDICATES, name="prolog")
            return rule_of_program(program, space, HEAD, TEMPLATE, packed=True, name="prolog")
        program = with_predefined(self.prolog, PREDICATES, Vocabulary(space).keys, "prolog")
        return rule_of_program(program, space, HEAD, packed=True, name="prolog")

    @property
    def slots(self) -> int:
        """How many cars the longest train has."""
        return max(self.max_cars, self.ood_longer)

    @property
    def height(self) -> int:
        """The height of a picture."""
        return round(self.width * 9 / 16)


def rule_of(text: str) -> Formula:
    """Return the formula of a rule's name, or of its text, which must be true or false of trains."""
    if text.isidentifier() and text not in RULES:
        raise ConfigError(f"no rule named {text!r}{suggestion(text, RULES)}")
    formula = parse(RULES.get(text, text))
    if shape_of(formula, train_space(MOST_CARS, 1)).kind != "bool":
        raise ConfigError(f"rule {text!r} must be true or false of a train, not a number or a word")
    return formula


def _read(path: str) -> str:
    """Return the program that a file holds, so that datasets need the file no more."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ValueError(f"the file {path!r} cannot be read: {why}") from None
