"""Where concepts come from: the truth, files of predictions, or a reader; what is missing, and what is remembered."""

from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace
from assay.errors import ConfigError, DataError
from assay.models.symbolic import perception as module
from assay.models.symbolic import perception_settings
from assay.models.symbolic.perception import (
    Detector,
    MissingPerception,
    PredictionFiles,
    ReadConcepts,
    RememberedConcepts,
    TrueConcepts,
    one_hot,
)
from assay.models.symbolic.perception_settings import (
    PerceptionConfig,
    perception_of,
    perception_seen_from,
    resolve_perception,
    saved_perception,
    with_perception,
)
from assay.predictions import Answer

SPACE = ConceptSpace((Concept("hat", ("red", ABSENT, "blue")), Concept("n", (0, 1, 2, 3))))
THIRD = [1 / 4] * 4


class Reader:
    """A reader that gives what it is told to, and counts how often it is asked."""

    def __init__(self, *rows, words=(), spent=None):
        self.rows, self.words, self.spent, self.asked = rows, words, spent, 0

    def probabilities(self, data):
        self.asked += 1
        return [np.array(row) for row in self.rows]

    def about(self):
        return {"reader": "vlm", "model": "eye"}

    def usage(self):
        return self.spent


def split(name="test", index=(0, 1), fingerprint="f", stored=True, columns=("image",)):
    return SimpleNamespace(
        name=name,
        index=np.array(index),
        fingerprint=fingerprint,
        stored=stored or None,
        table=SimpleNamespace(column_names=columns),
        knowledge=SimpleNamespace(space=SPACE),
        concepts=np.array([[2, 3], [-1, -1]]),
    )


def test_what_is_missing_counts_as_absent_or_else_as_uniform():
    wanted = [[[0, 0, 1], [0, 1, 0]], [[0, 0, 0, 1], THIRD]]
    for found in (one_hot(split().concepts, SPACE), TrueConcepts().probabilities(split())):
        assert [each.tolist() for each in found] == wanted
    assert TrueConcepts().about() is None and TrueConcepts().folder is None


def test_gaps_of_a_reader_are_filled_row_by_row():
    nan = float("nan")
    reader = Reader([[0.1, 0.2, 0.7], [nan, nan, nan]], [[0.1, 0.2, 0.3, 0.4], [nan, 0.0, 0.0, 1.0]])
    hat, n = ReadConcepts(reader).probabilities(split())
    assert hat.tolist() == [[0.1, 0.2, 0.7], [0, 1, 0]] and n.tolist() == [[0.1, 0.2, 0.3, 0.4], THIRD]
    assert ReadConcepts(reader).about() == {"reader": "vlm", "model": "eye"}
    assert ReadConcepts(Reader(spent={"tokens": 7})).about() == {
        "reader": "vlm",
        "model": "eye",
        "usage": {"tokens": 7},
    }


@pytest.mark.parametrize(
    ("splits", "pairs", "asked"),
    [(None, True, {"test", "pairs"}), (None, False, {"test"}), (("test",), True, {"test", "pairs"}),
     (("test",), False, {"test"}), (("pairs",), False, {"pairs"}), (("train",), False, set())],
)  # fmt: skip
def test_a_reader_is_asked_about_its_splits_only(splits, pairs, asked):
    found = set()
    for name in ("test", "pairs"):
        try:
            ReadConcepts(Reader([[1, 0, 0]] * 2, [THIRD] * 2), None, splits, pairs).probabilities(split(name))
            found.add(name)
        except MissingPerception as error:
            assert str(error) == f"split {name!r} is not among those that the reader is asked about"
    assert found == asked and module.PAIRS == "pairs"


def test_a_split_is_asked_about_once_and_eight_are_remembered(monkeypatch):
    reader = Reader([[1, 0, 0]] * 2, [THIRD] * 2)
    source = RememberedConcepts(ReadConcepts(reader, folder="here"))
    assert source.folder == "here" and source.about() == {"reader": "vlm", "model": "eye"} and module.MOST_SPLITS == 8
    for data, asked in (
        (split(), 1), (split(), 1), (split("train"), 2), (split(index=(1, 0)), 3), (split(fingerprint="g"), 4),
        (split(), 4), (split(stored=False), 5), (split(stored=False), 6), (split(stored=False, columns=()), 6),
    ):  # fmt: skip
        assert len(source.probabilities(data)) == 2 and reader.asked == asked
    monkeypatch.setattr(module, "MOST_SPLITS", 5)
    source.probabilities(split("a"))
    source.probabilities(split())
    assert reader.asked == 7
    source.probabilities(split("b"))  # the oldest is forgotten
    source.probabilities(split("train"))
    assert reader.asked == 8
    source.probabilities(split())
    assert reader.asked == 9 and len(source._known) == 5


def predictions(**changed):
    concepts = {"n": Answer(np.array([3, 1, 0]), None)}
    usual = {"fingerprint": "f", "split": "test", "index": np.array([5, 1, 0]), "concepts": concepts}
    return SimpleNamespace(**{**usual, **changed})


def test_predictions_are_put_in_the_order_of_the_examples():
    hat, n = module._concept_probabilities(predictions(), split())
    assert hat.tolist() == [[0, 1, 0]] * 2 and n.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]
    sure = Answer(np.array([3, 1, 0]), np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [0.6, 0.2, 0.2]], dtype=np.float32))
    hat, n = module._concept_probabilities(predictions(concepts={"hat": sure}), split())
    np.testing.assert_allclose(hat, [[0.6, 0.2, 0.2], [0.5, 0.3, 0.2]], rtol=1e-6)
    assert hat.dtype == np.float64 and n.tolist() == [THIRD] * 2
    with pytest.raises(DataError, match="fingerprint g, this is f"):
        module._concept_probabilities(predictions(fingerprint="g"), split())
    with pytest.raises(ConfigError, match="say nothing of concepts"):
        module._concept_probabilities(predictions(concepts={}), split())
    with pytest.raises(DataError, match="says nothing of example 4 of split 'test'"):
        module._concept_probabilities(predictions(), split(index=(1, 4, 7)))


def test_of_several_files_the_one_of_the_split_is_read(tmp_path, monkeypatch):
    parts = {"a.parquet": predictions(split="train"), "b.parquet": predictions(), "c.parquet": predictions(split="ood")}
    monkeypatch.setattr(module, "read_predictions", lambda path, knowledge: parts[path.name])
    for inside in (tmp_path / "plain", tmp_path / "run" / "predictions"):
        inside.mkdir(parents=True)
        for name in ("c.parquet", "a.parquet", "b.parquet"):
            (inside / name).touch()
        (inside / "notes.txt").touch()
    for folder in (tmp_path / "plain", tmp_path / "run", tmp_path / "plain" / "b.parquet"):
        source = PredictionFiles(folder)
        assert source.probabilities(split())[1].tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]
        assert source.about() == {"folder": folder.name}
        with pytest.raises(MissingPerception, match="has no predictions for split 'valid'; add some"):
            source.probabilities(split("valid"))
        with pytest.raises(MissingPerception, match="has no predictions for worlds drawn anew"):
            source.probabilities(split(stored=False))
    assert [path.name for path in PredictionFiles(tmp_path / "run")._files] == ["a.parquet", "b.parquet", "c.parquet"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="is no run, no predictions file and holds none"):
        PredictionFiles(tmp_path / "empty").probabilities(split())


def test_a_run_gives_stored_predictions_if_they_are_of_these_examples(tmp_path, monkeypatch):
    (tmp_path / "predictions").mkdir()
    (tmp_path / "predictions" / "test.parquet").touch()
    stored, now = predictions(), predictions(concepts={"n": Answer(np.array([2, 2, 2]), None)})
    now.index = np.array([0, 1, 9])
    own = SimpleNamespace(predict=lambda data: now)
    detector = Detector(tmp_path)
    detector.__dict__["_model"] = own
    monkeypatch.setattr(module, "read_predictions", lambda path, knowledge: stored)
    monkeypatch.setattr(Detector, "_refuse_other", lambda self, data: None)
    assert detector.probabilities(split())[1].argmax(axis=1).tolist() == [0, 1]
    assert detector.probabilities(split(index=(0, 9)))[1].argmax(axis=1).tolist() == [2, 2]
    assert detector.probabilities(split(stored=False))[1].argmax(axis=1).tolist() == [2, 2]
    now.fingerprint = "g"
    assert detector.probabilities(split(fingerprint="g"))[1].argmax(axis=1).tolist() == [2, 2]


@pytest.mark.parametrize(
    ("concepts", "message"),
    [
        ((Concept("n", (0, 1, 2, 3)),), None),
        ((Concept("n", (0, 1, 2, 3)), Concept("more", (0, 1))), None),
        ((Concept("n", (0, 1, 2)),), "knows other values of concept 'n' than the data"),
        ((Concept("m", (0, 1, 2)),), "knows none of the concepts of the data"),
    ],
)
def test_a_run_that_knows_other_concepts_is_refused(concepts, message, tmp_path, monkeypatch):
    sized = []
    monkeypatch.setattr("assay.models.core.runs.require_size", lambda *given: sized.append(given))
    detector, data = Detector(tmp_path), split()
    data.layout = "layout"
    detector.__dict__["_model"] = own = SimpleNamespace(space=ConceptSpace(concepts))
    if message is None:
        detector._refuse_other(data)
        assert sized == [(own, "layout", "split 'test'")]
    else:
        with pytest.raises(DataError, match=message):
            detector._refuse_other(data)


def test_a_model_without_concepts_is_no_perception(tmp_path, monkeypatch):
    for has in (True, False):
        model = SimpleNamespace(has_concepts=has, name="blackbox")
        monkeypatch.setattr("assay.models.core.runs.load_model", lambda folder, model=model: model)
        if has:
            assert Detector(tmp_path)._model is model
        else:
            with pytest.raises(ConfigError, match="holds 'blackbox', which says nothing of concepts"):
                _ = Detector(tmp_path)._model


def test_a_fingerprint_is_of_weights_and_program(tmp_path):
    assert Detector(tmp_path).fingerprint is None
    (tmp_path / module.PROGRAM).write_bytes(b"rule")
    one = Detector(tmp_path).fingerprint
    (tmp_path / module.WEIGHTS).write_bytes(b"numbers")
    assert len(one) == 32 and Detector(tmp_path).fingerprint != one


# -- settings ----------------------------------------------------------------------------------------------------------


def test_settings_name_the_source(tmp_path, monkeypatch):
    assert isinstance(perception_of(None), TrueConcepts)
    (tmp_path / "p.parquet").touch()
    found = perception_of(str(tmp_path / "p.parquet"))
    assert isinstance(found, RememberedConcepts) and found.source == PredictionFiles(tmp_path / "p.parquet")
    (tmp_path / perception_settings.RUN).touch()
    assert perception_of(str(tmp_path)).source == Detector(tmp_path)
    with pytest.raises(DataError, match="perception: no run or predictions file"):
        perception_of(str(tmp_path / "none"))
    with pytest.raises(ConfigError, match=r"reader: only perception=vlm or clip:FOLDER has such settings, not '.*'"):
        perception_of(str(tmp_path), {"model": "x"})


@pytest.mark.parametrize(
    ("text", "settings", "folder", "splits", "pairs"),
    [
        ("vlm", {}, None, None, False), ("vlm", {"splits": ["test"]}, None, ("test",), False),
        ("vlm", {"splits": ["test", "pairs"]}, None, ("test", "pairs"), True),
        ("clip:here", {}, "here", None, True), ("clip:here", {"splits": ["test"]}, "here", ("test",), True),
    ],
)  # fmt: skip
def test_a_reader_is_asked_about_pairs_where_that_is_free(text, settings, folder, splits, pairs, monkeypatch):
    asked, reader = [], Reader()
    monkeypatch.setattr(perception_settings, "open_reader", lambda *given: asked.append(given) or reader)
    found = perception_of(text, settings).source
    assert asked == [(text, settings)] and found.reader is reader and found.splits == splits and found.pairs is pairs
    assert (None if found.folder is None else found.folder.name) == folder
    reader.words = ("a",)
    with pytest.raises(ConfigError, match="'concepts' are for assay annotate"):
        perception_of(text)


def test_paths_are_made_whole_and_left_out_of_records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resolve_perception(PerceptionConfig()) == {"perception": None}
    assert resolve_perception(PerceptionConfig(perception="run")) == {"perception": str(tmp_path / "run")}
    record = {"config": {"perception": "/far/run", "reader": {"model": "x", "cache": "/far"}}, "model": "tree"}
    kept = with_perception(record, PredictionFiles(tmp_path / "p"))
    assert kept["config"] == {"perception": "run", "reader": {"model": "x"}} and kept["perception"] == {"folder": "p"}
    plain = {"config": {"perception": None, "reader": {"cache": 1}}}
    assert with_perception(plain, None) == {**plain, "perception": None} and kept["model"] == "tree"


def test_a_run_says_where_its_perception_lies_as_seen_from_it(tmp_path):
    files = PredictionFiles(tmp_path / "a" / "p")
    wanted = {"folder": "p", "from_run": "../a/p"}
    assert perception_seen_from(files, tmp_path / "run") == wanted and perception_seen_from(None, tmp_path) is None
    assert perception_seen_from(TrueConcepts(), tmp_path) is None
    assert perception_seen_from(ReadConcepts(Reader()), tmp_path) == {"reader": "vlm", "model": "eye"}


def test_a_saved_perception_is_found_again_unless_it_has_learned_anew(tmp_path):
    run, place = tmp_path / "run", tmp_path / "eye"
    place.mkdir()
    run.mkdir()
    (place / module.PROGRAM).write_bytes(b"rule")
    mark = Detector(place).fingerprint
    config = {"reader": {"splits": ["test"], "model": "x"}}

    def saved(**record):
        return saved_perception({"perception": record or None, "config": config}, run)

    assert saved() == {"perception": None} and saved_perception({}, run) == {"perception": None}
    assert saved(reader="vlm") == {"perception": "vlm", "reader": {"model": "x"}}
    assert saved(folder="eye", from_run="../eye") == {"perception": str(run / "../eye")}
    assert saved(folder=str(place), from_run="nowhere") == {"perception": str(place)}
    assert saved(folder="eye", from_run="../eye", fingerprint=mark) == {"perception": str(run / "../eye")}
    clip = saved(folder="eye", from_run="../eye", reader="clip", fingerprint="other")
    assert clip == {"perception": f"clip:{run / '../eye'}", "reader": {"model": "x"}}
    with pytest.raises(DataError, match="has learned anew since"):
        saved(folder="eye", from_run="../eye", fingerprint="other")
    with pytest.raises(DataError, match=r"the perception 'eye' of .* is no longer at '../ear', as seen from the run"):
        saved(folder="eye", from_run="../ear")
