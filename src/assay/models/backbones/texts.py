"""Networks that read texts, as numbers of words, 0 where a text is over; and text models that are not trained.

Of a text model in a local folder the features are the mean over the words of its last layer. The folder is one of
`transformers`: config.json, weights as safetensors, and its tokenizer. Nothing is downloaded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from assay.base import Array, DataError, import_extra
from assay.models.backbones.build import BackbonePlan, Shape
from assay.models.backbones.transformer import attend
from assay.models.backbones.weights import signature

WIDTH, HEADS, LAYERS = 64, 4, 2
GRAMS = (1, 2, 3)
NEVER = -1e4
"""What padding counts as where the greatest is looked for, or attention is paid."""


def _words(shape: Shape) -> nn.Embedding:
    return nn.Embedding(shape[0], WIDTH, padding_idx=0)


class BagOfNgrams(nn.Module):
    """Which runs of 1 to 3 words a text has, wherever they are: convolutions, and the greatest over all places."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.words = _words(shape)
        self.grams = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, gram, padding=gram // 2) for gram in GRAMS)

    def forward(self, texts: Tensor) -> Tensor:
        """Return the features of texts."""
        numbers = texts.flatten(1)
        seen = self.words(numbers).transpose(1, 2)
        padding = (numbers == 0)[:, None] * NEVER
        found = [gram(seen)[:, :, : numbers.shape[1]] + padding for gram in self.grams]
        return torch.cat([each.amax(dim=2).relu() for each in found], dim=1)


class AttentionBlock(nn.Module):
    """Attention of all words to all, then a layer for each word."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.ask = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.layer = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, words: Tensor, padding: Tensor) -> Tensor:
        """Return words that know of the others; `padding` is added to the scores of each."""
        words = words + self.out(attend(self.ask(self.first(words)), HEADS, padding[:, None, None]))
        after: Tensor = words + self.layer(self.second(words))
        return after


class TextTransformer(nn.Module):
    """A small transformer; its features are the mean over the words of a text."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.words = _words(shape)
        self.places = nn.Parameter(torch.randn(shape[2], WIDTH) * 0.02)
        self.blocks = nn.ModuleList(AttentionBlock() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, texts: Tensor) -> Tensor:
        """Return the features of texts."""
        numbers = texts.flatten(1)
        known = (numbers != 0).float()
        words = self.words(numbers) + self.places
        for block in self.blocks:
            words = block(words, (1 - known) * NEVER)
        total = (self.norm(words) * known[:, :, None]).sum(dim=1)
        mean: Tensor = total / known.sum(dim=1, keepdim=True).clamp(min=1)
        return mean


bag_of_ngrams = BackbonePlan(lambda shape, source: BagOfNgrams(shape), reads=("text",))
text_transformer = BackbonePlan(lambda shape, source: TextTransformer(shape), reads=("text",))


AT_ONCE = 64
MOST_TOKENS = 512


@dataclass(frozen=True)
class SentenceModel:
    """A text model and its tokenizer."""

    model: Any
    tokenizer: Any
    width: int
    digest: str

    @classmethod
    @lru_cache(maxsize=2)
    def open(cls, folder: str) -> "SentenceModel":
        """Open a folder."""
        library = import_extra("transformers", "sentence features")
        if not (Path(folder) / "config.json").is_file():
            raise DataError(f"sentences: {folder!r} is no folder of a text model: it has no config.json")
        try:
            local: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
            model = library.AutoModel.from_pretrained(folder, use_safetensors=True, **local).eval()
            tokenizer = library.AutoTokenizer.from_pretrained(folder, **local)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise DataError(
                f"sentences: {folder!r} cannot be opened: {(str(error).splitlines() or ['?'])[0]}"
            ) from None
        model.requires_grad_(False)
        return cls(model, tokenizer, int(model.config.hidden_size), signature(model).hex()[:32])

    @torch.no_grad()
    def features(self, texts: Sequence[str]) -> Array:
        """Return the features of each text; equal texts are read once."""
        distinct = list(dict.fromkeys(texts))
        parts = [self._features(distinct[start : start + AT_ONCE]) for start in range(0, len(distinct), AT_ONCE)]
        rows = np.concatenate(parts) if parts else np.zeros((0, self.width), dtype=np.float32)
        places = {text: place for place, text in enumerate(distinct)}
        return np.asarray(rows[[places[text] for text in texts]], dtype=np.float32)

    def _features(self, texts: list[str]) -> Array:
        tokens = self.tokenizer(texts, padding=True, truncation=True, max_length=MOST_TOKENS, return_tensors="pt")
        hidden = self.model(**tokens).last_hidden_state
        known = tokens["attention_mask"][:, :, None].to(hidden.dtype)
        return np.asarray(((hidden * known).sum(dim=1) / known.sum(dim=1).clamp(min=1)).numpy())
