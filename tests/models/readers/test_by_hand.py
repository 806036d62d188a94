"""Both readers with models that are made up: what is embedded and asked in which order, and what becomes of it."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.concepts import Concept, ConceptSpace
from assay.errors import ConfigError, DataError, UnknownName
from assay.models.incontext.conversation import ReadFailure
from assay.models.incontext.messages import fill, opening, picture_part, text_part
from assay.models.incontext.replies import ReadValues
from assay.models.readers import clip, vlm
from assay.models.readers.clip import ClipImages, ClipReader, _tokenizer
from assay.models.readers.opening import open_reader
from assay.models.readers.texts import ClipConfig, plain_words, prompts
from assay.models.readers.vlm import VlmConfig, VlmReader

SPACE = ConceptSpace((Concept("hat", (False, True)), Concept("n", (0, 1, 2))))


class Split(SimpleNamespace):
    """Pictures that are neither square nor grey, and whose numbers are not their rows."""

    def __len__(self):
        return len(self.index)

    def batches(self, size):
        for start in range(0, len(self), size):
            rows = np.arange(start, min(start + size, len(self)))
            yield rows, self.images[rows]

    def files(self, rows):
        return [f"picture {row}".encode() for row in rows]


def split(count=5):
    images = np.random.default_rng(0).integers(0, 256, (count, 2, 3, 3), dtype=np.uint8)
    return Split(
        name="test", index=np.arange(count)[::-1] + 20, images=images, columns=("image",),
        knowledge=SimpleNamespace(space=SPACE),
    )  # fmt: skip


# -- CLIP --------------------------------------------------------------------------------------------------------------


class Tokens(dict):
    def to(self, device):
        return self


def embedding(text):
    """Return what the made-up model says of a text, of any length."""
    return torch.tensor([float(len(text)), float(ord(text[0]) - 96), 1.0])


@pytest.fixture
def reader():
    made, asked, told = ClipReader.__new__(ClipReader), [], []

    def tokenizer(batch, padding, return_tensors):
        asked.append(list(batch))
        longest = max(map(len, batch))
        ids = torch.zeros(len(batch), longest, dtype=torch.long)
        for row, text in enumerate(batch):
            ids[row, : len(text)] = torch.tensor([ord(letter) for letter in text])
        return Tokens(input_ids=ids, attention_mask=(ids > 0).long(), token_type_ids=ids)

    def text_model(input_ids, attention_mask):
        texts = [
            "".join(chr(code) for code in row[mask > 0]) for row, mask in zip(input_ids, attention_mask, strict=True)
        ]
        return SimpleNamespace(pooler_output=torch.stack([embedding(text) for text in texts]))

    def images(pictures):
        asked.append(pictures)
        return pictures.flatten(2).mean(dim=2) * 7

    images.memory = SimpleNamespace(save=lambda: told.append("saved"))
    made.folder, made.config, made.device = Path("x/weights"), ClipConfig(batch_size=2), torch.device("cpu")
    made.report = lambda *said: told.append(said)
    made.tokenizer, made.images, made._texts, made.asked, made.told = tokenizer, images, {}, asked, told
    config = SimpleNamespace(text_config=SimpleNamespace(max_position_embeddings=6))
    made.clip = SimpleNamespace(
        config=config, text_model=text_model, text_projection=lambda x: 2 * x, logit_scale=torch.tensor(1.5)
    )
    return made


def close(found, wanted):
    np.testing.assert_allclose(found.detach(), wanted.detach(), atol=1e-6)


def unit(vector):
    return vector / vector.norm()


def test_texts_are_embedded_once_some_at_a_time(reader):
    reader._embed_texts(["b", "aaa", "b", "cc", "d"])
    reader._embed_texts(["cc", "e"])
    assert reader.asked == [["b", "aaa"], ["cc", "d"], ["e"]]
    assert list(reader._texts) == ["b", "aaa", "cc", "d", "e"]
    for text, found in reader._texts.items():
        close(found, unit(embedding(text)))
    reader._embed_texts(["f" * 6])
    with pytest.raises(ConfigError, match="texts: 'ggggggg' is longer than the 6 tokens that this CLIP reads"):
        reader._embed_texts(["h", "g" * 7])


def test_several_texts_of_a_value_count_alike_however_long(reader):
    reader._embed_texts(["a", "zzz", "bb"])
    found = reader._values([["a", "zzz"], ["bb"]])
    averaged = (unit(embedding("a")) + unit(embedding("zzz"))) / 2
    close(found, torch.stack([unit(averaged), unit(embedding("bb"))]))


def test_pictures_are_embedded_in_batches_and_have_length_1(reader):
    data = split()
    found = reader._embed_pictures(data)
    assert [len(pictures) for pictures in reader.asked] == [2, 2, 1]
    np.testing.assert_allclose(torch.cat(reader.asked), data.images.transpose(0, 3, 1, 2) / 255, atol=1e-6)
    means = torch.from_numpy(data.images.reshape(5, 6, 3).mean(axis=1)).float()
    close(found, nn.functional.normalize(means, dim=1))
    assert reader.told == [("reading test", done, 5) for done in (2, 4, 5)] + ["saved"]


def test_probabilities_are_of_the_values_of_each_concept(reader, monkeypatch):
    embedded = []
    pictures = torch.tensor([[1.0, 0.0], [0.6, 0.8]])
    words = {
        "on": [0.0, 1.0],
        "off": [1.0, 0.0],
        "0": [0.6, 0.8],
        "1": [-1.0, 0.0],
        "2": [0.8, -0.6],
        "none": [0.8, 0.6],
    }
    texts = {"hat": [["off", "none"], ["on"]], "n": [["0"], ["1"], ["2"]]}
    monkeypatch.setattr(clip, "prompts", lambda concept, config: texts[concept.name])
    monkeypatch.setattr(reader, "_embed_pictures", lambda data: pictures)
    monkeypatch.setattr(reader, "_embed_texts", lambda given: embedded.append(list(given)))
    reader._texts = {text: torch.tensor(vector) for text, vector in words.items()}
    hat, n = reader.probabilities(split())
    assert embedded == [["off", "none", "on", "0", "1", "2"]] and hat.dtype == np.float64
    off = np.array([1.8, 0.6]) / np.hypot(1.8, 0.6)
    for found, vectors in ((hat, [off, words["on"]]), (n, [words["0"], words["1"], words["2"]])):
        powers = np.exp(np.exp(1.5) * pictures.numpy() @ np.array(vectors).T)
        np.testing.assert_allclose(found, powers / powers.sum(axis=1, keepdims=True), atol=1e-6)
    reader.config = ClipConfig(concepts=["on", "2"])
    assert reader.words == ("on", "2")
    np.testing.assert_allclose(reader.scores(split()), [[0, 0.8], [0.8, 0.0]], atol=1e-6)
    assert embedded[1] == ["on", "2"] and reader.usage() == {}


def test_a_reader_is_known_by_its_weights(reader, monkeypatch):
    monkeypatch.setattr(clip, "signature", lambda network: bytes(range(32)) if network is reader.clip else b"")
    reader.config = ClipConfig(batch_size=3, device="cpu", template="{value}")
    assert reader.about() == {
        "reader": "clip", "folder": "weights", "settings": {"template": "{value}"},
        "fingerprint": bytes(range(16)).hex(),
    }  # fmt: skip


def test_pictures_are_prepared_for_the_size_that_clip_sees(monkeypatch):
    asked = []

    class Clip(nn.Module):
        config = SimpleNamespace(vision_config=SimpleNamespace(image_size=5))

        def __init__(self):
            super().__init__()
            self.visual_projection = nn.Linear(2, 1)

        def vision_model(self, pixel_values):
            return SimpleNamespace(pooler_output=pixel_values + 1)

    def prepared(folder, size, clip=False):
        asked.append((folder, size, clip))
        return [nn.Flatten()]

    made = Clip().train()
    monkeypatch.setattr(clip, "vision_library", lambda who: SimpleNamespace(CLIPModel="kind"))
    monkeypatch.setattr(clip, "load_pretrained", lambda library, kind, folder, name: made)
    monkeypatch.setattr(clip, "_tokenizer", lambda library, folder: "tokens")
    monkeypatch.setattr(clip, "preprocessing", prepared)
    monkeypatch.setattr(clip, "Frozen", lambda network, source: (network, source))
    reader = ClipReader(Path("w"), ClipConfig(device="cpu"), print)
    (network, source) = reader.images
    assert asked == [(Path("w"), (5, 5), True)] and source == "w" and not made.training
    assert [type(part) for part in network] == [nn.Flatten, ClipImages] and reader.report is print
    rows = torch.tensor([[0.5, 2.0]])
    close(network[1](rows), made.visual_projection(rows + 1))


def test_a_tokenizer_needs_one_of_its_sets_of_files(tmp_path):
    asked = []
    auto = SimpleNamespace(from_pretrained=lambda folder, **how: asked.append((folder, how)) or "tokenizer")
    library = SimpleNamespace(AutoTokenizer=auto)
    for name in (None, "vocab.json"):
        if name:
            (tmp_path / name).touch()
        with pytest.raises(
            ConfigError, match=r"has no tokenizer: it needs tokenizer.json or vocab.json and merges.txt"
        ):
            _tokenizer(library, tmp_path)
    (tmp_path / "merges.txt").touch()
    assert _tokenizer(library, tmp_path) == "tokenizer"
    assert asked == [(tmp_path, {"local_files_only": True, "trust_remote_code": False})]

    def broken(folder, **how):
        raise ValueError("first\nsecond") if (tmp_path / "merges.txt").stat().st_size else KeyError

    auto.from_pretrained = broken
    with pytest.raises(DataError, match=r"the tokenizer in '.*' cannot be read: KeyError$"):
        _tokenizer(library, tmp_path)
    (tmp_path / "merges.txt").write_text("x")
    with pytest.raises(DataError, match=r"cannot be read: first$"):
        _tokenizer(library, tmp_path)


# -- a vision-language model -------------------------------------------------------------------------------------------


def seeing(answers, **settings):
    """Return a reader whose model gives these answers, what it is asked, and what is told."""
    asked, told = [], []

    def read(messages, purpose, reader, complain):
        asked.append((messages, purpose, complain("odd")))
        return answers[len(asked) - 1]

    def each(work, items, count):
        results = []
        for item in items:
            results.append(work(item))
            count(1)
        return results

    made = VlmReader(VlmConfig(**settings), lambda *said: told.append(said))
    made.__dict__["conversation"] = SimpleNamespace(read=read, each=each)
    return made, asked, told


def test_each_picture_is_asked_about_and_what_cannot_be_read_is_missing():
    answers = [ReadValues([1, 2]), ReadFailure("odd", '{"hat": false, "n": 9}'), ReadFailure("odd", "hm")]
    made, asked, told = seeing(answers, texts={"hat": "a cap", "n": {"2": ["two", "a pair"]}})
    hat, n = made.probabilities(split(3))
    nan = [float("nan")]
    np.testing.assert_array_equal(hat, [[0, 1], [1, 0], nan * 2])
    np.testing.assert_array_equal(n, [[0, 0, 1], nan * 3, nan * 3])
    form = '{"hat": ..., "n": ...}'
    lines = '- "hat" (a cap): false or true\n- "n" (n): 0, 1 or 2 (two; a pair)'
    question = fill("read_concepts", concepts=lines, form=form)
    for row, (messages, purpose, complaint) in enumerate(asked):
        picture = picture_part(f"picture {row}".encode())
        assert messages == opening([text_part(question), picture], "system_reader")
        assert purpose == f"concepts of test {22 - row}"
        assert complaint == fill("not_the_concepts", problem="odd", form=form)
    assert told == [("reading test", done, 3) for done in (1, 2, 3)]
    assert made.unreadable == {"concepts of test 21", "concepts of test 20"} and made.usage()["unreadable"] == 2
    with pytest.raises(DataError, match="split 'text' has no pictures to be read"):
        made.probabilities(Split(name="text", columns=("text",), index=np.arange(2), knowledge=split().knowledge))


def test_words_are_seen_or_not_and_nothing_else():
    made, asked, _ = seeing([ReadValues([1, 0, 1]), ReadValues([0, 0, 1])], concepts=["Big hat", "a wheel", "red"])
    assert made.scores(split(2)).tolist() == [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    said = json.dumps(asked[0][0])
    assert "(Big hat): false or true" in said and "(a wheel)" in said
    made, _, _ = seeing([ReadValues([1, 0, 1]), ReadValues([0, -1, 1])], concepts=["Big hat", "a wheel", "red"])
    with pytest.raises(DataError, match="whether example 20 of split 'test' shows 'a wheel'; raise tries"):
        made.scores(split(2))


def test_requests_have_the_seed_that_is_set(monkeypatch):
    asked = []
    monkeypatch.setattr(vlm, "open_conversation", lambda *given: asked.append(given) or "talk")
    made = VlmReader(VlmConfig(seed=6, price_in=2.0))
    assert (
        made.conversation == "talk" and asked == [(made.config, 6, made.ledger)] and made.ledger.prices.tokens_in == 2
    )


def test_words_are_asked_for_as_they_were_given():
    words = ["a red, round hat", "wheels", "CAR2"]
    made, asked, _ = seeing([ReadValues([1, 0, -1]), ReadValues([1, -1, 0])], concepts=words)
    with pytest.raises(DataError, match="whether example 21 of split 'test' shows 'CAR2'; raise tries"):
        made.scores(split(2))
    assert "(a red, round hat): false or true" in json.dumps(asked[0][0])
    assert plain_words("CAR2.loadA1_b") == "CAR 2 loadA 1 b"
    deep = Concept("yard.car1.load", ("box", "absent"))
    assert prompts(deep, ClipConfig())[1] == ["a photo without yard car 1"]


def test_readers_tell_whoever_opened_them(monkeypatch):
    asked = []
    monkeypatch.setattr(clip, "ClipReader", lambda *given: asked.append(given) or "reader")
    assert open_reader("vlm", {"model": "m"}, print).report is print
    assert open_reader("clip:w", {"batch_size": 5}, print) == "reader" and asked[0][0] == Path("w")
    assert asked[0][1].batch_size == 5 and asked[0][2] is print


def test_texts_of_nothing_are_refused_before_anything_is_asked():
    made, asked, _ = seeing([], texts={"hut": "a hut"})
    with pytest.raises(UnknownName, match="texts: no concept named 'hut'"):
        made.probabilities(split(2))
    assert asked == []
