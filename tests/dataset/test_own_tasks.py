"""A task of one's own that does not keep its word is refused when its data is made; what it plants may be left out."""

from dataclasses import replace

import numpy as np
import pytest

from assay.base import Entry, KnowledgeError, Settings
from assay.dataset import recipe_from
from assay.logic import ABSENT, Concept, ConceptSpace, Knowledge, bits
from assay.tasks import TASKS
from tests.toys import Coin, written

SPACE = bits([*"abc"])


class Absent(Coin):
    """In some worlds the label has no value."""

    name = "absent"
    knowledge = Knowledge.of(
        ConceptSpace((Concept("x", (1, 2, ABSENT)), *bits(["b", "c"]).concepts)), {"y": "x", "z": "b"}
    )


class Shared(Coin):
    """The test split says that it shares no world with the training split."""

    name = "shared"

    def splits(self):
        return tuple(
            replace(split, disjoint_from=("train",)) if split.name == "test" else split for split in super().splits()
        )


class Finer(Coin):
    """Lamps are lit where both of their wires are, and one wire is told wrongly."""

    name = "finer"
    knowledge = Knowledge(
        SPACE, Knowledge.of(SPACE, {"y": "a and b"}).labels, (), Knowledge.of(bits(["p", "q"]), {"a": "p and q"})
    )

    def subconcepts_of(self, worlds):
        return np.array([[world.codes[0], 1] for world in worlds])


class Wrong(Finer):
    """One wire is told wrongly."""

    name = "wrong"

    def subconcepts_of(self, worlds):
        return np.zeros((len(worlds), 2), dtype=np.int64)


@pytest.mark.parametrize(
    ("task", "why"),
    [
        (Absent, "a label is absent in some world"),
        (Shared, "split 'test' says it shares no world with 'train', but it does"),
        (Wrong, "the subconcepts of some world do not give its concepts"),
    ],
)
def test_a_task_that_does_not_keep_its_word_is_refused(task, why, tmp_path):
    with pytest.raises(KnowledgeError, match=why) as caught:
        written(task(), tmp_path / "data", train=40, valid=2, test=40, hard=0, pairs=0)
    assert "\n" not in str(caught.value)


def test_finer_concepts_come_back_from_disk(tmp_path):
    data = written(Finer(), tmp_path / "data", train=40, valid=2, test=4, hard=0, pairs=0)["train"]
    assert data.subconcepts.tolist() == [[code, 1] for code in data.concepts[:, 0].tolist()]


class Planting(Coin):
    """Frames go with the label unless asked otherwise."""

    name = "planting"
    planted = ({"what": "frame", "with": "y"},)


def test_what_a_task_plants_can_be_left_out_or_replaced(monkeypatch):
    monkeypatch.setitem(TASKS.entries, "planting", Entry("planting", "tests", Planting))

    def planted(**settings):
        return [
            one["what"] for one in recipe_from("planting", Settings(settings)).to_dict()["task"].get("confound", [])
        ]

    own = recipe_from("planting", Settings({})).task
    assert [split.name for split in own.splits()][-2:] == ["unconfounded", "reversed"]
    none = recipe_from("planting", Settings({"confound": []})).task
    assert "reversed" not in [split.name for split in none.splits()]
    assert planted(confound=[{"what": "watermark", "with": "y"}]) == ["watermark"]
