"""To and from PyTorch-Concepts (PyC): our data for its models, and its models as ours. Needs the extra `pyc`.

PyC knows no labels apart from concepts, so both stand side by side there, by name: labels are its tasks. Of two values
it gives one score, that of the second.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from assay.base import DataError, MissingExtra, install_line
from assay.dataset import SplitData
from assay.logic import Knowledge
from assay.models.core.tensors import to_batch
from assay.models.external.wrapped import Wrapped
from assay.render import Layout

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
    """Return a trained high-level model of PyC as one of ours; `prepare` makes its input of pictures."""
    module = PycModule(model, knowledge, prepare or nn.Identity())
    return Wrapped(module, knowledge, layout, tell=module.tell)
