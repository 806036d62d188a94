"""How data is imported: the layout, which columns are what, the size of pictures, and the splits.

`rule.yaml`: the formulas of the labels, what must hold of every world, and what splits claim.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from assay.base import Config, ConfigError, Settings, load_yaml, suggestion, validate
from assay.logic import ConceptSpace, Constraint, Formula, Knowledge, parse, shape_of

Resize = Literal["letterbox", "crop", "stretch"]


class ImportSettings(Config):
    """The settings of an import, the same for all layouts."""

    layout: str | None = None
    """The layout of the source; by default found by its files."""
    name: str | None = None
    """The name of the dataset; by default that of the source folder."""
    table: str | None = None
    """The table of concepts inside the folder, for the layout `table`; by default concepts.csv, .parquet or .json."""
    picture: str = "file"
    """The column that has the path of the picture, or the picture itself."""
    labels: list[str] = []
    """Columns, attributes or categories that are labels; by default columns `label_...`, or as the layout says."""
    concepts: list[str] = []
    """Those that are concepts; by default columns `concept_...`, or all that are no labels."""
    split: str | None = None
    """The column that has the split; by default `split`, or the files of the layout."""
    shares: dict[str, float] = {"train": 0.7, "valid": 0.15, "test": 0.15}
    """How large splits are made that the source does not have."""
    size: int | tuple[int, int] | None = None
    """Width and height of pictures; by default their own if all are alike and small, else 128."""
    resize: Resize = "letterbox"
    """How pictures of other shapes fit: `letterbox` (grey bars), `crop` (the middle), or `stretch`."""
    counts: bool = False
    """Of objects (COCO, CVAT): how many there are, instead of whether there is any."""
    seed: int = Field(0, ge=0)
    """The seed of splits that are made."""

    @field_validator("shares")
    @classmethod
    def _shares(cls, shares: dict[str, float]) -> dict[str, float]:
        if "train" not in shares or any(not 0 < share < 1 for share in shares.values()):
            raise ValueError("expected shares between 0 and 1, one of them of 'train'")
        if abs(sum(shares.values()) - 1) > 1e-6:
            raise ValueError("the shares must add up to 1")
        return shares

    @field_validator("size")
    @classmethod
    def _size(cls, size: int | tuple[int, int] | None) -> int | tuple[int, int] | None:
        sides = size if isinstance(size, tuple) else (size or 8,)
        if not all(8 <= side <= 2048 for side in sides):
            raise ValueError("expected 8 to 2048 pixels")
        return size


RULE = "rule.yaml"


class RuleConfig(Config):
    """What `rule.yaml` may say."""

    labels: dict[str, str] = {}
    """The formula of each label."""
    constraints: dict[str, str] = {}
    """What must hold of every world, by name."""
    splits: dict[str, str] = {}
    """What holds of every world of a split."""
    disjoint: list[list[str]] = []
    """Lists of splits that share no world."""


@dataclass(frozen=True)
class RuleFile:
    """What a folder claims: the knowledge if its labels have formulas, where splits lie, and which share no world."""

    knowledge: Knowledge | None
    where: Mapping[str, Formula]
    disjoint: tuple[frozenset[str], ...]
    constraints: tuple[Constraint, ...] = ()

    def apart_from(self, split: str) -> tuple[str, ...]:
        """Return the splits that share no world with one."""
        return tuple(sorted({other for group in self.disjoint if split in group for other in group} - {split}))


def rule_settings(rule: Path | Mapping[str, object] | None) -> Settings:
    """Return what a rule file says, or a mapping in its place; nothing where there is neither."""
    if rule is None:
        return Settings()
    return load_yaml(rule) if isinstance(rule, Path) else Settings(rule)


def read_rule(settings: Settings, space: ConceptSpace, labels: Sequence[str], splits: Sequence[str]) -> RuleFile:
    """Return the rule for these concepts, labels and splits; refuse one that does not fit."""
    config = validate(RuleConfig, settings)
    if config.labels and set(config.labels) != set(labels):
        raise ConfigError(f"{settings.place('labels')}labels: expected a formula for each of {', '.join(labels)}")
    for key, named in (
        ("splits", list(config.splits)),
        ("disjoint", [split for group in config.disjoint for split in group]),
    ):
        for name in named:
            if name not in splits:
                raise ConfigError(f"{settings.place(key)}{key}: no split named {name!r}{suggestion(name, splits)}")
    where = {name: parse(text, space.names) for name, text in config.splits.items()}
    for name, formula in where.items():
        if shape_of(formula, space).kind != "bool":
            raise ConfigError(f"{settings.place('splits')}splits: {formula} of {name!r} must be true or false")
    limits = tuple(Constraint(name, parse(text, space.names)) for name, text in config.constraints.items())
    formulas = {name: parse(config.labels[name], space.names) for name in labels if config.labels}
    knowledge = Knowledge.of(space, formulas, limits) if formulas else None
    return RuleFile(knowledge, where, tuple(frozenset(group) for group in config.disjoint), limits)
