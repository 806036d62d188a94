"""Networks of the `transformers` library: small ViT and Swin from scratch or from a safetensors file, and any vision
model that a local folder holds (CLIP, ViT, ConvNeXt, ...) as `pretrained@FOLDER`. Nothing is downloaded.
"""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from assay.base import ConfigError, DataError, import_extra
from assay.models.backbones.build import BackbonePlan, Colours, Resized, Shape, next_multiple
from assay.models.backbones.weights import begin_from, is_rebuilding

CLIP = ("clip", "clip_vision_model")
HALF = (0.5, 0.5, 0.5)
CLIP_SCALE = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
CONFIG, PREPROCESSING = "config.json", "preprocessor_config.json"


def vision_library(purpose: str = "this backbone") -> ModuleType:
    """Return `transformers`, told to be quiet."""
    transformers: ModuleType = import_extra("transformers", purpose)
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()  # our own error says what was not loaded
    return transformers


class Pooled(nn.Module):
    """A network of the library, and from all it says one row of features a picture."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, pictures: Tensor) -> Tensor:
        """Return what the network calls its embedding or its pooled output, else the average over the picture."""
        outputs = self.network(pixel_values=pictures)
        for name in ("image_embeds", "pooler_output"):
            features = getattr(outputs, name, None)
            if isinstance(features, Tensor):
                return features.flatten(1)
        last: Tensor = outputs.last_hidden_state
        return last.mean(dim=1) if last.ndim == 3 else last.mean(dim=(2, 3))


def _scaled(network: nn.Module, size: tuple[int, int], source: str | None) -> nn.Module:
    return nn.Sequential(Resized(size), Colours(HALF, HALF), Pooled(begin_from(network, source)))


def _vit(shape: Shape, source: str | None) -> nn.Module:
    library, size = vision_library(), next_multiple(shape, 4)
    patch = 4 if max(size) <= 64 else 16
    size = next_multiple(shape, patch)
    config = library.ViTConfig(
        hidden_size=192, num_hidden_layers=6, num_attention_heads=3, intermediate_size=768, image_size=list(size),
        patch_size=patch,
    )  # fmt: skip
    return _scaled(library.ViTModel(config, add_pooling_layer=False), size, source)


def _swin(shape: Shape, source: str | None) -> nn.Module:
    library = vision_library()
    patch = 2 if max(shape[1:]) <= 64 else 4
    size = next_multiple(shape, 8 * patch)  # windows of 4 x 4 patches in each of two stages
    config = library.SwinConfig(
        image_size=size, patch_size=patch, embed_dim=48, depths=[2, 4], num_heads=[3, 6], window_size=4
    )
    return _scaled(library.SwinModel(config), size, source)


vit = BackbonePlan(_vit, smallest=8, weights="may", deep=True)
swin = BackbonePlan(_swin, smallest=8, weights="may", deep=True)


# -- any model in a folder ---------------------------------------------------------------------------------------------


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise DataError(f"{str(path)!r} is damaged: it is no JSON object")
    return content


def _build_pretrained(shape: Shape, source: str | None) -> nn.Module:
    folder, library = Path(source or ""), vision_library()
    clip = _json(folder / CONFIG).get("model_type") in CLIP
    network = _from_folder(library, folder, clip)
    size = getattr(network.config, "image_size", None) or 224
    sides = (size, size) if isinstance(size, int) else (int(size[0]), int(size[1]))
    return nn.Sequential(*preprocessing(folder, sides, clip), Pooled(network))


def preprocessing(folder: Path, size: tuple[int, int], clip: bool) -> list[nn.Module]:
    """Return what pictures go through before the model of a folder: its size, and its scale of colours."""
    scale = _json(folder / PREPROCESSING) if (folder / PREPROCESSING).exists() else {}
    usual = CLIP_SCALE if clip else (HALF, HALF)
    mean, deviation = (
        tuple(scale.get(key) or own) for key, own in zip(("image_mean", "image_std"), usual, strict=True)
    )
    return [Resized(size), Colours(mean, deviation)]


def _from_folder(library: ModuleType, folder: Path, clip: bool) -> Any:
    """Return the model of a folder; of CLIP the half that sees, with its projection."""
    kind = library.CLIPVisionModelWithProjection if clip else library.AutoModel
    if not is_rebuilding():
        return load_pretrained(library, kind, folder)
    config = _config(library, folder)
    return kind(_seeing(config)) if clip else kind.from_config(config)


def load_pretrained(library: ModuleType, kind: Any, folder: Path, model_type: str | None = None) -> Any:
    """Return the model of a kind with the weights of a local folder, all of them; where asked, only of one type."""
    found = _json(folder / CONFIG).get("model_type")
    if model_type is not None and found != model_type:
        raise ConfigError(f"{str(folder)!r} holds a model of type {found!r}, not {model_type!r}")
    if not list(folder.glob("*.safetensors")):
        raise ConfigError(f"{str(folder)!r} holds no safetensors file of weights")
    config = _config(library, folder)
    try:
        network, loading = kind.from_pretrained(
            folder, config=_seeing(config) if kind is library.CLIPVisionModelWithProjection else config,
            local_files_only=True, use_safetensors=True, dtype=torch.float32, output_loading_info=True,
        )  # fmt: skip
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise _unreadable(folder, error) from None
    _refuse_gaps(network, [*loading["missing_keys"], *(key[0] for key in loading["mismatched_keys"])], folder)
    return network


def _config(library: ModuleType, folder: Path) -> Any:
    try:
        return library.AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise _unreadable(folder, error) from None


def _seeing(config: Any) -> Any:
    """Return the settings of the half of CLIP that sees."""
    if not hasattr(config, "vision_config"):
        return config
    width, config = config.projection_dim, config.vision_config
    config.projection_dim = width
    return config


def _unreadable(folder: Path, error: Exception) -> DataError:
    return DataError(f"the model in {str(folder)!r} cannot be read: {str(error).splitlines()[0]}")


def _refuse_gaps(network: Any, missing: list[str], folder: Path) -> None:
    """Refuse a model of which the library would make up a part; one that only lacks its pooler goes without."""
    others = [name for name in missing if not name.startswith("pooler.")]
    if others:
        raise DataError(f"the model in {str(folder)!r} lacks the tensor {others[0]!r}, or has it in another size")
    if missing:
        network.pooler = None


pretrained = BackbonePlan(_build_pretrained, smallest=1, weights="must", deep=True)
