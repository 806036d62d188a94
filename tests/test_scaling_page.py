"""The tables of docs/scaling.md are those computed from what was measured, and the computation adds up."""

import math
from dataclasses import replace
from pathlib import Path

from benchmarks.scaling import NODES, PROCESSORS, RUNS, SCENES, jobs, stored, written

PAGE = Path(__file__).parent.parent / "docs" / "scaling.md"


def test_the_page_shows_the_tables_of_the_stored_measurements():
    assert written(PAGE.read_text(), stored()) == PAGE.read_text()


def test_more_nodes_shorten_the_parallel_part_only():
    units = stored()
    for job in jobs(units).values():
        walls = [job.wall(units, nodes) for nodes in NODES]
        serial = job.once + job.start + job.parts * job.driver
        assert walls == sorted(walls, reverse=True) and walls[-1] >= serial + job.seconds
        alone = serial + math.ceil(job.parts / PROCESSORS) * (job.seconds + units.call_wall)
        assert math.isclose(walls[0], alone)


def test_work_that_costs_nothing_but_itself_is_divided_evenly():
    zeros = {
        "chess_start": 0,
        "shard_driver": 0,
        "data_driver": 0,
        "run_start": 0,
        "run_driver": 0,
        "data": 0,
        "call_driver": 0,
        "call_wall": 0,
    }
    units = replace(stored(), scene=1.0, scenes_in_shard=20, run=36.0, scene_bytes=1e5, run_bytes=1e5, **zeros)
    scenes, runs = jobs(units).values()
    assert scenes.wall(units, 1) == SCENES / PROCESSORS and scenes.wall(units, 1000) == 20
    assert runs.processor_hours(units, 100) == RUNS / 100 and runs.bytes == 1e9
