"""The examples of the page on models of any make run as printed, each in less than 15 lines besides imports."""

import http.server
import importlib.util
import io
import json
import re
import sys
import threading
import types
from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import assay
from tests.samples import needs_task

pytestmark = needs_task("mnadd-evenodd")
PAGE = (Path(__file__).parent.parent / "docs" / "any_model.md").read_text()
EXAMPLES = dict(re.findall(r"^## (.*?)$.*?^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to work in, without the network."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    return tmp_path


def run(heading, dataset, **names):
    """Run an example after what the page says goes before it, and return what it found."""
    code = EXAMPLES[heading]
    assert len([line for line in code.splitlines() if line and not line.startswith(("import ", "from "))]) < 15
    space = {"assay": assay, "ds": dataset, **names}
    exec(compile(code, heading, "exec"), space)
    return space["found"]


def test_the_page_has_an_example_for_each_kind():
    assert list(EXAMPLES) == [
        *("A torch module", "A Lightning module", "A Hugging Face image classifier"),
        *("CLIP, zero-shot, over concept prompts", "A scikit-learn pipeline"),
        *("A function from pictures to a table", "A remote endpoint"),
    ]


def test_a_torch_module(evenodd, place):
    found = run("A torch module", evenodd)
    assert "concept_f1" in found.scores["test"] and found.verdict


def test_a_lightning_module(evenodd, place, monkeypatch):
    if importlib.util.find_spec("lightning") is None:  # its module is a torch module with a trainer's hooks
        monkeypatch.setitem(sys.modules, "lightning", types.SimpleNamespace(LightningModule=torch.nn.Module))
    assert run("A Lightning module", evenodd).verdict


def test_a_hugging_face_classifier(evenodd, place):
    assert run("A Hugging Face image classifier", evenodd).verdict


def write_clip(folder):
    """Write a CLIP of random weights, with a tokenizer of the words that the page uses."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import CLIPConfig, CLIPModel, CLIPTextConfig, CLIPVisionConfig, PreTrainedTokenizerFast

    words = ["<pad>", "<start>", "<end>", "<unknown>", "a", "handwritten", *map(str, range(10))]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="<unknown>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<start>", eos_token="<end>", unk_token="<unknown>"
    )
    fast.save_pretrained(folder)
    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    text = CLIPTextConfig(vocab_size=len(words), bos_token_id=1, eos_token_id=2, pad_token_id=0, **small)
    vision = CLIPVisionConfig(image_size=16, patch_size=8, **small)
    config = CLIPConfig(text_config=text.to_dict(), vision_config=vision.to_dict(), projection_dim=8)
    CLIPModel(config).save_pretrained(folder)


def test_clip_over_concept_prompts(evenodd, place):
    write_clip(place / "clip")
    found = run("CLIP, zero-shot, over concept prompts", evenodd)
    assert found.scores["test"]["rule_consistency"].value == 1.0  # labels follow from its concepts


def test_a_scikit_learn_pipeline(evenodd, place):
    found = run("A scikit-learn pipeline", evenodd)
    assert found.scores["test"]["label_accuracy"].value > 0.2


def test_a_function_that_returns_a_table(evenodd, place):
    pytest.importorskip("pandas")
    assert run("A function from pictures to a table", evenodd).verdict


def test_a_remote_endpoint(evenodd, place):
    asked = []

    class Endpoint(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            pictures = [np.asarray(Image.open(io.BytesIO(b64decode(text)))) for text in body["images"]]
            asked.extend(picture.shape for picture in pictures)
            reply = json.dumps({"probabilities": np.eye(len(values))[[0] * len(pictures)].tolist()}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *words):
            pass

    values = evenodd.knowledge.labels[0].values
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = run("A remote endpoint", evenodd, ENDPOINT=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert found.verdict and set(asked) == {(28, 56)} and len(asked) >= len(evenodd["test"])
