"""Readers by how they are written; what names none has no settings of one."""

import pytest

from assay.base import AssayError, ConfigError
from assay.models import reader_for
from tests.models.symbolic.tables import learn


def test_what_names_a_reader():
    assert reader_for("vlm", {"model": "eye", "concepts": ["a b"]}).words == ("a b",)
    for text in ("./vlm", "vlms", "run", "clips", "", None):
        assert reader_for(text, {}) is None


def test_clip_without_its_folder_is_told():
    for text in ("clip", "clip:"):
        with pytest.raises(AssayError) as caught:
            reader_for(text, {})
        assert "clip:FOLDER" in str(caught.value) and "\n" not in str(caught.value)


def test_settings_are_those_of_a_reader():
    for text, why in ((None, "none is named"), ("run", "'run' is neither")):
        with pytest.raises(ConfigError, match=f"reader: these are settings of vlm or clip:FOLDER, and {why}"):
            reader_for(text, {"model": "eye"})
    with pytest.raises(AssayError, match="reader: unknown key 'template'"):
        reader_for("vlm", {"model": "eye", "template": "x"})


def test_words_of_ones_own_need_different_names():
    with pytest.raises(AssayError, match="concepts need different names"):
        reader_for("vlm", {"concepts": ["b c", "a", "b_c"]})


@pytest.mark.parametrize("perception", ["vlm", "clip:weights"])
def test_concepts_of_its_own_are_for_annotation_only(perception, data, tmp_path, request):
    if perception != "vlm":
        perception = f"clip:{request.getfixturevalue('clip')}"
    with pytest.raises(ConfigError, match="reader: 'concepts' are for assay annotate"):
        learn("tree", data, tmp_path / "run", perception=perception, reader={"concepts": ["beanie"]})
    assert not (tmp_path / "run").exists()
