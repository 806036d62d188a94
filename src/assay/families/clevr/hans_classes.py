"""The classes of CLEVR-Hans3 and CLEVR-Hans7: their published rules, and what training shows with them.

By the released class files; where the released text says otherwise, the files count. `x.row < y.row`: x is in front of
y. Of CLEVR-Hans7, scenes of class 5 may have what makes class 6, and no other two rules hold of one scene.
"""

from collections.abc import Mapping
from dataclasses import dataclass

OBJECTS = "x.size == '{}' and x.shape == '{}'"


def _some(size: str, shape: str, more: str = "") -> str:
    """Return "there is such an object".

    >>> _some("large", "cube")
    "any(x.size == 'large' and x.shape == 'cube' for x in objects)"
    """
    return f"any({OBJECTS.format(size, shape)}{more and ' and ' + more} for x in objects)"


def _in_front(more: str = "") -> str:
    """Return "a cyan object is in front of two red ones"."""
    behind = "count(y.colour == 'red' and x.row < y.row for y in objects) >= 2"
    return f"any(x.colour == 'cyan' and {more}{behind} for x in objects)"


BLUE, YELLOW, GRAY = (f"x.colour == {name!r}" for name in ("blue", "yellow", "gray"))
METAL = "x.material == 'metal'"
LARGE = f"{_some('large', 'cube')} and {_some('large', 'cylinder')}"
SMALL = f"{_some('small', 'cube', METAL)} and {_some('small', 'sphere')}"
SPHERES = f"{_some('large', 'sphere', BLUE)} and {_some('small', 'sphere', YELLOW)}"
FIVE = "count(x.size == 'small' for x in objects) >= 5 and " + " and ".join(
    f"any(x.size == 'small' and x.colour == {colour!r} for x in objects)" for colour in ("brown", "green", "purple")
)
LEFT = "count(x.shape == 'sphere' and x.side == 'left' for x in objects) >= 3"
RIGHT = f"count(x.shape == 'cylinder' and {METAL} and x.side == 'right' for x in objects) >= 3"


@dataclass(frozen=True)
class HansClasses:
    """The rules of all classes in order, what confounds some of them, and how many objects each needs.

    `confounders` are by rule: a formula, and in what share of the scenes of that class training shows it.
    """

    rules: tuple[str, ...]
    confounders: Mapping[str, tuple[str, float]]
    least: tuple[int, ...]

    @property
    def label(self) -> str:
        """The class as a formula, where one rule holds and no other."""
        *first, _ = [f"{number} if {rule} else " for number, rule in enumerate(self.rules, start=1)]
        return f"{''.join(first)}{len(self.rules)}"


CONFOUNDERS = {LARGE: (_some("large", "cube", GRAY), 1.0), SMALL: (_some("small", "sphere", METAL), 1.0)}
HANS3 = HansClasses((LARGE, SMALL, SPHERES), CONFOUNDERS, (2, 2, 2))
CYAN, CYLINDERS = _in_front(), f"{RIGHT} and not ({LEFT})"
HANS7 = HansClasses(
    (LARGE, SMALL, CYAN, FIVE, LEFT, CYLINDERS, SPHERES),
    {
        **CONFOUNDERS,
        CYAN: (_in_front(f"{OBJECTS.format('small', 'cube')} and "), 1.0),
        LEFT: (f"not ({RIGHT})", 0.9),  # of class 5, rule 5a in 90 % and 5b, which has both, in 10 %
    },
    (2, 2, 3, 5, 3, 3, 2),
)
BOTH = 6
"""How many objects a scene has at least of which both rules of class 5 hold."""
