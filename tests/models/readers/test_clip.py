"""CLIP as a reader: the probabilities are those of the library, by texts that can be chosen."""

import json
import shutil

import numpy as np
import pytest
import torch

from assay.concepts import Concept
from assay.config import Settings
from assay.data import Annotation, Dataset, annotate
from assay.diagnosis import InterventionPlan, intervene
from assay.errors import AssayError, MissingExtra
from assay.models import Order, load_model, reader_for, train_run
from assay.models.readers.opening import open_reader
from assay.models.readers.texts import ClipConfig, prompts


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
    reader = open_reader(f"clip:{clip}", {})
    read = reader.probabilities(mnlogic["test"])
    for name, probabilities in zip("abc", read, strict=True):
        wanted = reference(clip, mnlogic["test"], [f"a photo without {name}", f"a photo with {name}"]).softmax(dim=1)
        np.testing.assert_allclose(probabilities, wanted.numpy(), atol=1e-5)
    assert np.ptp(read[0][:, 0]) > 0.001  # pictures differ


def test_texts_are_chosen_for_each_value(mnlogic, clip, tmp_path):
    (tmp_path / "texts.yaml").write_text("a:\n  true: a beanie\n  false: [a wheel, a photo]\nb: wheel\n")
    reader = open_reader(f"clip:{clip}", {"texts": str(tmp_path / "texts.yaml")})
    first, second, _ = reader.probabilities(mnlogic["test"])
    scores = reference(clip, mnlogic["test"], ["a photo without wheel", "a photo with wheel"])
    np.testing.assert_allclose(second, scores.softmax(dim=1).numpy(), atol=1e-5)
    averaged = open_reader(f"clip:{clip}", {"texts": {"a": {"true": "a beanie", "false": "a wheel"}}})
    assert np.abs(averaged.probabilities(mnlogic["test"])[0] - first).max() > 1e-4
    assert reader.about()["settings"]["texts"]["a"]["true"] == "a beanie" and str(tmp_path) not in str(reader.about())


def test_prompts_follow_from_names_and_values():
    config = ClipConfig(template="a {concept} that is {value}")
    assert prompts(Concept("head_shape", ("round",)), config) == [["a head shape that is round"]]
    car = Concept("car1.load", ("two_balls", "absent"))
    assert prompts(car, config) == [["a car 1 load that is two balls"], ["a photo without car 1"]]
    assert prompts(Concept("n", (0, 3)), ClipConfig()) == [["a photo with 0 n"], ["a photo with 3 n"]]


def test_pictures_are_embedded_once(mnlogic, clip, monkeypatch):
    from assay.models.readers.clip import ClipImages

    seen = []
    usual = ClipImages.forward
    monkeypatch.setattr(ClipImages, "forward", lambda self, images: seen.append(len(images)) or usual(self, images))
    told = []
    reader = open_reader(f"clip:{clip}", {"batch_size": 10}, lambda *progress: told.append(progress))
    first = reader.probabilities(mnlogic["test"])
    again = open_reader(f"clip:{clip}", {}).probabilities(mnlogic["test"])
    assert sum(seen) == len(set(mnlogic["test"].pngs)) and told[-1] == ("reading test", 32, 32)
    np.testing.assert_array_equal(first[0], again[0])


def test_free_words_are_true_from_their_mean_in_training_on(mnlogic, clip, tmp_path):
    reader = open_reader(f"clip:{clip}", {"concepts": ["beanie", "a wheel"]})
    annotate(mnlogic, Annotation(machine=f"clip:{clip}"), tmp_path / "new", reader)
    new = Dataset.open(tmp_path / "new")
    scores = {split: reference(clip, mnlogic[split], ["beanie", "a wheel"]) for split in ("train", "test")}
    wanted = scores["test"] >= scores["train"].mean(dim=0)
    assert new.knowledge.space.names == ("beanie", "a_wheel")
    assert (new["test"].concepts == wanted.numpy()).mean() > 0.95  # but for a score that is the mean to the last digit
    assert 0.2 < new["train"].given_concepts.mean() < 0.8
    record = new.manifest["task"]["annotation"]
    assert (record["machine"], record["reader"]["reader"]) == ("scores", "clip")
    assert (
        record["reader"]["settings"] == {"concepts": ["beanie", "a wheel"]}
        and len(record["reader"]["fingerprint"]) == 32
    )
    assert str(clip) not in json.dumps(new.manifest)


def test_a_dataset_is_annotated_by_the_likeliest_value_or_from_a_threshold_on(mnlogic, clip, tmp_path):
    read = np.stack(open_reader(f"clip:{clip}", {}).probabilities(mnlogic["train"]), axis=1)[:, :, 1]
    cut = float(np.median(read[:, 0]))
    for threshold, wanted in ((None, read > 0.5), (cut, read >= cut)):
        folder = tmp_path / f"new{threshold}"
        annotation = Annotation(machine=f"clip:{clip}", threshold=threshold)
        annotate(mnlogic, annotation, folder, open_reader(f"clip:{clip}", {}))
        np.testing.assert_array_equal(Dataset.open(folder)["train"].given_concepts, wanted.astype(int))


def test_it_perceives_and_answers(mnlogic, clip, tmp_path):
    settings = {"perception": f"clip:{clip}", "reader": {"template_true": "a wheel with {concept}"}, "device": "cpu"}
    model = train_run(Order("cbm", Settings({**settings, "epochs": 2})), mnlogic, tmp_path / "run")
    read = open_reader(f"clip:{clip}", settings["reader"]).probabilities(mnlogic["test"])
    np.testing.assert_allclose(model.predict(mnlogic["test"]).concepts["b"].probabilities, read[1], atol=1e-5)
    text = (tmp_path / "run" / "run.json").read_text()
    assert json.loads(text)["config"]["perception"] == "clip:weights" and str(clip.resolve()) not in text
    again = load_model(tmp_path / "run")
    np.testing.assert_allclose(again.predict(mnlogic["test"]).concepts["b"].probabilities, read[1], atol=1e-5)
    plan = InterventionPlan(policy="random", budget="max", source=f"clip:{clip}")
    found = intervene(plan, mnlogic, again.intervene, reader=reader_for(plan.source, {}))
    codes = np.stack([p.argmax(axis=1) for p in open_reader(f"clip:{clip}", {}).probabilities(mnlogic["test"])], axis=1)
    assert found.curve.points[-1].concept_accuracy == pytest.approx((codes == mnlogic["test"].concepts).mean())


def test_a_folder_that_does_not_serve_is_one_line(mnlogic, clip, tmp_path, monkeypatch):
    def message(folder, **settings):
        with pytest.raises(AssayError) as caught:
            open_reader(f"clip:{folder}", settings).probabilities(mnlogic["test"])
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
        open_reader(f"clip:{clip}", {})


def test_where_and_in_what_batches_it_reads_is_no_part_of_its_record(clip):
    plain = open_reader(f"clip:{clip}", {}).about()
    assert open_reader(f"clip:{clip}", {"device": "cpu", "batch_size": 3}).about() == plain
    assert plain["settings"] == {} and plain["reader"] == "clip" and plain["folder"] == clip.name
