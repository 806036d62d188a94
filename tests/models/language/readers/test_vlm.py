"""A vision-language model as a reader: what it is asked, what is read off its answers, and what it may cost."""

import json
from dataclasses import replace

import numpy as np
import pytest

from assay import Dataset, from_table
from assay.base import AssayError, ConfigError, DataError, Settings
from assay.diagnosis import InterventionPlan, intervene
from assay.exchange import Annotation, annotate
from assay.models import TrainSpec, load_model, reader_for, train_run
from tests.endpoint import Fault, pictures, texts

SHAPE, KNEES, N = ("round", "square", "absent"), (False, True), (0, 1, 7)


@pytest.fixture(scope="module")
def robots(tmp_path_factory):
    """A few pictures with concepts of every kind."""
    columns = {"shape": [*SHAPE] * 8, "knees": [*KNEES] * 12, "n": [*N] * 8, "y": [*KNEES] * 12}
    pictures = [np.full((4, 4), 9 * row, dtype=np.uint8) for row in range(24)]
    folder = tmp_path_factory.mktemp("robots") / "data"
    return from_table(columns, folder, images=pictures, concepts=["shape", "knees", "n"], labels=["y"])


@pytest.mark.parametrize(
    ("text", "values", "fault"),
    [
        ('{"shape": "round", "knees": true, "n": 7}', ["round", True, 7], ""),
        ('{"shape": " SQUARE ", "knees": "no", "n": "1"}', ["square", False, 1], ""),
        ('{"shape": "square", "knees": "True", "n": 0}', ["square", True, 0], ""),
        ('{"shape": "absent", "knees": "yes", "n": null}', ["absent", True, None], ""),
        ('{"shape": null, "knees": null, "n": null}', [None, None, None], ""),
        ('Here: {"shape": "round", "knees": false, "n": 1}', ["round", False, 1], ""),
        ('```json\n{"n": 1}\n```\nno:\n```\n{"shape": "round", "knees": true, "n": 7}\n```\n{', ["round", True, 7], ""),
        ('<think>{"n": 0}</think>{"shape": "round", "knees": true, "n": 1}', ["round", True, 1], ""),
        ('{"shape": "oval", "knees": true, "n": 7}', [None, True, 7], "\"oval\" is no value of 'shape'"),
        ('{"shape": "round", "knees": 1, "n": true}', ["round", None, None], "1 is no value of 'knees'"),
        ('{"shape": "yes", "knees": 0, "n": 7.0}', [None, None, None], "\"yes\" is no value of 'shape'"),
        ('{"shape": "round", "n": 2}', ["round", None, None], "there is nothing about 'knees'"),
        ('{"hat": 1, "shape": "round", "knees": true}', ["round", True, None], "'hat' is none of the names"),
        ('{"shape": "round", "knees": true, "knees": false, "n": 0}', [None] * 3, "'knees' occurs twice"),
        ('{"shape": "round"} and {"knees": true}', [None] * 3, "the answer is not one JSON object"),
        ("[1, 2]", [None] * 3, "the answer is not one JSON object"),
        ("I cannot tell.", [None] * 3, "the answer is not one JSON object"),
        ("", [None] * 3, "the answer is not one JSON object"),
    ],
)  # fmt: skip
def test_concepts_are_read_off_a_json_object_and_what_cannot_be_read_is_told_and_not_guessed(
    text, values, fault, robots, server
):
    server.answerer = lambda body: text
    reader = reader_for("vlm", {})
    for probabilities, value, concept in zip(
        reader.probabilities(robots["train"][:1]), values, robots.knowledge.space.concepts, strict=True
    ):
        if value is None:
            assert np.isnan(probabilities).all()
        else:
            assert concept.values[int(probabilities[0].argmax())] == value and probabilities.max() == 1
    assert len(server.asked) == (2 if fault else 1) and reader.usage()["unreadable"] == bool(fault)
    assert fault in texts(server.asked[-1])  # it is asked again, and told what was wrong


# -- questions ---------------------------------------------------------------------------------------------------------


def test_each_picture_is_asked_about_once_with_all_concepts_in_words(mnlogic, server):
    settings = {"model": "eye", "texts": {"a": "the first digit", "b": {"true": "a one", "false": "a zero"}}}
    reader = reader_for("vlm", settings)
    read = reader.probabilities(mnlogic["test"])
    np.testing.assert_array_equal(np.stack([p.argmax(axis=1) for p in read], axis=1), mnlogic["test"].concepts)
    assert len(server.asked) == len(set(mnlogic["test"].pngs)) and server.asked[0]["model"] == "eye"
    said = texts(server.asked[0])
    assert '- "a" (the first digit): false or true' in said and '- "b" (b): false (a zero) or true (a one)' in said
    assert '{"a": ..., "b": ..., "c": ...}' in said and len(pictures(server.asked[0])) == 1
    assert mnlogic.knowledge.label_names[0] not in json.loads(json.dumps(said)).split()  # the label would give it away
    before = len(server.asked)
    again = reader_for("vlm", settings)
    np.testing.assert_array_equal(again.probabilities(mnlogic["test"])[0], read[0])
    assert len(server.asked) == before and again.usage()["from_cache"] == again.usage()["requests"] == before


def test_an_answer_that_cannot_be_read_is_asked_for_once_more_and_then_missing(mnlogic, server):
    one = mnlogic["test"][:2]
    good = {"a": True, "b": False, "c": True}
    server.script.extend(
        [json.dumps({**good, "a": "perhaps"}), json.dumps(good), "Sorry.", json.dumps({**good, "b": "red"})]
    )
    reader = reader_for("vlm", {})
    a, b, c = reader.probabilities(one)
    assert a.tolist() == [[0, 1], [0, 1]] and c.tolist() == [[0, 1], [0, 1]]
    assert b[0].tolist() == [1, 0] and np.isnan(b[1]).all()
    assert len(server.asked) == 4 and reader.usage()["unreadable"] == 1
    assert "\"perhaps\" is no value of 'a'" in texts(server.asked[1])


def test_values_are_listed_as_json_has_them_and_in_words(robots, server):
    server.answerer = lambda body: '{"shape": "round", "knees": true, "n": 7}'
    reader_for("vlm", {"texts": {"n": {"1": ["one", "single"]}}}).probabilities(robots["train"][:1])
    said = texts(server.asked[0])
    assert (
        '- "n" (n): 0, 1 (one; single) or 7' in said
        and '"round"' in said
        and '- "knees" (knees): false or true' in said
    )


def test_what_has_no_pictures_cannot_be_read(made, server):
    words = made("trains", image=False, splits={"train": 4, "valid": 2, "test": 2, "hard": 2})
    with pytest.raises(DataError, match="split 'test' has no pictures to be read"):
        reader_for("vlm", {}).probabilities(words["test"])
    assert not server.asked


def test_what_the_texts_name_must_exist(mnlogic, server):
    for given, message in (
        ({"z": "nothing"}, "texts: no concept named 'z'"),
        ({"a": {"red": "a red one"}}, "texts: concept 'a' has no value 'red'"),
        ({"a": {"true": []}}, "texts: 'a' has an empty list for 'true'"),
    ):
        with pytest.raises(AssayError, match=message):
            reader_for("vlm", {"texts": given}).probabilities(mnlogic["test"])
    assert not server.asked


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_what_goes_wrong_is_one_line_without_the_key(mnlogic, server, tmp_path, monkeypatch):
    def message(**settings):
        with pytest.raises(AssayError) as caught:
            reader_for("vlm", {"retries": 0, **settings}).probabilities(mnlogic["test"])
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
        reader_for("vlm", {"modle": "x"})
    with pytest.raises(ConfigError, match="reader: these are settings of vlm or clip:FOLDER, and 'perfect' is neither"):
        reader_for("perfect", {"model": "x"})
    assert not [p for p in tmp_path.rglob("*.json") if "very-secret" in p.read_text()]


def test_a_spent_budget_keeps_what_was_answered(mnlogic, server):
    with pytest.raises(AssayError, match="most_tokens"):
        reader_for("vlm", {"most_tokens": 3000}).probabilities(mnlogic["test"])
    first = len(server.asked)
    assert 0 < first < len(mnlogic["test"])
    reader_for("vlm", {}).probabilities(mnlogic["test"])
    assert len(server.asked) == len(set(mnlogic["test"].pngs))  # none twice


@pytest.mark.parametrize("parallel", [1, 3])
def test_what_is_interrupted_goes_on_where_it_stopped(parallel, mnlogic, server):
    def interrupt(what, done, whole):
        assert (what, whole) == ("reading test", len(mnlogic["test"]))
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reader_for("vlm", {"parallel": parallel}, interrupt).probabilities(mnlogic["test"])
    asked = len(server.asked)
    assert 7 <= asked < len(mnlogic["test"])
    reader_for("vlm", {}).probabilities(mnlogic["test"])
    assert len(server.asked) == len(set(mnlogic["test"].pngs))


# -- in use ------------------------------------------------------------------------------------------------------------


def test_a_dataset_is_annotated_by_what_the_model_sees(mnlogic, server, knows, tmp_path):
    server.answerer = lambda body: knows(body).replace('"b": true', '"b": false').replace('"c": false', '"c": null')
    reader = reader_for("vlm", {"model": "eye"})
    annotate(mnlogic, Annotation(machine="vlm"), tmp_path / "new", reader)
    new = Dataset.open(tmp_path / "new")
    truth, given = mnlogic["train"].concepts, new["train"].annotated_concepts
    np.testing.assert_array_equal(given[:, 0], truth[:, 0])
    assert (given[:, 1] == 0).all() and (given[:, 2] == np.where(truth[:, 2] == 1, 1, -1)).all()
    np.testing.assert_array_equal(new["test"].annotated_concepts, mnlogic["test"].concepts)
    record = new.manifest.to_dict()["task"]["annotation"]
    assert record["reader"]["reader"] == "vlm" and record["reader"]["model"] == "eye"
    assert record["found"]["train"]["missing"] > 0 and "very-secret" not in json.dumps(new.manifest.to_dict())
    same = reader_for("vlm", {"model": "eye", "parallel": 2, "most_tokens": 10**9})
    annotate(mnlogic, Annotation(machine="vlm"), tmp_path / "again", same)
    assert Dataset.open(tmp_path / "again").fingerprint == new.fingerprint  # though nothing was asked


def test_only_rows_that_are_kept_are_asked_about(mnlogic, server, tmp_path):
    annotate(mnlogic, Annotation(machine="vlm", examples=5, splits=["train"]), tmp_path / "new", reader_for("vlm", {}))
    assert len(server.asked) == 5


def test_free_words_become_concepts(mnlogic, server, tmp_path):
    def answer(body):
        light = sum(pictures(body)[0]) % 2 == 0
        return json.dumps({"beanie": light, "Two_wheels": not light})

    server.answerer = answer
    reader = reader_for("vlm", {"concepts": ["beanie", "Two wheels"]})
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
            reader_for("vlm", {**reader_settings(reader), "seed": 1}),
        )
    assert not (tmp_path / "gaps").exists()


def reader_settings(reader):
    return {"concepts": list(reader.words)}


@pytest.fixture
def bottleneck(mnlogic, tmp_path):
    folder = tmp_path / "bottleneck"
    train_run(TrainSpec("cbm", Settings({"epochs": 1, "device": "cpu", "mode": "independent"})), mnlogic, folder)
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
    model = train_run(TrainSpec(name, Settings(settings)), mnlogic, tmp_path / "run")
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


def test_what_decides_the_answers_is_told_and_nothing_else(server):
    def about(**settings):
        return reader_for("vlm", {"model": "eye", **settings}).metadata()

    plain = about()
    assert plain["reader"] == "vlm" and plain["model"] == "eye" and plain["settings"] == {"model": "eye"}
    for decides in ({"temperature": 0.7}, {"seed": 3}, {"max_tokens": 99}, {"tries": 4}, {"concepts": ["beanie"]}):
        assert about(**decides)["settings"] == {"model": "eye", **decides}
    assert about(parallel=3) == plain and server.url not in str(plain)  # how fast is no part of what
