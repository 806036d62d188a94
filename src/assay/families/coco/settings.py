"""The ten rules of COCOLogic-V2, and the settings of its tasks."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, model_validator

from assay.base import ConfigError, suggestion
from assay.families.coco.album import AnnotationFilter, Crowds, Tiny
from assay.logic import Formula, free_names, parse
from assay.tasks import TaskConfig

RULES: Mapping[str, str] = {
    "signal_and_ride": "traffic_light >= 1 and (bicycle >= 1 or bus >= 1 or train >= 1)",
    "double_serving": "exactly(2, bottle >= 1, cup >= 1, pizza >= 1)",
    "herd_alone": "(cow >= 2 or elephant >= 2 or sheep >= 2) and person == 0",
    "either_dog_or_car": "(dog >= 1) ^ (car >= 1)",
    "three_of_a_kind": "bowl == 3 or cup == 3",
    "car_majority": "car > truck and car >= 1 and truck >= 1",
    "empty_seat": "(couch >= 1 or chair >= 1) and person == 0",
    "single_mode_traffic": "exactly(1, bicycle >= 1, motorcycle >= 1, car >= 1, bus >= 1)",
    "personal_transport": "person >= 1 and ((bicycle >= 1) ^ (car >= 1))",
    "surf_trip": "person == surfboard and person >= 1 and surfboard >= 1",
}
"""Each rule by its name in the paper, over counts of objects."""

PAPER_TYPES: Mapping[str, Mapping[str, str]] = {
    "signal_and_ride": {
        "N1 bicycle and not traffic_light": "bicycle >= 1 and traffic_light == 0",
        "N2 bus and not traffic_light": "bus >= 1 and traffic_light == 0",
        "N3 train and not traffic_light": "train >= 1 and traffic_light == 0",
        "N4 traffic_light alone": "traffic_light >= 1 and bicycle == 0 and bus == 0 and train == 0",
    },
    "double_serving": {
        "N1 bottle alone": "bottle >= 1 and cup == 0 and pizza == 0",
        "N2 cup alone": "cup >= 1 and bottle == 0 and pizza == 0",
        "N3 pizza alone": "pizza >= 1 and bottle == 0 and cup == 0",
        "N4 all three": "bottle >= 1 and cup >= 1 and pizza >= 1",
    },
    "herd_alone": {
        "N1 one elephant, no person": "elephant == 1 and person == 0",
        "N2 one cow, no person": "cow == 1 and person == 0",
        "N3 one sheep, no person": "sheep == 1 and person == 0",
        "N4 elephants and person": "elephant >= 2 and person >= 1",
        "N5 cows and person": "cow >= 2 and person >= 1",
        "N6 sheep and person": "sheep >= 2 and person >= 1",
    },
    "either_dog_or_car": {"N1 both": "dog >= 1 and car >= 1", "N2 neither": "dog == 0 and car == 0"},
    "three_of_a_kind": {
        "N1 1-2 cup": "cup == 1 or cup == 2",
        "N2 cup >= 4": "cup >= 4",
        "N3 1-2 bowl": "bowl == 1 or bowl == 2",
        "N4 bowl >= 4": "bowl >= 4",
    },
    "car_majority": {
        "N1 car and not truck": "car >= 1 and truck == 0",
        "N2 as many cars as trucks": "car == truck and car >= 1",
        "N3 more trucks than cars": "truck > car and car >= 1",
    },
    "empty_seat": {
        "N1 couch and person": "couch >= 1 and person >= 1",
        "N2 chair and person": "chair >= 1 and person >= 1",
        "N3 nothing": "couch == 0 and chair == 0 and person == 0",
    },
    "single_mode_traffic": {
        "N1 bicycle and motorcycle": "bicycle >= 1 and motorcycle >= 1 and car == 0 and bus == 0",
        "N2 bicycle and car": "bicycle >= 1 and car >= 1 and motorcycle == 0 and bus == 0",
        "N3 bicycle and bus": "bicycle >= 1 and bus >= 1 and motorcycle == 0 and car == 0",
        "N4 motorcycle and car": "motorcycle >= 1 and car >= 1 and bicycle == 0 and bus == 0",
        "N5 motorcycle and bus": "motorcycle >= 1 and bus >= 1 and bicycle == 0 and car == 0",
        "N6 car and bus": "car >= 1 and bus >= 1 and bicycle == 0 and motorcycle == 0",
    },
    "personal_transport": {
        "N1 person, bicycle and car": "person >= 1 and bicycle >= 1 and car >= 1",
        "N2 person alone": "person >= 1 and bicycle == 0 and car == 0",
        "N3 bicycle alone": "bicycle >= 1 and car == 0 and person == 0",
        "N4 car alone": "car >= 1 and bicycle == 0 and person == 0",
    },
    "surf_trip": {
        "N1 surfboard and not person": "surfboard >= 1 and person == 0",
        "N2 person and not surfboard": "person >= 1 and surfboard == 0",
        "N3 more surfboards than persons": "surfboard > person and person >= 1",
        "N4 more persons than surfboards": "person > surfboard and surfboard >= 1",
    },
}
"""The near-boundary types of each rule as the paper's appendix A.1 lists them."""

Rules = list[str] | dict[str, str | None]


class CocoConfig(TaskConfig):
    """What both versions can set."""

    coco: str | None = Field(None, exclude=True)
    """A folder in COCO's form, or one annotation file; by default drawn scenes stand in for photographs."""
    scenes: int = Field(14_000, ge=500, le=1_000_000)
    """How many scenes there are to choose from without COCO; about 9 % hide an object and are left out."""
    most: int | None = Field(None, ge=1)
    """Counts stop here: so many or more; by default one more than the largest count in the data, and at least 5."""
    crowds: Crowds = "one"
    """A group that is annotated as one object: counts as `one`, or `ignore` it, or `drop` its image."""
    least_area: float = Field(0.0, ge=0, lt=1)
    """Objects that cover less than this share of their image are tiny."""
    tiny: Tiny = "ignore"
    """Tiny objects: `ignore` them, or `drop` their images."""
    clear_area: float = Field(0.0, ge=0, lt=1)
    """Only images where each object of the rules covers at least this share of the image; no crowds then."""
    clear_fill: float = Field(0.0, ge=0, lt=1)
    """Only images where each object of the rules fills at least this share of its box; hidden ones fill less."""
    types: Literal["derived", "paper"] = "derived"
    """Near-boundary types: `derived` from each rule, or for the ten rules those that the `paper` lists (A.1)."""
    skip_missing: bool = False
    """Leave out images that are annotated and not there, instead of stopping."""
    valid_share: float = Field(0.1, ge=0, lt=1)
    """The share of the training images that is set aside for `valid`."""
    hard_share: float = Field(0.2, ge=0, lt=1)
    """The share of the test images that is set aside for `hard`."""
    width: int = Field(224, ge=16, le=4096)
    """The width of the pictures in pixels; photographs are fitted in, with grey bars where their shape differs."""
    height: int = Field(224, ge=16, le=4096)
    """The height of the pictures in pixels."""

    @model_validator(mode="after")
    def _must_apply(self) -> "CocoConfig":
        why = "does not apply: images are chosen by variant and near-boundary type"
        self.refuse_shared(why, allowed=type(self).__annotations__)
        return self

    @property
    def annotation_filter(self) -> AnnotationFilter:
        """What counts as an object."""
        return AnnotationFilter(self.crowds, self.least_area, self.tiny, self.clear_area, self.clear_fill)


class CocoLogicConfig(CocoConfig):
    """Settings of the full version."""

    rules: Rules = list(RULES)
    """Names among the ten rules; or your own as `name: formula` of classes; `name: null` for one of the ten."""
    per_variant: int | None = Field(1000, ge=1)
    """Up to so many images of each variant, in a set of 25,000 (test: 3,500); in smaller ones in proportion."""
    per_type: int | None = Field(500, ge=1)
    """At least so many images of each near-boundary type, if there are; in proportion likewise."""
    rest: float = Field(0.1, ge=0, le=1)
    """At least this share of a set is filled in the third step, with images that fulfil no rule."""


class FewShotConfig(CocoConfig):
    """Settings of the few-shot version."""

    rule: str = "signal_and_ride"
    """The rule to learn: one of the ten, or one of your own `rules`."""
    rules: dict[str, str | None] = {}
    """Your own rules, as `name: formula`."""
    clear_area: float = Field(0.002, ge=0, lt=1)
    clear_fill: float = Field(0.15, ge=0, lt=1)


def rules_of(rules: Rules, known: tuple[str, ...]) -> dict[str, Formula]:
    """Return the rules by name, each over object classes that the images' annotations have."""
    texts = dict.fromkeys(rules) if isinstance(rules, list) else rules
    if not texts:
        raise ConfigError("rules: none is given, so there is nothing to learn")
    return {name: _rule(name, text, known) for name, text in texts.items()}


def _rule(name: str, text: str | None, known: tuple[str, ...]) -> Formula:
    if text is None and name not in RULES:
        raise ConfigError(f"rules: no rule named {name!r}{suggestion(name, RULES)}")
    formula = parse(RULES[name] if text is None else text)
    for needed in free_names(formula):
        if needed not in known:
            raise ConfigError(f"rules.{name}: no object class named {needed!r}{suggestion(needed, known)}")
    return formula
