"""The setups of pictures that nobody drew; half of them for choosing thresholds, half held out."""

from functools import partial

from benchmarks.trained.photographs import digit_pairs, digit_traits, micrographs, photographs, there
from benchmarks.trained.setups import CHOOSING, HELD, Setup
from benchmarks.trained.sources import Look

EVEN = "even and loops >= 1"
PLAIN, BLURRED = Look(noise=0.02), Look(noise=0.02, blur=2.2)
traits = partial(Setup, family="scikit-learn", source=partial(digit_traits, EVEN), look=PLAIN, train=900, test=500,
                 epochs=20)  # fmt: skip
hidden_digit = partial(traits, source=partial(digit_traits, "digit in (0, 3, 6, 7)", digit=True),
                       hidden=("digit", "loops"), rule=False)  # fmt: skip
two = partial(Setup, family="scikit-learn", source=partial(digit_pairs, "a + b >= 10"), look=PLAIN, train=3000,
              epochs=22)  # fmt: skip
STAINED = "white or platelet and not crowded"
cells = partial(Setup, family="micrographs", source=partial(micrographs, STAINED), look=PLAIN, train=2000, epochs=15)
photos = partial(Setup, family="photographs", source=partial(photographs, "person and things"), look=PLAIN, train=72,
                 test=72, epochs=25)  # fmt: skip

DIGITS = [
    traits(name="traits-sound", cause="none", half=CHOOSING, model="independent", head="rule", intended=("sound",)),
    two(name="pair-sound", cause="none", half=HELD, model="independent", head="rule", intended=("sound",)),
    traits(name="traits-forest", cause="no concepts", half=HELD, model="pixels", head="forest", intended=("opaque",)),
    two(name="pair-boundary", cause="black box near the boundary", half=HELD, model="blackbox",
        intended=("boundary", "opaque", "missed region")),
    hidden_digit(name="traits-incomplete", cause="incomplete concepts", half=CHOOSING, model="sequential", head="tree",
                 intended=("incomplete",)),
    hidden_digit(name="traits-incomplete-joint", cause="incomplete concepts, joint", half=HELD, model="joint",
                 head="hidden", concept_weight=0.3, intended=("leaking", "incomplete")),
    traits(name="traits-annotations", cause="annotation noise, 10 % at random", half=CHOOSING, model="independent",
           head="rule", table_noise=0.1, intended=("annotations",)),
    two(name="pair-blurred", cause="covariate shift, blur", half=CHOOSING, model="independent", head="rule",
        other="pictures", other_look=BLURRED, intended=("shifted",)),
    two(name="pair-linear", cause="concepts learned from few", half=HELD, model="sequential", head="linear", train=150,
        test=120, intended=("noisy", "too few")),
]  # fmt: skip
FROM_DATA = [
    cells(name="cells-rule", cause="real pictures", half=CHOOSING, model="independent", head="rule",
          intended=("noisy", "sound", "too few")),
    cells(name="cells-opaque", cause="no concepts", half=HELD, model="blackbox", intended=("opaque",)),
    cells(name="cells-annotations", cause="annotation noise, 10 % of a concept", half=HELD, model="given", head="tree",
          table_noise=0.1, table_noise_in=("white",), intended=("annotations",)),
    cells(name="cells-free", cause="no rule known", half=CHOOSING, model="given", head="tree", rule=False,
          intended=("no rule",)),
    photos(name="photos-rule", cause="few real photographs", half=CHOOSING, model="independent", head="rule",
           intended=("noisy", "underfit")),
    photos(name="photos-opaque", cause="few real photographs", half=HELD, model="blackbox",
           intended=("underfit", "opaque", "too few")),
    photos(name="photos-tree", cause="true concepts, n = 72", half=HELD, model="given", head="tree",
           intended=("sound", "too few")),
    photos(name="photos-incomplete", cause="incomplete concepts", half=CHOOSING, model="given", head="tree",
           hidden=("things",), rule=False, intended=("incomplete", "too few")),
]  # fmt: skip


def real_setups() -> list[Setup]:
    """Return the setups whose pictures are there."""
    return [*DIGITS, *(FROM_DATA if there() else [])]
