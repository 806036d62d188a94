"""`assay leakage`: do a model's concepts carry more than concepts, and can its label do without them?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.console import DataArgument, JsonFlag, SeedOption, print_json, print_table, say

if TYPE_CHECKING:
    from assay.data.dataset import Dataset


def leakage(
    run: Annotated[Path, typer.Argument(metavar="RUN|PREDICTIONS", help="A run's folder, or a Parquet file.")],
    data: DataArgument,
    split: Annotated[str, typer.Option("--split", help="The split to look at.")] = "test",
    seed: SeedOption = 0,
    precision: Annotated[
        float, typer.Option("--precision", min=0, help="Probabilities nearer than this are the same.")
    ] = 0.01,
    as_json: JsonFlag = False,
) -> None:
    """Tell how much predicted concepts say of labels (CTL) and of each other (ICL) beyond the true ones.

    For a run of a model whose concepts can be set, also whether the label survives when they are shuffled or fixed.
    """
    from assay.data.dataset import Dataset
    from assay.diagnosis.leakage import leakage as measure
    from assay.errors import DataError
    from assay.metrics.evidence import gather_from
    from assay.runs import RunFolder

    dataset = Dataset.open(data)
    said = RunFolder(run).all_predictions(dataset.knowledge)
    if split not in said:
        raise DataError(f"{str(run)!r} has no predictions for split {split!r}: assay predict RUN DATA --split {split}")
    found = measure(gather_from(dataset, said[split]), seed, precision).to_dict()
    passed, why = _bypass(run, dataset, split, seed)
    if as_json:
        print_json(
            {"fingerprint": dataset.fingerprint, "seed": seed, "precision": precision, **found, "bypass": passed}
        )
        return
    kinds = [kind for kind in ("soft", "hard") if found[kind] is not None]
    rows = [[name, *(f"{found[kind][key]:.4f}" for kind in kinds), text] for key, name, text in MEASURES]
    print_table([f"{split} ({found['rows']:,})", *kinds, ""], rows)
    told = sorted(found["beyond_value"].items(), key=lambda pair: -pair[1])[:MOST_NAMED]
    if told:
        heads = ["probabilities of", "tell of a label, where the concept is right and its value known"]
        print_table(heads, [[name, f"{strength:.4f}"] for name, strength in told])
    if passed is not None:
        print_table(["with concepts", "value", ""], [[key, f"{passed[key]:.4f}", text] for key, text in PASSES.items()])
    else:
        say(f"bypass left out: {why}")


MOST_NAMED = 10
MEASURES = (
    ("ctl", "CTL", "concept to label: what a concept tells of it beyond the true one, as a share of H(label)"),
    ("icl", "ICL", "concept to concept, beyond the true ones"),
    ("probe", "probe", "what all concepts add on held-out examples to the true ones and the rule"),
)
PASSES = {
    "accuracy": "label accuracy as the model answers",
    "true": "with the true concepts set",
    "shuffled_own": "with another example's: the label is still that of the picture",
    "chance": "how often that is so by chance",
    "survival": "how much of the accuracy survives the shuffle: 0 without a bypass",
    "by_picture": "the label is another for another picture with the same concepts",
    "fixed": "with the same concepts for all",
    "majority": "the commonest label",
}


def _bypass(run: Path, dataset: "Dataset", split: str, seed: int) -> tuple[dict[str, Any] | None, str]:
    """Return the bypass of a run, or why there is none."""
    if run.is_file():
        return None, "a predictions file is no model"
    from assay.errors import ConfigError, DataError
    from assay.models.bypass import bypass
    from assay.models.runs import load_model

    try:
        model = load_model(run)  # a network needs torch, a program does not
        return bypass(model, dataset[split], seed).to_dict(), ""
    except ModuleNotFoundError as error:
        return None, f"it needs {error.name}: pip install 'assay[train]'"
    except (ConfigError, DataError) as error:
        return None, str(error)
