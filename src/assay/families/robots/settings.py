"""The settings of robots: rules by name, presets, and the released system's keys."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from assay.base import AssayError, ConfigError, Settings, suggestion
from assay.families.robots.parts import COARSE, FEET, NAMES, PARTS, RobotRule, Views, part_view
from assay.logic import Const, If, LabelNoise, parse, shape_of, substitute
from assay.tasks import TaskConfig

SCALE = 4.2
RULES = {  # the score, and by how much it is multiplied to be whole
    "sparse": ("5 * (mouth == 'closed') + 8 * (foot_shape == 'pointy') - 5 * knees + 2", 1),
    "balanced": (
        "12 * (mouth == 'closed') + 12 * (body == 'round') + 12 * (head == 'round') + 12 * antennae"
        " + 12 * (ears == 'triangle') + 16 * (foot_shape == 'pointy') - 6 * knees - 4 * elbows - 33",
        2,
    ),
}
PAPER: dict[str, Any] = {
    "rule": "sparse",
    "stochastic": True,
    "balance": "world",
    "split_by": "rendering",
    "skew": {
        **{"pointy_square": 0.005, "pointy_rounded": 0.005, "pointy_four_sided": 0.49},
        **{"flat_square": 0.005, "flat_trapezoid": 0.005, "flat_five_sided": 0.49},
    },
    "visible": {"knees": 0.0, "elbows": 0.0},
    "toe": 0.12,
}
PRESETS: dict[str, dict[str, Any]] = {
    "paper": PAPER,
    "paper-human": {**PAPER, "concepts": "human"},
    "paper-balanced": {**PAPER, "rule": "balanced"},
    "text": {"image": False, "text": "templated"},
}
RELEASED = {"data_type": "modality", "label_rule": "rule", "image_size": "size", "renders_per_robot": "renders"}
WORDS: dict[str, dict[str, dict[str, Any]]] = {  # what the released system's words are here
    "modality": {"image": {"image": True}, "text": {"image": False, "text": "templated"}},
    "size": {"small": {"size": 8}, "medium": {"size": 32}, "large": {"size": 600}},
    "color_mode": {"color": {"grey": False}, "grayscale": {"grey": True}},
    "concept_preset": {"ground_truth": {"concepts": "true"}, "foot_subtypes": {"concepts": "human"}},
    "template_complexity": {"low": {"text": "terse"}, "medium": {"text": "templated"}, "high": {"text": "free"}},
}
Shares = dict[str, float]


class RobotsConfig(TaskConfig):
    """Settings of the robots."""

    preset: str | None = None
    """Settings to begin with: `paper`, `paper-human`, `paper-balanced`, `text`."""
    concepts: str | list[str] = "true"
    """The concepts annotated: a set's name, or names of parts, coarse shapes and subtypes (`foot_is_flat_square`)."""
    rule: str = "sparse"
    """What makes a glorp: `sparse`, `balanced`, or a formula over the parts; a score if it gives a number."""
    stochastic: bool = False
    """Draw the label: true with probability 1 / (1 + exp(-scale * score))."""
    scale: float = Field(SCALE, gt=0)
    """What the score is multiplied with where the label is drawn."""
    skew: Shares = {}
    """The least share that feet have in training, such as `{flat_square: 0.49}`; the rest is drawn from all robots."""
    skewed: list[str] = ["train"]
    """The splits to which `skew` applies."""
    split_by: Literal["robot", "rendering"] = "robot"
    """Share no robot between splits, or as in the paper no rendering, so that a robot occurs in several splits."""
    renders: int = Field(4, ge=1, le=1000)
    """How many renderings of a robot there are where splits are by rendering."""
    colours: Literal["random", "index"] = "random"
    """Draw the colours, or as in the released data let them follow from the number of the rendering."""
    image: bool = True
    """Whether there are pictures."""
    size: int = Field(32, ge=8, le=1024)
    """The side of the pictures in pixels."""
    grey: bool = False
    """Draw in shades of grey."""
    dot_size: float = Field(0.5, ge=0, le=1.5)
    """The diameter of knees and elbows, in twelfths of the picture."""
    toe: float = Field(0.35, ge=0, le=0.5)
    """How deep the point of a pointy foot is, as a share of the foot."""
    line: float = Field(0.12, gt=0, le=0.4)
    """The width of outlines, in twelfths of the picture."""
    contrast: float = Field(1.0, ge=0, le=1)
    """The contrast of the pictures: 0 is blank."""
    blur: float = Field(0.0, ge=0, le=3)
    """The standard deviation of a blur, in twelfths of the picture."""
    visible: Shares = {}
    """How far the values of a part look different: 1 as drawn, 0 all alike, such as `{knees: 0}`."""
    text: Literal["none", "table", "terse", "templated", "free"] = "none"
    """Describe robots: as a table in one line, in notes, in sentences, or in prose."""
    masked: float | Shares = 0.0
    """How often a part is mentioned without its value, for all parts or by part."""
    omitted: float | Shares = 0.0
    """How often a part is not mentioned, for all parts or by part."""

    @field_validator("rule")
    @classmethod
    def _must_be_a_rule(cls, rule: str) -> str:
        with _one_line():
            rule_of(rule)
        return rule

    @field_validator("concepts")
    @classmethod
    def _must_be_concepts(cls, concepts: str | list[str]) -> str | list[str]:
        with _one_line():
            Views.of(concepts).space  # noqa: B018 - building it finds names that occur twice
        return concepts

    @field_validator("skew")
    @classmethod
    def _must_be_shares_of_feet(cls, skew: Shares) -> Shares:
        for foot in skew:
            if foot not in FEET:
                raise ValueError(f"no foot named {foot!r}{suggestion(foot, FEET)}")
        if sum(skew.values()) > 1 + 1e-9:
            raise ValueError(f"the shares sum to {sum(skew.values()):g}, more than 1")
        _refuse_other_than_shares(skew)
        return skew

    @field_validator("visible", "masked", "omitted")
    @classmethod
    def _must_be_shares_of_parts(cls, shares: float | Shares) -> float | Shares:
        for part in shares if isinstance(shares, dict) else ():
            if part not in PARTS.names:
                raise ValueError(f"no part named {part!r}{suggestion(part, PARTS.names)}")
        _refuse_other_than_shares(shares)
        return shares

    @model_validator(mode="after")
    def _must_show_something(self) -> "RobotsConfig":
        if not self.image and self.text == "none":
            raise ValueError("neither image nor text: a robot must be shown or described")
        return self

    def chance(self, kind: Literal["masked", "omitted"], part: str) -> float:
        """Return how often a part is masked or omitted."""
        shares: float | Shares = getattr(self, kind)
        return shares.get(part, 0.0) if isinstance(shares, dict) else shares


@contextmanager
def _one_line() -> Iterator[None]:
    """Turn our errors into those that name the setting."""
    try:
        yield
    except AssayError as error:
        raise ValueError(str(error)) from None


def _refuse_other_than_shares(shares: float | Shares) -> None:
    for share in shares.values() if isinstance(shares, dict) else [shares]:
        if not 0 <= share <= 1:
            raise ValueError(f"{share:g} is no share from 0 to 1")


def translate_settings(settings: Settings) -> Settings:
    """Return settings in our keys, on top of the preset that they name."""
    ours = settings.rename_keys(RELEASED).replace_words(WORDS)
    preset = ours.values.get("preset")
    if preset is None:
        return ours
    if str(preset) not in PRESETS:
        raise ConfigError(f"{ours.place('preset')}no preset named {preset!r}{suggestion(str(preset), PRESETS)}")
    return Settings(PRESETS[str(preset)]).merge(ours)


def rule_of(name: str, stochastic: bool = False, scale: float = SCALE) -> RobotRule:
    """Return the rule of a name or formula; a formula that gives a number is a score, true where it is above 0."""
    if name.isidentifier() and name not in (*RULES, *NAMES):
        raise ConfigError(f"no rule or part named {name!r}{suggestion(name, (*RULES, *NAMES))}")
    text, times = RULES.get(name, (name, 1))
    formula = parse(text, NAMES)
    kind = shape_of(substitute(formula, {coarse: part_view(coarse).meaning for coarse in COARSE}), PARTS).kind
    if kind == "symbol":
        raise ConfigError(f"rule {name!r} gives a word; it must be true or false, or a number")
    truth, score = (formula, If(formula, Const(1), Const(-1))) if kind == "bool" else (formula > 0, formula)
    return RobotRule(truth, LabelNoise(score, scale / times) if stochastic else None)
