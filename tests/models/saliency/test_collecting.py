"""Maps are made part by part, scored and kept; the check by random weights; and what is written of it all."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.concepts import bits
from assay.config import Settings
from assay.diagnosis import ScoredTarget
from assay.errors import UnknownName
from assay.logic import Knowledge
from assay.models import Saliency, SaliencyPlan
from assay.models.saliency import explaining, folder, methods, places
from assay.models.saliency.examined import SaliencyTarget
from assay.models.saliency.explaining import ExplainedPart, Explainer, _Checked, _Collected
from assay.models.saliency.methods import Eye, GradCam, IntegratedGradients, eyes_of
from assay.models.saliency.places import SaliencyPlaces
from assay.models.saliency.randomised import randomise_downwards, weighted_layers
from assay.render import Box

Y = SaliencyTarget("label", "y", 0, ("no", "yes"))
Z = SaliencyTarget("label", "z", 1, (0, 1, 2))
C = SaliencyTarget("concept", "c", 0, ("red", "blue"))
RULE, MARK = ScoredTarget("label y", "label", "its concepts"), ScoredTarget("concept c", "concept", "frame", True)


class Rows(list):
    """Examples that can be cut, some at a time, as those of a split can."""

    picture_shape = (2, 3, 1)

    def pieces(self, size):
        self.asked = size
        return [self[start : start + 2] for start in range(0, len(self), 2)]

    def __getitem__(self, which):
        return Rows(super().__getitem__(which)) if isinstance(which, slice) else super().__getitem__(which)


class Model:
    """A model whose log-probabilities are what it is asked about."""

    name, device, network = "m", torch.device("cpu"), None

    def predict_codes(self, part, targets, pictures):
        return [torch.tensor([10 * target.place + row for row in part]) for target in targets]

    def answerer(self, part, targets):
        return lambda pictures: [part, targets, pictures]


@pytest.fixture
def plain(monkeypatch):
    """Let scores be the codes that they are of, and pictures the numbers of the examples."""
    monkeypatch.setattr(explaining, "to_batch", lambda part, device: SimpleNamespace(images=list(part)))
    monkeypatch.setattr(explaining, "scaled", lambda images: images)
    monkeypatch.setattr(explaining, "scores_of", lambda answer, codes: torch.stack(list(codes)))


def maps_of(scores, pictures):
    """Return maps that say which codes they are of."""
    return scores[:, :, None, None].expand(-1, -1, 2, 3).double()


def test_parts_are_explained_with_the_codes_of_their_own_examples(plain):
    explainer, told, rows = Explainer(Model(), (Y, Z), maps_of), [], Rows(range(5))
    parts = list(explainer.parts(rows, lambda *said: told.append(said)))
    assert told == [("maps", 0, 5), ("maps", 2, 5), ("maps", 4, 5)] and rows.asked == 64
    assert [part.codes.tolist() for part in parts] == [[[0, 1], [10, 11]], [[2, 3], [12, 13]], [[4], [14]]]
    assert [list(part.data) for part in parts] == [[0, 1], [2, 3], [4]] and parts[0].maps.dtype == np.float32
    assert all((part.maps == part.codes[:, :, None, None]).all() and part.gaps is None for part in parts)
    given = np.array([[7, 6, 5, 4, 3], [0, 2, 4, 6, 8]])
    parts = list(explainer.parts(rows, codes=given))
    assert [part.codes.tolist() for part in parts] == [[[7, 6], [0, 2]], [[5, 4], [4, 6]], [[3], [8]]]


@pytest.mark.parametrize(
    ("shape", "size"), [((8, 8, 3), 64), ((512, 512, 4), 4), ((256, 512, 1), 32), ((4000, 4000, 3), 1)]
)
def test_large_pictures_are_explained_few_at_a_time(plain, shape, size):
    rows = Rows([1])
    rows.picture_shape = shape
    list(Explainer(Model(), (Y,), maps_of).parts(rows))
    assert rows.asked == size


def test_gaps_of_integrated_gradients_are_added_up(plain):
    class Path(IntegratedGradients):
        def __call__(self, scores, pictures):
            return maps_of(scores, pictures)

        def gaps(self, scores, pictures, maps):
            return scores * 0.5, maps[:, :, 0, 0] + 1

    explainer = Explainer(Model(), (Y, Z), Path(torch.zeros(1, 2, 3)))
    (part,) = explainer.parts(Rows([1, 2]))
    assert part.gaps == ((1 + 2 + 11 + 12) / 2, 1 + 2 + 11 + 12 + 4)


class Masks:
    """Places that score the second target on one mask and the first on another."""

    def masks(self, data):
        yield 1, RULE, np.ones((len(data), 2, 3), dtype=bool)
        yield 0, MARK, np.zeros((len(data), 2, 3), dtype=bool)


def part(start, count, gaps=None):
    codes = np.arange(start, start + count) + np.array([[0], [100]])
    return ExplainedPart(Rows(range(count)), codes, np.tile(codes[:, :, None, None], (1, 1, 2, 3)).astype(float), gaps)


def test_all_maps_are_scored_and_the_first_are_kept(monkeypatch):
    monkeypatch.setattr(
        explaining.ExampleScores, "of", lambda maps, masks: (maps[:, 0, 0].tolist(), masks.shape, bool(masks.all()))
    )
    monkeypatch.setattr(explaining.ExampleScores, "join", lambda parts: parts)
    kept = _Collected(4)
    for one in (part(1, 3, (1.0, 8.0)), part(4, 2), part(6, 1, (2.0, 7.0))):
        kept.add(one, Masks())
    assert kept.by_mask == {
        RULE: [([101, 102, 103], (3, 2, 3), True), ([104, 105], (2, 2, 3), True), ([106], (1, 2, 3), True)],
        MARK: [([1, 2, 3], (3, 2, 3), False), ([4, 5], (2, 2, 3), False), ([6], (1, 2, 3), False)],
    }
    assert [maps.shape[1] for maps in kept.maps] == [3, 1, 0] and kept.completeness == 0.2
    codes, maps = kept.first(2)
    assert codes.tolist() == [[1, 2], [101, 102]] and maps[:, :, 1, 2].tolist() == codes.tolist()
    codes, maps = kept.first(5)
    assert codes.shape == (2, 5) and maps.shape == (2, 4, 2, 3)
    assert _Collected(1).completeness is None


def test_scores_are_summed_up_with_the_words_of_their_target(monkeypatch):
    asked = []

    def summed(scored, examples, words, untrained):
        asked.append((scored, examples, words, untrained))
        return None if scored is MARK else "score"

    monkeypatch.setattr(explaining, "summarise", summed)
    monkeypatch.setattr(_Collected, "by_mask", {RULE: "ours", MARK: "theirs"})
    found = _Collected(1, codes=[np.array([[0, 1], [1, 1]]), np.array([[1], [0]])])
    assert explaining._summarise(found, _Checked(untrained={MARK: "drawn"}), (Y, C)) == (["score"], [MARK])
    assert asked == [(RULE, "ours", ["no", "yes", "yes"], None), (MARK, "theirs", ["blue", "blue", "red"], "drawn")]


# -- the check ---------------------------------------------------------------------------------------------------------


def checked(plan, model, explainer_targets=(Y, Z, C), **changed):
    found = SimpleNamespace(first=lambda count: (np.arange(9).reshape(3, 3)[:, :count], np.ones((3, 3, 2, 3))))
    explainer = Explainer(model, explainer_targets, maps_of)
    return explaining._check(explainer, Masks(), Rows([0, 1, 2, 3]), plan, found, changed.get("report", print))


def plan(**settings):
    return SaliencyPlan.of("occlusion", Settings(settings), seed=6)


def test_what_has_no_weights_is_not_checked():
    model = Model()
    assert checked(plan(check="none"), model).why_not == "The check by random weights was left out."
    for network in (None, nn.ReLU()):
        model.network = network
        found = checked(plan(), model)
        assert found.check is None and not found.untrained
        assert found.why_not == "No check by random weights: 'm' has no weights that can be drawn anew."


@pytest.mark.parametrize(("check", "cascade"), [("cascade", True), ("all", False)])
def test_labels_are_compared_at_each_stage_and_all_targets_are_scored_at_the_last(plain, monkeypatch, check, cascade):
    asked, told, stages, scored = [], [], [], []
    model = Model()
    model.network = nn.Linear(1, 1)
    layers = [SimpleNamespace(name=name) for name in ("top", "middle", "bottom")]

    def stage_ends(count, every):
        asked.append((count, every))
        return [1, 3]

    def randomise(network, given, ends, seed):
        asked.append((network, given, ends, seed))
        yield 1, layers[0]
        yield 3, layers[2]

    monkeypatch.setattr(explaining, "weighted_layers", lambda network, call: asked.append((network, call())) or layers)
    monkeypatch.setattr(explaining, "stage_ends", stage_ends)
    monkeypatch.setattr(explaining, "randomise_downwards", randomise)
    monkeypatch.setattr(explaining, "RandomisationCheck", lambda stages: stages)
    monkeypatch.setattr(explaining.RandomisedStage, "of", lambda *given: stages.append(given) or given[:2])
    monkeypatch.setattr(
        _Collected, "add", lambda self, part, places: scored.append((len(stages), part.codes.tolist(), list(part.data)))
    )
    found = checked(plan(check=check, check_examples=3), model, report=lambda *said: told.append(said))
    assert asked[0][0] is model.network and [list(asked[0][1][0]), asked[0][1][1:]] == [[0], [(Y, Z, C), [0]]]
    assert asked[1:] == [(3, cascade), (model.network, layers, [1, 3], 6)]
    assert told == [("random weights", 0, 2), ("random weights", 1, 2)] and found.check == ((1, "top"), (3, "bottom"))
    for number, (count, name, trained, drawn) in enumerate(stages):
        assert (count, name) == ((1, "top"), (3, "bottom"))[number]
        assert trained.shape == (6, 2, 3) and (trained == 1).all()
        assert drawn[:, 1, 2].tolist() == [0, 1, 2, 3, 4, 5]  # of the labels alone, one after the other
    assert scored == [(2, [[0, 1], [3, 4], [6, 7]], [0, 1]), (2, [[2], [5], [8]], [2])]


@pytest.mark.parametrize(("pictures", "check_examples"), [(2, 3), (3, 1)])
def test_all_steps_of_an_explanation_belong_together(monkeypatch, pictures, check_examples):
    asked, model = [], Model()
    model.network = SimpleNamespace(to=lambda device: asked.append(device))
    model.about = lambda: {"model": "m"}
    data = Rows(range(4))
    config = {"pictures": pictures, "check_examples": check_examples, "device": "cpu"}
    asked_for = SaliencyPlan.of("occlusion", Settings(config), examples=99, seed=1)
    places_of = SimpleNamespace(notes=("of places",), missing=lambda scores, unseen: [f"{scores} {unseen}"])
    monkeypatch.setattr(explaining, "choose_examples", lambda dataset, plan: data)
    monkeypatch.setattr(explaining, "choose_concepts", lambda *given: (["c"], "of concepts"))
    monkeypatch.setattr(explaining, "targets_of", lambda knowledge, concepts: (knowledge, *concepts))
    monkeypatch.setattr(explaining, "attribution_for", lambda *given: given[0] is asked_for and "attribution")
    monkeypatch.setattr(explaining.SaliencyPlaces, "of", lambda dataset, data, targets: places_of)
    monkeypatch.setattr(Explainer, "parts", lambda self, given, report: [part(0, 3), part(3, 1)])
    monkeypatch.setattr(_Collected, "add", lambda self, part, places: self.maps.append((part, places)))
    monkeypatch.setattr(_Collected, "first", lambda self, count: (f"{count} codes", f"{count} maps"))

    def check(explainer, places, given, plan, found, report):
        asked.append((explainer.targets, explainer.attribution, places, given, found.most, len(found.maps), report))
        return _Checked("check", why_not="not checked")

    monkeypatch.setattr(explaining, "_check", check)
    monkeypatch.setattr(explaining, "_summarise", lambda found, checked, targets: (["score"], ["unseen"]))
    monkeypatch.setattr(explaining, "describe_blank", lambda scores: "")
    monkeypatch.setattr(explaining, "provenance", lambda dataset: "from here")
    found = explaining.explain(model, SimpleNamespace(knowledge="rule"), asked_for, print)
    assert asked[0] == torch.device("cpu")
    assert asked[1] == (("rule", "c"), "attribution", places_of, data, 3, 2, print)
    assert found.notes == ("of concepts", "not checked", "of places", "['score'] ['unseen']") and found.check == "check"
    assert (found.plan.examples, found.plan.seed, found.model, found.scores) == (4, 1, "m", ("score",))
    assert list(found.shown) == list(range(pictures)) and found.maps == f"{pictures} maps"
    assert found.codes == f"{pictures} codes" and found.targets == ("rule", "c") and found.completeness is None
    assert found.about["model"] == "m" and found.about["data"] == "from here" and "torch" in found.about["used"]


def test_a_layer_that_is_called_again_stays_where_it_was_first():
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    network = nn.ModuleDict({"second": second, "first": first})
    found = weighted_layers(network, lambda: first(second(first(torch.ones(1, 2)))))
    assert [layer.name for layer in found] == ["second", "first"]


def test_layers_of_one_shape_are_drawn_apart():
    network = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    layers = weighted_layers(network, lambda: network(torch.ones(1, 3)))
    assert [layer.name for layer in layers] == ["1", "0"]
    for _ in randomise_downwards(network, layers, [2], seed=0):
        assert not torch.equal(network[0].weight, network[1].weight)


def test_each_label_is_scored_on_its_own_concepts(monkeypatch):
    masks = SimpleNamespace(kind="masks", of_concepts=lambda names: names)
    monkeypatch.setattr(places, "ConceptMasks", lambda data: masks)
    found = SaliencyPlaces((Z, C, Y), {"y": ("a", "c"), "z": ("b",)}, {}, ()).masks(Rows([1]))
    assert [(place, scored.target, scored.place, names) for place, scored, names in found] == [
        (0, "label z", "its concepts", ("b",)), (1, "concept c", "the concept", ("c",)),
        (2, "label y", "its concepts", ("a", "c")),
    ]  # fmt: skip


# -- what is told and written ------------------------------------------------------------------------------------------


def saliency(**changed):
    shown = SimpleNamespace(index=np.array([7, 1234]), images=np.zeros((2, 2, 3, 1), dtype=np.uint8))
    scores = tuple(
        SimpleNamespace(target=target, place=place, to_dict=lambda place=place: place)
        for target, place in (("label y", "its concepts"), ("label y", "frame"), ("concept c", "the concept"))
    )
    usual = {
        "plan": SaliencyPlan.of("occlusion", Settings({"steps": 4}), examples=40, split="hard", seed=3),
        "model": "m", "about": {"who": "m"}, "scores": scores, "check": None, "completeness": 0.0,
        "notes": ("one", "two"), "targets": (Y, C), "shown": shown, "maps": np.arange(24.0).reshape(2, 2, 2, 3),
        "codes": np.array([[1, 0], [1, 1]]),
    }  # fmt: skip
    return Saliency(**{**usual, **changed})


def test_scores_are_found_by_target_and_place(monkeypatch):
    found = saliency()
    assert [found.score("label y", place).place for place in ("frame", "its concepts")] == ["frame", "its concepts"]
    for target, place in (("label y", "the concept"), ("label z", "frame")):
        with pytest.raises(
            UnknownName, match=f"no maps of '{target}' on '{place}'; there are: label y on its concepts"
        ):
            found.score(target, place)
    with pytest.raises(UnknownName, match="there are: none"):
        saliency(scores=()).score("label y", "frame")
    monkeypatch.setattr(explaining, "describe_marks", lambda scores: [f"{len(scores)} marks"])
    assert found.text == "3 marks\none\ntwo"
    check = SimpleNamespace(text="checked", to_dict=lambda: "stages")
    assert saliency(check=check).text == "3 marks\nchecked\none\ntwo"
    assert repr(found) == "Saliency(occlusion of m on hard)\n3 marks\none\ntwo"
    plain = saliency(check=check).to_dict()
    assert plain.pop("config")["steps"] == 4 and plain == {
        "method": "occlusion", "model": {"who": "m"}, "split": "hard", "examples": 40, "seed": 3,
        "scores": ["its concepts", "frame", "the concept"], "check": "stages", "completeness_error": 0.0,
        "notes": ["one", "two"],
    }  # fmt: skip
    assert found.to_dict()["check"] is None


def test_each_map_is_drawn_over_its_own_picture(monkeypatch, tmp_path):
    found, asked = saliency(), []
    monkeypatch.setattr(folder, "explain", lambda *given: asked.append(given) or found)
    monkeypatch.setattr(folder, "encode_png", lambda drawn: drawn)
    monkeypatch.setattr(folder, "draw_over", lambda image, relevance: str(relevance[0, 0]).encode())
    assert folder.explain_into(tmp_path / "out", "model", "data", "plan", print) is found
    assert asked == [("model", "data", "plan", print)]
    drawn = {str(path.relative_to(tmp_path / "out" / "maps")): path.read_text() for path in tmp_path.rglob("*.png")}
    assert drawn == {
        "label-y/00007-yes.png": "0.0", "label-y/01234-no.png": "6.0",
        "concept-c/00007-blue.png": "12.0", "concept-c/01234-blue.png": "18.0",
    }  # fmt: skip
    assert json.loads((tmp_path / "out" / "saliency.json").read_text()) == found.to_dict()


def test_maps_of_overlapping_parts_add_up_in_their_places():
    maps, eye = torch.ones(2, 4, 6), Eye(nn.Identity(), (Box(0, 0, 4, 2), Box(2, 1, 6, 4)))
    GradCam((eye,))._add(maps, eye, torch.tensor([1.0, 2.0, 30.0, 40.0])[:, None, None].expand(-1, 3, 3))
    wanted = np.ones((2, 4, 6))
    for picture, (first, second) in enumerate(((1, 30), (2, 40))):
        wanted[picture, 0:2, 0:4] += first
        wanted[picture, 1:4, 2:6] += second
    np.testing.assert_allclose(maps, wanted)
    whole, lone = torch.zeros(1, 4, 6), Eye(nn.Identity())
    GradCam((lone,))._add(whole, lone, torch.full((1, 2, 2), 5.0))
    np.testing.assert_allclose(whole, np.full((1, 4, 6), 5.0))


class Seeing(nn.Module):
    """An encoder with two convolutions, that looks at some parts of a picture."""

    def __init__(self, *boxes):
        super().__init__()
        self.first, self.last = nn.Conv2d(1, 2, 1), nn.Conv2d(2, 2, 1)
        self.view = SimpleNamespace(boxes=boxes)


def test_every_encoder_has_its_own_eye(monkeypatch):
    monkeypatch.setattr(methods, "Reader", Seeing)
    left, right = Seeing(Box(0, 0, 2, 2)), Seeing()
    blind = Seeing()
    del blind.first, blind.last
    network = nn.ModuleList([left, nn.Conv2d(1, 1, 1), blind, right])
    assert eyes_of(network, "net") == (Eye(left.last, (Box(0, 0, 2, 2),)), Eye(right.last))


def test_what_a_convolution_gave_is_not_changed_by_what_comes_next():
    torch.manual_seed(0)
    convolution, pictures = nn.Conv2d(1, 3, 2), torch.rand(2, 1, 4, 6)
    weights = torch.randn(3, 3, 5)

    def maps(inplace):
        def scores(images):
            found = nn.functional.relu(convolution(images), inplace=inplace)
            return torch.stack(
                [(found * weights).sum(dim=(1, 2, 3)), found.sum(dim=(1, 2, 3)), images.sum(dim=(1, 2, 3))]
            )

        return GradCam((Eye(convolution),))(scores, pictures)

    plain = maps(False)
    np.testing.assert_allclose(maps(True), plain)
    assert plain.shape == (3, 2, 4, 6) and not plain[2].any() and plain[1].any()  # the last does not depend on it


def test_places_are_the_concepts_of_each_rule_and_the_marks(monkeypatch):
    kinds = {"kind": "boxes"}
    dataset = SimpleNamespace(
        folder="here", knowledge=Knowledge.of(bits(["a", "b", "c"]), {"y": "c and a", "z": "b", "w": "not a"})
    )
    monkeypatch.setattr(places, "_marks", lambda dataset, data: ({"frame": "area"}, [f"of {len(data)}"]))
    monkeypatch.setattr(places, "ConceptMasks", lambda data: SimpleNamespace(**kinds) if not len(data) else None)
    found = SaliencyPlaces.of(dataset, Rows(range(3)), (Y, C))
    assert found.targets == (Y, C) and found.marks == {"frame": "area"} and found.notes == ("of 3",)
    assert found.used == {"y": ("a", "c"), "z": ("b",), "w": ("a",)}
    kinds["kind"] = ""
    assert SaliencyPlaces.of(dataset, Rows(range(3)), ()).notes[1].startswith("'here' has no masks, no boxes and no")
