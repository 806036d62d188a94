"""Features of texts by a text model in a local folder, which is not trained: the mean over the words of its last layer.

The folder is one of `transformers`: config.json, weights as safetensors, and its tokenizer. Nothing is downloaded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from assay.base import Array, DataError, import_extra
from assay.models.backbones.frozen import signature

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
