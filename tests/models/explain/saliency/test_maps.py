"""Maps of each method are those of its definition, and of captum where that is installed."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import assay
from assay.base import ConfigError, Settings
from assay.models import MODELS
from assay.render import decode_png

QUICK = {"check": "none", "device": "cpu", "n": 5}


class Small(nn.Module):
    """A network with two convolutions, the second of which is changed in place."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Conv2d(1, 3, 3, padding=1), nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.head = nn.Linear(4 * 6 * 12, 2)

    def forward(self, pictures):
        return self.head(self.after(self.second(torch.tanh(self.first(pictures)))))

    def after(self, maps):
        return F.relu_(maps + 0.1).flatten(1)


@pytest.fixture(scope="module")
def small():
    return Small()


def explained(module, data, method, **settings):
    """Return the result, the pictures that were explained, and the log-probability of what is predicted for them."""
    found = assay.saliency(module, data, method, **{**QUICK, **settings})
    pictures = torch.from_numpy(found.shown.images).permute(0, 3, 1, 2).float() / 255
    codes = torch.from_numpy(found.codes[0])
    assert torch.equal(codes, module(pictures).argmax(dim=1)) and found.maps.shape == (1, 5, 12, 24)

    def score(images):
        return module(images).log_softmax(dim=1).gather(1, codes[:, None])[:, 0]

    return found, pictures, score


def slopes(score, pictures):
    given = pictures.clone().requires_grad_(True)
    return torch.autograd.grad(score(given).sum(), given)[0]


def test_input_gradients_are_absolute_slopes(small, squares):
    found, pictures, score = explained(small, squares, "input-gradient")
    np.testing.assert_allclose(found.maps[0], slopes(score, pictures).abs().sum(dim=1), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("baseline", ["mean", "black"])
def test_integrated_gradients_add_up_slopes_on_the_way_from_the_baseline(baseline, small, squares):
    found, pictures, score = explained(small, squares, "integrated-gradients", steps=3, baseline=baseline)
    start = pictures.mean(dim=0) if baseline == "mean" else torch.zeros(1, 12, 24)
    way = pictures - start
    wanted = sum(slopes(score, start + share * way) for share in (1 / 6, 3 / 6, 5 / 6)) / 3
    np.testing.assert_allclose(found.maps[0], (way * wanted).sum(dim=1), rtol=1e-3, atol=1e-6)
    with torch.no_grad():
        change = score(pictures) - score(start.expand_as(pictures))
    missed = np.abs(found.maps[0].sum(axis=(1, 2)) - change.numpy()).sum()
    assert found.completeness == pytest.approx(missed / float(change.abs().sum()), rel=1e-2)
    assert explained(small, squares, "integrated-gradients", steps=100)[0].completeness < 0.02


@pytest.mark.parametrize(
    ("asked", "patch", "stride"),
    [({}, 2, 1), ({"patch": 4, "stride": 3}, 4, 3), ({"patch": 99}, 12, 6), ({"patch": 5}, 5, 2)],
)
def test_occlusion_is_the_mean_fall_of_the_patches_over_a_pixel(asked, patch, stride, small, squares):
    """Patches are grey, and by default an eighth of the smaller side; the last one ends with its side."""
    found, pictures, score = explained(small, squares, "occlusion", **asked)
    falls, times = torch.zeros(5, 12, 24), torch.zeros(12, 24)
    places = [sorted({*range(0, size - patch + 1, stride), size - patch}) for size in (12, 24)]
    with torch.no_grad():
        for top in places[0]:
            for left in places[1]:
                hidden = pictures.clone()
                hidden[:, :, top : top + patch, left : left + patch] = 0.5
                falls[:, top : top + patch, left : left + patch] += (score(pictures) - score(hidden))[:, None, None]
                times[top : top + patch, left : left + patch] += 1
    assert times.min() > 0
    np.testing.assert_allclose(found.maps[0], falls / times, atol=1e-5)


def test_occlusion_of_a_function_counts_answers_that_change(squares):
    """A function has no probabilities: an answer that changes falls as far as from 1 to the least chance there is."""

    def first_pixel_is_dark(images):
        return (images[:, 0, 0, 0] < 100).astype(int)

    found = assay.saliency(first_pixel_is_dark, squares, "occlusion", patch=1, stride=1, n=16, pictures=16)
    dark = found.shown.images[:, 0, 0, 0] < 100
    assert dark.any() and not dark.all() and found.codes[0].tolist() == dark.astype(int).tolist()
    fall = found.maps[0, dark, 0, 0]  # grey is brighter than 100
    assert (fall > 5).all() and len(set(fall.tolist())) == 1
    found.maps[0, dark, 0, 0] = 0
    assert not found.maps.any()


def test_grad_cam_weighs_the_last_convolution_by_its_mean_slopes(small, squares):
    found, pictures, _ = explained(small, squares, "grad-cam")
    maps = small.second(torch.tanh(small.first(pictures))).detach().requires_grad_(True)
    logs = small.head(small.after(maps)).log_softmax(dim=1)
    gradient = torch.autograd.grad(logs.gather(1, torch.from_numpy(found.codes[0])[:, None]).sum(), maps)[0]
    cam = (gradient.mean(dim=(2, 3), keepdim=True) * maps.detach()).sum(dim=1, keepdim=True).relu()
    wanted = F.interpolate(cam, size=(12, 24), mode="bilinear", align_corners=False)[:, 0]
    np.testing.assert_allclose(found.maps[0], wanted, atol=1e-6)
    assert found.maps.max() > 0 and not small.second._forward_hooks


def test_captum_gives_the_same(small, squares):
    captum = pytest.importorskip("captum.attr")

    class Logs(nn.Module):
        def __init__(self):
            super().__init__()
            self.inside = small

        def forward(self, pictures):
            return self.inside(pictures).log_softmax(dim=1)

    ours, pictures, _ = explained(small, squares, "integrated-gradients", steps=128, baseline="black")
    codes, logs = torch.from_numpy(ours.codes[0]), Logs()
    theirs = captum.IntegratedGradients(logs).attribute(pictures, target=codes, n_steps=128)
    np.testing.assert_allclose(ours.maps[0], theirs.sum(dim=1).detach(), atol=1e-3)
    ours = explained(small, squares, "grad-cam")[0]
    theirs = captum.LayerGradCam(logs, small.second).attribute(pictures, target=codes, relu_attributions=True)
    large = F.interpolate(theirs, size=(12, 24), mode="bilinear", align_corners=False)[:, 0]
    np.testing.assert_allclose(ours.maps[0], large.detach(), atol=1e-5)


def test_grad_cam_of_an_encoder_lies_in_the_part_that_it_sees(squares):
    settings = Settings({"backbone": "conv-pool", "device": "cpu"})
    model = MODELS["cbm"](squares.knowledge, squares.layout, settings, squares.manifest.backbones, 1)
    maps = assay.saliency(model, squares, "grad-cam", **QUICK).maps
    label, left, right = maps
    assert left[..., 12:].max() == 0 < left[..., :12].max() and right[..., :12].max() == 0 < right[..., 12:].max()
    assert label[..., :12].max() > 0 or label[..., 12:].max() > 0


def test_what_a_method_needs_and_is_not_there_is_told(squares):
    class Rounded(nn.Module):
        def forward(self, pictures):
            return pictures.detach().flatten(1)[:, :2]

    with pytest.raises(ConfigError, match="no derivative by pixels; use --method occlusion"):
        assay.saliency(Rounded(), squares, "input-gradient", **QUICK)
    with pytest.raises(ConfigError, match="has no convolution, which grad-cam needs"):
        assay.saliency(Rounded(), squares, "grad-cam", **QUICK)
    with pytest.raises(ConfigError, match=r"stride 5 is more than the patch's 4 pixels"):
        assay.saliency(Rounded(), squares, "occlusion", patch=4, stride=5, **QUICK)


# -- over pictures -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["input-gradient", "occlusion"])
def test_a_map_is_drawn_in_red_beside_its_picture(method, small, squares, tmp_path):
    found = assay.saliency(small, squares, method, tmp_path / "maps", **QUICK)
    files = sorted((tmp_path / "maps" / "maps" / "label-brighter").glob("*.png"))
    assert len(files) == len(found.shown) == 5
    for file, image, relevance in zip(files, found.shown.images, found.maps[0], strict=True):
        drawn = decode_png(file.read_bytes())
        large, wide = drawn.shape[0] // 12, 24 * (drawn.shape[0] // 12)
        assert drawn.shape == (12 * large, 2 * wide + 4, 3) and drawn.shape[0] >= 120
        left, gap, right = drawn[:, :wide], drawn[:, wide : wide + 4], drawn[:, wide + 4 :]
        grey = image.repeat(large, 0).repeat(large, 1)
        assert (left == grey).all() and (gap == 255).all()
        inside = relevance.repeat(large, 0).repeat(large, 1)
        assert (right[inside <= 0] == grey[inside <= 0]).all()
        red, green, blue = right[(inside > 0) & (inside >= relevance.max())].T.astype(int)
        assert (red > 200).all() and (green < 60).all() and (blue < 60).all()


def test_a_map_without_relevance_is_drawn_as_its_picture(squares, tmp_path):
    assay.saliency(lambda images: np.zeros(len(images), int), squares, "occlusion", tmp_path / "maps", **QUICK)
    for file in (tmp_path / "maps" / "maps").rglob("*.png"):
        drawn = decode_png(file.read_bytes())
        half = (drawn.shape[1] - 4) // 2
        assert (drawn[:, :half] == drawn[:, half + 4 :]).all()
