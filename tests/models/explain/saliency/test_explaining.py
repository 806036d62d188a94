"""Saliency of planted models: scores say where they look, the check finds a method that ignores weights."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import assay
from assay.base import AssayError, ConfigError, Settings, UnknownName
from assay.dataset import Dataset, decode
from assay.models import Saliency, TrainSpec, train_run
from assay.render import mark_area
from tests.exchange.imports.drawn import draw

GRADIENTS = ("integrated-gradients", "grad-cam", "input-gradient")
QUICK = {"check": "none", "device": "cpu"}


@pytest.fixture(scope="module")
def marked(squares: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return assay.confound(squares, tmp_path_factory.mktemp("marked") / "data", "watermark", "brighter", 1.0)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Imported pictures, of which nobody knows where concepts show."""
    pictures = draw(40)
    columns = {name: [one.truth[name] for one in pictures] for name in ("red", "wide", "dotted")}
    columns["alarm"] = [one.alarm for one in pictures]
    return assay.from_table(
        columns, tmp_path_factory.mktemp("drawn") / "data", images=[one.pixels for one in pictures],
        concepts=["red", "wide", "dotted"], labels=["alarm"],
    )  # fmt: skip


class Looks(nn.Module):
    """Reads the brightness of `left` off one side of the picture, and that of `right` off the other."""

    def __init__(self, exchanged: bool = False) -> None:
        super().__init__()
        self.exchanged = exchanged
        self.scale = nn.Parameter(torch.tensor(20.0))

    def forward(self, pictures: Tensor) -> Any:
        means = [part.mean(dim=(1, 2, 3)) for part in pictures.chunk(2, dim=3)]
        levels = torch.tensor([0.08, 0.43, 0.78])
        concepts = [-self.scale * (mean[:, None] - levels).abs() for mean in means]
        difference = self.scale * (means[0] - means[1] - 0.1)
        return concepts[::-1] if self.exchanged else concepts, difference[:, None]


class Spot(nn.Module):
    """Labels that follow the pixels of an area, and no others."""

    def __init__(self, area: np.ndarray[Any, Any]) -> None:
        super().__init__()
        self.register_buffer("area", torch.from_numpy(area.astype(np.float32)))
        self.scale = nn.Parameter(torch.tensor(3.0))

    def forward(self, pictures: Tensor) -> Tensor:
        return self.scale * ((pictures[:, 0] - 0.3) * self.get_buffer("area")).sum(dim=(1, 2))[:, None]


@pytest.mark.parametrize("method", ["integrated-gradients", "input-gradient", "occlusion"])
def test_maps_of_concepts_fall_on_them_or_where_they_are_really_read(squares: Dataset, method: str) -> None:
    right = assay.saliency(Looks(), squares, method, **QUICK)
    wrong = assay.saliency(Looks(exchanged=True), squares, method, **QUICK)
    for name in ("left", "right"):
        score = right.score(f"concept {name}", "the concept")
        assert score.chance == 0.5 and score.energy.value > 0.9 and score.energy.side == "above"
        assert score.pointing.value == 1.0 and score.rank.value > 0.9
        assert wrong.score(f"concept {name}", "the concept").energy.side == "below"
    assert "label brighter covers the whole picture" in right.text
    assert right.plan.examples == len(squares["test"]) and "was left out" in right.text


def test_an_area_that_labels_follow_is_found_and_its_absence_too(marked: Dataset) -> None:
    area = mark_area("watermark", 2, (12, 24, 1))
    assert area is not None
    on = assay.saliency(Spot(area), marked, "input-gradient", **QUICK).score("label brighter", "watermark")
    assert on.pointing.value == on.energy.value == on.rank.value == 1.0 and on.is_mark
    found = assay.saliency(Spot(~area), marked, "input-gradient", **QUICK)
    off = found.score("label brighter", "watermark")
    assert off.energy.value == 0.0 and off.energy.side == "below" and off.chance == pytest.approx(area.mean())
    assert "less than by chance" in found.text


def test_integrated_gradients_say_how_complete_they_are(squares: Dataset) -> None:
    few, many = (assay.saliency(Looks(), squares, steps=steps, **QUICK).completeness for steps in (1, 64))
    assert many is not None and few is not None and many < 0.05 < few
    assert assay.saliency(Looks(), squares, "input-gradient", **QUICK).completeness is None


@pytest.fixture(scope="module")
def trained(squares: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "run"
    settings = {"epochs": 30, "learning_rate": 0.01, "batch_size": 16, "device": "cpu"}
    train_run(TrainSpec("blackbox", Settings(settings)), squares, folder)
    return folder


@pytest.mark.parametrize("method", GRADIENTS)
def test_the_check_draws_weights_anew_from_the_top_down_and_puts_them_back(trained: Path, method: str) -> None:
    run = assay.Run.open(trained)
    before = {name: tensor.clone() for name, tensor in run.model.state_dict().items()}  # type: ignore[attr-defined]
    found = assay.saliency(run, method=method, device="cpu")
    after = run.model.state_dict()  # type: ignore[attr-defined]
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())
    assert found.check is not None
    stages = found.check.stages
    assert [stage.layers for stage in stages] == list(range(1, len(stages) + 1)) and stages[0].last == "head"
    assert stages[-1].similarity < 0.95 and found.check.text.startswith("Check: with all weights drawn anew")
    assert all(score.untrained is not None for score in found.scores)
    again = assay.saliency(run, method=method, device="cpu")
    assert again.to_dict() == found.to_dict()


def test_a_method_that_ignores_weights_is_said_to_be_no_witness(marked: Dataset) -> None:
    """The slopes of this model have the same shape whatever its only weight is."""
    area = mark_area("watermark", 2, (12, 24, 1))
    found = assay.saliency(Spot(area), marked, "input-gradient", device="cpu")
    assert found.check is not None and found.check.witness == "no witness"
    assert found.check.stages[-1].similarity == pytest.approx(1.0)
    assert "This method is no witness here" in found.text


class Net(nn.Module):
    """Layers that are called in another order than that in which they are made, one twice and one never."""

    def __init__(self, layers: int = 0) -> None:
        super().__init__()
        self.unused, self.head, self.body = nn.Linear(2, 2), nn.Linear(24, 2), nn.Linear(24, 24)
        self.own = nn.Parameter(torch.ones(24))
        self.more = nn.Sequential(*(nn.Linear(24, 24) for _ in range(layers)))

    def forward(self, pictures: Tensor) -> Tensor:
        rows = pictures.mean(dim=(1, 2))
        return self.head(self.more(self.body(torch.tanh(self.body(rows)) * self.own)))


def stages(net: Net, data: Dataset, **settings: Any) -> list[tuple[int, str]]:
    found = assay.saliency(net, data, "input-gradient", n=6, device="cpu", **settings)
    assert found.check is not None
    return [(stage.layers, stage.last) for stage in found.check.stages]


def test_layers_are_drawn_anew_in_the_reverse_order_of_their_calls(squares: Dataset) -> None:
    torch.manual_seed(0)
    net = Net()
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    assert stages(net, squares) == [(1, "module"), (2, "module.head"), (3, "module.body"), (4, "module.unused")]
    assert stages(net, squares, check="all") == [(4, "module.unused")]
    assert all(torch.equal(tensor, before[name]) for name, tensor in net.state_dict().items())
    many = stages(Net(20), squares)
    assert [number for number, _ in many] == [1, 5, 10, 14, 19, 24]  # of many layers some are looked at, and all


def test_maps_over_pictures_and_the_record_are_written(trained: Path, squares: Dataset, tmp_path: Path) -> None:
    found = assay.saliency(trained, output=tmp_path / "maps", n=8, pictures=3, check="all", device="cpu")
    files = sorted((tmp_path / "maps" / "maps" / "label-brighter").glob("*.png"))
    assert len(files) == 3 and files[0].name.startswith(f"{found.shown.index[0]:05d}-")
    large = round(128 / 12)
    assert decode(files[0].read_bytes()).shape == (12 * large, 2 * 24 * large + 4, 3)
    record = json.loads((tmp_path / "maps" / "saliency.json").read_text())
    assert record["seed"] == 0 and record["examples"] == 8 and record["model"]["model"] == "blackbox"
    assert record["model"]["data"]["fingerprint"] == squares.fingerprint and "torch" in record["model"]["used"]
    assert record["check"]["stages"][0]["layers"] > 1
    again = assay.saliency(trained, output=tmp_path / "maps", n=8, pictures=3, check="all", device="cpu")
    assert again.to_dict() == found.to_dict()


def test_functions_of_pictures_are_explained_by_occlusion_alone(squares: Dataset) -> None:
    def left_is_brighter(images: Any) -> Any:
        means = images.reshape(len(images), 12, 24).astype(float)
        return (means[:, :, :12].mean(axis=(1, 2)) > means[:, :, 12:].mean(axis=(1, 2))).astype(int)

    found = assay.saliency(left_is_brighter, squares, "occlusion", n=4, patch=6, stride=6)
    assert "has no weights that can be drawn anew" in found.text
    with pytest.raises(ConfigError, match="'left_is_brighter' has no gradients, which grad-cam needs"):
        assay.saliency(left_is_brighter, squares, "grad-cam")


def test_a_learner_with_perception_is_occluded_through_what_it_reads(
    squares: Dataset, tmp_path: Path, trained: Path
) -> None:
    settings = {"epochs": 30, "learning_rate": 0.01, "batch_size": 16, "device": "cpu"}
    train_run(TrainSpec("cbm", Settings(settings)), squares, tmp_path / "cbm")
    train_run(TrainSpec("tree", Settings({"perception": str(tmp_path / "cbm")})), squares, tmp_path / "tree")
    found = assay.saliency(tmp_path / "tree", method="occlusion", n=8, patch=6, stride=6)
    assert found.score("concept left", "the concept").energy.side == "above"
    train_run(TrainSpec("tree", Settings({})), squares, tmp_path / "plain")
    with pytest.raises(ConfigError, match="'tree' reads true concepts, not pictures"):
        assay.saliency(tmp_path / "plain", method="occlusion")


def test_imported_pictures_have_maps_and_marks_but_no_scores_of_concepts(drawn: Dataset, tmp_path: Path) -> None:
    train_run(TrainSpec("cbm", Settings({"epochs": 1, "device": "cpu"})), drawn, tmp_path / "run")
    found = assay.saliency(tmp_path / "run", drawn, "grad-cam", tmp_path / "maps", n=4, **QUICK)
    assert not found.scores and "has no masks, no boxes and no regions of its concepts" in found.text
    assert len(list((tmp_path / "maps" / "maps").iterdir())) == 4
    marked = assay.confound(drawn, tmp_path / "marked", "patch", "alarm", 1.0)
    train_run(TrainSpec("blackbox", Settings({"epochs": 1, "device": "cpu"})), marked, tmp_path / "box")
    scores = assay.saliency(tmp_path / "box", **QUICK).scores
    assert [(score.target, score.place) for score in scores] == [("label alarm", "patch")]


def test_examples_are_drawn_by_the_seed_and_kept_in_order(squares: Dataset) -> None:
    def shown(**settings: Any) -> list[int]:
        found = assay.saliency(Looks(), squares, "input-gradient", **settings, **QUICK)
        assert found.plan.examples == len(found.shown)
        return [int(row) for row in found.shown.index]

    five, other = shown(n=5), shown(n=5, seed=1)
    assert five == sorted(set(five)) != other and len(five) == 5 and shown(n=5) == five
    assert shown(n=99) == squares["test"].index.tolist() and len(shown(n=1)) == 1
    with pytest.raises(AssayError, match="examples, and 0 are asked for"):
        shown(n=0)


def test_a_label_is_scored_on_the_concepts_of_its_rule(made: Any) -> None:
    """In two digits side by side of which only the first counts."""
    data = made("mnmath", equations={"y": "a == 1", "z": "b == 1"}, names=["a", "b"], digit_values=[0, 1], prop_in_distribution=1.0,
                splits={"train": 16, "valid": 8, "test": 8})  # fmt: skip

    class Left(nn.Module):
        def forward(self, pictures: Tensor) -> Any:
            half = pictures.chunk(2, dim=3)[0].flatten(1).mean(dim=1)
            return {"labels": [half - 0.1, half - 0.1]}

    found = assay.saliency(Left(), data, "input-gradient", **QUICK)
    own, other = (found.score(f"label {name}", "its concepts") for name in "yz")
    assert own.energy.value == 1 and other.energy.value == 0 and own.chance == pytest.approx(0.5)


def test_the_first_twelve_concepts_are_explained_unless_others_are_named(made: Any) -> None:
    sizes = {"train": 8, "valid": 4, "test": 4, "ood": 0, "hard": 0}
    data = made("mnlogic", pixels=True, k=13, formula="a and m", splits=sizes)

    class Thirteen(nn.Module):
        def forward(self, pictures: Tensor) -> Any:
            return pictures.flatten(1), pictures.flatten(1)[:, :1]

    found = assay.saliency(Thirteen(), data, "input-gradient", **QUICK)
    assert [target.title for target in found.targets] == ["label y", *(f"concept {name}" for name in "abcdefghijkl")]
    assert "The first 12 of 13 concepts are explained" in found.text
    named = assay.saliency(Thirteen(), data, "input-gradient", concepts=["m", "c"], **QUICK)
    assert [target.name for target in named.targets] == ["y", "m", "c"] and "The first" not in named.text


def test_marks_without_a_place_are_told(squares: Dataset, tmp_path: Path) -> None:
    blurred = assay.confound(squares, tmp_path / "blurred", "blur", "brighter", 1.0)
    text = assay.saliency(Looks(), blurred, "input-gradient", **QUICK).text
    assert "Confounder 'blur' has no place of its own in the picture: it is not scored." in text


def test_what_has_no_pictures_has_no_maps(made: Any) -> None:
    trains = made("trains", image=False, splits={"train": 4, "valid": 2, "test": 2, "hard": 2})
    with pytest.raises(AssayError, match="has no pictures: there is nothing to draw maps of"):
        assay.saliency(lambda images: [0] * len(images), trains, "occlusion")


def refusal(call: Any) -> str:
    with pytest.raises(AssayError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_refusals_are_one_line(squares: Dataset, marked: Dataset, trained: Path, tmp_path: Path) -> None:
    assert "did you mean 'occlusion'?" in refusal(lambda: assay.saliency(trained, method="oclusion"))
    assert "stepz" in refusal(lambda: assay.saliency(trained, stepz=3))
    assert "no split named 'tset'" in refusal(lambda: assay.saliency(trained, split="tset"))
    assert "'blackbox' predicts no concepts" in refusal(lambda: assay.saliency(trained, concepts=["left"]))
    assert "needs a dataset" in refusal(lambda: assay.saliency(Looks()))
    assert "was trained on a dataset" in refusal(lambda: assay.saliency(trained, marked))
    assert "no concept named 'lft'" in refusal(lambda: assay.saliency(Looks(), squares, concepts=["lft"], **QUICK))
    assert "'wrapped' has no convolution" in refusal(lambda: assay.saliency(Looks(), squares, "grad-cam"))
    with pytest.raises(UnknownName, match="there are: label brighter on its concepts"):
        assay.saliency(trained, **QUICK).score("label brigter", "its concepts")


def test_the_repr_says_what_was_found(trained: Path) -> None:
    found = assay.saliency(trained, **QUICK)
    assert isinstance(found, Saliency)
    assert repr(found).startswith("Saliency(integrated-gradients of blackbox on test)\n")
