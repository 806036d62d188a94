"""What an imported dataset says of itself, in words."""

from collections.abc import Mapping
from typing import Any

from assay.logic.knowledge import NO_RULE


def rule_text(formula: str) -> str:
    """Return a rule as it is shown."""
    return "not known" if formula == str(NO_RULE) else formula


def describe_import(about: Mapping[str, Any]) -> str:
    """Return in a sentence where a dataset came from and what was done to it.

    >>> describe_import({"layout": "CelebA", "examples": 60, "resize": "crop", "splits": "as in the source",
    ...     "agreement": None, "missing": {"train": 0.2}})
    'imported from CelebA: 60 examples, splits as in the source, pictures resized by crop; not known: 20 % of train'
    """
    text = (
        f"imported from {about['layout']}: {about['examples']:,} examples, splits {about['splits']}, pictures resized by "
        f"{about['resize']}"
    )
    gaps = [f"{100 * share:.0f} % of {name}" for name, share in about["missing"].items() if share]
    text += f"; not known: {', '.join(gaps)}" if gaps else ""
    return text + (f"; annotators agree to {100 * about['agreement']:.0f} %" if about["agreement"] is not None else "")
