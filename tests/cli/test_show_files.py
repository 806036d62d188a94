"""`assay show FILE.py` and `FILE.py:Name`, by the registered name and by that of the class."""

from tests.own_files import OWN


def test_what_a_file_defines_is_shown_by_either_name(assay, tmp_path):
    file = tmp_path / "own.py"
    file.write_text(OWN)
    for reference in (file, f"{file}:two-lamps", f"{file}:Lamps"):
        assert "left > right" in assay("show", reference).out
    for reference in (f"{file}:my-net", f"{file}:Net"):
        assert "A bottleneck of one's own." in assay("show", reference).out
    assert "share of examples with labels and concepts all right" in assay("show", f"{file}:both_right").out
    assert "has no task named 'Lampe'" in assay("show", f"{file}:Lampe").error
