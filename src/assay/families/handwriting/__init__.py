"""Handwritten digits, for every family that shows them."""

from assay.tasks import TASKS

TASKS.source("digits", "A folder with the idx files of MNIST.")
