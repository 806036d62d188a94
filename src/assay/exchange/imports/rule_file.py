"""`rule.yaml`: the formulas of the labels, what must hold of every world, and what splits claim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.base import Config, ConfigError, Settings, load_yaml, suggestion, validate
from assay.logic import ConceptSpace, Constraint, Formula, Knowledge, parse, shape_of

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
