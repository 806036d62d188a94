"""The setups by which thresholds may be chosen: digits, kandinsky figures, robots and solids."""

from functools import cache, partial

from benchmarks.trained.setups import CHOOSING, Setup
from benchmarks.trained.sources import Look, task_source

PARITY = cache(partial(task_source, "mnlogic"))
SUMS = cache(partial(task_source, "mnadd-evenodd"))
TENS = cache(partial(task_source, "mnadd", rule="a + b >= 10", concepts=("a", "b")))
KAND = cache(partial(task_source, "kand-logic"))
ROBOTS = cache(partial(task_source, "robots"))
SOLIDS = cache(partial(task_source, "clevr-small"))
BODY = ("head", "body", "knees", "antennae", "ears", "mouth", "foot_shape")
RARE = (
    "knees and mouth == 'closed' and foot_shape == 'pointy' or not knees and mouth == 'open' and foot_shape == 'flat'"
)
RARE_ROBOTS = cache(partial(task_source, "robots", concepts=BODY, rule=RARE))

parity = partial(Setup, family="digits", half=CHOOSING, source=PARITY)
sums = partial(Setup, family="digits", half=CHOOSING, source=SUMS)
tens = partial(Setup, family="digits", half=CHOOSING, source=TENS)
kand = partial(Setup, family="kandinsky", half=CHOOSING, source=KAND, train=2500, epochs=12,
               look=Look(places=2))  # fmt: skip
robots = partial(Setup, family="robots", half=CHOOSING, source=ROBOTS)
solids = partial(Setup, family="clevr", half=CHOOSING, source=SOLIDS, train=2500, epochs=16)
GRAINY, DARK, BLURRED = Look(noise=0.45), Look(brightness=0.35), Look(blur=0.9)

GOOD = [
    parity(name="parity-sound", cause="none", model="independent", head="rule", intended=("sound",), test=600),
    kand(name="kand-sound", cause="none", model="independent", head="rule", intended=("sound",), test=400),
    robots(name="robots-sound", cause="none", model="sequential", head="linear", intended=("sound",), test=2000),
    solids(name="solids-sound", cause="none", model="joint", head="rule", intended=("sound",), label_weight=1.0),
    robots(name="robots-sound-200", cause="none", model="independent", head="rule", intended=("sound",), test=200),
    robots(name="robots-opaque", cause="no concepts", model="blackbox", intended=("opaque",), test=800),
    robots(name="robots-forest", cause="no concepts", model="pixels", head="forest", intended=("opaque",)),
    robots(name="robots-part-silent", cause="a concept not predicted", model="multitask", silent=("mouth",),
           intended=("opaque",)),
    robots(name="robots-free", cause="no rule known", model="sequential", head="linear", rule=False,
           intended=("no rule",)),
    parity(name="parity-free", cause="no rule known", model="sequential", head="tree", rule=False,
           intended=("no rule",), test=300),
    robots(name="robots-unidentified", cause="unused concepts not supervised", model="independent", head="rule",
           supervised=("knees", "mouth", "foot_shape"), intended=("unidentified", "sound")),
]  # fmt: skip
HEADS = [
    parity(name="parity-linear", cause="linear head", model="independent", head="linear", intended=("wrong rule",)),
    solids(name="solids-linear", cause="linear head", model="independent", head="linear", intended=("wrong rule",)),
    kand(name="kand-stump", cause="small tree as head", model="independent", head="stump", intended=("wrong rule",)),
    robots(name="robots-rare", cause="rare class missed", model="independent", head="stump", source=RARE_ROBOTS,
           rare=0.04, test=1500, intended=("wrong rule",)),
    robots(name="robots-label-noise", cause="label noise at n = 100", model="independent", head="tree",
           train=100, test=100, label_noise=0.2, look=Look(noise=0.05), epochs=40,
           intended=("wrong rule", "too few", "noisy", "inconsistent")),
    robots(name="robots-head-noise", cause="label noise at n = 100", model="given", head="tree", train=100, test=100,
           label_noise=0.25, intended=("wrong rule", "too few")),
]  # fmt: skip
READING = [
    robots(name="robots-grainy", cause="noise in pictures", model="independent", head="rule", look=GRAINY, epochs=6,
           train=600, intended=("noisy",)),
    solids(name="solids-undertrained", cause="few examples, wrong annotations in training", model="independent",
           head="rule", train=250, concept_noise=0.2, intended=("noisy",)),
    sums(name="sums-labels-only", cause="concepts learned by labels alone", model="joint", head="rule",
         concept_weight=0.0, epochs=25, intended=("shortcut",)),
    robots(name="robots-labels-only", cause="concepts learned by labels alone", model="joint", head="rule",
           concept_weight=0.0, intended=("shortcut",)),
    parity(name="parity-half-supervised", cause="two concepts by labels alone", model="joint", head="rule",
           supervised=("a", "b"), epochs=25, intended=("shortcut", "noisy")),
    robots(name="robots-joint-leak", cause="joint, concepts weigh little", model="joint", head="hidden",
           concept_weight=0.02, epochs=5, train=700, intended=("leaking", "noisy", "shortcut", "inconsistent")),
    tens(name="tens-side-by-side", cause="labels beside concepts, few examples", model="multitask", train=300,
         look=Look(noise=0.35), intended=("inconsistent", "noisy", "leaking", "wrong rule", "underfit")),
    robots(name="robots-astray", cause="labels beside concepts, both from noise", model="beside", train=700, epochs=6,
           look=GRAINY, intended=("inconsistent", "noisy", "wrong rule")),
    robots(name="robots-few", cause="n = 60, noise in pictures", model="independent", head="rule", test=60,
           look=Look(noise=0.3), intended=("too few", "noisy")),
    parity(name="parity-few", cause="n = 60", model="independent", head="rule", test=60,
           intended=("too few", "sound")),
]  # fmt: skip
TABLE = [
    robots(name="robots-annotations", cause="annotation noise, 10 % at random", model="independent", head="rule",
           table_noise=0.1, test=600, intended=("annotations",)),
    parity(name="parity-annotations", cause="annotation noise, 5 % at random", model="independent", head="rule",
           table_noise=0.05, test=600, intended=("annotations",)),
    robots(name="robots-annotations-class", cause="annotation noise, 20 % by class", model="independent", head="rule",
           table_noise=0.2, table_noise_where="mouth == 'open'", table_noise_in=("knees",), test=800,
           intended=("annotations",)),
    solids(name="solids-annotated-labels", cause="label annotations, 8 % wrong", model="independent", head="rule",
           table_noise=0.08, table_labels=True, intended=("annotations",)),
    robots(name="robots-gaps", cause="gaps at random", model="independent", head="rule", gaps=0.1,
           intended=("sound",)),
    robots(name="robots-gaps-value", cause="gaps where knees", model="independent", head="rule", gaps=0.4,
           gaps_where="knees", intended=("sound",)),
]  # fmt: skip
WORLDS = [
    parity(name="parity-withheld", cause="withheld worlds", model="blackbox", other="worlds", epochs=20,
           intended=("memorised", "missed region")),
    sums(name="sums-withheld", cause="withheld worlds", model="independent", head="rule", other="worlds",
         intended=("memorised", "boundary")),
    solids(name="solids-sparse", cause="sparse worlds", model="blackbox", distinct=24, epochs=30, other="worlds",
           intended=("memorised", "underfit")),
    robots(name="robots-poisoned", cause="label poison in a region", model="blackbox",
           poison="knees and mouth == 'closed'", test=800, intended=("missed region",)),
    parity(name="parity-poisoned", cause="label poison in a region", model="blackbox", poison="a and not b", epochs=20,
           test=800, intended=("missed region",)),
    robots(name="robots-table-poisoned", cause="label poison in a region", model="table", head="tree",
           poison="knees and foot_shape == 'pointy'", intended=("missed region",)),
    tens(name="tens-boundary", cause="black box near the boundary", model="blackbox", train=1500,
         intended=("boundary", "opaque", "missed region")),
    kand(name="kand-underfit", cause="rule too hard for a black box", model="blackbox", train=1500, epochs=10,
         intended=("underfit",)),
]  # fmt: skip
LOOKS = [
    robots(name="robots-watermark", cause="undeclared watermark", model="blackbox", marks=0.97, other="pictures",
           epochs=5, look=Look(noise=0.35), intended=("shifted",)),
    solids(name="solids-watermark", cause="undeclared watermark", model="blackbox", marks=0.95, other="pictures",
           intended=("shifted",)),
    parity(name="parity-blurred", cause="covariate shift, blur", model="independent", head="rule", other="pictures",
           other_look=BLURRED, intended=("shifted",)),
    kand(name="kand-grainy-ood", cause="covariate shift, noise", model="independent", head="rule",
         other="pictures", other_look=Look(noise=0.45, places=2), test=300, others=200, intended=("shifted",)),
]  # fmt: skip
HIDDEN = [
    robots(name="robots-incomplete", cause="incomplete concepts", model="given", head="tree",
           hidden=("mouth", "foot_shape"),
           rule=False, intended=("incomplete",)),
    parity(name="parity-incomplete", cause="incomplete concepts", model="sequential", head="linear", hidden=("d",),
           rule=False, intended=("incomplete",)),
    robots(name="robots-incomplete-joint", cause="incomplete concepts, joint", model="joint", head="hidden",
           hidden=("mouth", "foot_shape"), rule=False, concept_weight=0.5, intended=("leaking", "incomplete")),
    robots(name="robots-beside", cause="labels bypass concepts", model="beside",
           hidden=("mouth", "foot_shape"), rule=False, intended=("leaking", "incomplete")),
]  # fmt: skip
SETUPS = [*GOOD, *HEADS, *READING, *TABLE, *WORLDS, *LOOKS, *HIDDEN]
