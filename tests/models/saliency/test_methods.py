"""Methods of saliency against what can be computed by hand, and against captum where it is installed."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from assay.diagnosis.saliency import energy, pointing
from assay.errors import ConfigError
from assay.models.saliency.methods import (
    Eye,
    GradCam,
    IntegratedGradients,
    Occlusion,
    eyes_of,
    input_gradient,
    pixel_gradients,
)
from assay.render import Box
from assay.seeds import rng_for

SHAPE = (2, 6, 8)


@pytest.fixture
def pictures() -> Tensor:
    return torch.rand(5, *SHAPE, generator=torch.Generator().manual_seed(0))


def linear(weights: Tensor):
    """Return scores of two targets: a weighted sum of the pixels, and twice that."""
    return lambda pictures: torch.stack([(pictures * weights).sum(dim=(1, 2, 3)) * times for times in (1, 2)])


class Small(nn.Module):
    """A network with two convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(2, 3, 3, padding=1), nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.head = nn.Linear(48, 3)

    def forward(self, pictures: Tensor) -> Tensor:
        return self.head(F.softplus(self.second(torch.tanh(self.first(pictures)))).flatten(1))


@pytest.fixture
def small() -> Small:
    torch.manual_seed(0)
    return Small()


def test_maps_of_linear_scores_are_what_each_pixel_adds(pictures: Tensor) -> None:
    weights = torch.randn(SHAPE, generator=torch.Generator().manual_seed(1))
    scores, baseline = linear(weights), torch.full(SHAPE, 0.25)
    assert torch.allclose(pixel_gradients(scores, pictures)[1], 2 * weights.expand_as(pictures))
    assert torch.allclose(input_gradient(scores, pictures)[0], weights.abs().sum(dim=0).expand(5, 6, 8))
    method = IntegratedGradients(baseline, steps=1)
    maps = method(scores, pictures)
    assert torch.allclose(maps[0], (weights * (pictures - baseline)).sum(dim=1), atol=1e-6)
    missed, changes = method.gaps(scores, pictures, maps)
    assert missed.max() < 1e-5 and torch.allclose(changes[1], maps[1].sum(dim=(1, 2)).abs(), atol=1e-5)
    occluded = Occlusion(patch=1, step=1, fill=0.5)(scores, pictures)
    assert torch.allclose(occluded[0], (weights * (pictures - 0.5)).sum(dim=1), atol=1e-5)


def test_integrated_gradients_are_complete_on_a_network_with_enough_steps(pictures: Tensor, small: Small) -> None:
    def scores(images: Tensor) -> Tensor:
        return small(images).log_softmax(dim=1)[:, :2].T

    shares = []
    for steps in (2, 64):
        method = IntegratedGradients(torch.zeros(SHAPE), steps)
        missed, changes = method.gaps(scores, pictures, method(scores, pictures))
        shares.append(float(missed.sum() / changes.sum()))
    assert shares[1] < 1e-3 and shares[1] < shares[0] / 10


def test_occlusion_covers_every_pixel_and_falls_are_averaged(pictures: Tensor) -> None:
    seen = torch.zeros(SHAPE)
    seen[:, 5, 7] = 1  # the last pixel is covered too, though the step does not end there
    maps = Occlusion(patch=4, step=3)(linear(seen), pictures)
    lost = (pictures[:, :, 5, 7] - 0.5).sum(dim=1)
    assert torch.allclose(maps[0, :, 5, 7], lost, atol=1e-6) and maps.isfinite().all()
    assert maps[0, :, 0, 0].abs().max() == 0
    assert Occlusion.of_size(28, 56) == Occlusion(4, 2) and Occlusion.of_size(1, 3) == Occlusion(1, 1)
    assert Occlusion.of_size(28, 56, 7, 5) == Occlusion(7, 5) and Occlusion.of_size(6, 8, 99).patch == 6


def test_grad_cam_of_one_convolution_is_the_formula(pictures: Tensor) -> None:
    torch.manual_seed(3)
    convolution, head = nn.Conv2d(2, 3, 3, padding=1), nn.Linear(3 * 6 * 8, 2)

    def scores(images: Tensor) -> Tensor:
        return head(convolution(images).flatten(1)).T

    maps = GradCam((Eye(convolution),))(scores, pictures)
    activations = convolution(pictures).detach()
    for target in range(2):
        weights = head.weight[target].detach().view(3, 6, 8).mean(dim=(1, 2))  # the gradient is the head's weights
        wanted = torch.einsum("k,nkhw->nhw", weights, activations).relu()
        assert torch.allclose(maps[target], wanted, atol=1e-6)
    assert not convolution._forward_hooks


def test_grad_cam_of_parts_lies_in_their_places(pictures: Tensor) -> None:
    torch.manual_seed(3)
    convolution = nn.Conv2d(2, 3, 3, padding=1)
    boxes = (Box(0, 0, 4, 6), Box(4, 0, 8, 6))

    def scores(images: Tensor) -> Tensor:
        left, right = convolution(torch.cat([images[..., :4], images[..., 4:]])).exp().sum(dim=(1, 2, 3)).chunk(2)
        return torch.stack([left, right])

    maps = GradCam((Eye(convolution, boxes),))(scores, pictures)
    assert maps[0, ..., 4:].abs().max() == 0 and maps[1, ..., :4].abs().max() == 0
    assert maps[0, ..., :4].max() > 0 and maps[1, ..., 4:].max() > 0
    with pytest.raises(ConfigError, match="not known which parts"):
        GradCam((Eye(convolution),))(scores, pictures)


def test_the_last_convolution_is_found_or_said_to_be_missing(small: Small) -> None:
    assert eyes_of(small, "small") == (Eye(small.second),)
    with pytest.raises(ConfigError, match="'mlp' has no convolution, which grad-cam needs"):
        eyes_of(nn.Linear(2, 2), "mlp")


def test_what_has_no_derivative_is_said_to_have_none(pictures: Tensor) -> None:
    with pytest.raises(ConfigError, match="no derivative by pixels; use --method occlusion"):
        input_gradient(lambda images: images.detach().sum(dim=(1, 2, 3))[None], pictures)


@pytest.mark.parametrize("method", ["integrated-gradients", "occlusion", "input-gradient"])
def test_a_model_that_looks_at_a_patch_points_at_it_and_elsewhere_only_by_chance(method: str) -> None:
    pictures = torch.rand(300, 1, 12, 12, generator=torch.Generator().manual_seed(0))

    def scores(images: Tensor) -> Tensor:
        return F.softplus(8 * (images[:, 0, 4:7, 5:8].mean(dim=(1, 2)) - 0.2))[None]

    methods = {
        "integrated-gradients": IntegratedGradients(torch.zeros(1, 12, 12)),
        "occlusion": Occlusion(2, 1, fill=0.0),
        "input-gradient": input_gradient,
    }
    maps = methods[method](scores, pictures)[0].numpy()
    rng = rng_for(0, "elsewhere")
    patch = rng.random((300, 12, 12)) < 0
    rim = 1 if method == "occlusion" else 0  # a patch of grey reaches over the edge
    patch[:, 4 - rim : 7 + rim, 5 - rim : 8 + rim] = True
    assert (pointing(maps, patch) == 1.0).all() and (energy(maps, patch) > 0.999).all()
    elsewhere = rng.random((300, 12, 12)) < 0.2
    assert abs(pointing(maps, elsewhere).mean() - 0.2) < 0.07 and abs(energy(maps, elsewhere).mean() - 0.2) < 0.04


def test_captum_gives_the_same(pictures: Tensor, small: Small) -> None:
    captum = pytest.importorskip("captum.attr")

    def scores(images: Tensor) -> Tensor:
        return small(images)[:, :1].T

    ours = IntegratedGradients(torch.zeros(SHAPE), 128)(scores, pictures)[0]
    theirs = captum.IntegratedGradients(small).attribute(pictures, target=0, n_steps=128)
    assert torch.allclose(ours, theirs.sum(dim=1), atol=1e-3)
    ours = GradCam((Eye(small.second),))(scores, pictures)[0]
    theirs = captum.LayerGradCam(small, small.second).attribute(pictures, target=0, relu_attributions=True)
    large = F.interpolate(theirs, size=(6, 8), mode="bilinear", align_corners=False)[:, 0]
    assert torch.allclose(ours, large, atol=1e-5)


def test_patches_that_leave_pixels_between_them_are_refused():
    assert Occlusion.of_size(28, 28, 4, 4) == Occlusion(4, 4)
    with pytest.raises(ConfigError, match=r"stride 5 is more than the patch's 4 pixels"):
        Occlusion.of_size(28, 28, 4, 5)
