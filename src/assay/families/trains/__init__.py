"""Trains of toy cars: which go east? (Michalski's trains, as V-LoL shows them)."""

from assay.exchange import EXPORTS
from assay.tasks import TASKS

TASKS.add(
    "trains", "trains of toy cars: which go east? (V-LoL, Michalski)", "assay.families.trains.task:MichalskiTrains"
)
TASKS.preset(
    "trains-numerical",
    "trains with a car of as many loads and axles as its number",
    "trains",
    "Trains: has some car as many loads and axles as its number?",
    trial={"image": False},
    rule="numerical",
)
TASKS.preset(
    "trains-complex",
    "trains under a rule of numbers, lengths and colours",
    "trains",
    "Trains: numbers compared, a short and a long car of one colour, or three colours.",
    trial={"image": False},
    rule="complex",
)
TASKS.preset(
    "trains-ood",
    "trains, tested on 7 cars and on cars of every look",
    "trains",
    "Trains, tested on trains of 7 cars and on cars of every look.",
    trial={"image": False},
    ood_longer=7,
    ood_uniform=True,
)
TASKS.preset(
    "blocks",
    "trains as rows of simple blocks: which go east?",
    "trains",
    "Trains as rows of simple blocks: which go east?",
    visualization="blocks",
)
EXPORTS.add(
    "vlol", "images, depth maps and scene files of trains, as V-LoL has them", "assay.families.trains.export:write_vlol"
)
