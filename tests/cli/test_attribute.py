"""`assay attribute` lists the concepts behind errors, as many as asked for."""

import json
import re

from tests.predictors import predictions


def test_as_many_concepts_as_asked_for_are_listed(assay, data, tmp_path):
    test = data["test"]
    said = test.concepts.copy()
    said[::4, 0] ^= 1
    said[::2, 1] ^= 1
    predictions(test, data.knowledge.labels_of(said), said).write(tmp_path / "said.parquet", data.knowledge)
    told = json.loads(assay("attribute", tmp_path / "said.parquet", data.folder, "--json").out)
    assert told["fingerprint"] == data.fingerprint and told["split"] == "test"
    assert told["whole"]["examples"] == len(test) and told["whole"]["wrong"] == told["whole"]["perception"] > 0
    misread = {one["concept"]: one["misread"] for one in told["concepts"]}
    assert misread == {"a": len(test) // 4, "b": len(test) // 2}
    for most in (0, 1, 2):
        text = assay("attribute", tmp_path / "said.parquet", data.folder, "--concepts", most).out
        table = text.partition("misread in")[2]
        listed = [one["concept"] for one in told["concepts"]][:most]
        assert re.findall(r"(?m)^\W*([ab])\b", table) == listed
