"""A traffic scene: for each concept that holds, what shows it, in its place; the rest is style.

Every concept has a place of its own, from near to far: the arrow and the lines of our lane; what lies on it; somebody
on foot; what stands on the lanes beside it; a rider; the gantry with a signal head for each way; the car we follow; on
the crossing, a car across and cars that turn. A sign stands beside the road. Our own bonnet is at the bottom.
Which crossing it is, and on which side the sign, the people and the car across are, is style.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.families.driving.drawing import road, town, traffic
from assay.families.driving.drawing.model import paint, place
from assay.render import Camera, Instance, Material, Scene, pose

WIDTH, HEIGHT = 469, 387
FOCAL = 375.0
"""The focal length in pixels of a picture of the usual size."""
EYE, PITCH, FARTHEST = 3.2, -6.0, 120.0
LINES = (paint(236, 236, 230, 0.8), paint(240, 196, 60, 0.8))
"""White and yellow."""
BEACON = Material((0.0, 0.05, 1.0), emission=1.2)
AMBULANCE = {"body": paint(244, 244, 240, 0.35), "trim": paint(200, 200, 198), "beacon": BEACON}
SIGN_AT, GANTRY_AT = (6.35, 13.8), 17.0
"""The sign stands so far to the right or to the left."""

Facts = Mapping[str, bool]


@dataclass(frozen=True)
class Spot:
    """Where an object of a concept stands, how far it is turned to the left, and how far jitter moves and turns it."""

    x: float
    y: float
    turn: float = 0.0
    move: tuple[float, float] = (0.2, 0.4)
    swing: float = 4.0


SPOTS = {
    "follow": Spot(0.0, 18.4, 0.0, (0.25, 0.5), 2.5),
    "car": Spot(2.8, 24.2, 90.0, (0.3, 0.6), 6.0),
    "person": Spot(1.2, 12.3, 90.0, (0.2, 0.4), 25.0),
    "rider": Spot(-1.35, 15.2, -75.0, (0.15, 0.4), 15.0),
    "other_obstacle": Spot(0.0, 10.4, 0.0, (0.3, 0.3), 8.0),
    "left_obstacle": Spot(-3.65, 11.7, 0.0, (0.15, 0.6), 6.0),
    "right_obstacle": Spot(3.65, 11.7, 0.0, (0.15, 0.6), 6.0),
    "left_follow": Spot(-8.5, 24.6, 62.0, (0.4, 0.5), 8.0),
    "right_follow": Spot(8.5, 24.6, -62.0, (0.4, 0.5), 8.0),
}
"""`car` and `person` are on one side and `rider` on the other, which the style may exchange."""
SIDED = ("car", "person", "rider")
ELSEWHERE = {
    "follow": (0.0, 1.2),
    "other_obstacle": (-0.4, -0.4),
    "left_obstacle": (-0.1, 1.5),
    "right_obstacle": (0.1, 1.5),
    "left_follow": (-1.5, 0.6),
    "right_follow": (1.5, 0.6),
}
"""How far from its spot the other place of a thing is, to the right and ahead; those of `SIDED` have two sides."""


def draw_style(rng: np.random.Generator) -> dict[str, Any]:
    """Draw all that is no concept: the day, the town, which car or person or thing it is, and where exactly."""

    def pick(names: Sequence[str]) -> str:
        return str(names[int(rng.integers(len(names)))])

    def jitter(count: int) -> list[float]:
        return [round(float(part), 3) for part in rng.uniform(-1, 1, count)]

    def thing(kinds: Sequence[str], colours: int) -> list[Any]:
        return [pick(kinds), int(rng.integers(colours)), *jitter(3)]

    kinds = dict.fromkeys(("follow", "car", "left_follow", "right_follow"), traffic.CARS)
    kinds |= {"person": ("first", "second"), "rider": traffic.BIKES, "other_obstacle": traffic.LOW}
    kinds |= dict.fromkeys(("left_obstacle", "right_obstacle"), traffic.LARGE)
    return {
        "camera": jitter(4),
        "day": pick(town.DAYS),
        "sun": [int(rng.integers(360)), round(float(rng.random()), 3)],
        "surface": rng.integers(3, size=2).tolist(),
        "line": [int(rng.integers(len(LINES))), round(float(rng.random()), 3), round(float(rng.random()), 3)],
        "arrow": jitter(1)[0],
        "mirrored": bool(rng.integers(2)),
        "elsewhere": [name for name in ELSEWHERE if rng.integers(2)],
        "things": {name: thing(kinds[name], 1000) for name in SPOTS},
        "sign": pick(road.SIGNS),
        "sign_side": pick(("left", "right")),
        "crossing": pick(road.CROSSINGS),
        "bonnet": int(rng.integers(len(traffic.COLOURS))),
        "town": _town(rng),
        "first": int(rng.integers(4)),
    }


def _town(rng: np.random.Generator) -> list[list[Any]]:
    """Draw trees and houses: along the road on both sides, and behind the crossing."""
    buildings: list[list[Any]] = []
    for side in (-1, 1):
        for low, high, near, far, kinds in (
            (11.0, 15.0, 9.5, 12.0, (0, 1)), (16.0, 20.0, 9.5, 13.0, (0, 1)), (9.0, 14.0, 15.5, 19.0, (2, 3)),
            (36.0, 42.0, 9.0, 11.5, (0, 1)), (34.0, 44.0, 15.0, 22.0, (2, 3)), (50.0, 60.0, 11.0, 20.0, (2, 3)),
            (70.0, 90.0, 12.0, 30.0, (2, 3)), (60.0, 80.0, 8.5, 10.0, (0, 1)),
        ):  # fmt: skip
            if rng.random() < 0.75:
                kind = town.KINDS[kinds[int(rng.integers(2))]]
                x, y = side * rng.uniform(near, far), rng.uniform(low, high)
                size, tone = rng.uniform(0.8, 1.15), int(rng.integers(12))
                buildings.append([kind, round(float(x), 2), round(float(y), 2), round(float(size), 3), tone])
    return buildings


def traffic_scene(facts: Facts, style: Mapping[str, Any], width: int = WIDTH, height: int = HEIGHT) -> Scene:
    """Return the scene of concepts and style."""
    sky, sun, exposure = town.daylight(style["day"], *style["sun"])
    instances = [
        *_street(facts, style),
        *(instance for name in SPOTS if facts[name] for instance in _object(name, style)),
        *_lamps(facts),
        *_sign(facts["stop_sign"], style["sign"], road.SIGN_SIDES[style["sign_side"]]),
        *_surroundings(style["town"]),
        *_own_car(facts.get("emergency", False), style),
    ]
    return Scene(width, height, _camera(style["camera"], width, height), tuple(instances), (sun,), sky,
                 road.ground(style["surface"][1]), exposure)  # fmt: skip


def _eye(jitter: Sequence[float]) -> tuple[float, float, float]:
    return 0.2 * jitter[0], 0.0, EYE + 0.15 * jitter[1]


def _camera(jitter: Sequence[float], width: int, height: int) -> Camera:
    eye, yaw, pitch = _eye(jitter), np.radians(1.5 * jitter[2]), np.radians(PITCH + 0.8 * jitter[3])
    focal = FOCAL * min(width / WIDTH, height / HEIGHT)
    target = eye[0] + float(np.sin(yaw)), eye[1] + float(np.cos(yaw)), eye[2] + float(np.tan(pitch))
    return Camera(eye, target, float(np.degrees(2 * np.arctan(width / 2 / focal))))


def _street(facts: Facts, style: Mapping[str, Any]) -> list[Instance]:
    shade, season = style["surface"]
    color, *phases = style["line"]
    instances = road.pavement(shade) + road.crossing(style["crossing"])
    for side, phase in zip(("left", "right"), phases, strict=True):
        instances += road.beside(side, facts[f"no_{side}_lane"], shade, season)
        instances.append(road.line(side, facts[f"{side}_solid_line"], LINES[color], phase))
    instances.append(road.stop_line(LINES[0], not facts["no_right_lane"], not facts["no_left_lane"]))
    return instances + road.arrows(facts["left_lane"], facts["right_lane"], LINES[0], 5.6 + 0.2 * style["arrow"])


def _object(name: str, style: Mapping[str, Any]) -> list[Instance]:
    """Return the object that shows a concept."""
    kind, tone, along, ahead, swing = style["things"][name]
    spot, side = SPOTS[name], -1 if style["mirrored"] and name in SIDED else 1
    x, y = ELSEWHERE[name] if name in style["elsewhere"] else (0.0, 0.0)
    at = side * spot.x + along * spot.move[0] + x, spot.y + ahead * spot.move[1] + y, 0.0
    matrix = pose(at, side * spot.turn + swing * spot.swing)
    if name in ("follow", "car", "left_follow", "right_follow"):
        blinks = {"left_follow": -1, "right_follow": 1}.get(name, 0)
        return place(
            traffic.car(kind, blinks), matrix, name, {"body": paint(*_pick_colour(traffic.COLOURS, tone), 0.3)}
        )
    if name == "person":
        return place(traffic.walker(kind == "first"), matrix, name, _clothes(tone))
    if name == "rider":
        return place(traffic.rider(kind), matrix, name, _clothes(tone))
    return place(traffic.obstacle(kind), matrix, name)


def _pick_colour(colours: Sequence[tuple[int, int, int]], tone: int) -> tuple[int, int, int]:
    return colours[tone % len(colours)]


def _clothes(tone: int) -> dict[str, Material]:
    return {
        "top": paint(*_pick_colour(traffic.CLOTHES, tone), 0.85),
        "trousers": paint(*_pick_colour(traffic.TROUSERS, tone // 8), 0.9),
        "skin": paint(*_pick_colour(traffic.SKINS, tone // 32), 0.7),
        "hair": paint(*_pick_colour(traffic.HAIRS, tone // 128), 0.9),
        "helmet": paint(*_pick_colour(traffic.CLOTHES, tone // 5 + 3), 0.25),
        "frame": paint(*_pick_colour(traffic.COLOURS, tone // 7), 0.3),
    }


def _lamps(facts: Facts) -> list[Instance]:
    """Return the gantry and its lamps, lit or not."""
    instances = place(road.gantry(), pose([0, GANTRY_AT, 0]))
    for name, (x, z, _) in road.HEADS.items():
        lit = facts[name]
        where = pose([x, GANTRY_AT - 0.06, z])
        instances += place(road.lamp(name), where, name if lit else "", {"lamp": road.lamp_paint(name, lit)})
    return instances


def _sign(stop: bool, other: str, side: int) -> list[Instance]:
    if not stop and other == "none":
        return []
    name = "stop" if stop else other
    thing = "stop_sign" if stop else "other_sign"
    at = side * SIGN_AT[0], SIGN_AT[1]
    low, high = pose([*at, 0]), pose([*at, 3.1])
    return place(road.post(), low, thing) + place(road.sign(name), high, thing)


def _surroundings(listed: Sequence[Sequence[Any]]) -> list[Instance]:
    instances: list[Instance] = []
    for kind, x, y, size, tone in listed:
        instances += place(town.building(kind), pose([x, y, 0], scale=size), "", town.colours(kind, tone))
    return instances


def _own_car(emergency: bool, style: Mapping[str, Any]) -> list[Instance]:
    """Return the bonnet, which moves with the eye."""
    x, y, z = _eye(style["camera"])
    yaw, pitch = -1.5 * style["camera"][2], 0.8 * style["camera"][3]
    where = pose([x, y, z], yaw) @ pose([0, 0, 0], tilt=pitch) @ pose([0, 2.05, -1.68], tilt=12.0)
    if emergency:
        parts = (traffic.bonnet(), traffic.beacons())
        return [instance for part in parts for instance in place(part, where, "emergency", AMBULANCE)]
    colour = traffic.COLOURS[style["bonnet"]]
    trim = tuple(int(0.8 * part) for part in colour)
    return place(
        traffic.bonnet(), where, "", {"body": paint(*colour, 0.35), "trim": paint(trim[0], trim[1], trim[2], 0.4)}
    )
