"""Count the reasoning shortcuts that training labels allow."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.api.arguments import ConfigSource, merge_settings
from assay.base import Codes, ConfigError, progress_bar, write_atomically
from assay.counting import ReadingCount, check_reading_class, count_readings, count_with, encode_problem
from assay.dataset import Dataset, parse_worlds, random_worlds, training_support
from assay.logic import Knowledge, Value, knowledge_from_cnf, parse_dimacs


def count(
    source: Dataset | Knowledge | Path | str,
    *,
    family: str = "shared",
    support: str = "train",
    supervise: Mapping[str, bool | Sequence[Value]] | None = None,
    seconds: float = 60.0,
    seed: int = 0,
    progress: bool | None = None,
    config: ConfigSource = None,
    **supervised: Any,
) -> ReadingCount:
    """Count the readings of the concepts that keep every training label: 1 means that no reasoning shortcut exists.

    Parameters
    ----------
    source
        A dataset or its folder, whose training splits decide which worlds count; a task, which would draw them; a rule
        or a DIMACS file `FILE.cnf`, of which all worlds count.
    family
        The readings to count: `free`, `per-concept`, `shared`, `per-object`, `per-world`, `block`, `block-permutation`.
    support
        The worlds: `train`, `full`, `random:N`, or a list such as `06,28`.
    supervise
        Concepts that are supervised: True for all values, a list for some.
    seconds
        The time limit; after it, bounds are returned.
    seed
        The seed of splits and of random worlds.
    progress
        Whether to show on standard error that counting is under way.
    config
        Settings of the task, or the YAML file that has them.
    **supervised
        More concepts that are supervised, as `supervise` has them: `a=True`, `a=[3, 4]`.
    """
    chosen = check_reading_class(family)
    knowledge, training = _trained_on(source, config, seed)
    worlds = _worlds(knowledge, training, support, seed)
    asked = {**(supervise or {}), **supervised}
    given = {name: None if values is True else list(values) for name, values in asked.items() if values is not False}
    for name in given:
        knowledge.space.place(name)  # refuses one that is not there
    with progress_bar(progress) as bar:
        bar("counting reasoning shortcuts", 0, 0, f"at most {seconds:g} s")
        return count_readings(knowledge, chosen, worlds, given, seconds)


def _trained_on(
    source: Dataset | Knowledge | Path | str, config: ConfigSource, seed: int
) -> tuple[Knowledge, Codes | None]:
    """Return the knowledge and the training worlds, None for all."""
    if isinstance(source, Knowledge):
        return source, None
    if isinstance(source, Dataset):
        from assay.diagnosis import training_worlds

        return source.knowledge, training_worlds(source)
    if not str(source).endswith(".cnf"):
        return training_support(str(source), merge_settings(config), seed)
    if not Path(source).is_file():
        raise ConfigError(f"no file {str(source)!r}")
    return knowledge_from_cnf(parse_dimacs(Path(source).read_text())), None


def _worlds(knowledge: Knowledge, training: Codes | None, support: str, seed: int) -> Codes | None:
    """Return the worlds of the support, None for all."""
    if support == "full" or (support == "train" and training is None):
        return None
    if support == "train":
        return training
    number = support.removeprefix("random:")
    if number.isdecimal() and (support != number or len(number) != len(knowledge.space)):
        return random_worlds(knowledge, int(number), seed)
    return parse_worlds(knowledge, support)


def recount(count: ReadingCount, engine: str | None = None, output: Path | None = None) -> dict[str, str | int]:
    """Count once more with another engine, and write the counting problem as DIMACS; return both, as far as asked for.

    Parameters
    ----------
    count
        An exact count of a table of entries.
    engine
        `ganak` or `approxmc`.
    output
        The file for the clauses with their projection.
    """
    facts: dict[str, str | int] = {}
    if (engine or output) and count.readings is None:
        raise ConfigError(f"--check and --write need an exact count of a table of entries, not family {count.family!r}")
    if output is not None and count.readings is not None:
        write_atomically(output, encode_problem(count.readings.problem).to_dimacs().encode())
        facts["dimacs"] = str(output)
    if engine is not None and count.readings is not None:
        facts[engine] = count_with(engine, count.readings.problem).count
    return facts
