"""CLIP as a reader: for each value of a concept the similarity of the picture with a text that says so.

The weights are those of a local folder in the layout of Hugging Face, safetensors only; nothing is downloaded. Pictures
are stretched to the size that the model sees, so that nothing is cut off, and embedded once: embeddings are kept on
disk under the hash of weights and picture.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from assay.base import Array, ConfigError, DataError, ProgressCallback
from assay.dataset import SplitData
from assay.models.backbones.vision import load_pretrained, preprocessing, vision_library
from assay.models.backbones.weights import Frozen, signature
from assay.models.core.devices import device_of
from assay.models.language.texts import ClipConfig, prompts, refuse_unknown_texts

TOKENIZERS = (("tokenizer.json",), ("vocab.json", "merges.txt"))
"""The files that a tokenizer can be in."""


class ClipImages(nn.Module):
    """The half of CLIP that sees."""

    def __init__(self, clip: Any) -> None:
        super().__init__()
        self.vision, self.projection = clip.vision_model, clip.visual_projection

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the embeddings of pictures."""
        embeddings: Tensor = self.projection(self.vision(pixel_values=pictures).pooler_output)
        return embeddings


class ClipReader:
    """Concepts by the similarity of pictures and texts."""

    Config = ClipConfig

    def __init__(self, folder: Path, config: ClipConfig, report: ProgressCallback = lambda *_: None) -> None:
        self.folder, self.config, self.report = folder, config, report
        self.device = device_of(config.device)
        library = vision_library("the reader 'clip'")
        self.clip = load_pretrained(library, library.CLIPModel, folder, "clip")
        self.tokenizer = _tokenizer(library, folder)
        side = self.clip.config.vision_config.image_size
        self.images = Frozen(nn.Sequential(*preprocessing(folder, (side, side), clip=True), ClipImages(self.clip)),
                             str(folder))  # fmt: skip
        self.clip.to(self.device).eval()
        self._texts: dict[str, Tensor] = {}

    @property
    def words(self) -> tuple[str, ...]:
        """The true-or-false concepts of its own."""
        return tuple(self.config.concepts)

    def probabilities(self, data: SplitData) -> list[Array]:
        """Return the softmax over each concept's values of their similarities, times the model's own scale."""
        space = data.knowledge.space
        refuse_unknown_texts(self.config.texts, space)
        texts = [prompts(concept, self.config) for concept in space.concepts]
        self._embed_texts([text for values in texts for own in values for text in own])
        scale = self.clip.logit_scale.detach().exp()
        images = self._embed_pictures(data)
        return [_array((scale * images @ self._values(own).T).double().softmax(dim=1)) for own in texts]

    def scores(self, data: SplitData) -> Array:
        """Return the cosine similarity of each picture with each word."""
        self._embed_texts(self.words)
        return _array((self._embed_pictures(data) @ self._values([[word] for word in self.words]).T).double())

    @torch.no_grad()
    def _embed_pictures(self, data: SplitData) -> Tensor:
        """Return the embeddings of a split's pictures, of length 1."""
        parts, done = [], 0
        for rows, images in data.batches(self.config.batch_size):
            pictures = torch.from_numpy(images).permute(0, 3, 1, 2).to(self.device).float() / 255
            parts.append(nn.functional.normalize(self.images(pictures), dim=1))
            done += len(rows)
            self.report(f"reading {data.name}", done, len(data))
        self.images.memory.save()
        return torch.cat(parts)

    def _values(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """Return the embedding of each value, of length 1: that of its text, or the average of several."""
        averages = [torch.stack([self._texts[text] for text in own]).mean(dim=0) for own in texts]
        return nn.functional.normalize(torch.stack(averages), dim=1)

    @torch.no_grad()
    def _embed_texts(self, texts: Sequence[str]) -> None:
        """Embed texts, each once, many at a time."""
        new = [text for text in dict.fromkeys(texts) if text not in self._texts]
        for start in range(0, len(new), self.config.batch_size):
            batch = new[start : start + self.config.batch_size]
            tokens = self.tokenizer(batch, padding=True, return_tensors="pt").to(self.device)
            most = self.clip.config.text_config.max_position_embeddings
            if tokens["input_ids"].shape[1] > most:
                longest = max(batch, key=len)
                raise ConfigError(f"texts: {longest[:60]!r} is longer than the {most} tokens that this CLIP reads")
            known = {name: tokens[name] for name in ("input_ids", "attention_mask") if name in tokens}
            embeddings = self.clip.text_projection(self.clip.text_model(**known).pooler_output)
            self._texts.update(zip(batch, nn.functional.normalize(embeddings, dim=1), strict=True))

    def metadata(self) -> dict[str, Any]:
        """Return which weights, and what they are asked for."""
        settings = self.config.model_dump(mode="json", exclude_defaults=True, exclude={"batch_size", "device"})
        known = {"reader": "clip", "folder": self.folder.resolve().name, "settings": settings}
        return {**known, "fingerprint": self.fingerprint}

    @cached_property
    def fingerprint(self) -> str:
        """The hash of the weights."""
        return signature(self.clip).hex()[:32]

    def usage(self) -> dict[str, Any]:
        """Return nothing: it costs nothing."""
        return {}


def _tokenizer(library: Any, folder: Path) -> Any:
    """Return the tokenizer of a folder; without its files the library would make up one that knows no word."""
    if not any(all((folder / name).exists() for name in names) for names in TOKENIZERS):
        needed = " or ".join(" and ".join(names) for names in TOKENIZERS)
        raise ConfigError(f"{str(folder)!r} has no tokenizer: it needs {needed}")
    try:
        return library.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"the tokenizer in {str(folder)!r} cannot be read: {reason}") from None


def _array(scores: Tensor) -> Array:
    return np.asarray(scores.cpu().numpy())
