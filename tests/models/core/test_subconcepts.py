"""Concepts made of finer ones: exact, one reader for all cells, taught first by annotations or through the concepts."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import assay
from assay.base import ConfigError, KnowledgeError, Settings
from assay.dataset import Dataset
from assay.exchange import Annotation, annotate
from assay.logic import Concept, ConceptSpace, Knowledge, bits, digits
from assay.models import MODELS, TrainSpec, load_model, train_run
from assay.render import Box, Layout

NETWORKS = ("cbm", "semantic", "cem", "probcbm", "ecbm", "dcr", "dpl", "ltn", "bears")
FAST = {"epochs": 1, "batch_size": 8, "backbone": "mlp"}


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    sizes = {"train": 24, "valid": 8, "test": 8, "hard": 0, "ood": 8}
    plain = {"hand": "printed", "candidates": 0, "cell_px": 8, "concepts": "both"}
    return assay.make("sudoku-mini", tmp_path_factory.mktemp("boards") / "data", splits=sizes, **plain)


CELLS = digits(["p", "q", "r"], range(3))
FINER = Knowledge.of(CELLS, {"up": "p < q", "down": "q < r", "most": "max(p, q)", "some": "all_different(p, q, r)"})
SPACE = ConceptSpace((*bits(["up", "free", "down"]).concepts, Concept("most", (0, 1, 2, 7)), *bits(["some"]).concepts))
PARTS = Layout(12, 4, 1, {cell: Box(4 * place, 0, 4 * place + 4, 4) for place, cell in enumerate("pqr")})


def of_cells(name: str = "dpl", **settings: object) -> Any:
    """Return a model whose concepts, but for one, are made of three cells."""
    knowledge = Knowledge.of(SPACE, {"y": "up and not down or free"}, subconcepts=FINER)
    return MODELS[name](knowledge, PARTS, {"backbone": "mlp", "device": "cpu", **settings})


def readers_of(model: Any) -> list[Any]:
    """Return the parts of a model that read cells: they can be fixed while the rest is trained."""
    return [part for part in model.modules() if hasattr(part, "fixed")]


def test_concepts_are_as_probable_as_the_cells_that_make_them() -> None:
    model, pictures = of_cells().eval(), torch.rand(6, 1, 4, 12)
    (reader,) = readers_of(model)
    with torch.no_grad():
        for part in reader.parameters():
            part *= 2
        cells = [logits.softmax(dim=1) for logits in reader.read(pictures)]
        found = dict(zip(SPACE.names, model.answer(pictures, {}).concepts, strict=True))
    codes = CELLS.all_codes().astype(np.int64)
    chances = torch.stack([own[:, codes[:, place]] for place, own in enumerate(cells)]).prod(dim=0)
    for place, label in enumerate(FINER.labels):
        values = [label.values[code] for code in FINER.labels_of(codes)[:, place]]
        for code, value in enumerate(SPACE.concept(label.name).values):
            wanted = chances[:, [own == value for own in values]].sum(dim=1)  # 7 is never the greatest of two cells
            assert torch.allclose(found[label.name][:, code], wanted, atol=1e-5)
    assert torch.allclose(found["free"].sum(dim=1), torch.ones(6))


def test_cells_of_one_kind_are_read_by_one_network_unless_told_otherwise() -> None:
    swapped = torch.cat([(pictures := torch.rand(2, 1, 4, 12))[..., 4:8], pictures[..., :4], pictures[..., 8:]], dim=3)
    for share in (True, False):
        model = of_cells(share=share).eval()
        (reader,) = readers_of(model)
        one, other = (reader.read(images) for images in (pictures, swapped))
        assert torch.allclose(one[0], other[1], atol=1e-6) == share and torch.equal(one[2], other[2])


@pytest.mark.parametrize("name", ["dpl", "probcbm"])
def test_losses_stay_numbers_however_certain_the_cells(name: str) -> None:
    model = of_cells(name)
    (reader,) = readers_of(model)
    with torch.no_grad():
        for part in reader.parameters():
            part *= 400
    said = model.answer(torch.rand(8, 1, 4, 12), {})
    loss = -sum(own.clamp(min=1e-12).log().sum() for own in [*said.labels, *said.concepts])
    loss.backward()
    assert loss.isfinite() and all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_reads_units_off_cells(name: str, boards: Dataset, tmp_path) -> None:
    more = {"members": 2} if name == "bears" else {"samples": 2} if name == "probcbm" else {}
    order = TrainSpec(name, Settings({**FAST, **more}))
    model = train_run(order, boards, tmp_path / "run")
    assert model.history[0].phase == "subconcepts" and len(readers_of(model)) == (2 if name == "bears" else 1)
    own, again = model.predict(boards["test"]), load_model(tmp_path / "run").predict(boards["test"])
    assert np.allclose(own.labels["valid"].probabilities, again.labels["valid"].probabilities, atol=1e-6)
    truth = {unit: boards["test"].concepts[:, i] for i, unit in enumerate(boards.knowledge.space.names)}
    told = model.predict(boards["test"], truth)
    assert (told.concepts["row1"].codes == truth["row1"]).all()


def learned(boards: Dataset, **settings: object) -> tuple[object, list[torch.Tensor], list[torch.Tensor]]:
    """Return a model with its reader's weights after the first phase, and at the end."""
    model = MODELS["cbm"](boards, settings={**FAST, "epochs": 2, **settings})
    after = list[torch.Tensor]()
    (reader,) = readers_of(model)

    def report(epoch, epochs: int) -> None:
        if epoch.phase == "subconcepts":
            after[:] = [weight.detach().clone() for weight in reader.parameters()]

    model.fit(boards["train"], boards["valid"], report)
    return model, after, [weight.detach() for weight in reader.parameters()]


def test_a_fixed_reader_stays_and_a_tuned_one_goes_on_learning(boards: Dataset) -> None:
    for way, stays in (("fixed", True), ("tuned", False)):
        model, first, last = learned(boards, subconcepts=way, learning_rate=0.01)
        best = model.history[1].best  # the weights of the first phase that are kept are then those of its last epoch
        assert [epoch.phase for epoch in model.history] == ["subconcepts"] * 2 + ["joint"] * 2
        same = all(torch.equal(a, b) for a, b in zip(first, last, strict=True))
        assert same == stays if best or not stays else True


def test_cells_can_be_left_to_be_learned_through_units(boards: Dataset) -> None:
    model, _, _ = learned(boards, subconcepts="latent")
    assert {epoch.phase for epoch in model.history} == {"joint"}


def test_cells_that_are_not_annotated_are_named(boards: Dataset) -> None:
    train = boards["train"]
    cut = train.table.select([name for name in train.table.column_names if not name.startswith("subconcept_")])
    model = MODELS["cbm"](boards, settings=FAST)
    with pytest.raises(ConfigError, match="subconcepts are not annotated .* subconcepts=latent"):
        model.fit(replace(train, table=cut), boards["valid"])


def test_mini_boards_are_learned_from_read_cells(tmp_path) -> None:
    plain = {"hand": "printed", "candidates": 0, "cell_px": 12, "concepts": "both"}
    data = assay.make(
        "sudoku-mini", tmp_path / "d", n=120, splits={"hard": 0, "ood": 0, "test": 60, "valid": 30}, **plain
    )
    model = MODELS["dpl"](data, settings={"epochs": 20, "batch_size": 16, "backbone": "mlp", "learning_rate": 0.01})
    model.fit(data["train"], data["valid"])
    test = data["test"]
    assert (model.predict(test).labels["valid"].codes == test.labels[:, 0]).mean() > 0.95


def test_columns_and_knowledge_of_cells(boards: Dataset) -> None:
    train, finer = boards["train"], boards.knowledge.subconcepts
    assert finer is not None and finer.label_names == boards.knowledge.space.names
    assert "subconcept_r4c4" in train.columns and train.subconcepts.shape == (24, 16)
    assert (finer.labels_of(train.subconcepts) == train.concepts).all()
    assert (boards["ood"].subconcepts == 0).any()
    assert Knowledge.from_dict(boards.knowledge.to_dict()) == boards.knowledge


def test_subconcepts_must_give_concepts() -> None:
    finer = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})
    with pytest.raises(KnowledgeError, match="subconcepts give 'sum'"):
        Knowledge.of(bits(["x"]), {"y": "x"}, subconcepts=finer)
    twice = Knowledge.of(bits(["x", "z"]), {"x1": "x and z"})
    space = ConceptSpace((*bits(["x1"]).concepts, *bits(["z"]).concepts))
    with pytest.raises(KnowledgeError, match="'z' is both a concept and a subconcept"):
        Knowledge.of(space, {"y": "x1 and z"}, subconcepts=twice)


def test_units_that_are_dropped_take_nothing_with_them(boards: Dataset, tmp_path) -> None:
    annotate(boards, Annotation(drop=["row1"]), tmp_path / "fewer")
    fewer = Dataset.open(tmp_path / "fewer")
    assert fewer.knowledge.subconcepts.label_names == fewer.knowledge.space.names == boards.knowledge.space.names[1:]
    assert fewer["train"].subconcepts.shape == (24, 16)
    assert MODELS["cbm"](fewer, settings=FAST).predict(fewer["test"]).concepts.keys() == set(
        fewer.knowledge.space.names
    )
    annotate(boards, Annotation(refine={unit: [True] for unit in boards.knowledge.space.names}), tmp_path / "other")
    other = Dataset.open(tmp_path / "other")
    assert other.knowledge.subconcepts is None and other["train"].subconcepts is None
