"""Texts for concepts and how readers are written, to the last letter."""

from pathlib import Path

import pytest

from assay.concepts import Concept, ConceptSpace
from assay.errors import AssayError, ConfigError, UnknownName
from assay.models import reader_for
from assay.models.readers import opening
from assay.models.readers.opening import open_reader, resolve_reader, without_folder
from assay.models.readers.texts import (
    ClipConfig,
    TextsConfig,
    concept_words,
    given_texts,
    own_concepts,
    plain_words,
    prompts,
    refuse_unknown_texts,
)
from assay.models.readers.vlm import DECISIVE, VlmConfig, VlmReader, _line

HAT = Concept("hat", (False, True))
LOAD = Concept("car1.load", ("two_balls", "absent"))
BARE = Concept("load", ("ball", "absent"))


def test_names_in_plain_words():
    names = ["a_b.c", "car12.load", "x2y", "2x", "a__b", "._a", "Gradient color"]
    assert [plain_words(name) for name in names] == ["a b c", "car 12 load", "x 2y", "2x", "a b", "a", "Gradient color"]


def test_words_of_free_concepts_must_give_different_names():
    assert [concept.name for concept in own_concepts(["b c", "a"])] == ["b_c", "a"]
    assert own_concepts(["a"])[0].values == (False, True) and own_concepts([]) == []
    with pytest.raises(ValueError, match="concepts need different names"):
        TextsConfig(concepts=["b c", "a", "b_c"])
    assert TextsConfig(concepts=["b c", "b d"]).concepts == ["b c", "b d"]


def test_keys_of_texts_are_values_however_yaml_reads_them(tmp_path):
    given = {"hat": {True: "on", False: ["off", "none"]}, 3: {1: "one"}, "b": "wheel"}
    wanted = {"hat": {"true": "on", "false": ["off", "none"]}, "3": {"1": "one"}, "b": "wheel"}
    assert TextsConfig(texts=given).texts == wanted
    (tmp_path / "texts.yaml").write_text("hat: {true: on a head, No: 'off'}\n")
    assert set(TextsConfig(texts=str(tmp_path / "texts.yaml")).texts["hat"]) >= {"true"}
    with pytest.raises(ValueError, match="texts"):
        TextsConfig(texts=[1])


def test_texts_of_a_value_are_one_several_or_none():
    texts = {"hat": {"TRUE": "on", "false": ["off", "none"]}, "load": "cargo"}
    assert given_texts(HAT, True, texts) == ["on"] and given_texts(HAT, False, texts) == ["off", "none"]
    assert given_texts(BARE, "ball", texts) == [] and given_texts(LOAD, "absent", texts) == []
    assert given_texts(HAT, True, {"hat": {"false": "off"}}) == []
    assert concept_words(BARE, texts) == "cargo" and concept_words(LOAD, texts) == "car 1 load"
    assert concept_words(HAT, texts) == "hat"


def test_what_is_absent_is_said_of_the_object_or_of_the_concept():
    config = ClipConfig()
    assert prompts(LOAD, config) == [["a photo with two balls car 1 load"], ["a photo without car 1"]]
    assert prompts(BARE, config) == [["a photo with ball load"], ["a photo without load"]]
    assert prompts(HAT, config) == [["a photo without hat"], ["a photo with hat"]]
    own = ClipConfig(template_true="{concept} is {value}", template_false="no {concept}", texts={"hat": "cap"})
    assert prompts(HAT, own) == [["no cap"], ["cap is True"]] and prompts(BARE, own)[1] == ["no load"]
    some = ClipConfig(texts={"hat": {"true": ["x", "y"]}})
    assert prompts(HAT, some) == [["a photo without hat"], ["x", "y"]]
    assert (config.batch_size, config.device) == (64, "auto")


def test_texts_of_nothing_are_refused():
    space = ConceptSpace((HAT, BARE))
    refuse_unknown_texts({"hat": "cap", "load": {"Ball": "x", "absent": ["y"]}}, space)
    with pytest.raises(UnknownName, match="texts: no concept named 'haat'; did you mean 'hat'"):
        refuse_unknown_texts({"hat": "cap", "haat": "cap"}, space)
    with pytest.raises(UnknownName, match="texts: concept 'load' has no value 'bal'; did you mean 'ball'"):
        refuse_unknown_texts({"load": {"ball": "x", "bal": "y"}}, space)
    with pytest.raises(ConfigError, match="texts: 'hat' has an empty list for 'true'"):
        refuse_unknown_texts({"hat": {"false": "x", "true": []}}, space)


def test_a_question_lists_values_with_their_words():
    three = Concept("n", (0, 1, 2))
    assert _line(three, {}) == '- "n" (n): 0, 1 or 2'
    assert _line(three, {"n": {"1": ["x", "y"]}}) == '- "n" (n): 0, 1 (x; y) or 2'
    assert _line(HAT, {"hat": "a cap"}) == '- "hat" (a cap): false or true'
    assert _line(Concept("one", ("red",)), {}) == '- "one" (one): "red"'


def test_readers_as_they_are_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resolve_reader("clip:weights", {"batch_size": 64, "template": "{value}"}) == (
        f"clip:{(Path('weights')).resolve()}",
        {"template": "{value}"},
    )
    assert resolve_reader("vlm", {"model": "eye", "tries": 2, "seed": 3}) == ("vlm", {"model": "eye", "seed": 3})
    for text in ("clip", "clip:"):
        with pytest.raises(ConfigError, match=f"^'{text}' is not whole: clip:FOLDER, a local folder"):
            resolve_reader(text, {})
    assert opening._clip_folder("clip:a:b") == Path("a:b") and opening._clip_folder("clip:clip") == Path("clip")
    names = ["clip:a/b/c", "clip:c/", "a/b", "vlm", "clipped/x"]
    assert [without_folder(text) for text in names] == ["clip:c", "clip:c", "b", "vlm", "x"]


def test_settings_of_a_reader_are_told_as_such():
    for read in (open_reader, resolve_reader):
        with pytest.raises(AssayError, match="reader: unknown key 'template'"):
            read("vlm", {"model": "eye", "template": "x"})
    reader = reader_for("vlm", {"model": "eye", "concepts": ["a b"]})
    assert isinstance(reader, VlmReader) and reader.words == ("a b",)


def test_what_decides_the_answers_of_a_vlm():
    config = VlmConfig(model="eye")
    assert (config.tries, config.seed, config.splits) == (2, 0, None)
    wanted = {"model", "seed", "temperature", "max_tokens", "extra", "tries", "texts", "concepts"}
    assert wanted == DECISIVE
    about = VlmReader(VlmConfig(model="eye", seed=4, splits=["test"])).about()
    assert about["settings"] == {"model": "eye", "seed": 4} and (about["reader"], about["model"]) == ("vlm", "eye")
    assert list(about["prompts"]) == ["system_reader", "read_concepts", "not_the_concepts"]
    reader = VlmReader(config)
    reader.unreadable.update({"a", "b"})
    usage = reader.usage()
    assert usage["unreadable"] == 2 and usage["requests"] == 0
