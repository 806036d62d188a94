"""Who answers in an intervention: the ground truth, an expert who errs, another model, a file, or the model itself.

Answers are probabilities of each concept's values, for every example and concept, whether asked for or not: so they are
the same for every policy and budget. A row of NaN is no answer.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from assay.base import Array, Codes, ConfigError, DataError, UnknownName, find_rows, rng_for, suggestion
from assay.contracts import CONCEPT, IntervenableModel, from_column, one_hot, read_parquet, read_predictions
from assay.dataset import ConceptReader, SplitData
from assay.logic import ConceptSpace

KINDS = {
    "perfect": "the ground truth",
    "self": "the model itself: the control, which must change nothing",
    "expert:ACCURACY": "right so often, otherwise any other value, such as expert:0.8",
    "expert:FILE.json": "drawn from a confusion matrix for each concept: the row of the true value",
    "model:FILE.parquet": "the most probable concepts of another model's predictions",
    "file:FILE": "answers in a Parquet or CSV file, a column a concept",
    "vlm": "a vision-language model that looks at the pictures",
    "clip:FOLDER": "CLIP from a local folder: its likeliest values",
}

READERS = ("vlm", "clip")


def answers_from(
    text: str, data: SplitData, model: IntervenableModel, seed: int = 0, reader: ConceptReader | None = None
) -> list[Array]:
    """Return the answers of a source that is written as in `KINDS`; `reader` is the machine of the last two.

    Parameters
    ----------
    text
        The source, written as in `KINDS`.
    data
        The split whose concepts are asked about.
    model
        The model, for the source `self`.
    seed
        What an expert's errors are drawn from.
    reader
        The machine of the sources `vlm` and `clip`.
    """
    space = data.knowledge.space
    kind, _, rest = text.partition(":")
    if kind in READERS and (rest or kind == "vlm"):
        if reader is None:
            raise ConfigError(f"source {text!r} is a machine that must be opened; give it as `reader`")
        return [_certain(probabilities) for probabilities in reader.probabilities(data)]
    if kind == "perfect" and not rest:
        return certain_answers(data.concepts, space)
    if kind == "self" and not rest:
        return [np.asarray(p) for p in model.concepts]
    if kind == "expert" and rest:
        return certain_answers(draw_expert_answers(data.concepts, _confusions(rest, space), seed, data.name), space)
    if kind == "model" and rest:
        return certain_answers(_from_predictions(Path(rest), data), space)
    if kind == "file" and rest:
        return certain_answers(_from_file(Path(rest), data), space)
    known = [name.partition(":")[0] for name in KINDS]
    if kind in known:
        raise ConfigError(f"source {text!r} is not whole; write one of: {', '.join(KINDS)}")
    raise UnknownName(f"no source named {kind!r}{suggestion(kind, known)}")


def _certain(probabilities: Array) -> Array:
    """Return the likeliest value of each row with certainty; rows of NaN stay so."""
    gaps = np.isnan(probabilities).any(axis=1)
    return one_hot(np.where(gaps, -1, np.nan_to_num(probabilities).argmax(axis=1)), probabilities.shape[1])


def certain_answers(codes: Codes, space: ConceptSpace) -> list[Array]:
    """Return codes as answers, -1 being none."""
    if codes.ndim != 2 or codes.shape[1] != len(space):
        raise DataError(f"answers of shape {codes.shape}: expected a row an example, and {len(space)} columns")
    if any((codes[:, i] >= size).any() for i, size in enumerate(space.sizes)):
        raise DataError("answers with a code that is beyond the values of its concept")
    return [one_hot(codes[:, i], size) for i, size in enumerate(space.sizes)]


def check_answers(answers: Sequence[Array], rows: int, sizes: Sequence[int]) -> list[Array]:
    """Refuse answers that are not probabilities of every example, concept and value."""
    arrays = [np.asarray(p, dtype=np.float64) if not hasattr(p, "dtype") else p for p in answers]
    wanted = [(rows, size) for size in sizes]
    shapes = [p.shape for p in arrays]
    if shapes != wanted:
        bad = next(
            (pair for pair in zip(shapes, wanted, strict=False) if pair[0] != pair[1]), (len(arrays), len(sizes))
        )
        raise DataError(f"answers have the wrong shape: {bad[0]} where {bad[1]} is needed (examples x values)")
    for p in arrays:
        sums = p.sum(axis=1)
        gaps = np.isnan(p)
        partly = (gaps.any(axis=1) != gaps.all(axis=1)).any()
        if partly or (p < 0).any() or (np.abs(sums[~np.isnan(sums)] - 1) > 1e-3).any():
            raise DataError("answers must be probabilities that add up to 1, or NaN in a whole row")
    return arrays


def draw_expert_answers(truth: Codes, confusions: Sequence[Array], seed: int, *purpose: object) -> Codes:
    """Return answers drawn from the row of the true value of each concept's confusion matrix; -1 if it is not known."""
    codes = np.empty_like(truth)
    for place, matrix in enumerate(confusions):
        luck = rng_for(seed, "expert", place, *purpose).random(len(truth))
        below = np.cumsum(matrix, axis=1)[truth[:, place]]
        said = np.minimum((luck[:, None] >= below).sum(axis=1), matrix.shape[1] - 1)
        codes[:, place] = np.where(truth[:, place] < 0, -1, said)
    return codes


def even_confusion(size: int, accuracy: float) -> Array:
    """Return the confusions of one who is right with this chance and otherwise says any other value, if there is one.

    >>> even_confusion(3, 0.8).round(2).tolist()
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    """
    if size == 1:
        return np.ones((1, 1))
    return np.full((size, size), (1 - accuracy) / (size - 1)) + np.eye(size) * (accuracy - (1 - accuracy) / (size - 1))


def _confusions(text: str, space: ConceptSpace) -> list[Array]:
    try:
        accuracy = float(text)
    except ValueError:
        return _confusions_in(Path(text), space)
    if not 0 <= accuracy <= 1:
        raise ConfigError(f"expert:{text}: an accuracy is a number from 0 to 1")
    return [even_confusion(size, accuracy) for size in space.sizes]


def _confusions_in(path: Path, space: ConceptSpace) -> list[Array]:
    """Read `{"concept": accuracy or matrix, ...}`; concepts that are not named are answered perfectly."""
    try:
        confusions: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"expert:{path}: expected an accuracy or a JSON file ({type(error).__name__})") from None
    if not isinstance(confusions, dict):
        raise ConfigError(f"{path.name}: expected an accuracy or a matrix for each concept by name")
    for name in confusions:
        space.place(name)
    return [_confusion(path, confusions, name, size) for name, size in zip(space.names, space.sizes, strict=True)]


def _confusion(path: Path, confusions: Mapping[str, Any], name: str, size: int) -> Array:
    try:
        matrix = np.array(confusions.get(name, 1.0), dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(())
        matrix[()] = np.nan
    if matrix.shape == () and 0 <= float(matrix) <= 1:
        return even_confusion(size, float(matrix))
    if (
        matrix.shape != (size, size)
        or not np.isfinite(matrix).all()
        or (matrix < 0).any()
        or (np.abs(matrix.sum(1) - 1) > 1e-6).any()
    ):
        raise ConfigError(f"{path.name}: {name!r} needs an accuracy, or {size} rows of {size} chances that add up to 1")
    return matrix


def _from_predictions(path: Path, data: SplitData) -> Codes:
    predictions = read_predictions(path, data.knowledge, {data.name: len(data)})
    if predictions.fingerprint != data.fingerprint or predictions.split != data.name:
        raise DataError(
            f"{str(path)!r} answers for split {predictions.split!r} of other data, or another split than {data.name!r}"
        )
    codes = {name: answer.codes for name, answer in predictions.concepts.items()}
    if not codes:
        raise DataError(f"{str(path)!r} answers no concept")
    return _align(codes, predictions.index, data, path)


def _from_file(path: Path, data: SplitData) -> Codes:
    try:
        table = pa.csv.read_csv(path) if path.suffix == ".csv" else read_parquet(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"answers in {str(path)!r} cannot be read: {str(error).splitlines()[0]}") from None
    columns = {name.removeprefix(CONCEPT): table[name] for name in table.column_names}
    space = data.knowledge.space
    codes = {
        c.name: from_column(columns[c.name], c.values, f"{path.name}: {c.name}")
        for c in space.concepts
        if c.name in columns
    }
    if not codes:
        raise DataError(f"{path.name}: no column is named as a concept{suggestion('', space.names)}")
    if "index" in columns:
        return _align(codes, np.asarray(columns["index"].to_numpy()), data, path)
    if table.num_rows != len(data):
        raise DataError(
            f"answers have the wrong shape: {path.name} has {table.num_rows} rows, "
            f"split {data.name!r} has {len(data)}; give as many, or a column 'index'"
        )
    return _align(codes, data.index, data, path)


def _align(codes: Mapping[str, Array], index: Array, data: SplitData, path: Path) -> Codes:
    """Return answers in the order of the split, -1 where there is none."""
    rows = find_rows(index, data.index)
    if (rows < 0).any():
        stranger = index[rows < 0][0]
        raise DataError(f"{path.name}: split {data.name!r} has no example {stranger} (it has {len(data)})")
    answers = np.full((len(data), len(data.knowledge.space)), -1, dtype=np.int64)
    for name, column in codes.items():
        answers[rows, data.knowledge.space.place(name)] = column
    return answers
