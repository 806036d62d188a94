"""The audit of many concepts ends: it tries some, says so, and knows how far it is."""

import numpy as np
import pytest

from assay.auditing import audit, open_imported
from assay.render import encode_png
from tests.own_files import call

CONCEPTS, ROWS = 300, 400


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pictures that show the first concept, and a table of many; the last is the negation of the one before."""
    folder, rng = tmp_path_factory.mktemp("many"), np.random.default_rng(0)
    codes = rng.integers(2, size=(ROWS, CONCEPTS))
    codes[:, -1] = 1 - codes[:, -2]
    lines = [",".join(["file", "split", *(f"concept_c{i}" for i in range(CONCEPTS)), "label_y"])]
    for row, own in enumerate(codes):
        (folder / f"{row}.png").write_bytes(encode_png(np.full((4, 4, 3), 200 * own[0], dtype=np.uint8)))
        lines.append(",".join([f"{row}.png", ("train", "test")[row % 2], *map(str, own), str(own[0])]))
    (folder / "concepts.csv").write_text("\n".join(lines))
    return folder


def test_ties_are_found_among_many_concepts(folder):
    free = audit(open_imported(folder), ["free"]).results[0]
    assert free.status == "fail" and f"c{CONCEPTS - 2} determines c{CONCEPTS - 1}" in free.text


@pytest.mark.slow
def test_an_audit_of_many_concepts_says_how_many_it_tried(folder):
    seen = []
    found = audit(open_imported(folder), ["free", "visible"], lambda name, share: seen.append(share))
    assert " of 300 concepts were tried, drawn at random" in found.results[1].text
    assert seen == sorted(seen) and len(seen) > 10 and seen[0] == 0 and 0.8 < seen[-1] < 1
    assert call("audit", folder, "--no-write", "--check", "free")[0] == 1
