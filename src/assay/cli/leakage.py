"""`assay leakage`: do predicted concepts carry more than the concepts, and do labels bypass them?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import DataArgument, JsonFlag, ModelFileOption, SeedOption, print_json, print_table, say


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
    from assay.api import leakage as measure

    report = measure(run, data, split=split, seed=seed, precision=precision)
    if as_json:
        print_json(report.to_dict())
        return
    measured = report.leakage.to_dict()
    passes = None if report.bypass is None else report.bypass.to_dict()
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
        say(f"bypass left out: {report.why_no_bypass}")


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
