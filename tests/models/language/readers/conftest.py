"""An endpoint that knows every picture of a small dataset, and a CLIP of random weights."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.dataset import Dataset
from tests.endpoint import Endpoint, pictures

WORDS = ["<pad>", "<start>", "<end>", "<unknown>", "a", "photo", "with", "without", "true", "b", "c", "beanie", "wheel"]
Answers = Callable[[dict[str, Any]], str]


@pytest.fixture(scope="session")
def knows(mnlogic: Dataset) -> Answers:
    """Answer with the true concepts of each picture."""
    names, truth = mnlogic.knowledge.space.names, {}
    for split in mnlogic.split_names:
        for png, codes in zip(mnlogic[split].pngs, mnlogic[split].concepts.tolist(), strict=True):
            truth[png] = dict(zip(names, map(bool, codes), strict=True))

    def answer(body: dict[str, Any]) -> str:
        (shown,) = pictures(body)
        return f"I look at it.\n```json\n{json.dumps(truth[shown])}\n```"

    return answer


@pytest.fixture
def server(knows: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """An endpoint that answers rightly unless told otherwise; answers are kept in a fresh folder."""
    made = Endpoint(knows, key="sk-very-secret-key")
    monkeypatch.setenv("ASSAY_LLM_URL", made.url)
    monkeypatch.setenv("ASSAY_LLM_KEY", made.key)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    yield made
    made.close()


@pytest.fixture
def clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a CLIP of random weights, large enough that values differ, and a tokenizer of a few words."""
    transformers = pytest.importorskip("transformers")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return write_clip(tmp_path / "weights", transformers)


def write_clip(folder: Path, transformers: Any) -> Path:
    """Write the folder."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="<unknown>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<start>", eos_token="<end>", unk_token="<unknown>"
    )
    transformers.utils.logging.disable_progress_bar()
    fast.save_pretrained(folder)
    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    text = {"vocab_size": len(WORDS), "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, **small}
    text["max_position_embeddings"] = 12
    config = transformers.CLIPConfig(
        text_config=text, vision_config={"image_size": 16, "patch_size": 8, **small}, projection_dim=8
    )
    torch.manual_seed(0)
    model = transformers.CLIPModel(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
        model.logit_scale.fill_(3.0)
    model.save_pretrained(folder)
    return folder
