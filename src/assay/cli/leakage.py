"""`assay leakage`: do predicted concepts carry more than the concepts, and do labels bypass them?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.console import DataArgument, JsonFlag, ModelFileOption, SeedOption, print_json, print_table, say

if TYPE_CHECKING:
    from assay.data import Dataset


def leakage(
    run: Annotated[Path, typer.Argument(metavar="RUN|PREDICTIONS", help="A run's folder, or a Parquet file.")],
    data: DataArgument,
    split: Annotated[str, typer.Option(help="The split to evaluate.")] = "test",
    seed: SeedOption = 0,
    precision: Annotated[float, typer.Option(min=0, help="Probabilities that differ by less count as equal.")] = 0.01,
    model_file: ModelFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Measure the leakage of predicted concepts.

    How much they reveal of labels (CTL) and of each other (ICL) beyond the true concepts. For models that support
    interventions, also whether labels survive when the concepts are shuffled or constant.
    """
    from assay.data import Dataset
    from assay.diagnosis import leakage as measure
    from assay.errors import DataError
    from assay.metrics import gather_from
    from assay.runs import RunFolder

    dataset = Dataset.open(data)
    predictions = RunFolder(run).all_predictions(dataset.knowledge, dataset.sizes)
    if split not in predictions:
        raise DataError(f"{str(run)!r} has no predictions for split {split!r}: assay predict RUN DATA --split {split}")
    measured = measure(gather_from(dataset, predictions[split]), seed, precision).to_dict()
    passes, why = _bypass(run, dataset, split, seed)
    if as_json:
        print_json(
            {"fingerprint": dataset.fingerprint, "seed": seed, "precision": precision, **measured, "bypass": passes}
        )
        return
    kinds = [kind for kind in ("soft", "hard") if measured[kind] is not None]
    rows = [[name, *(f"{measured[kind][key]:.4f}" for kind in kinds), text] for key, name, text in MEASURES]
    print_table([f"{split} ({measured['rows']:,})", *kinds, ""], rows)
    strongest = sorted(measured["beyond_value"].items(), key=lambda pair: -pair[1])[:MOST_NAMED]
    if strongest:
        heads = ["probabilities of", "explained by a label, where the concept is right"]
        print_table(heads, [[name, f"{strength:.4f}"] for name, strength in strongest])
    if passes is not None:
        rows = [[key, f"{passes[key]:.4f}", text] for key, text in PASSES.items()]
        print_table(["bypass", "value", ""], rows)
    else:
        say(f"bypass left out: {why}")


MOST_NAMED = 10
MEASURES = (
    ("ctl", "CTL", "concept to label: information beyond the true concept's, as a share of H(label)"),
    ("icl", "ICL", "concept to concept: information beyond the true concepts'"),
    ("probe", "probe", "what all predicted concepts add on held-out examples to the true ones and the rule"),
)
PASSES = {
    "accuracy": "label accuracy as the model predicts",
    "true": "with the true concepts set",
    "shuffled_own": "with the concepts of another example: the label is still that of the image",
    "chance": "how often that is so by chance",
    "survival": "how much of the accuracy survives the shuffle: 0 without a bypass",
    "by_picture": "the label differs for another image with the same concepts",
    "fixed": "with constant concepts",
    "majority": "the most frequent label",
}


def _bypass(run: Path, dataset: "Dataset", split: str, seed: int) -> tuple[dict[str, Any] | None, str]:
    """Return the bypass of a run, or why there is none."""
    if run.is_file():
        return None, "a predictions file has no model"
    from assay.errors import ConfigError, DataError, MissingExtra
    from assay.models import bypass, load_model

    try:
        model = load_model(run)  # a network needs torch, a program does not
        return bypass(model, dataset[split], seed).to_dict(), ""
    except (ConfigError, DataError, MissingExtra) as error:
        return None, str(error)
