"""The setups that are held out of the choice of thresholds: sudoku, scenes, driving, trains and figures of Bongard."""

from functools import cache, partial

from benchmarks.trained.setups import HELD, Setup
from benchmarks.trained.sources import Look, task_source

BOARDS = cache(partial(task_source, "sudoku-mini"))
OBJECTS = ("dog", "car", "person", "bicycle", "chair", "bottle")
SCENES = cache(partial(task_source, "cocologic", labels=("either_dog_or_car",), concepts=OBJECTS, most=1))
EITHER = cache(partial(task_source, "cocologic", concepts=OBJECTS, most=1, rule="xor(person >= 1, chair >= 1)"))
RARE_SCENES = cache(partial(task_source, "cocologic", concepts=OBJECTS, most=1,
                            rule="dog >= 1 and car == 0 or chair >= 1 and person == 0"))  # fmt: skip
AHEAD = ("emergency", "car", "person", "rider", "other_obstacle", "green_light", "follow", "clear", "red_light",
         "stop_sign", "left_lane", "right_lane")  # fmt: skip
ROADS = cache(partial(task_source, "sdd-oia", labels=("stop",), concepts=AHEAD))
DECIDING = ("emergency", "car", "person", "rider", "other_obstacle", "green_light", "red_light", "stop_sign")
OBSTACLES = ("car", "person", "rider", "other_obstacle", "clear")
CARS = tuple(f"car{i}.{part}" for i in range(1, 5) for part in ("colour", "length", "roof", "load"))
TRAINS = cache(partial(task_source, "trains", concepts=CARS))
FIGURES = cache(partial(task_source, "bongard-small"))

boards = partial(Setup, family="sudoku", half=HELD, source=BOARDS)
scenes = partial(Setup, family="coco", half=HELD, source=SCENES)
roads = partial(Setup, family="driving", half=HELD, source=ROADS)
trains = partial(Setup, family="trains", half=HELD, source=TRAINS, train=2500, epochs=15,
                 look=Look(noise=0.05, places=2))  # fmt: skip
figures = partial(Setup, family="bongard", half=HELD, source=FIGURES, train=3000, epochs=18)
GRAINY, DARK, BLURRED = Look(noise=0.45), Look(brightness=0.3), Look(noise=0.05, blur=1.4, places=2)

GOOD = [
    roads(name="roads-sound", cause="none", model="independent", head="rule", intended=("sound",), test=800),
    trains(name="trains-sound", cause="none", model="independent", head="rule", intended=("sound",),
           test=300),
    figures(name="figures-sound", cause="none", model="joint", label_weight=0.3, head="rule",
            intended=("sound",), test=400),
    boards(name="boards-sound", cause="none", model="independent", head="rule", intended=("sound",), test=200),
    scenes(name="scenes-sound", cause="none", model="independent", head="rule", intended=("sound",)),
    roads(name="roads-opaque", cause="no concepts", model="blackbox", intended=("opaque",), test=800),
    roads(name="roads-part-silent", cause="a concept not predicted", model="multitask", silent=("red_light",),
          intended=("opaque",)),
    roads(name="roads-free", cause="no rule known", model="independent", head="tree", rule=False,
          intended=("no rule",), test=1000),
    scenes(name="scenes-free", cause="no rule known", model="sequential", head="tree", rule=False,
           intended=("no rule",)),
    roads(name="roads-unidentified", cause="unused concepts not supervised", model="independent", head="rule",
          supervised=DECIDING, intended=("unidentified", "sound")),
]  # fmt: skip
HEADS = [
    figures(name="figures-linear", cause="linear head", model="independent", head="linear",
            intended=("wrong rule",)),
    trains(name="trains-stump", cause="small tree as head", model="independent", head="stump", test=300,
           intended=("wrong rule",)),
    scenes(name="scenes-linear", cause="linear head", model="independent", head="linear", source=EITHER,
           intended=("wrong rule",)),
    scenes(name="scenes-rare", cause="rare class missed", model="independent", head="stump", source=RARE_SCENES,
           rare=0.05, intended=("wrong rule",)),
    roads(name="roads-label-noise", cause="label noise at n = 100", model="given", head="tree", train=100, test=100,
          label_noise=0.3, intended=("wrong rule", "too few")),
]  # fmt: skip
READING = [
    roads(name="roads-grainy", cause="noise in pictures", model="independent", head="rule", look=GRAINY, train=800,
          epochs=6, intended=("noisy",)),
    boards(name="boards-undertrained", cause="few examples, wrong annotations in training", model="independent",
           head="rule", train=200, concept_noise=0.2, test=400, intended=("noisy",)),
    roads(name="roads-labels-only", cause="concepts learned by labels alone", model="joint", head="rule",
          concept_weight=0.0, intended=("shortcut",)),
    boards(name="boards-labels-only", cause="concepts learned by labels alone", model="joint", head="rule",
           concept_weight=0.0, test=400, intended=("shortcut",)),
    scenes(name="scenes-labels-only", cause="concepts learned by labels alone", model="joint", head="rule",
           concept_weight=0.0, epochs=20, intended=("shortcut",)),
    roads(name="roads-joint-leak", cause="joint, concepts weigh little", model="joint", head="hidden",
          concept_weight=0.02, epochs=5, train=900, intended=("leaking", "noisy", "shortcut", "inconsistent")),
    roads(name="roads-side-by-side", cause="labels beside concepts, few examples", model="multitask", train=250,
          look=Look(noise=0.35), intended=("inconsistent", "noisy", "leaking", "wrong rule", "underfit")),
    roads(name="roads-astray", cause="labels beside concepts, both from noise", model="beside", train=700, epochs=6,
          look=GRAINY, intended=("inconsistent", "noisy", "wrong rule")),
    figures(name="figures-few", cause="n = 60", model="independent", head="rule", test=60,
            intended=("too few", "sound")),
    roads(name="roads-few", cause="n = 60, noise in pictures", model="independent", head="rule", test=60,
          look=Look(noise=0.3), intended=("too few", "noisy")),
]  # fmt: skip
TABLE = [
    roads(name="roads-annotations", cause="annotation noise, 10 % at random", model="independent", head="rule",
          table_noise=0.1, test=600, intended=("annotations",)),
    scenes(name="scenes-annotations", cause="annotation noise, 15 % at random", model="independent", head="rule",
           table_noise=0.15, intended=("annotations",)),
    trains(name="trains-annotations-class", cause="annotation noise, 20 % by class", model="independent", head="rule",
           test=300, table_noise=0.2, table_noise_where="car1.length == 'short'",
           table_noise_in=("car1.roof",), intended=("annotations",)),
    figures(name="figures-annotated-labels", cause="label annotations, 8 % wrong", model="independent", head="rule",
            test=400, table_noise=0.08, table_labels=True, intended=("annotations",)),
    roads(name="roads-gaps", cause="gaps at random", model="independent", head="rule", gaps=0.05,
          intended=("sound",)),
    trains(name="trains-gaps-value", cause="gaps where short", model="independent", head="rule", test=400,
           gaps=0.3, gaps_where="car1.length == 'short'", intended=("sound",)),
]  # fmt: skip
WORLDS = [
    trains(name="trains-sparse", cause="sparse worlds", model="blackbox", distinct=60, other="worlds", test=400,
           intended=("memorised", "underfit")),
    roads(name="roads-withheld", cause="withheld worlds", model="blackbox", other="worlds", test=800,
          intended=("memorised", "missed region")),
    roads(name="roads-table-poisoned", cause="label poison in a region", model="table", head="forest", poison="person",
          train=2500, test=800, intended=("missed region",)),
    scenes(name="scenes-table-poisoned", cause="label poison in a region", model="table", head="tree",
           poison="dog == 0 and car == 1", intended=("missed region",)),
    boards(name="boards-boundary", cause="black box near the boundary", model="blackbox", train=300, test=400,
           intended=("boundary", "opaque", "memorised", "missed region")),
    trains(name="trains-boundary", cause="black box near the boundary", model="blackbox",
           train=1500, epochs=10, test=400,
           intended=("boundary", "opaque", "underfit", "missed region")),
    figures(name="figures-underfit", cause="rule too hard for a black box", model="blackbox",
            train=1500, epochs=10, test=300,
            intended=("underfit",)),
]  # fmt: skip
LOOKS = [
    roads(name="roads-watermark", cause="undeclared watermark", model="blackbox", marks=0.97, other="pictures",
          epochs=5, look=Look(noise=0.35), intended=("shifted",)),
    figures(name="figures-watermark", cause="undeclared watermark", model="blackbox", train=1500,
            epochs=10, marks=0.95, other="pictures",
            test=300, intended=("shifted",)),
    boards(name="boards-dark", cause="covariate shift, dim", model="independent", head="rule", other="pictures",
           other_look=DARK, test=300, intended=("shifted",)),
    trains(name="trains-blurred", cause="covariate shift, blur", model="independent", head="rule",
           test=300, others=200, other="pictures", other_look=BLURRED, intended=("shifted",)),
]  # fmt: skip
HIDDEN = [
    roads(name="roads-incomplete", cause="incomplete concepts", model="given", head="tree",
          hidden=OBSTACLES, rule=False, intended=("incomplete",)),
    scenes(name="scenes-incomplete", cause="incomplete concepts", model="sequential", head="linear", source=EITHER,
           hidden=("chair",), rule=False, intended=("incomplete",)),
    scenes(name="scenes-incomplete-joint", cause="incomplete concepts, joint", model="joint", head="hidden",
           source=EITHER, hidden=("chair",), rule=False, concept_weight=0.3, intended=("leaking", "incomplete")),
    roads(name="roads-beside", cause="labels bypass concepts", model="beside", hidden=OBSTACLES, rule=False,
          intended=("leaking", "incomplete")),
]  # fmt: skip
SETUPS = [*GOOD, *HEADS, *READING, *TABLE, *WORLDS, *LOOKS, *HIDDEN]
