"""A vision-language model as a reader: what it is asked, what is read off its answers, and what it may cost."""

import json
from dataclasses import replace

import numpy as np
import pytest

from assay.concepts import Concept
from assay.config import Settings, validate
from assay.data import Annotation, Dataset, annotate
from assay.diagnosis import InterventionPlan, intervene
from assay.errors import AssayError, ConfigError, DataError
from assay.models import Order, load_model, reader_for, train_run
from assay.models.incontext.client import Reply
from assay.models.incontext.replies import NotAnAnswer, find_values, read_values
from assay.models.readers.opening import open_reader
from assay.models.readers.vlm import VlmConfig, VlmReader
from tests.endpoint import Fault, pictures, texts

CONCEPTS = (
    Concept("head.shape", ("round", "square", "absent")),
    Concept("knees", (False, True)),
    Concept("n", (0, 1, 7)),
)


def reply(text, finish="stop"):
    return Reply(text, finish, "model", 1, 1)


# -- answers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ('{"head.shape": "round", "knees": true, "n": 7}', [0, 1, 2]),
        ('Well.\n```json\n{"head.shape": "Square", "knees": "no", "n": "1"}\n```\nDone.', [1, 0, 1]),
        ('<think>{"knees": 3}</think> So: {"head.shape": "absent", "knees": false, "n": null}', [2, 0, -1]),
    ],
)
def test_a_json_object_is_read(text, codes):
    assert read_values(reply(text), CONCEPTS).codes == codes


@pytest.mark.parametrize(
    ("text", "message", "codes"),
    [
        ('{"head.shape": "oval", "knees": true, "n": 7}', "\"oval\" is no value of 'head.shape'", [-1, 1, 2]),
        ('{"head.shape": "round", "knees": 1, "n": true}', "1 is no value of 'knees'", [0, -1, -1]),
        ('{"head.shape": "round", "knees": true}', "there is nothing about 'n'", [0, 1, -1]),
        ('{"head.shape": "round", "knees": true, "n": 0, "hat": 1}', "'hat' is none of the names", [0, 1, 0]),
        ('{"head.shape": "round", "knees": true, "knees": false, "n": 0}', "'knees' occurs twice", [-1, -1, -1]),
        ('{"head.shape": "round"} and {"knees": true}', "the answer is not one JSON object", [-1, -1, -1]),
        ("[1, 2]", "the answer is not one JSON object", [-1, -1, -1]),
        ("I cannot tell.", "the answer is not one JSON object", [-1, -1, -1]),
    ],
)
def test_what_cannot_be_read_is_told_and_not_guessed(text, message, codes):
    with pytest.raises(NotAnAnswer) as caught:
        read_values(reply(text), CONCEPTS)
    assert message in str(caught.value) and find_values(text, CONCEPTS).codes == codes


# -- questions ---------------------------------------------------------------------------------------------------------


def test_each_picture_is_asked_about_once_with_all_concepts_in_words(mnlogic, server):
    settings = {"model": "eye", "texts": {"a": "the first digit", "b": {"true": "a one", "false": "a zero"}}}
    reader = open_reader("vlm", settings)
    read = reader.probabilities(mnlogic["test"])
    np.testing.assert_array_equal(np.stack([p.argmax(axis=1) for p in read], axis=1), mnlogic["test"].concepts)
    assert len(server.asked) == len(set(mnlogic["test"].pngs)) and server.asked[0]["model"] == "eye"
    said = texts(server.asked[0])
    assert '- "a" (the first digit): false or true' in said and '- "b" (b): false (a zero) or true (a one)' in said
    assert '{"a": ..., "b": ..., "c": ...}' in said and len(pictures(server.asked[0])) == 1
    assert mnlogic.knowledge.label_names[0] not in json.loads(json.dumps(said)).split()  # the label would give it away
    before = len(server.asked)
    again = open_reader("vlm", settings)
    np.testing.assert_array_equal(again.probabilities(mnlogic["test"])[0], read[0])
    assert len(server.asked) == before and again.usage()["from_cache"] == again.usage()["requests"] == before


def test_an_answer_that_cannot_be_read_is_asked_for_once_more_and_then_missing(mnlogic, server):
    one = mnlogic["test"][:2]
    good = {"a": True, "b": False, "c": True}
    server.script.extend(
        [json.dumps({**good, "a": "perhaps"}), json.dumps(good), "Sorry.", json.dumps({**good, "b": "red"})]
    )
    reader = open_reader("vlm", {})
    a, b, c = reader.probabilities(one)
    assert a.tolist() == [[0, 1], [0, 1]] and c.tolist() == [[0, 1], [0, 1]]
    assert b[0].tolist() == [1, 0] and np.isnan(b[1]).all()
    assert len(server.asked) == 4 and reader.usage()["unreadable"] == 1
    assert "\"perhaps\" is no value of 'a'" in texts(server.asked[1])


def test_what_the_texts_name_must_exist(mnlogic, server):
    for given, message in (
        ({"z": "nothing"}, "texts: no concept named 'z'"),
        ({"a": {"red": "a red one"}}, "texts: concept 'a' has no value 'red'"),
    ):
        with pytest.raises(AssayError, match=message):
            open_reader("vlm", {"texts": given}).probabilities(mnlogic["test"])
    assert not server.asked


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_what_goes_wrong_is_one_line_without_the_key(mnlogic, server, tmp_path, monkeypatch):
    def message(**settings):
        with pytest.raises(AssayError) as caught:
            open_reader("vlm", {"retries": 0, **settings}).probabilities(mnlogic["test"])
        text = str(caught.value)
        assert "\n" not in text and "very-secret" not in text and server.url not in text
        return text

    assert message(most_tokens=600).startswith("most_tokens: the budget of 600 does not do for another request")
    assert len(server.asked) == 1  # what fits into it was asked
    server.script.append(Fault(503))
    assert "was asked once, and it answered HTTP 503" in message(seed=1)
    monkeypatch.setenv("ASSAY_LLM_KEY", "sk-very-secret-but-wrong")
    assert "refuses the key (HTTP 401); set ASSAY_LLM_KEY" in message(seed=2)
    monkeypatch.setenv("ASSAY_LLM_URL", "http://127.0.0.1:9/v1")
    assert "cannot be reached" in message(seed=3)
    monkeypatch.delenv("ASSAY_LLM_URL")
    assert message().startswith("no endpoint to ask: set ASSAY_LLM_URL")
    with pytest.raises(ConfigError, match="reader: unknown key 'modle'; did you mean 'model'"):
        open_reader("vlm", {"modle": "x"})
    with pytest.raises(ConfigError, match="reader: these are settings of vlm or clip:FOLDER, and 'perfect' is neither"):
        reader_for("perfect", {"model": "x"})
    assert not [p for p in tmp_path.rglob("*.json") if "very-secret" in p.read_text()]


def test_a_spent_budget_keeps_what_was_answered(mnlogic, server):
    with pytest.raises(AssayError, match="most_tokens"):
        open_reader("vlm", {"most_tokens": 3000}).probabilities(mnlogic["test"])
    first = len(server.asked)
    assert 0 < first < len(mnlogic["test"])
    open_reader("vlm", {}).probabilities(mnlogic["test"])
    assert len(server.asked) == len(set(mnlogic["test"].pngs))  # none twice


@pytest.mark.parametrize("parallel", [1, 3])
def test_what_is_interrupted_goes_on_where_it_stopped(parallel, mnlogic, server):
    def interrupt(what, done, whole):
        assert (what, whole) == ("reading test", len(mnlogic["test"]))
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_reader("vlm", {"parallel": parallel}, interrupt).probabilities(mnlogic["test"])
    asked = len(server.asked)
    assert 7 <= asked < len(mnlogic["test"])
    open_reader("vlm", {}).probabilities(mnlogic["test"])
    assert len(server.asked) == len(set(mnlogic["test"].pngs))


# -- in use ------------------------------------------------------------------------------------------------------------


def test_a_dataset_is_annotated_by_what_the_model_sees(mnlogic, server, knows, tmp_path):
    server.answerer = lambda body: knows(body).replace('"b": true', '"b": false').replace('"c": false', '"c": null')
    reader = open_reader("vlm", {"model": "eye"})
    annotate(mnlogic, Annotation(machine="vlm"), tmp_path / "new", reader)
    new = Dataset.open(tmp_path / "new")
    truth, given = mnlogic["train"].concepts, new["train"].given_concepts
    np.testing.assert_array_equal(given[:, 0], truth[:, 0])
    assert (given[:, 1] == 0).all() and (given[:, 2] == np.where(truth[:, 2] == 1, 1, -1)).all()
    np.testing.assert_array_equal(new["test"].given_concepts, mnlogic["test"].concepts)
    record = new.manifest["task"]["annotation"]
    assert record["reader"]["reader"] == "vlm" and record["reader"]["model"] == "eye"
    assert record["found"]["train"]["missing"] > 0 and "very-secret" not in json.dumps(new.manifest)
    same = open_reader("vlm", {"model": "eye", "parallel": 2, "most_tokens": 10**9})
    annotate(mnlogic, Annotation(machine="vlm"), tmp_path / "again", same)
    assert Dataset.open(tmp_path / "again").fingerprint == new.fingerprint  # though nothing was asked


def test_only_rows_that_are_kept_are_asked_about(mnlogic, server, tmp_path):
    annotate(mnlogic, Annotation(machine="vlm", examples=5, splits=["train"]), tmp_path / "new", open_reader("vlm", {}))
    assert len(server.asked) == 5


def test_free_words_become_concepts(mnlogic, server, tmp_path):
    def answer(body):
        light = sum(pictures(body)[0]) % 2 == 0
        return json.dumps({"beanie": light, "Two_wheels": not light})

    server.answerer = answer
    reader = open_reader("vlm", {"concepts": ["beanie", "Two wheels"]})
    annotate(mnlogic, Annotation(machine="vlm"), tmp_path / "new", reader)
    new = Dataset.open(tmp_path / "new")
    assert new.knowledge.space.names == ("beanie", "Two_wheels")
    light = [sum(png) % 2 == 0 for png in mnlogic["test"].pngs]
    assert new["test"].concepts[:, 0].tolist() == light and "(Two wheels): false or true" in texts(server.asked[0])
    server.answerer = lambda body: '{"beanie": null, "Two_wheels": true}'
    with pytest.raises(DataError, match="does not say whether example 0 of split 'train' shows 'beanie'; raise tries"):
        annotate(
            mnlogic,
            Annotation(machine="vlm"),
            tmp_path / "gaps",
            open_reader("vlm", {**reader_settings(reader), "seed": 1}),
        )
    assert not (tmp_path / "gaps").exists()


def reader_settings(reader):
    return {"concepts": list(reader.words)}


@pytest.fixture
def bottleneck(mnlogic, tmp_path):
    folder = tmp_path / "bottleneck"
    train_run(Order("cbm", Settings({"epochs": 1, "device": "cpu", "mode": "independent"})), mnlogic, folder)
    return folder


def test_the_model_answers_in_interventions(mnlogic, server, bottleneck):
    model = load_model(bottleneck)
    truth = InterventionPlan(policy="random", budget="0,1,max")
    perfect, seen = (
        intervene(plan, mnlogic, model.intervene, reader=reader_for(plan.source, {}))
        for plan in (truth, replace(truth, source="vlm"))
    )
    assert [p.accuracy for p in seen.curve.points] == [p.accuracy for p in perfect.curve.points]
    assert seen.curve.points[-1].concept_accuracy == 1.0 and seen.control_changed == 0
    server.answerer = lambda body: '{"a": null, "b": null, "c": null}'
    silent = intervene(
        replace(truth, source="vlm"), mnlogic, model.intervene, reader=reader_for("vlm", {"model": "silent"})
    )
    assert all(point.changed == 0 for point in silent.curve.points)  # no answer, no change


@pytest.mark.parametrize("name", ["tree", "dpl"])
def test_the_model_is_what_perceives(name, mnlogic, server, tmp_path):
    settings = {"perception": "vlm", "reader": {"model": "eye", "splits": ["train", "valid", "test"]}}
    settings |= {} if name == "tree" else {"device": "cpu"}
    model = train_run(Order(name, Settings(settings)), mnlogic, tmp_path / "run")
    said = model.predict(mnlogic["test"])
    codes = np.stack([answer.codes for answer in said.concepts.values()], axis=1)
    np.testing.assert_array_equal(codes, mnlogic["test"].concepts)
    files = {path.stem for path in (tmp_path / "run" / "predictions").glob("*.parquet")}
    assert files == {"valid", "test"}  # the others were not to be read
    text = (tmp_path / "run" / "run.json").read_text()
    about = json.loads(text)
    assert about["perception"]["reader"] == "vlm" and about["perception"]["model"] == "eye"
    assert "very-secret" not in text and server.url not in text
    again = load_model(tmp_path / "run").predict(mnlogic["hard"])  # any split can be asked about later
    assert (again.concepts["a"].codes == mnlogic["hard"].concepts[:, 0]).all()


def test_concepts_of_its_own_are_for_annotation_only(mnlogic, server, tmp_path):
    settings = {"perception": "vlm", "reader": {"concepts": ["beanie"]}}
    with pytest.raises(ConfigError, match="reader: 'concepts' are for assay annotate"):
        train_run(Order("tree", Settings(settings)), mnlogic, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_what_decides_the_answers_is_told_and_nothing_else(server):
    def about(**settings):
        return VlmReader(validate(VlmConfig, Settings({"model": "eye", **settings}))).about()

    plain = about()
    assert plain["reader"] == "vlm" and plain["model"] == "eye" and plain["settings"] == {"model": "eye"}
    for decides in ({"temperature": 0.7}, {"seed": 3}, {"max_tokens": 99}, {"tries": 4}, {"concepts": ["beanie"]}):
        assert about(**decides)["settings"] == {"model": "eye", **decides}
    assert about(parallel=3) == plain and server.url not in str(plain)  # how fast is no part of what
