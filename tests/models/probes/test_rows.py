"""The table of probed layers: a number of zero is written, one that is not known is left empty."""

from assay.models.probes.runs import METRICS, _csv


def test_zero_is_written_and_what_is_not_known_is_empty():
    values = [0.0, None, 0.25, 1.0]
    test = {metric: {"value": values[place % 4]} for place, metric in enumerate(METRICS)}
    row = {"number": 2, "layer": "body.3", "kind": "Linear", "features": 64, "best": True, "test": test}
    head, line = _csv([row]).splitlines()
    assert head.split(",")[:5] == ["number", "layer", "kind", "features", "best"]
    assert head.split(",")[5:] == [f"test_{metric}" for metric in METRICS]
    wanted = [("0.0000", "", "0.2500", "1.0000")[place % 4] for place in range(len(METRICS))]
    assert line.split(",") == ["2", "body.3", "Linear", "64", "True", *wanted]
