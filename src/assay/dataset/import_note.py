"""What an imported dataset says of itself, in words."""

from assay.contracts import ImportRecord
from assay.logic import NO_RULE

IMPORTED_SHEET = """\
# {title}

{summary} Imported by Assay {version}; fingerprint {fingerprint}.

## Motivation

**Why was it made?** To tell whether a model has learned the concepts and the rule, or a shortcut: `assay diagnose`
compares what a model says with the concepts and labels that people gave.

## Composition

**What is an example?** {shown}, the concepts that annotators gave, and the labels.

{concepts}

{labels}

{constraints}

{splits}

**Are there counterfactuals?** {pairs}

{regions}

**Is anything missing, noisy or redundant?** {missing} Labels are those of the source; whether they follow the rule, if
one is given, is what `assay audit` tells.

**Does it relate to people, or hold anything confidential or offensive?** Not known to Assay: see the source.

## Collection and preprocessing

It was {how}. The style of an example has the name of its file, and how far annotators agree where there were several.
It cannot be redrawn: it is not made from a rule.

## Uses

What the source allows; its licence holds for this copy as well.

## Distribution and maintenance

`manifest.json` has the hash of every file, `croissant.json` describes the columns, and `datasets.load_dataset` opens
the folder as it is.
"""
"""The card of a dataset that was imported: what is said of drawn worlds would be false of it."""


def rule_text(formula: str) -> str:
    """Return a rule as it is shown."""
    return "not known" if formula == str(NO_RULE) else formula


def describe_import(about: ImportRecord) -> str:
    """Return in a sentence where a dataset came from and what was done to it.

    >>> describe_import(ImportRecord(layout="CelebA", examples=60, resize="crop", splits="as in the source",
    ...     missing={"train": 0.2}))
    'imported from CelebA: 60 examples, splits as in the source, pictures resized by crop; not known: 20 % of train'
    """
    text = (
        f"imported from {about.layout}: {about.examples:,} examples, splits {about.splits}, pictures "
        f"resized by {about.resize}"
    )
    gaps = [f"{100 * share:.0f} % of {name}" for name, share in about.missing.items() if share]
    text += f"; not known: {', '.join(gaps)}" if gaps else ""
    return text + (f"; annotators agree to {100 * about.agreement:.0f} %" if about.agreement is not None else "")
