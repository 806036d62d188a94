"""Readers by how they are written; what names none has no settings of one."""

import pytest

from assay.errors import AssayError, ConfigError
from assay.models import reader_for
from assay.models.readers.opening import is_reader, open_reader


def test_what_names_a_reader():
    assert [is_reader(text) for text in ("vlm", "clip:weights", "clip:", "clip")] == [True] * 4
    assert [is_reader(text) for text in ("./vlm", "vlms", "run", "clips", "", None)] == [False] * 6


def test_clip_without_its_folder_is_told():
    for text in ("clip", "clip:"):
        with pytest.raises(AssayError) as caught:
            open_reader(text, {})
        assert "clip:FOLDER" in str(caught.value) and "\n" not in str(caught.value)


def test_settings_are_those_of_a_reader():
    assert reader_for(None, {}) is None and reader_for("run", {}) is None
    for text, why in ((None, "none is named"), ("run", "'run' is neither")):
        with pytest.raises(ConfigError, match=f"reader: these are settings of vlm or clip:FOLDER, and {why}"):
            reader_for(text, {"model": "eye"})
