"""`assay annotate`: the same pictures with concepts and labels as an annotator would give them."""

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
from assay.config import Settings
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
    """Write a copy of a dataset with missing, noisy, few or other concepts, noisy labels, or skewed rows.

    The true columns stay; models learn from the columns `given_...` beside them.
    """
    from assay.config import validate
    from assay.data.annotate import annotate as write
    from assay.data.annotation import Annotation
    from assay.data.dataset import Dataset

    given = settings_from(settings, config)
    if seed:
        given = given.merge(Settings({"seed": seed}, {"seed": "--seed"}))
    asked = validate(Annotation, given)
    dataset = Dataset.open(data)
    manifest = write(dataset, asked, output, machine_of(asked, dataset))
    counts = manifest["task"]["annotation"]["found"]
    if as_json:
        print_json({"folder": str(output), "fingerprint": manifest["fingerprint"], "splits": counts})
        return
    rows = [[name, f"{held['examples']:,}", *(_percent(held[key]) for key in CHANGES)] for name, held in counts.items()]
    print_table(["split", "examples", "concepts missing", "concepts wrong", "labels wrong"], rows)
    say(f"{output}  fingerprint {manifest['fingerprint']}  next: assay train cbm {output} -o RUN")


CHANGES = ("missing", "wrong", "wrong_labels")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def machine_of(asked: "Annotation", dataset: "Dataset") -> "Machine | None":
    """Return what a machine said: scores of a CSV file, or the concepts of a predictions file or of a run."""
    import numpy as np

    from assay.data.machine_scores import read_scores
    from assay.runs.folder import RunFolder

    if asked.machine is None:
        return None
    path = Path(asked.machine)
    if path.suffix == ".csv":
        return read_scores(path)
    if isinstance(asked.threshold, str):
        raise ConfigError(f"threshold: {asked.threshold!r} is for a CSV of scores; give a probability")
    found: dict[str, Any] = {}
    for split, said in RunFolder(path).all_predictions(dataset.knowledge).items():
        if said.fingerprint != dataset.fingerprint:
            raise DataError(f"{str(path)!r} is about a dataset with fingerprint {said.fingerprint}, not this one")
        size = 1 + max(int(said.index.max(initial=-1)), int(dataset.symbols(split).index.max()))
        found[split] = np.full((size, len(dataset.knowledge.space)), -1)
        for place, concept in enumerate(dataset.knowledge.space.concepts):
            answer = said.concepts.get(concept.name)
            if answer is None:
                raise DataError(f"{str(path)!r} says nothing of concept {concept.name!r} in split {split!r}")
            spread, cut = answer.probabilities, asked.threshold
            sharp = cut is None or spread is None or concept.values != (False, True)
            found[split][said.index, place] = answer.codes if sharp else spread[:, 1] >= cut  # type: ignore[index]
    return found
