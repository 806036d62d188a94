"""The settings that say where a model's concepts come from, and what a run's record keeps of them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.base import Config, ConfigError, DataError
from assay.contracts import PAIRS
from assay.models.core.concept_readers import CLIP, is_reader, open_reader, resolve_reader, without_folder
from assay.models.core.perception import (
    Detector,
    Perception,
    PredictionFiles,
    ReadConcepts,
    RememberedConcepts,
    TrueConcepts,
)
from assay.runs import RUN


class PerceptionConfig(Config):
    """Where concepts come from."""

    perception: str | None = None
    """Where concepts come from: a run's folder, a predictions file, `vlm` (a vision-language model) or `clip:FOLDER`.
    By default learners on concepts use the ground truth, and networks read pictures themselves."""
    reader: dict[str, Any] = {}
    """The settings of `vlm` or `clip:FOLDER`, such as {model: NAME, most_tokens: 100000}."""


def perception_of(path: str | None, reader: Mapping[str, Any] | None = None) -> Perception:
    """Return the source of concepts: a run, predictions, a machine with its settings, or the ground truth."""
    if path is None:
        return TrueConcepts()
    if is_reader(path):
        return RememberedConcepts(_read_concepts(path, reader or {}))
    if reader:
        raise ConfigError(f"reader: only perception=vlm or {CLIP}FOLDER has such settings, not {path!r}")
    place = Path(path)
    if not place.exists():
        raise DataError(f"perception: no run or predictions file {path!r}")
    return RememberedConcepts(Detector(place) if (place / RUN).exists() else PredictionFiles(place))


def _read_concepts(text: str, settings: Mapping[str, Any]) -> ReadConcepts:
    reader = open_reader(text, settings)
    if reader.words:
        raise ConfigError("reader: 'concepts' are for assay annotate, which makes a dataset of them")
    folder = Path(text.removeprefix(CLIP)) if text.startswith(CLIP) else None
    splits = settings.get("splits")
    pairs = folder is not None or PAIRS in (splits or ())  # asking an endpoint costs
    return ReadConcepts(reader, folder, None if splits is None else tuple(splits), pairs)


def resolve_perception(config: PerceptionConfig) -> dict[str, Any]:
    """Return the settings of perception as they are kept: paths made whole, files of texts read."""
    if config.perception is None:
        return {"perception": None}
    if is_reader(config.perception):
        text, reader = resolve_reader(config.perception, config.reader)
        return {"perception": text, "reader": reader}
    return {"perception": str(Path(config.perception).resolve())}


def with_perception(record: Mapping[str, Any], perception: Perception | None) -> dict[str, Any]:
    """Return a model's record with its source of concepts; folders by their name only, wherever they lie."""
    about, config = None if perception is None else perception.about(), record["config"]
    if config.get("perception") is not None:
        kept = {key: value for key, value in config["reader"].items() if key != "cache"}
        config = {**config, "perception": without_folder(config["perception"]), "reader": kept}
    return {**record, "config": config, "perception": about}


def perception_seen_from(perception: Perception | None, run: Path) -> dict[str, Any] | None:
    """Return what a run's folder says of its perception: what it is, and where it lies as seen from the run."""
    about = None if perception is None else perception.about()
    if about is None or perception is None or perception.folder is None:
        return about
    return {**about, "from_run": Path(os.path.relpath(perception.folder.resolve(), run.resolve())).as_posix()}


def saved_perception(about: Mapping[str, Any], run: Path) -> dict[str, Any]:
    """Return the settings of a run's perception: where it is now, refusing one that has learned anew since then.

    It lies where it did as seen from the run. A reader can be asked about any split from now on.
    """
    record = about.get("perception")
    if record is None:
        return {"perception": None}
    reader = {key: value for key, value in about["config"].get("reader", {}).items() if key != "splits"}
    if record.get("reader") == "vlm":
        return {"perception": "vlm", "reader": reader}
    then = Path(record["folder"])  # of runs before the name alone was kept
    place = then if then.is_absolute() and then.exists() else run.resolve() / record.get("from_run", then)
    if not place.exists():
        raise DataError(f"the perception {then.name!r} of {str(run)!r} is no longer at {record.get('from_run')!r}, as "
                        "seen from the run; move both together, or train again")  # fmt: skip
    if record.get("reader") == "clip":
        return {"perception": f"{CLIP}{place}", "reader": reader}
    if record.get("fingerprint") is not None and record["fingerprint"] != Detector(place).fingerprint:
        raise DataError(f"{str(place)!r} has learned anew since {str(run)!r} was trained on its concepts; train again")
    return {"perception": str(place)}
