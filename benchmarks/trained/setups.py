"""What is trained, and which cause is set up in it."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.trained.sources import Look, Source

USUAL = Look()
CHOOSING, HELD = "choosing", "held"


@dataclass(frozen=True)
class Setup:
    """A model to be trained, and how its data differ from good ones."""

    name: str
    cause: str
    """The fault that is set up, in a word or two."""
    family: str
    half: str
    source: Callable[[], Source]
    model: str
    """`independent`, `sequential`, `joint`, `multitask`, `beside`, `blackbox`, `pixels`, `table` or `given`."""
    intended: tuple[str, ...]
    """The words of which any may come first, if the fault is found by measuring."""
    head: str = ""
    """`rule`, `linear`, `hidden`, `tree`, `stump` or `forest`."""
    seed: int = 0
    train: int = 1500
    test: int = 500
    other: str = ""
    """A further split: `worlds` that are new, or other `pictures` of worlds as in the test split."""
    others: int = 300
    epochs: int = 12
    concept_weight: float = 1.0
    label_weight: float = 0.0
    look: Look = USUAL
    other_look: Look | None = None
    supervised: tuple[str, ...] | None = None
    """The concepts that are annotated in training; None for all."""
    silent: tuple[str, ...] = ()
    """Concepts of the table that the model does not predict."""
    hidden: tuple[str, ...] = ()
    """Concepts that decide labels, and that the table lacks."""
    rule: bool = True
    where: str = ""
    """Training shows only worlds in which this formula holds."""
    distinct: int = 0
    """Training shows only so many different worlds."""
    rare: float = 0.0
    """The share of true labels, in all splits."""
    poison: str = ""
    """Training labels are wrong where this formula holds."""
    label_noise: float = 0.0
    concept_noise: float = 0.0
    """Shares of training labels, and of training annotations, that are wrong."""
    marks: float = 0.0
    """How often a watermark that nobody declared agrees with the label, in training and test."""
    table_noise: float = 0.0
    """The share of annotations that are wrong in the table of the splits that are judged."""
    table_noise_where: str = ""
    """Only where this formula holds: noise by class."""
    table_noise_in: tuple[str, ...] = ()
    """Only in these concepts."""
    table_labels: bool = False
    """Whether the noise is in the table's labels, and not in its concepts."""
    gaps: float = 0.0
    gaps_where: str = ""
    """The share of annotations that are missing, and where."""
