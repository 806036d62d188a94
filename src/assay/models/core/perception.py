"""Where a model gets concepts from that it does not predict itself: the ground truth, a run of another model,
predictions files, or a reader: `vlm`, or `clip:FOLDER`, with settings of its own.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from assay.base import Array, Codes, Config, ConfigError, DataError, ProgressCallback, Settings, find_rows, validate
from assay.contracts import PAIRS, Prediction, Predictions, RunRecord, read_predictions
from assay.dataset import ConceptReader, SplitData
from assay.logic import Concept, ConceptSpace
from assay.models.core.model import Model, load_model, require_size
from assay.models.core.settings import PerceptionConfig
from assay.models.registered import READERS
from assay.runs import PROGRAM, RUN, WEIGHTS, RunFolder

VLM = "vlm"
CLIP = "clip:"
MOST_SPLITS = 8
"""Of how many splits the concepts are remembered."""


class MissingPerception(DataError):
    """A split without perception."""


class Perception(Protocol):
    """A source of concept probabilities."""

    @property
    def folder(self) -> Path | None:
        """Where it lies, if it is in a folder or file."""

    def probabilities(self, data: SplitData) -> list[Array]:
        """Return the probabilities of the values of each concept: an array of examples x values for each."""

    def metadata(self) -> dict[str, Any] | None:
        """Return what it is, for the record and without paths; None for the ground truth."""


@dataclass(frozen=True)
class TrueConcepts:
    """The ground-truth concepts; in training the annotated ones, where the data has annotations."""

    folder: None = None

    def probabilities(self, data: SplitData) -> list[Array]:
        """Return the true concepts, with certainty."""
        return one_hot(data.concepts, data.knowledge.space)

    def metadata(self) -> dict[str, Any] | None:
        """Return nothing: it is the ground truth."""
        return None


@dataclass(frozen=True)
class Detector:
    """A run of any model that has concepts."""

    folder: Path

    @cached_property
    def _model(self) -> Model:
        model = load_model(self.folder)
        if not model.has_concepts:
            raise ConfigError(f"perception: {str(self.folder)!r} holds {model.name!r}, which says nothing of concepts")
        return model

    def probabilities(self, data: SplitData) -> list[Array]:
        """Return the model's concept probabilities, from its stored predictions or else predicted now."""
        path = RunFolder(self.folder).predictions(data.name)
        if path.exists() and not is_redrawn(data):
            predictions = read_predictions(path, data.knowledge)
            if predictions.fingerprint == data.fingerprint and np.isin(data.index, predictions.index).all():
                return _concept_probabilities(predictions, data)
        self._refuse_other(data)
        return _concept_probabilities(self._model.predict(data), data)

    def _refuse_other(self, data: SplitData) -> None:
        """Refuse pictures or concepts that are not such as the model knows."""
        known = {concept.name: concept.values for concept in self._model.space.concepts}
        for concept in data.knowledge.space.concepts:
            if known.get(concept.name, concept.values) != concept.values:
                raise DataError(
                    f"perception: {self.folder.name!r} knows other values of concept {concept.name!r} than the data"
                )
        if not set(known) & set(data.knowledge.space.names):
            raise DataError(f"perception: {self.folder.name!r} knows none of the concepts of the data")
        require_size(self._model, data.layout, f"split {data.name!r}")

    def metadata(self) -> dict[str, Any]:
        """Return which model, what it was trained on, and the hash of what it has learned."""
        record = RunFolder(self.folder).record
        known = {"folder": self.folder.name, "model": record.model, "seed": record.seed}
        known |= {"data": record.data.fingerprint}
        return {**known, "fingerprint": self.fingerprint}

    @cached_property
    def fingerprint(self) -> str | None:
        """The hash of what it has learned; None for a run that holds predictions only."""
        files = [self.folder / name for name in (WEIGHTS, PROGRAM) if (self.folder / name).exists()]
        return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:32] if files else None


@dataclass(frozen=True)
class PredictionFiles:
    """Predictions of any model: a file, or a folder with a file for each split."""

    folder: Path

    @cached_property
    def _files(self) -> list[Path]:
        if self.folder.is_file():
            return [self.folder]
        inside = self.folder / "predictions"
        files = sorted((inside if inside.is_dir() else self.folder).glob("*.parquet"))
        if not files:
            raise DataError(f"perception: {str(self.folder)!r} is no run, no predictions file and holds none")
        return files

    def probabilities(self, data: SplitData) -> list[Array]:
        """Return the concept probabilities in the predictions for this split."""
        if is_redrawn(data):
            raise MissingPerception(f"perception: {self.folder.name!r} has no predictions for worlds drawn anew")
        for path in self._files:
            predictions = read_predictions(path, data.knowledge)
            if predictions.split == data.name:
                return _concept_probabilities(predictions, data)
        raise MissingPerception(
            f"perception: {str(self.folder)!r} has no predictions for split {data.name!r}; add some"
        )

    def metadata(self) -> dict[str, Any]:
        """Return what it is called."""
        return {"folder": self.folder.name}


@dataclass(frozen=True)
class ReadConcepts:
    """A machine that reads pictures: where it says nothing, a concept counts as absent, or else all values as alike."""

    reader: ConceptReader
    folder: Path | None = None
    splits: tuple[str, ...] | None = None
    """The splits that it is asked about; by default all."""
    pairs: bool = True
    """Whether it is also asked about counterfactual worlds."""

    def probabilities(self, data: SplitData) -> list[Array]:
        """Return what the machine reads off the pictures of a split."""
        usual = self.pairs if data.name == PAIRS else self.splits is None
        if not usual and data.name not in (self.splits or ()):
            raise MissingPerception(f"split {data.name!r} is not among those that the reader is asked about")
        read = zip(self.reader.probabilities(data), data.knowledge.space.concepts, strict=True)
        return [_fill_gaps(probabilities, concept) for probabilities, concept in read]

    def metadata(self) -> dict[str, Any]:
        """Return who reads, and what that has taken so far."""
        usage = self.reader.usage()
        return {**self.reader.metadata(), **({"usage": usage} if usage else {})}


@dataclass(frozen=True)
class RememberedConcepts:
    """A perception that is asked once about each split."""

    source: Perception
    _known: dict[tuple[str, str, bytes], list[Array]] = field(default_factory=dict, repr=False)

    @property
    def folder(self) -> Path | None:
        """Where it lies."""
        return self.source.folder

    def probabilities(self, data: SplitData) -> list[Array]:
        """Return what perception says of a split, from memory if it was asked before; worlds drawn anew are new."""
        if is_redrawn(data):
            return self.source.probabilities(data)
        key = (data.fingerprint, data.name, hashlib.sha256(data.index.tobytes()).digest())
        if key not in self._known:
            probabilities = self.source.probabilities(data)
            if len(self._known) >= MOST_SPLITS:
                del self._known[next(iter(self._known))]
            self._known[key] = probabilities
        return list(self._known[key])

    def metadata(self) -> dict[str, Any] | None:
        """Return what it is."""
        return self.source.metadata()


def is_redrawn(data: SplitData) -> bool:
    """Return whether pictures are not those of the dataset, though name and numbers are: worlds that were changed."""
    return data.stored is None and "image" in data.table.column_names


def one_hot(codes: Codes, space: ConceptSpace) -> list[Array]:
    """Return codes as probabilities of 0 and 1; a missing one (-1) as "absent", or else as uniform."""
    return [_one_hot(codes[:, place], concept) for place, concept in enumerate(space.concepts)]


def _one_hot(codes: Codes, concept: Concept) -> Array:
    size = len(concept.values)
    probabilities = np.zeros((len(codes), size))
    known = codes >= 0
    probabilities[known, codes[known]] = 1
    if concept.nothing_code >= 0:
        probabilities[~known, concept.nothing_code] = 1
    else:
        probabilities[~known] = 1 / size
    return probabilities


def _fill_gaps(probabilities: Array, concept: Concept) -> Array:
    """Return probabilities with those of a missing value in rows of NaN."""
    gaps = np.asarray(np.isnan(probabilities).any(axis=1))
    if not gaps.any():
        return probabilities
    return np.where(gaps[:, None], _one_hot(np.full(len(probabilities), -1), concept), probabilities)


def _concept_probabilities(predictions: Predictions, data: SplitData) -> list[Array]:
    """Return the probabilities of all concepts for the rows of a split; concepts without predictions count as absent.

    A detector that does not know a class finds none of it. Where no value means that, all are alike.
    """
    if predictions.fingerprint != data.fingerprint:
        raise DataError(
            f"perception is of a dataset with fingerprint {predictions.fingerprint}, this is {data.fingerprint}"
        )
    if not predictions.concepts:
        raise ConfigError("perception: the predictions say nothing of concepts")
    rows = find_rows(data.index, predictions.index)
    if (rows < 0).any():
        raise DataError(f"perception says nothing of example {data.index[rows < 0][0]} of split {data.name!r}")
    return [
        _value_probabilities(predictions.concepts.get(concept.name), concept, rows)
        for concept in data.knowledge.space.concepts
    ]


def _value_probabilities(answer: Prediction | None, concept: Concept, rows: Array) -> Array:
    if answer is None:
        return _one_hot(np.full(len(rows), -1), concept)
    if answer.probabilities is not None:
        return np.asarray(answer.probabilities, dtype=np.float64)[rows]
    return _one_hot(answer.codes[rows], concept)


def is_reader(text: str | None) -> bool:
    """Return whether a text names a reader; a folder called `vlm` is written `./vlm`.

    >>> is_reader("vlm"), is_reader("clip:weights"), is_reader("run")
    (True, True, False)
    """
    return text is not None and (text == VLM or text.startswith(CLIP) or text == CLIP.removesuffix(":"))


def open_reader(text: str, settings: Mapping[str, Any], report: ProgressCallback = lambda *_: None) -> ConceptReader:
    """Return the reader that a text names; what is wrong with its settings or its folder is told now."""
    made, folder = READERS[VLM if text == VLM else "clip"], [] if text == VLM else [_clip_folder(text)]
    reader: ConceptReader = made(*folder, _config(made, settings), report)
    return reader


def reader_for(
    text: str | None, settings: Mapping[str, Any], report: ProgressCallback = lambda *_: None
) -> ConceptReader | None:
    """Return the reader that a text names, None where it names something else, which has no such settings.

    Parameters
    ----------
    text
        `vlm`, or `clip:FOLDER`.
    settings
        The settings of that reader.
    report
        Told how many pictures are read.
    """
    if text is not None and is_reader(text):
        return open_reader(text, settings, report)
    if settings:
        other = "none is named" if text is None else f"{text!r} is neither"
        raise ConfigError(f"reader: these are settings of {VLM} or {CLIP}FOLDER, and {other}")
    return None


def resolve_reader(text: str, settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return text and settings as they are kept: the folder made whole, files of texts read, defaults left out."""
    made = READERS[VLM if text == VLM else "clip"]
    kept = _config(made, settings).model_dump(mode="json", exclude_defaults=True)
    return (VLM if text == VLM else f"{CLIP}{_clip_folder(text).resolve()}"), kept


def without_folder(text: str) -> str:
    """Return what a source of concepts is called, without where it lies.

    >>> without_folder("clip:/home/me/weights"), without_folder("/runs/first"), without_folder("vlm")
    ('clip:weights', 'first', 'vlm')
    """
    return f"{CLIP}{Path(text.removeprefix(CLIP)).name}" if text.startswith(CLIP) else Path(text).name


def _config(made: Any, settings: Mapping[str, Any]) -> Config:
    config: Config = validate(made.Config, Settings(dict(settings), dict.fromkeys(settings, "reader")))
    return config


def _clip_folder(text: str) -> Path:
    folder = text.removeprefix(CLIP.removesuffix(":")).removeprefix(":")
    if not folder:
        raise ConfigError(f"{text!r} is not whole: {CLIP}FOLDER, a local folder with the weights of CLIP")
    return Path(folder)


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
    about, config = None if perception is None else perception.metadata(), record["config"]
    if config.get("perception") is not None:
        kept = {key: value for key, value in config["reader"].items() if key != "cache"}
        config = {**config, "perception": without_folder(config["perception"]), "reader": kept}
    return {**record, "config": config, "perception": about}


def perception_seen_from(perception: Perception | None, run: Path) -> dict[str, Any] | None:
    """Return what a run's folder says of its perception: what it is, and where it lies as seen from the run."""
    about = None if perception is None else perception.metadata()
    if about is None or perception is None or perception.folder is None:
        return about
    return {**about, "from_run": Path(os.path.relpath(perception.folder.resolve(), run.resolve())).as_posix()}


def saved_perception(record: RunRecord, run: Path) -> dict[str, Any]:
    """Return the settings of a run's perception: where it is now, refusing one that has learned anew since then.

    It lies where it did as seen from the run. A reader can be asked about any split from now on.
    """
    about = record.perception
    if about is None:
        return {"perception": None}
    reader = {key: value for key, value in record.config.get("reader", {}).items() if key != "splits"}
    if about.get("reader") == "vlm":
        return {"perception": "vlm", "reader": reader}
    then = Path(about["folder"])  # of runs before the name alone was kept
    place = then if then.is_absolute() and then.exists() else run.resolve() / about.get("from_run", then)
    if not place.exists():
        raise DataError(f"the perception {then.name!r} of {str(run)!r} is no longer at {about.get('from_run')!r}, as "
                        "seen from the run; move both together, or train again")  # fmt: skip
    if about.get("reader") == "clip":
        return {"perception": f"{CLIP}{place}", "reader": reader}
    if about.get("fingerprint") is not None and about["fingerprint"] != Detector(place).fingerprint:
        raise DataError(f"{str(place)!r} has learned anew since {str(run)!r} was trained on its concepts; train again")
    return {"perception": str(place)}
