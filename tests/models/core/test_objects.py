"""One network for objects: it sees one object at a time and reads all its attributes."""

import pytest
import torch

import assay
from assay.errors import ConfigError
from assay.models import MODELS
from assay.models.core.encoder import ConceptEncoder


@pytest.fixture(scope="module")
def crops(tmp_path_factory):
    return assay.make("kand-logic", n=20, view="objects", output=tmp_path_factory.mktemp("kand") / "data")


def test_one_network_reads_shape_and_colour_of_every_object(crops):
    space, layout = crops.knowledge.space, crops.layout
    encoder = ConceptEncoder(space, layout, "mlp-wide", "objects")
    (reader,) = encoder.readers
    assert reader.head.out_features == 6 and len(reader.view.boxes) == 9
    pictures = torch.rand(2, 3, 28, 252)
    whole = encoder(pictures)
    assert [tuple(logits.shape) for logits in whole] == [(2, 3)] * 18
    alone = reader.head(reader.body(pictures[:, :, :, 28:56]))  # the second object
    second = [whole[space.place(f"figure1.object2.{name}")] for name in ("shape", "colour")]
    assert torch.allclose(torch.cat(second, dim=1), alone, atol=1e-6)


def test_objects_without_a_part_of_their_own_are_refused(tmp_path):
    data = assay.make("kand-logic", n=20, output=tmp_path / "figures")
    with pytest.raises(ConfigError, match="share: objects: the pictures do not show figure1.object1 in a part"):
        MODELS["dpl"](data, settings={"share": "objects"}, seed=0)
    digits = assay.make("mnadd", n=20, output=tmp_path / "digits")
    with pytest.raises(ConfigError, match="share: objects: the concepts are not all attributes of objects"):
        MODELS["dpl"](digits, settings={"share": "objects"}, seed=0)
