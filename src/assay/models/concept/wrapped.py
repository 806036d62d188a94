"""Models trained elsewhere: any torch module that predicts concepts and labels, scored and intervened on like others.

The module is called with pictures (numbers from 0 to 1, examples x channels x height x width) and returns a mapping
with `labels` and perhaps `concepts`, or the pair (concepts, labels). Each of the two is a mapping from names to scores,
a list in the order of the knowledge, or one tensor with all side by side. Of two values the second's score is enough.

PyTorch-Concepts (PyC, the extra `pyc`) knows no labels apart from concepts, so both stand side by side there, by name:
labels are its tasks. Of two values it gives one score, that of the second.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from assay.base import Array, ConfigError, DataError, MissingExtra, install_line
from assay.dataset import Dataset, SplitData, versions
from assay.logic import Knowledge, Value
from assay.models.core.model import Report
from assay.models.core.network import NeuralModel
from assay.models.core.settings import NeuralConfig
from assay.models.core.steps import Phase
from assay.models.core.tensors import Annotations, Outputs, apply_interventions, is_set, to_batch
from assay.render import Layout

Scores = Literal["logits", "probabilities"]
Named = Sequence[tuple[str, Sequence[Value]]]
Tell = Callable[[Tensor, list[Tensor]], Any]
"""From pictures and concept probabilities to the scores of labels."""
CLOSE = 1e-3


class Wrapped(NeuralModel):
    """A torch module that was trained elsewhere."""

    name = "wrapped"
    role = "concept"
    has_concepts = True
    can_intervene = False
    Config = NeuralConfig

    def __init__(
        self,
        module: nn.Module,
        knowledge: Knowledge,
        layout: Layout,
        scores: Scores = "logits",
        tell: Tell | None = None,
        has_concepts: bool = True,
    ) -> None:
        """Wrap a module; `tell`, if given, derives labels from pictures and concept probabilities: interventions."""
        super().__init__(knowledge, layout)
        self.module, self.scores, self.tell = module, scores, tell
        self.__dict__.update(has_concepts=has_concepts, can_intervene=has_concepts and tell is not None)

    def build(self, backbone: str) -> None:
        """Make nothing: the module is given."""

    def phases(self, data: Annotations) -> list[Phase]:
        """Return none: the module is trained already."""
        return []

    def fit(self, train_data: SplitData, valid: SplitData, report: Report = lambda epoch, epochs: None) -> None:
        """Refuse: how to train the module is not known here."""
        raise ConfigError(f"{type(self.module).__name__} is wrapped: train it where it comes from")

    def answer(self, pictures: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        """Return the module's predictions; where a concept is set to something else, the labels are those of `tell`."""
        outputs = _parts(self.module(pictures))
        labels = self._all_probabilities(outputs["labels"], "label")
        if not self.has_concepts:
            return Outputs(labels)
        own = self._all_probabilities(outputs.get("concepts"), "concept")
        if not do or self.tell is None:
            return Outputs(labels, own)
        self._same_encoding(labels, self._all_probabilities(self.tell(pictures, own), "label"))
        concepts = apply_interventions(own, do)
        rows = torch.stack([is_set(own[place], setting) for place, setting in do.items()]).any(dim=0)
        after = self._all_probabilities(self.tell(pictures, concepts), "label")
        return Outputs([torch.where(rows[:, None], new, old) for new, old in zip(after, labels, strict=True)], concepts)

    def _same_encoding(self, labels: list[Tensor], again: list[Tensor]) -> None:
        """Refuse a hook that gives other labels for the module's own concepts: it encodes them in another way."""
        apart = max(float((first - second).abs().max()) for first, second in zip(labels, again, strict=True))
        if apart > CLOSE:
            raise ConfigError(
                f"set to its own concepts, {type(self.module).__name__} gives other labels (by {apart:.3f}): "
                "`tell` does not hand concepts on as the module does"
            )

    def _all_probabilities(self, scores: Any, kind: str) -> list[Tensor]:
        """Return the scores of all labels or concepts as probabilities."""
        named: Named = [(x.name, x.values) for x in self.knowledge.labels]
        if kind == "concept":
            named = [(c.name, c.values) for c in self.space.concepts]
        if isinstance(scores, Tensor):
            scores = _split_columns(scores, named, kind)
        if isinstance(scores, Mapping):
            missing = [name for name, _ in named if name not in scores]
            if missing:
                raise ConfigError(f"the module says nothing of {kind} {missing[0]!r}")
            scores = [scores[name] for name, _ in named]
        if not isinstance(scores, Sequence) or len(scores) != len(named):
            raise ConfigError(f"the module must say something of {len(named)} {kind}s, in order or by name")
        return [self._probabilities(own, name, len(values)) for own, (name, values) in zip(scores, named, strict=True)]

    def _probabilities(self, scores: Tensor, name: str, size: int) -> Tensor:
        """Return the probabilities of the values of one label or concept."""
        wide = scores.reshape(len(scores), -1)
        if wide.shape[1] == 1 and size == 2:
            second = wide.sigmoid() if self.scores == "logits" else wide
            return torch.cat([1 - second, second], dim=1)
        if wide.shape[1] != size:
            raise ConfigError(f"the module gives {wide.shape[1]} scores for {name!r}, which has {size} values")
        return wide.softmax(dim=1) if self.scores == "logits" else wide

    def metadata(self) -> dict[str, Any]:
        """Return what is wrapped, for the record."""
        used = {**versions(), "torch": torch.__version__}
        return {"model": self.name, "wrapped": type(self.module).__name__, "versions": used}


def _parts(said: Any) -> Mapping[str, Any]:
    """Return what a module said as a mapping."""
    if isinstance(said, Outputs):
        return {"labels": said.labels, "concepts": said.concepts}
    if isinstance(said, tuple) and len(said) == 2:
        return {"concepts": said[0], "labels": said[1]}
    if isinstance(said, Mapping) and "labels" in said:
        return said
    if isinstance(said, Tensor):
        return {"labels": said}
    if hasattr(said, "logits"):  # an image classifier of transformers
        return {"labels": said.logits}
    raise ConfigError(
        "a wrapped module must return label scores, (concepts, labels), or a mapping with 'labels' and 'concepts'"
    )


def wrap(
    module: nn.Module, dataset: Dataset, transform: Callable[[Array], Any] | None = None, scores: Scores = "logits"
) -> Wrapped:
    """Return a trained module as a model; whether it says concepts is found out by asking it about one picture.

    `transform`, if given, makes the module's input of pictures (bytes, examples x height x width x channels).

    Parameters
    ----------
    module
        A trained module from pictures to scores of labels, or of concepts and labels.
    dataset
        The dataset whose concepts and labels it says.
    transform
        What makes the module's input of a batch of pictures (examples x height x width x 3, 0 to 255).
    scores
        Whether the module gives logits or probabilities.
    """
    asked = module if transform is None else _Transformed(module, transform)
    name = next(iter(dataset.split_names))
    pictures = torch.from_numpy(dataset[name].take(np.arange(1)).images).permute(0, 3, 1, 2).float() / 255
    asked.eval()
    with torch.no_grad():
        said = _parts(asked(pictures))
    return Wrapped(asked, dataset.knowledge, dataset.layout, scores, has_concepts=said.get("concepts") is not None)


class _Transformed(nn.Module):
    """A module whose input is made of pictures by a function."""

    def __init__(self, module: nn.Module, transform: Callable[[Array], Any]) -> None:
        super().__init__()
        self.module, self.transform = module, transform

    def forward(self, pictures: Tensor) -> Any:
        images = (pictures.permute(0, 2, 3, 1) * 255).round().to(torch.uint8).cpu().numpy()
        made = self.transform(images)
        if isinstance(made, Mapping):
            return self.module(**made)
        return self.module(made if isinstance(made, Tensor) else torch.as_tensor(made))


def _split_columns(scores: Tensor, named: Named, kind: str) -> list[Tensor]:
    """Return the columns of each label or concept, of two values either both or only the second."""
    full = [len(values) for _, values in named]
    short = [1 if size == 2 else size for size in full]
    for widths in (full, short):
        if scores.shape[1:] == (sum(widths),):
            return list(torch.split(scores, widths, dim=1))
    raise ConfigError(f"the module gives {tuple(scores.shape[1:])} scores for all {kind}s; {sum(full)} are needed")


Prepare = Callable[[Tensor], Tensor]


def _part(name: str, what: str) -> Any:
    """Return something of PyC; some of its modules fail to load with other errors than that they are missing."""
    try:
        return getattr(importlib.import_module(name), what)
    except (ImportError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise MissingExtra(f"PyTorch-Concepts cannot be loaded ({reason}); {install_line('pyc')}") from None


def annotations_of(knowledge: Knowledge) -> Any:
    """Return PyC's annotations of all concepts and labels."""
    both = [(c.name, c.values) for c in knowledge.space.concepts] + [(x.name, x.values) for x in knowledge.labels]
    twice = [name for name in knowledge.label_names if name in knowledge.space.places]
    if twice:
        raise DataError(f"PyTorch-Concepts needs one name for one thing: {twice[0]!r} is a concept and a label")
    return _part("torch_concepts", "Annotations")(
        labels=[name for name, _ in both],
        cardinalities=[1 if len(values) == 2 else len(values) for _, values in both],
        types=["binary" if len(values) == 2 else "categorical" for _, values in both],
    )


def to_pyc(data: SplitData) -> Any:
    """Return a split as PyC's dataset: pictures from 0 to 1, and the codes of concepts and labels as given."""
    batch = to_batch(data, torch.device("cpu"))
    missing = int((batch.concepts < 0).sum())
    if missing:
        raise DataError(f"{missing} concepts are missing, and PyTorch-Concepts has no masks for them")
    dataset = _part("torch_concepts.data.base.dataset", "ConceptDataset")
    codes = torch.cat([batch.concepts, batch.labels], dim=1)
    notes = annotations_of(data.knowledge)
    return dataset(batch.pictures, codes, annotations=notes, reorder_by_type=False, name=data.name)


class PycModule(nn.Module):
    """A high-level model of PyC, queried for all concepts and labels."""

    def __init__(self, model: nn.Module, knowledge: Knowledge, prepare: Prepare) -> None:
        super().__init__()
        self.model, self.prepare = model, prepare
        self.sizes = dict(zip(knowledge.space.names, knowledge.space.sizes, strict=True))
        self.labels = list(knowledge.label_names)

    def forward(self, pictures: Tensor) -> dict[str, dict[str, Tensor]]:
        """Return the logits of concepts and labels, by name."""
        logits = self._query([*self.sizes, *self.labels], pictures, {})
        return {
            "concepts": {name: logits[name] for name in self.sizes},
            "labels": {name: logits[name] for name in self.labels},
        }

    def tell(self, pictures: Tensor, concepts: list[Tensor]) -> dict[str, Tensor]:
        """Return the logits of labels where these concept probabilities are evidence."""
        pairs = zip(self.sizes.items(), concepts, strict=True)
        evidence = {name: probabilities[:, 1:] if size == 2 else probabilities for (name, size), probabilities in pairs}
        return self._query(self.labels, pictures, evidence)

    def _query(self, names: list[str], pictures: Tensor, evidence: Mapping[str, Tensor]) -> dict[str, Tensor]:
        logits = self.model(query=names, evidence=dict(evidence), input=self.prepare(pictures)).logits
        return {name: logits[name].tensor for name in names}


def wrap_pyc(model: nn.Module, knowledge: Knowledge, layout: Layout, prepare: Prepare | None = None) -> Wrapped:
    """Return a trained high-level model of PyC as one of ours; `prepare` makes its input of pictures.

    Parameters
    ----------
    model
        A trained high-level model of PyC.
    knowledge
        The concepts and labels that it was trained for.
    layout
        The size of the pictures.
    prepare
        What makes its input of pictures.
    """
    module = PycModule(model, knowledge, prepare or nn.Identity())
    return Wrapped(module, knowledge, layout, tell=module.tell)
