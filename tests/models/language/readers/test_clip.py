"""CLIP as a reader: the probabilities are those of the library, by texts that can be chosen."""

import json
import shutil

import numpy as np
import pytest
import torch

from assay import Dataset, from_table
from assay.base import AssayError, MissingExtra, Settings
from assay.diagnosis import InterventionPlan, intervene
from assay.exchange import Annotation, annotate
from assay.models import TrainSpec, load_model, reader_for, train_run


def reference(folder, data, texts):
    """Return what the library itself says of pictures and texts."""
    from transformers import AutoTokenizer, CLIPModel

    model, tokenizer = CLIPModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    images = torch.from_numpy(data.images).permute(0, 3, 1, 2).float() / 255
    images = torch.nn.functional.interpolate(images, (16, 16), mode="bilinear", antialias=True).expand(-1, 3, -1, -1)
    mean, deviation = ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])
    scaled = (images - torch.tensor(mean).view(1, 3, 1, 1)) / torch.tensor(deviation).view(1, 3, 1, 1)
    with torch.no_grad():
        out = model(pixel_values=scaled, **tokenizer(texts, padding=True, return_tensors="pt"))
    return out.logits_per_image.double()


def test_probabilities_are_those_of_the_library(mnlogic, clip):
    reader = reader_for(f"clip:{clip}", {})
    read = reader.probabilities(mnlogic["test"])
    for name, probabilities in zip("abc", read, strict=True):
        wanted = reference(clip, mnlogic["test"], [f"a photo without {name}", f"a photo with {name}"]).softmax(dim=1)
        np.testing.assert_allclose(probabilities, wanted.numpy(), atol=1e-5)
    assert np.ptp(read[0][:, 0]) > 0.001  # pictures differ


def read_by(clip, data, concept, **settings):
    """Return what CLIP says of a concept of a split."""
    place = data.knowledge.space.place(concept)
    return reader_for(f"clip:{clip}", settings).probabilities(data)[place]


@pytest.mark.parametrize(
    ("settings", "texts"),
    [
        ({"texts": {"b": "wheel"}}, ["a photo without wheel", "a photo with wheel"]),
        ({"texts": {"b": {"true": "a beanie"}}}, ["a photo without b", "a beanie"]),
        ({"texts": {"b": {True: "a beanie", False: "a wheel"}}}, ["a wheel", "a beanie"]),
        ({"template_true": "a {concept} wheel", "template_false": "{concept}"}, ["b", "a b wheel"]),
    ],
)
def test_texts_are_chosen_for_each_value(settings, texts, mnlogic, clip):
    wanted = reference(clip, mnlogic["test"], texts).softmax(dim=1)
    np.testing.assert_allclose(read_by(clip, mnlogic["test"], "b", **settings), wanted.numpy(), atol=1e-5)


def test_several_texts_of_a_value_are_averaged_and_may_lie_in_a_file(mnlogic, clip, tmp_path):
    (tmp_path / "texts.yaml").write_text("a:\n  true: a beanie\n  false: [a wheel, a photo]\nb: wheel\n")
    reader = reader_for(f"clip:{clip}", {"texts": str(tmp_path / "texts.yaml")})
    both = reader.probabilities(mnlogic["test"])[0]
    for text in ("a wheel", "a photo"):
        one = read_by(clip, mnlogic["test"], "a", texts={"a": {"true": "a beanie", "false": text}})
        assert np.abs(one - both).max() > 1e-4
    same = read_by(clip, mnlogic["test"], "a", texts={"a": {"true": "a beanie", "false": ["a photo", "a wheel"]}})
    np.testing.assert_allclose(same, both, atol=1e-6)
    assert reader.metadata()["settings"]["texts"]["a"]["true"] == "a beanie" and str(tmp_path) not in str(
        reader.metadata()
    )


def test_prompts_follow_from_names_and_values(clip, tmp_path):
    """In plain words; of what is absent it is said that it is not there."""
    rng = np.random.default_rng(0)
    pictures = [rng.integers(0, 256, (16, 16), dtype=np.uint8) for _ in range(20)]
    columns = {"b_c": ["wheel", "absent"] * 10, "beanie": ["a_photo", "wheel"] * 10, "y": [True, False] * 10}
    data = from_table(columns, tmp_path / "data", images=pictures, concepts=["b_c", "beanie"], labels=["y"])["train"]
    for name, texts in (
        ("b_c", {"wheel": "a photo with wheel b c", "absent": "a photo without b c"}),
        ("beanie", {"a_photo": "a photo with a photo beanie", "wheel": "a photo with wheel beanie"}),
    ):
        values = data.knowledge.space.concept(name).values
        wanted = reference(clip, data, [texts[str(value)] for value in values]).softmax(dim=1)
        np.testing.assert_allclose(read_by(clip, data, name), wanted.numpy(), atol=1e-5)


def test_pictures_are_embedded_once_and_in_any_batches(mnlogic, clip, tmp_path):
    def cached():
        return {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()}

    told = []
    reader = reader_for(f"clip:{clip}", {"batch_size": 10}, lambda *progress: told.append(progress))
    first = reader.probabilities(mnlogic["test"])
    kept = cached()
    again = reader_for(f"clip:{clip}", {}).probabilities(mnlogic["test"])
    assert told == [("reading test", done, 32) for done in (10, 20, 30, 32)] and kept and cached() == kept
    np.testing.assert_allclose(first[0], again[0], atol=1e-6)
    assert reader.usage() == {}


def test_what_the_texts_name_must_exist(mnlogic, clip):
    for texts, message in (
        ({"z": "nothing"}, "texts: no concept named 'z'"),
        ({"a": {"red": "a red one"}}, "texts: concept 'a' has no value 'red'"),
        ({"a": {"true": []}}, "texts: 'a' has an empty list for 'true'"),
    ):
        with pytest.raises(AssayError, match=message):
            read_by(clip, mnlogic["test"], "a", texts=texts)


def test_free_words_are_true_from_their_mean_in_training_on(mnlogic, clip, tmp_path):
    reader = reader_for(f"clip:{clip}", {"concepts": ["beanie", "a wheel"]})
    annotate(mnlogic, Annotation(machine=f"clip:{clip}"), tmp_path / "new", reader)
    new = Dataset.open(tmp_path / "new")
    scores = {split: reference(clip, mnlogic[split], ["beanie", "a wheel"]) for split in ("train", "test")}
    wanted = scores["test"] >= scores["train"].mean(dim=0)
    assert new.knowledge.space.names == ("beanie", "a_wheel")
    assert (new["test"].concepts == wanted.numpy()).mean() > 0.95  # but for a score that is the mean to the last digit
    assert 0.2 < new["train"].annotated_concepts.mean() < 0.8
    record = new.manifest.to_dict()["task"]["annotation"]
    assert (record["machine"], record["reader"]["reader"]) == ("scores", "clip")
    assert (
        record["reader"]["settings"] == {"concepts": ["beanie", "a wheel"]}
        and len(record["reader"]["fingerprint"]) == 32
    )
    assert str(clip) not in json.dumps(new.manifest.to_dict())


def test_a_dataset_is_annotated_by_the_likeliest_value_or_from_a_threshold_on(mnlogic, clip, tmp_path):
    read = np.stack(reader_for(f"clip:{clip}", {}).probabilities(mnlogic["train"]), axis=1)[:, :, 1]
    cut = float(np.median(read[:, 0]))
    for threshold, wanted in ((None, read > 0.5), (cut, read >= cut)):
        folder = tmp_path / f"new{threshold}"
        annotation = Annotation(machine=f"clip:{clip}", threshold=threshold)
        annotate(mnlogic, annotation, folder, reader_for(f"clip:{clip}", {}))
        np.testing.assert_array_equal(Dataset.open(folder)["train"].annotated_concepts, wanted.astype(int))


def test_it_perceives_and_answers(mnlogic, clip, tmp_path):
    settings = {"perception": f"clip:{clip}", "reader": {"template_true": "a wheel with {concept}"}, "device": "cpu"}
    model = train_run(TrainSpec("cbm", Settings({**settings, "epochs": 2})), mnlogic, tmp_path / "run")
    read = reader_for(f"clip:{clip}", settings["reader"]).probabilities(mnlogic["test"])
    np.testing.assert_allclose(model.predict(mnlogic["test"]).concepts["b"].probabilities, read[1], atol=1e-5)
    assert (tmp_path / "run" / "predictions" / "pairs.parquet").exists()  # asking about these costs nothing
    text = (tmp_path / "run" / "run.json").read_text()
    assert json.loads(text)["config"]["perception"] == "clip:weights" and str(clip.resolve()) not in text
    again = load_model(tmp_path / "run")
    np.testing.assert_allclose(again.predict(mnlogic["test"]).concepts["b"].probabilities, read[1], atol=1e-5)
    plan = InterventionPlan(policy="random", budget="max", source=f"clip:{clip}")
    found = intervene(plan, mnlogic, again.intervene, reader=reader_for(plan.source, {}))
    codes = np.stack([p.argmax(axis=1) for p in reader_for(f"clip:{clip}", {}).probabilities(mnlogic["test"])], axis=1)
    assert found.curve.points[-1].concept_accuracy == pytest.approx((codes == mnlogic["test"].concepts).mean())


def test_a_folder_that_does_not_serve_is_one_line(mnlogic, clip, tmp_path, monkeypatch):
    def message(folder, **settings):
        with pytest.raises(AssayError) as caught:
            reader_for(f"clip:{folder}", settings).probabilities(mnlogic["test"])
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "config.json' cannot be read: No such file" in message(tmp_path / "none")
    assert "clip:FOLDER, a local folder with the weights of CLIP" in message("")
    bare = tmp_path / "bare"
    shutil.copytree(clip, bare)
    (bare / "model.safetensors").unlink()
    assert "holds no safetensors file of weights" in message(bare)
    mute = tmp_path / "mute"
    shutil.copytree(clip, mute)
    for path in mute.glob("tokenizer*"):
        path.unlink()
    assert "has no tokenizer: it needs tokenizer.json or vocab.json and merges.txt" in message(mute)
    (mute / "tokenizer.json").write_text("{")
    assert "the tokenizer in" in message(mute) and "cannot be read" in message(mute)
    other = tmp_path / "other"
    shutil.copytree(clip, other)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**config, "model_type": "vit"}))
    assert "holds a model of type 'vit', not 'clip'" in message(other)
    assert "is longer than the 12 tokens" in message(clip, texts={"a": {"true": "a photo " * 10}})
    assert "reader: unknown key 'model'" in message(clip, model="eye")
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(MissingExtra, match="the reader 'clip' needs transformers: pip install"):
        reader_for(f"clip:{clip}", {})


def test_where_and_in_what_batches_it_reads_is_no_part_of_its_record(clip):
    plain = reader_for(f"clip:{clip}", {}).metadata()
    assert reader_for(f"clip:{clip}", {"device": "cpu", "batch_size": 3}).metadata() == plain
    assert plain["settings"] == {} and plain["reader"] == "clip" and plain["folder"] == clip.name
