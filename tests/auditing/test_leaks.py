"""What tells the label without the concepts, pictures that were seen before, and concepts that are not free."""

import numpy as np
import pytest
from benchmarks.audit import Setting, dataset
from PIL import Image

from assay.auditing import audit, audited_dataset, open_imported
from assay.base import rng_for
from assay.render import Picture
from tests.auditing.planted import SIZES, Squares, examined_task, failed, finding, folder_of, picture, rows


def with_border(row, number, strength):
    """Return a picture whose border is brighter where the label is true."""
    image = picture(row, number)
    return np.pad(image, 2, constant_values=100 + strength * bool(row["label_y"]))


@pytest.mark.parametrize(("strength", "checks"), [(0, set()), (80, {"nuisances"})])
def test_a_border_that_tells_the_label(strength, checks, tmp_path):
    folder = folder_of(tmp_path / "folder", rows(), draw=lambda row, number: with_border(row, number, strength))
    data = open_imported(folder)
    assert failed(data) == checks
    assert ("by the region in row 1" in finding(data, "nuisances")[1]) == bool(checks)


@pytest.mark.parametrize("seed", range(3))
def test_clean_pictures_whose_label_is_an_xor_pass(seed):
    """A big red square is redder than a small one, so that mean colours follow two concepts together, as the label does."""
    assert audit(dataset(seed, 500, Setting(rule="xor")), ["nuisances"]).results[0].status == "pass"


@pytest.mark.parametrize("rule", ["xor", "and"])
@pytest.mark.parametrize("examples", [500, 2000])
def test_a_small_watermark_on_most_positives(examples, rule):
    (found,) = audit(dataset(0, examples, Setting(rule, share=0.95)), ["nuisances"]).results
    assert found.status == "fail" and "of 8 x 8" in found.text


def test_what_tells_the_label_where_models_learn_must_tell_it_again_elsewhere(tmp_path):
    def draw(row, number):
        return with_border(row, number, 80 * (row["split"] == "train"))

    assert failed(open_imported(folder_of(tmp_path / "folder", rows(), draw=draw))) == set()


def test_what_tells_a_label_that_concepts_do_not_decide_is_named_and_may_be_content(tmp_path):
    table, luck = rows(600), rng_for(0, "drawn labels")
    for row in table:
        row["label_y"] = bool(luck.integers(2))
    for strength in (0, 80):
        draw = lambda row, number, strength=strength: with_border(row, number, strength)  # noqa: E731
        data = open_imported(folder_of(tmp_path / str(strength), table, None, draw))
        assert ("by the region in row 1" in finding(data, "nuisances")[1]) == (strength > 0) and failed(data) == set()


class Framed(Squares):
    """Squares in a frame that is brighter where the label is true."""

    name = "framed"

    @property
    def layout(self):
        inner = Squares.layout.func(self)
        return type(inner)(inner.width + 2, inner.height + 2)

    def render(self, world):
        image = super().render(world).image
        return Picture(np.pad(image, 1, constant_values=60 + 120 * self.is_true(world.codes)))


def test_a_frame_of_ours_that_tells_the_label(tmp_path, monkeypatch):
    assert failed(examined_task(Framed, tmp_path / "data", monkeypatch)) == {"nuisances"}


def test_file_size_that_tells_the_label(tmp_path):
    """Pictures of one class are plain at the edge, those of the other noisy: only the size of the file tells."""

    def draw(row, number):
        image = picture(row, number)
        edge = np.full((SIDE_OF_EDGE, image.shape[1]), 127, dtype=np.uint8)
        noise = rng_for(0, "edge", number).integers(2, size=edge.shape) * 8 - 4
        return np.concatenate([image, (edge + (noise if row["label_y"] else 0)).astype(np.uint8)])

    data = open_imported(folder_of(tmp_path / "folder", rows(), draw=draw))
    assert failed(data) == {"nuisances"} and "by file size" in finding(data, "nuisances")[1]


SIDE_OF_EDGE = 24


def test_size_and_colour_that_follow_the_content_are_no_leak(tmp_path):
    """A light square is also noisier, so its files are larger; the rule `a and b` goes along with that."""

    def draw(row, number):
        image = picture(row, number).astype(np.int64)
        light = np.repeat([row["concept_a"], row["concept_b"], row["concept_c"]], 16)
        return np.where(light[None, :], image, image // 40 * 40).astype(np.uint8)

    table = rows(600)
    for row in table:
        row["label_y"] = row["concept_a"] and row["concept_b"]
    data = open_imported(folder_of(tmp_path / "folder", table, "labels: {y: a and b}\n", draw))
    sizes = np.array([len(file) for file in data.parts["test"].pictures])
    true = data.parts["test"].labels[:, 0] == 1
    assert sizes[true].mean() > 1.1 * sizes[~true].mean()
    assert failed(data) == set()


def test_a_faint_tale_of_the_pictures_is_noted(tmp_path):
    """Scenes in which two things meet are often, not always, darker: no failure, but not nothing."""

    def draw(row, number):
        darker = rng_for(0, "scene", number).random() < (0.75 if row["label_y"] else 0.25)
        return picture(row, number) // (2 if darker else 1)

    data = open_imported(folder_of(tmp_path / "folder", rows(800), draw=draw))
    status, text = finding(data, "nuisances")
    assert status == "note" and "the concepts may bring that along" in text and failed(data) == set()


def test_nothing_is_left_of_colours_that_the_concepts_explain(made):
    """The mean colour of three pixels is a sum over concepts; the error of rounding must not spell them out."""
    data = audited_dataset(made("mnlogic", k=3, pixels=True, prop_in_distribution=1.0, splits={**SIZES, "valid": 0}))
    text = finding(data, "nuisances")[1]
    assert "region" not in text and "mean colour" not in text
    assert "duplicates" in failed(data)  # there are but eight pictures


@pytest.mark.parametrize("fewer", [1, 3])
def test_the_order_of_the_examples(fewer, tmp_path):
    """Sorted by label, in splits of one size or of very different ones."""
    table = rows(1000)
    table = [row for row in table if row["split"] == "train"] + [row for row in table if row["split"] == "test"][
        ::fewer
    ]
    table.sort(key=lambda row: row["label_y"])
    data = open_imported(folder_of(tmp_path / "folder", table, draw=None))
    assert failed(data) == {"nuisances"} and "by index" in finding(data, "nuisances")[1]


def test_a_number_that_tells_the_label(tmp_path):
    table = rows()
    for row in table:
        row["nuisance_tilt"] = round(row["nuisance_tilt"] + 3.0 * row["label_y"], 3)
    data = open_imported(folder_of(tmp_path / "folder", table, draw=None))
    assert failed(data) == {"nuisances"} and "by tilt" in finding(data, "nuisances")[1]


def test_a_word_that_tells_the_label_whichever_split_has_it_first(tmp_path):
    table = rows()
    train = [row for row in table if row["split"] == "train"]
    test = sorted(
        (row for row in table if row["split"] == "test"), key=lambda row: train[0]["label_y"] == row["label_y"]
    )
    for row in table:
        row["nuisance_font"] = "serif" if row["label_y"] else "sans"
    assert train[0]["label_y"] != test[0]["label_y"]
    data = open_imported(folder_of(tmp_path / "folder", train + test, draw=None))
    assert "nuisances" in failed(data) and "by font" in finding(data, "nuisances")[1]


def test_more_than_one_label_is_told(tmp_path):
    table = rows()
    for row in table:
        row["label_z"] = row["concept_c"]
        row["nuisance_tilt"] = int(row["label_z"])
        row["nuisance_font"] = str(row["label_y"])
    data = open_imported(folder_of(tmp_path / "folder", table, "labels: {y: a ^ b, z: c}\n", draw=None))
    text = finding(data, "nuisances")[1]
    assert "'y' is predicted" in text and "'z' is predicted" in text


def test_without_a_test_split_of_some_size_nothing_is_learned(tmp_path):
    data = open_imported(folder_of(tmp_path / "folder", rows(260), draw=None))
    assert finding(data, "nuisances")[0] == "not checked"
    table = [{**row, "split": {"test": "held"}.get(row["split"], row["split"])} for row in rows()]
    assert finding(open_imported(folder_of(tmp_path / "held", table, draw=None)), "nuisances")[0] == "pass"


# -- pictures that were seen before --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("apart", "status"), [(0, "fail"), (2, "fail"), (60, "pass")])
def test_near_duplicates(apart, status, tmp_path):
    """Some test pictures are training pictures, or nearly."""

    def draw(row, number):
        copied = row["split"] == "test" and number % 20 == 0
        image = picture(table[number - 200] if copied else row, number - 200 if copied else number).astype(np.int64)
        return (image + rng_for(0, "apart", number).integers(apart + 1, size=image.shape)).astype(np.uint8)

    table = rows()
    data = open_imported(folder_of(tmp_path / "folder", table, draw=draw))
    found, text = finding(data, "duplicates")
    assert found == status and ("test: 8 pictures (5 %), such as row 0" in text) == (status == "fail")


def scene(number):
    """Return a smooth picture, as a photograph is: a few soft spots of light."""
    rng = rng_for(0, "scene", number)
    down, across = np.mgrid[0:64, 0:64]
    spots = [
        rng.uniform(40, 160) * np.exp(-((down - y) ** 2 + (across - x) ** 2) / size**2)
        for y, x, size in zip(*rng.uniform(0, 64, (2, 12)), rng.uniform(4, 14, 12), strict=True)
    ]
    return np.clip(40 + sum(spots), 0, 255)


CHANGES = {
    "mirrored": lambda image: image[:, ::-1],
    "upside down": lambda image: image[::-1],
    "as it is": lambda image: image * 0.7 + 20,
    "cropped": lambda image: np.array(Image.fromarray(image[5:61, 3:59].astype(np.uint8)).resize((64, 64))),
}


@pytest.mark.parametrize("how", CHANGES)
def test_copies_that_were_changed(how, tmp_path):
    """Some test pictures are training pictures, mirrored, darker or cropped; the others are like none."""

    def draw(row, number):
        copied = row["split"] == "test" and number % 20 == 0
        image = CHANGES[how](scene(number - 200)) if copied else scene(number)
        return image.astype(np.uint8)

    data = open_imported(folder_of(tmp_path / "folder", rows(), draw=draw))
    status, text = finding(data, "duplicates")
    assert status == "fail" and "test: 8 pictures (5 %), such as row 0" in text
    assert text.endswith(how) or how == "as it is"


def test_pictures_of_other_sizes_and_kinds_are_compared(tmp_path):
    def draw(row, number):
        image = picture(row, number)
        if number % 3 == 0:
            return np.repeat(image[:, :, None], 3, axis=2)
        return image[:5, :7] if number % 3 == 1 else image

    data = open_imported(folder_of(tmp_path / "folder", rows(), draw=draw))
    assert finding(data, "duplicates")[0] == "pass" and finding(data, "nuisances")[0] == "pass"


# -- concepts that are not free ------------------------------------------------------------------------------------------


def test_concepts_tied_together(tmp_path):
    table = [row for row in rows(900) if row["concept_b"] != row["concept_c"]]
    data = open_imported(folder_of(tmp_path / "folder", table, draw=None))
    assert failed(data) == {"free"} and "train: b determines c" in finding(data, "free")[1]
    rule = "labels: {y: a ^ b}\nsplits: {train: b ^ c}\n"
    assert failed(open_imported(folder_of(tmp_path / "said", table, rule, draw=None))) == set()


def test_a_concept_that_is_constant(tmp_path):
    table = [{**row, "concept_c": row["concept_c"] or row["split"] == "train"} for row in rows()]
    data = open_imported(folder_of(tmp_path / "folder", table, draw=None))
    assert failed(data) == {"free"} and "train: c is always True" in finding(data, "free")[1]
    rule = "labels: {y: a ^ b}\nsplits: {train: c}\n"
    assert failed(open_imported(folder_of(tmp_path / "said", table, rule, draw=None))) == set()


# -- ceilings ------------------------------------------------------------------------------------------------------------


def test_ceilings_without_a_rule(tmp_path):
    """Labels that concepts do not decide: true in three of four cases where c holds, by chance otherwise."""
    table, rng = rows(4200), rng_for(0, "luck")
    for row in table:
        row["label_y"] = bool(rng.random() < (0.75 if row["concept_c"] else 0.5))
    (found,) = audit(open_imported(folder_of(tmp_path / "folder", table, None, draw=None)), ["ceilings"]).results
    assert found.numbers["concepts"] == pytest.approx(0.625, abs=0.03)
    assert found.numbers["majority"] == pytest.approx(0.625, abs=0.03)
    assert found.numbers["nuisances"] == pytest.approx(0.5, abs=0.06)


def test_the_rule_is_a_ceiling_where_no_world_occurs_twice(made):
    data = made("mnlogic", k=24, pixels=True, splits={"train": 20, "valid": 10, "test": 20, "ood": 0, "hard": 0})
    (found,) = audit(audited_dataset(data), ["ceilings"]).results
    assert found.numbers["concepts"] == found.numbers["visible concepts"] == 1.0
