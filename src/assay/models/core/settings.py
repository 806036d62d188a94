"""The settings that models share: training, supervision, confounders, and where concepts come from. No torch."""

from typing import Any, Literal

from pydantic import Field

from assay.base import Config
from assay.logic import Value

MASKS = ("instances", "parts")
"""The columns that say which pixels show something, the first that is there."""
OptimizerName = Literal["adam", "adamw", "sgd", "rmsprop"]
Schedule = Literal["exponential", "step", "cosine"]
Precision = Literal["auto", "float32", "bfloat16"]
SubconceptTraining = Literal["fixed", "tuned", "latent"]
Sharing = bool | Literal["objects", "crossed"]
"""Which concepts one network reads: those of an encoder group, one only, or all attributes of objects of one kind.

`crossed` is a known fault, kept to repeat numbers that rest on it: what one network reads object by object is taken for
the concepts of a group of objects attribute by attribute, so that the second number of the first object stands for the
first attribute of the second.
"""


class Training(Config):
    """How a model is trained."""

    epochs: int = Field(40, ge=1)
    """The most passes over the training split."""
    batch_size: int = Field(64, ge=1)
    """How many examples a training step sees."""
    learning_rate: float = Field(1e-3, gt=0)
    """The learning rate of the first epoch."""
    optimizer: OptimizerName = "adam"
    """`adam` adds the weight decay to the gradient, as most published runs do; `adamw` decays the weights directly."""
    momentum: float = Field(0.9, ge=0, lt=1)
    """The momentum of `sgd` and `rmsprop`."""
    weight_decay: float = Field(1e-4, ge=0)
    """The strength of L2 regularisation."""
    schedule: Schedule = "exponential"
    """How the learning rate falls: by `learning_rate_decay` after each epoch (`exponential`) or after every
    `schedule_epochs` (`step`), or along a half cosine to 0 at the last epoch (`cosine`)."""
    learning_rate_decay: float = Field(0.99, gt=0, le=1)
    """The factor of `exponential` and `step`."""
    schedule_epochs: int = Field(10, ge=1)
    """After how many epochs `step` lowers the rate."""
    warmup_epochs: int = Field(0, ge=0)
    """In how many first epochs the rate rises to its full value, in equal steps."""
    patience: int = Field(10, ge=1)
    """Stop after this many epochs without a better score on validation."""
    keeps: Literal["best", "last"] = "best"
    """Which epoch is kept: the best on validation, or the last one, without early stopping. Validation that shares a
    confounder with training prefers models that follow it."""
    device: str = "auto"
    """`auto`, `cpu`, `cuda`, `cuda:1`, ..."""
    precision: Precision = "auto"
    """The number format of training; weights and predictions stay in float32. `auto` is bfloat16 for deep backbones on
    GPUs that compute in it, and float32 elsewhere. On a CPU bfloat16 is tried first, in a process of its own, and
    refused where that fails."""
    tf32: bool = True
    """On a GPU, let training multiply float32 numbers in the shorter TensorFloat-32."""
    channels_last: bool = True
    """On a GPU, keep pictures and convolutions of a single seed in channels-last memory, which is faster."""
    captured: bool = True
    """On a GPU, run the training step as one CUDA graph, where it can be."""
    compiled: bool = False
    """Compile the training step with `torch.compile`, which is worth it for long runs."""
    memory_share: float = Field(0.25, ge=0, le=1)
    """Hold the pictures of a split on the device if they fill no more than this share of its free memory; those of a
    larger split are decoded batch by batch."""
    deterministic: bool = False
    """Only use operations that give the same bytes again on the same GPU; slower."""


class Supervision(Config):
    """Which concepts of which examples are supervised."""

    supervised_concepts: list[str] | None = None
    """Only these concepts; by default all."""
    supervised_values: list[Value] | None = None
    """Only where a concept has one of these values; by default all. The paper supervises digits 3, 4, 8 and 9."""
    supervised_share: float = Field(1.0, ge=0, le=1)
    """The share of examples whose concepts are supervised."""
    supervised_replay: int = Field(0, ge=0)
    """How many examples with supervised concepts, drawn at random, are added to every training batch: where few are
    supervised, most batches would have none."""
    subconcepts: SubconceptTraining = "fixed"
    """How finer concepts are learned where concepts are made of them, such as units of cells. `fixed`: a first phase
    trains their encoder on annotations, then it is frozen; `tuned`: it is trained further with the concepts;
    `latent`: they are not supervised, and learned through the concepts only."""


class Robustness(Config):
    """Training against confounders."""

    group_step: float = Field(0.0, ge=0)
    """Group DRO: the step size of the weights of groups, each a label with values of the nuisances; 0 for none."""
    group_examples: int | None = Field(None, ge=0)
    """Of how many training examples the nuisances are annotated; by default of all. All others are one group."""
    reasons_weight: float = Field(0.0, ge=0)
    """Right for the right reasons: the weight of the squared gradient at pixels that show no object and no part."""
    reasons_examples: int | None = Field(None, ge=0)
    """Of how many training examples these pixels are annotated; by default of all."""


class PerceptionConfig(Config):
    """Where concepts come from."""

    perception: str | None = None
    """Where concepts come from: a run's folder, a predictions file, `vlm` (a vision-language model) or `clip:FOLDER`.
    By default learners on concepts use the ground truth, and networks read pictures themselves."""
    reader: dict[str, Any] = {}
    """The settings of `vlm` or `clip:FOLDER`, such as {model: NAME, most_tokens: 100000}."""


class NeuralConfig(Training, Robustness):
    """What every network can set, besides how it is trained."""

    backbone: str | None = None
    """By default the one that the task suggests for the role; for texts `bag-of-ngrams`, for numbers `mlp`."""
    input: Literal["auto", "image", "text", "table", "features"] = "auto"
    """What the network sees of an example. `auto` is the picture if there is one, else features, else the text. A
    `table` is a text in one line, `head=round, knees=no`, or a grid."""
    tokens: int = Field(256, ge=1)
    """The most words of a text that are used."""
    feature_files: str | None = None
    """A folder with `train.npy`, `valid.npy`, ...: for each split a row of features an example, by its number."""
    sentences: str | None = None
    """A local folder with a text model (needs transformers): texts are read as its features, which are not trained."""
    dropout: float = Field(0.0, ge=0, lt=1)
    """The share of the backbone's features that is dropped in training before the linear layer on top of it, which
    gives concepts, or in a model without concepts labels."""


class ConceptConfig(NeuralConfig, Supervision):
    """What every model with a learned label head can set."""

    concept_weight: float = Field(1.0, ge=0)
    """The weight of the concept loss beside the label loss."""
    share: Sharing = True
    """Read concepts of one encoder group with one network; `objects`: all attributes of an object with one;
    `crossed`: so too, and taken for other concepts, as in the first release of rsbench."""
    hard: bool = False
    """The label head receives only the most probable value of each concept, not the probabilities."""
