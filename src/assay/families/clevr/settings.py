"""Settings of CLE4EVR: which objects there can be, what is held out, where they stand, and rsbench's keys for these."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import pi
from typing import Any

from pydantic import Field, field_validator, model_validator

from assay.base import ConfigError, Settings, check_names, rng_for, suggestion
from assay.families.clevr.placement import CameraView, Placement
from assay.families.clevr.scene import COLOURS, MATERIALS, SHAPES, SIZES
from assay.families.rsbench.released import read_formula, read_symbols
from assay.logic import Formula, Not, conjunction, parse
from assay.tasks import SceneConfig

ATTRIBUTES = ("colour", "shape", "material", "size")
KNOWN: dict[str, Iterable[str]] = {"colours": COLOURS, "shapes": SHAPES, "materials": MATERIALS, "sizes": SIZES}
SAME = "any(x.shape == y.shape and x.colour == y.colour for x, y in pairs(objects))"
MOST_OBJECTS = 16
SHARE = 0.4
"""How much of a small object must show behind a large one, where objects may hide one another."""
WIDTH, HEIGHT = 320, 240
NEAR, STEPS, FAR = 1.6, {True: 0.2, False: 0.4}, 3.6
"""How far from the middle objects stand: without any, for each more if they may hide one another or not, at most."""


class ClevrConfig(SceneConfig):
    """Settings of CLE4EVR."""

    objects: int | tuple[int, int] = 2
    """How many objects a picture has: a number, or the least and the most, each number as often as another."""
    shapes: list[str] = list(SHAPES)
    """The shapes in use, of: cube, sphere, cylinder, cone, pyramid, ring, star, cross, hourglass, diamond."""
    colours: list[str] = list(COLOURS)
    """The colours in use, of: gray, red, blue, green, brown, purple, cyan, yellow, pink, orange."""
    materials: list[str] = list(MATERIALS)
    """The materials in use, of: rubber, metal."""
    sizes: list[str] = list(SIZES)
    """The sizes in use, of: large, medium, small."""
    rule: str = SAME
    """The label, as a formula over the objects (`object1.shape`, `for x in objects`, `for x, y in pairs(objects)`)."""
    held_out: list[str | list[str]] = []
    """What only `ood` shows: a "pink ring", or a list of such objects that no other split shows together."""
    shape_colours: dict[str, list[str]] = {}
    """For some shapes the only colours that they have in train, valid and test; in `ood` an object has another."""
    occlusion: bool = True
    """Let objects hide parts of one another, but never too much; otherwise none can hide any part of another."""
    min_pixels: int = Field(80, ge=1)
    """The least number of pixels that each object shows, counted as in a picture of 320 x 240."""
    min_dist: float = Field(0.25, ge=0, le=3)
    """The least distance between two objects, both taken to be as large as they can be."""
    margin: float = Field(0.4, ge=0, le=3)
    """The least distance from left to right between the middles of two objects, which are numbered in that order."""
    camera_jitter: float = Field(0.5, ge=0, le=1)
    """How far the camera is moved along each axis."""
    key_light_jitter: float = Field(1.0, ge=0, le=2)
    """How far the brightest lamp is moved along each axis."""
    fill_light_jitter: float = Field(1.0, ge=0, le=2)
    """How far the softest lamp is moved along each axis."""
    back_light_jitter: float = Field(1.0, ge=0, le=2)
    """How far the lamp behind the objects is moved along each axis."""
    width: int = Field(WIDTH, ge=64, le=2048)
    """The width of a picture in pixels."""
    height: int = Field(HEIGHT, ge=48, le=2048)
    """The height of a picture in pixels."""

    @field_validator("shapes", "colours", "materials", "sizes")
    @classmethod
    def _must_be_known(cls, names: list[str], info: Any) -> list[str]:
        return check_names(names, KNOWN[info.field_name], info.field_name[:-1])

    @field_validator("objects")
    @classmethod
    def _must_be_range(cls, objects: int | tuple[int, int]) -> int | tuple[int, int]:
        least, most = (objects, objects) if isinstance(objects, int) else objects
        if not 1 <= least <= most:
            raise ValueError("a number from 1 up, or the least and the most such as [2, 4]")
        return objects

    @model_validator(mode="after")
    def _must_fit(self) -> "ClevrConfig":
        ball = pi * (self.placement.least * self.placement.view.focus / self.placement.farthest) ** 2 * WIDTH * HEIGHT
        ball /= self.width * self.height
        if self.min_pixels > ball:
            raise ValueError(f"min_pixels: a {self.smallest} ball far away has about {ball:.0f} of them; lower it")
        if self.most > MOST_OBJECTS or not self._holds(self.most):
            most = next(count for count in range(min(self.most, MOST_OBJECTS), -1, -1) if self._holds(count))
            ways = ["lower 'objects' or 'min_dist'", *([] if self.occlusion else ["set 'occlusion'"])]
            ways += [f"leave out size {self.largest!r}"] if len(self.sizes) > 1 else []
            raise ValueError(f"{self.most} objects do not fit into the picture, {most} do; {', or '.join(ways)}")
        return self

    @model_validator(mode="after")
    def _must_hold_out_what_is_used(self) -> "ClevrConfig":
        for entry in self.held_out:
            for text in [entry] if isinstance(entry, str) else entry:
                colour, _, shape = text.partition(" ")
                if not shape:
                    raise ValueError(f"held_out: {text!r} is not a colour and a shape, such as 'pink ring'")
                self._must_be_used("held_out", [colour], shape)
        for shape, colours in self.shape_colours.items():
            self._must_be_used("shape_colours", colours, shape)
        return self

    def _must_be_used(self, key: str, colours: Sequence[str], shape: str) -> None:
        for name, known, kind in (*((name, self.colours, "colour") for name in colours), (shape, self.shapes, "shape")):
            if name not in known:
                raise ValueError(f"{key}: no {kind} named {name!r}{suggestion(name, known)}")

    def _holds(self, count: int) -> bool:
        return self.placement.holds(rng_for(0, "clevr", "fit", count), count)

    @property
    def least(self) -> int:
        """The least number of objects."""
        return self.objects if isinstance(self.objects, int) else self.objects[0]

    @property
    def most(self) -> int:
        """The greatest number of objects."""
        return self.objects if isinstance(self.objects, int) else self.objects[1]

    @property
    def smallest(self) -> str:
        """The smallest size in use."""
        return min(self.sizes, key=lambda name: SIZES[name])

    @property
    def largest(self) -> str:
        """The largest size in use."""
        return max(self.sizes, key=lambda name: SIZES[name])

    @property
    def pixels(self) -> float:
        """The least number of pixels that an object shows, in a picture of this size."""
        return self.min_pixels * self.width * self.height / (WIDTH * HEIGHT)

    @cached_property
    def placement(self) -> Placement:
        """What places keep to."""
        view = CameraView(self.width, self.height, min(NEAR + self.most * STEPS[self.occlusion], FAR))
        small, large = SIZES[self.smallest], SIZES[self.largest]
        return Placement(view, small, large, self.min_dist, self.margin, SHARE if self.occlusion else 1.0)

    def values(self, attribute: str) -> tuple[str, ...]:
        """Return the values in use of an attribute."""
        names: list[str] = getattr(self, f"{attribute}s")
        return tuple(names)

    def inside(self) -> Formula:
        """Return "nothing that is held out, no shape in another colour than is listed for it"."""
        parts: list[Formula] = [Not(_together([entry] if isinstance(entry, str) else entry)) for entry in self.held_out]
        parts += [_only(shape, colours) for shape, colours in self.shape_colours.items()]
        return conjunction(*parts)


def _together(objects: Sequence[str]) -> Formula:
    """Return "there is a pink ring, and there is a gray sphere"."""
    words = [text.split() for text in objects]
    there = [f"any(x.colour == {colour!r} and x.shape == {shape!r} for x in objects)" for colour, shape in words]
    return parse(" and ".join(there))


def _only(shape: str, colours: Sequence[str]) -> Formula:
    """Return "every star is red or blue"."""
    return parse(f"all(x.shape != {shape!r} or x.colour in {list(colours)!r} for x in objects)")


# -- rsbench's settings ------------------------------------------------------------------------------------------------

RSBENCH = {"colors": "colours", "min_pixels_per_object": "min_pixels", "shape_color_combos": "shape_colours"}
ALIASES = {"toroid": "ring", "torus": "ring", "grey": "gray", "SmoothCube_v2": "cube"}
LISTS = ("shapes", "colours", "materials", "sizes")
STEP = 10
"""rsbench numbers colours from 0, shapes from 10, materials from 20 and sizes from 30."""


def from_rsbench(settings: Settings) -> Settings:
    """Return settings with rsbench's keys in our words: `logic` over `symbols` is the rule."""
    plain = settings.rename_keys(RSBENCH)
    translated: dict[str, Any] = {
        key: [ALIASES.get(name, name) if isinstance(name, str) else name for name in plain.values[key]]
        for key in LISTS
        if isinstance(plain.values.get(key), list)
    }
    places = {"rule": plain.places.get("logic"), "objects": plain.places.get("max_objects")}
    if "logic" in plain.values:
        names = read_symbols(plain, "symbols", "logic")
        translated["rule"] = str(_rule(plain, names, {**plain.values, **translated}))
        translated["objects"] = -(-len(names) // len(ATTRIBUTES))
    if {"min_objects", "max_objects"} & set(plain.values):
        translated["objects"] = _objects(plain)
    if "no_occlusion" in plain.values:
        translated["occlusion"] = plain.values["no_occlusion"] is not True
    for ours, theirs in (("rule", "logic"), ("occlusion", "no_occlusion")):
        if ours in plain.values and theirs in plain.values:
            raise ConfigError(f"{plain.place(theirs)}{theirs!r} and {ours!r} mean the same; give one of them")
    if "objects" in plain.values:
        translated.pop("objects", None)
    consumed = {"logic", "symbols", "min_objects", "max_objects", "no_occlusion"}
    known = {key: place for key, place in places.items() if place and key in translated}
    return plain.without(consumed).merge(Settings(translated, known))


def _objects(settings: Settings) -> Any:
    least = settings.values.get("min_objects", settings.values.get("max_objects"))
    most = settings.values.get("max_objects", least)
    for key, value in (("min_objects", least), ("max_objects", most)):
        if type(value) is not int:
            raise ConfigError(f"{settings.place(key)}{key}: expected a whole number, not {value!r}")
    return least if least == most else (least, most)


def _rule(settings: Settings, names: Sequence[str], values: Mapping[str, Any]) -> Formula:
    """Return the rule, whose symbols are the attributes of the first object, then those of the second, and so on."""
    each = len(ATTRIBUTES)
    concepts = {name: f"object{i // each + 1}.{ATTRIBUTES[i % each]}" for i, name in enumerate(names)}
    numbers = {
        STEP * place + code: value
        for place, key in enumerate(("colours", "shapes", "materials", "sizes"))
        for code, value in enumerate(values.get(key) or KNOWN[key])
    }
    return read_formula(settings, "logic", concepts, numbers)
