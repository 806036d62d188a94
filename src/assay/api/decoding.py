"""Decode predicted concepts under the constraints of a rule."""

from pathlib import Path

from assay.api.arguments import Data, open_dataset
from assay.base import DataError
from assay.contracts import Predictions, apply_constraints, read_predictions


def decode(
    predictions: Predictions | Path | str,
    dataset: Data,
    output: Path | str | None = None,
    *,
    labels_by_rule: bool = False,
) -> Predictions:
    """Replace predicted concepts by the most probable ones that satisfy every constraint.

    Parameters
    ----------
    predictions
        Predictions, or a Parquet file, with the probabilities of every concept.
    dataset
        The dataset, or its folder or address.
    output
        The Parquet file to write, if any; `assay.score` and `assay.diagnose` take it.
    labels_by_rule
        Also replace labels by those that the rule gives for the decoded concepts.
    """
    opened = open_dataset(dataset)
    own = predictions
    if not isinstance(own, Predictions):
        own = read_predictions(Path(own), opened.knowledge, opened.sizes)
    if own.fingerprint != opened.fingerprint:
        raise DataError(f"the predictions are for a dataset with fingerprint {own.fingerprint}, not this one")
    decoded = apply_constraints(own, opened.knowledge, labels_by_rule)
    if output is not None:
        decoded.write(Path(output), opened.knowledge)
    return decoded
