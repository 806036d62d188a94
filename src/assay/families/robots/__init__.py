"""Robots, told apart by body parts: pictures, descriptions and tables (Concept Benchmark)."""

from assay.tasks import TASKS

TASKS.add(
    "robots", "robots told apart by body parts, seen, described or tabulated", "assay.families.robots.task:Robots"
)
