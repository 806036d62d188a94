"""Every method of saliency draws the maps that it drew of small networks, and scores and checks are what they were."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn

from assay.config import Settings
from assay.models import ExaminedPredictor, SaliencyPlan, examine_model, explain
from assay.models.saliency.examined import scores_of, targets_of
from assay.models.saliency.methods import GradCam, IntegratedGradients, Occlusion, eyes_of, input_gradient
from assay.models.saliency.randomised import draw_weights, randomise_downwards, stage_ends, weighted_layers
from tests.models.pins import require_pins, summary
from tests.models.tiles import batch, model_of, tiles

CONV = {"backbone": "conv-pool"}


def maps(name: str, settings: Mapping[str, Any], concepts: tuple[str, ...] = ()) -> Any:
    """Return the maps of a network's answers by every method."""
    model, pictures, data = model_of(name, settings), batch().pictures[:4], tiles()["test"][:4]
    examined, chosen = examine_model(model), targets_of(model.knowledge, concepts)
    codes = examined.predict_codes(data, chosen, pictures)
    scores = scores_of(examined.answerer(data, chosen), codes)
    path = IntegratedGradients(pictures.mean(dim=0), 4)
    methods = {
        "gradients": input_gradient,
        "path": path,
        "occlusion": Occlusion(3, 2),
        "dark occlusion": Occlusion(4, 3, 0.0),
        "usual occlusion": Occlusion.of_size(11, 16),
        "larger occlusion": Occlusion.of_size(11, 16, 5),
        "cam": GradCam(eyes_of(model, name)),
    }
    drawn = {key: make(scores, pictures).detach() for key, make in methods.items()}
    return {
        "codes": [own.tolist() for own in codes],
        "scores": summary(scores(pictures)),
        **{key: [list(own.shape), *(summary(target) for target in own)] for key, own in drawn.items()},
        "gaps": [summary(own) for own in path.gaps(scores, pictures, drawn["path"])],
    }


def explained(method: str, settings: Mapping[str, Any], name: str = "cbm", of: Mapping[str, Any] = CONV) -> Any:
    """Return maps with their scores and the check by random weights."""
    plan = SaliencyPlan.of(method, Settings({"device": "cpu", **settings}), examples=7, seed=2)
    model = model_of(name, of)
    before = summary(*model.parameters())
    found = explain(examine_model(model), tiles(), plan)
    record = found.to_dict()
    return {
        "same weights": before == summary(*model.parameters()),
        **{
            key: record[key]
            for key in ("method", "split", "examples", "scores", "check", "completeness_error", "notes")
        },
        "maps": [list(found.maps.shape), summary(found.maps), found.codes.tolist()],
        "targets": [target.title for target in found.targets],
        "text": found.text,
    }


def of_predictions() -> Any:
    """Return maps of a model that is asked from outside."""
    model = model_of("cbm", {})
    examined = ExaminedPredictor(model.predict, "outside", {"who": "else"}, True)
    found = explain(examined, tiles(), SaliencyPlan.of("occlusion", Settings({"patch": 6}), examples=2))
    return {"maps": summary(found.maps), "notes": list(found.notes), "scores": [s.to_dict() for s in found.scores]}


def random_weights(cascade: bool) -> Any:
    """Return the layers of a network from the top down, and its weights as they are drawn anew."""
    model, pictures = model_of("cem", {"width": 2}), batch().pictures[:2]
    layers = weighted_layers(model, lambda: model.answer(pictures, {}))
    ends = stage_ends(len(layers), cascade, 3)
    steps = [
        [number, layer.name, *summary(*model.parameters())]
        for number, layer in randomise_downwards(model, layers, ends, 4)
    ]
    other = nn.Module()
    other.own = nn.Parameter(torch.arange(60.0) / 60)
    torch.manual_seed(1)
    draw_weights(other)
    return {"layers": [layer.name for layer in layers], "ends": ends, "steps": steps, "other": summary(other.own)}


CASES: dict[str, Callable[[], Any]] = {
    "maps of a black box": partial(maps, "blackbox", CONV),
    "maps of a bottleneck": partial(maps, "cbm", CONV, ("left.shade", "right.big")),
    "maps of dpl": partial(maps, "dpl", {"backbone": "conv-wide", "share": False}, ("right.shade",)),
    "maps of objects": partial(maps, "cbm", {"backbone": "conv-pool", "share": "objects"}, ("left.big",)),
    "integrated gradients": partial(explained, "integrated-gradients", {"steps": 3, "check_examples": 3}),
    "integrated gradients from black": partial(
        explained, "integrated-gradients", {"steps": 2, "baseline": "black", "check": "all", "concepts": ["right.big"]}
    ),
    "grad-cam": partial(explained, "grad-cam", {"check_examples": 4, "pictures": 3}),
    "occlusion": partial(explained, "occlusion", {"patch": 6, "stride": 5, "check": "none", "pictures": 0}),
    "input gradient": partial(explained, "input-gradient", {"check": "all"}, "blackbox"),
    "outside": of_predictions,
    "random weights": partial(random_weights, True),
    "random weights at once": partial(random_weights, False),
}


def measure(name: str) -> Any:
    """Return what a case gives."""
    return CASES[name]()


@pytest.mark.parametrize("name", CASES)
def test_it_draws_what_it_drew(name: str) -> None:
    require_pins(__file__, name, measure(name))
