"""Concepts made of finer ones: exact, one reader for all cells, taught first by annotations or through the concepts."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import torch

import assay
from assay.concepts import Concept, ConceptSpace, bits, digits
from assay.config import Settings
from assay.data import Annotation, Dataset, annotate
from assay.errors import ConfigError, KnowledgeError
from assay.logic import AllDifferent, Const, Knowledge, Var
from assay.models import MODELS, Order, load_model, train_run
from assay.models.core.encoder import ConceptEncoder
from assay.models.core.subconcepts import LikeConcepts, readers_of
from assay.render import Box, Layout

NETWORKS = ("cbm", "semantic", "cem", "probcbm", "ecbm", "dcr", "dpl", "ltn", "bears")
FAST = {"epochs": 1, "batch_size": 8, "backbone": "mlp"}


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    sizes = {"train": 24, "valid": 8, "test": 8, "hard": 0, "ood": 8}
    plain = {"hand": "printed", "candidates": 0, "cell_px": 8, "concepts": "both"}
    return assay.make("sudoku-mini", tmp_path_factory.mktemp("boards") / "data", splits=sizes, **plain)


def all_different(side: int) -> LikeConcepts:
    space = digits([f"c{i}" for i in range(side)], range(side + 1))
    formula = AllDifferent((Const(0), *(Var(f"part{i + 1}") for i in range(side))))
    return LikeConcepts(formula, [range(side)], space, Concept("unit", (False, True)))


@pytest.mark.parametrize("side", [2, 4, 6])
def test_all_different_is_the_permanent(side: int) -> None:
    logits = torch.randn(3, side, side + 1, generator=torch.Generator().manual_seed(side)) * 3
    logs = logits.double().log_softmax(dim=2)
    (found,) = all_different(side)(list(logs.unbind(dim=1)))
    digit = logs.exp()[:, :, 1:]
    ways = [digit[:, range(side), list(way)].prod(dim=1) for way in permutations(range(side))]
    assert torch.allclose(found[:, 1].exp(), torch.stack(ways).sum(dim=0))
    assert torch.allclose(found.exp().sum(dim=1), torch.ones(3).double())


def test_logs_stay_numbers_however_certain_the_cells() -> None:
    cells = (torch.eye(10)[1:] * 400).requires_grad_()  # nine cells that surely show 1 to 9
    logs = [row[None] for row in cells.log_softmax(dim=1)]
    (valid,) = all_different(9)(logs)
    assert valid[0, 1] == 0 and torch.isfinite(valid).all()
    (broken,) = all_different(9)([logs[0], *logs[:1], *logs[2:]])
    broken[0, 1].backward()
    assert -900 < float(broken[0, 1].detach()) < -300 and torch.isfinite(cells.grad).all()


def test_units_share_a_diagram_and_cells_a_reader(boards: Dataset) -> None:
    model = MODELS["cbm"](boards, settings=FAST)
    (reader,) = readers_of(model)
    assert [len(group.parts) for group in reader.groups] == [12]
    assert len(reader.encoder.readers) == 1 and len(model.encoder.readers) == 1


def test_concepts_that_are_not_made_are_read_as_ever() -> None:
    finer = Knowledge.of(digits(["a", "b"], range(3)), {"same": "a == b"})
    boxes = {"a": Box(0, 0, 4, 4), "b": Box(4, 0, 8, 4)}
    encoder = ConceptEncoder(bits(["lit", "same"]), Layout(8, 4, 1, boxes), "mlp", subconcepts=finer)
    lit, same = encoder(torch.rand(5, 1, 4, 8))
    assert lit.shape == same.shape == (5, 2)
    assert torch.allclose(same.exp().sum(dim=1), torch.ones(5)) and not torch.allclose(
        lit.exp().sum(dim=1), torch.ones(5)
    )
    a, b = (logits.softmax(dim=1) for logits in encoder.readers[1].read(torch.ones(1, 1, 4, 8)))
    certain = encoder(torch.ones(1, 1, 4, 8))[1].exp()
    assert torch.allclose(certain[0, 1], (a * b).sum())


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_reads_units_off_cells(name: str, boards: Dataset, tmp_path) -> None:
    more = {"members": 2} if name == "bears" else {"samples": 2} if name == "probcbm" else {}
    order = Order(name, Settings({**FAST, **more}))
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
    assert [len(group.parts) for group in readers_of(MODELS["cbm"](fewer, settings=FAST))[0].groups] == [11]
    annotate(boards, Annotation(refine={unit: [True] for unit in boards.knowledge.space.names}), tmp_path / "other")
    other = Dataset.open(tmp_path / "other")
    assert other.knowledge.subconcepts is None and other["train"].subconcepts is None
