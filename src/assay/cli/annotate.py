"""`assay annotate`: the same images with concepts and labels as an annotator would give them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.console import (
    ConfigOption,
    DataArgument,
    JsonFlag,
    OutOption,
    SeedOption,
    SetOption,
    print_json,
    print_table,
    say,
    settings_from,
)
from assay.errors import ConfigError, DataError

if TYPE_CHECKING:
    from assay.data.annotate import Machine
    from assay.data.annotation import Annotation
    from assay.data.dataset import Dataset


def annotate(
    data: DataArgument,
    output: OutOption,
    seed: SeedOption = 0,
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Write a copy of a dataset with imperfect annotations.

    Concepts can be missing, noisy, fewer or others, labels noisy, rows skewed. The ground truth stays; models are
    trained on the annotated columns `given_...` beside it.
    """
    from assay.config import Settings, validate
    from assay.data.annotate import annotate as write
    from assay.data.annotation import Annotation
    from assay.data.dataset import Dataset

    values = settings_from(settings, config)
    if seed:
        values = values.merge(Settings({"seed": seed}, {"seed": "--seed"}))
    annotation = validate(Annotation, values)
    dataset = Dataset.open(data)
    manifest = write(dataset, annotation, output, machine_of(annotation, dataset))
    counts = manifest["task"]["annotation"]["found"]
    if as_json:
        print_json({"folder": str(output), "fingerprint": manifest["fingerprint"], "splits": counts})
        return
    rows = [[name, f"{n['examples']:,}", *(f"{100 * n[key]:.1f} %" for key in CHANGES)] for name, n in counts.items()]
    print_table(["split", "examples", "concepts missing", "concepts wrong", "labels wrong"], rows)
    say(f"{output}  fingerprint {manifest['fingerprint']}  next: assay train cbm {output} -o RUN")


CHANGES = ("missing", "wrong", "wrong_labels")


def machine_of(annotation: "Annotation", dataset: "Dataset") -> "Machine | None":
    """Return the annotations of a machine: scores of a CSV file, or predicted concepts of a file or of a run."""
    import numpy as np

    from assay.data.machine_scores import read_scores
    from assay.runs.folder import RunFolder

    if annotation.machine is None:
        return None
    path = Path(annotation.machine)
    if path.suffix == ".csv":
        return read_scores(path)
    if isinstance(annotation.threshold, str):
        raise ConfigError(f"threshold: {annotation.threshold!r} is for a CSV of scores; give a probability")
    codes: dict[str, Any] = {}
    for split, predictions in RunFolder(path).all_predictions(dataset.knowledge).items():
        if predictions.fingerprint != dataset.fingerprint:
            raise DataError(
                f"{str(path)!r} is about a dataset with fingerprint {predictions.fingerprint}, not this one"
            )
        size = 1 + max(int(predictions.index.max(initial=-1)), int(dataset.symbols(split).index.max()))
        codes[split] = np.full((size, len(dataset.knowledge.space)), -1)
        for place, concept in enumerate(dataset.knowledge.space.concepts):
            answer = predictions.concepts.get(concept.name)
            if answer is None:
                raise DataError(f"{str(path)!r} has no concept {concept.name!r} in split {split!r}")
            probabilities, cut = answer.probabilities, annotation.threshold
            sharp = cut is None or probabilities is None or concept.values != (False, True)
            values = answer.codes if sharp else probabilities[:, 1] >= cut  # type: ignore[index]
            codes[split][predictions.index, place] = values
    return codes
