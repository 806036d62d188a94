"""The rules of the driving tasks: 21 concepts, four actions, what excludes what, and what holds for an ambulance."""

from collections.abc import Mapping

from assay.logic import Concept, ConceptSpace, Constraint, Knowledge, Value, parse

CONCEPTS = (
    "green_light", "follow", "clear", "red_light", "stop_sign", "car", "person", "rider", "other_obstacle",
    "no_left_lane", "left_obstacle", "left_solid_line", "right_lane", "right_green_light", "right_follow",
    "no_right_lane", "right_obstacle", "right_solid_line", "left_lane", "left_green_light", "left_follow",
)  # fmt: skip
"""The concepts in the order of BDD-OIA's and SDD-OIA's files."""
ACTIONS = ("forward", "stop", "left", "right")
OBSTACLES = ("car", "person", "rider", "other_obstacle")
EMERGENCY = "emergency"
"""The concept of an ambulance on its way to somebody: false wherever a model is trained."""

OBSTACLE = " or ".join(OBSTACLES)
USUAL: Mapping[str, str] = {
    "stop": f"(red_light and not green_light) or stop_sign or {OBSTACLE}",
    "left": "(left_lane or left_green_light or left_follow) and not (no_left_lane or left_obstacle or left_solid_line)",
    "right": "(right_lane or right_green_light or right_follow) and "
    "not (no_right_lane or right_obstacle or right_solid_line)",
}
"""The rules, as corrected; `forward` is that there is a reason to go and none to stop."""
AMBULANCE: Mapping[str, str] = {
    "stop": OBSTACLE,
    "left": "left_lane and not (no_left_lane or left_obstacle)",
    "right": "right_lane and not (no_right_lane or right_obstacle)",
}
"""Lights, stop signs, the cars ahead and solid lines are nothing to an ambulance."""
TIES: Mapping[str, str] = {
    "one_green": "(green_light == left_green_light) and (green_light == right_green_light)",
    "left_lane_or_none": "left_lane != no_left_lane",
    "right_lane_or_none": "right_lane != no_right_lane",
    "sign_or_light": "not (stop_sign and (red_light or green_light))",
}
"""What the released sampler ties together."""


def rules(emergency: bool) -> dict[str, str]:
    """Return the formula of each action; with an ambulance, each is one rule if not in an emergency and one if so."""
    ways = {"forward": "green_light or follow or clear"}
    usual = {"forward": f"({ways['forward']}) and not ({USUAL['stop']})", **USUAL}
    if not emergency:
        return {name: usual[name] for name in ACTIONS}
    urgent = {"forward": f"not ({AMBULANCE['stop']})", **AMBULANCE}
    return {name: f"({urgent[name]}) if {EMERGENCY} else ({usual[name]})" for name in ACTIONS}


def exclusions(tied: bool, most_obstacles: int) -> list[Constraint]:
    """Return what excludes what: the road is clear if and only if it has no obstacle; and what the settings add."""
    texts = {"clear_or_not": f"clear != ({OBSTACLE})"}
    if most_obstacles < len(OBSTACLES):
        texts["few_obstacles"] = f"at_most({most_obstacles}, {', '.join(OBSTACLES)})"
    texts |= TIES if tied else {}
    return [Constraint(name, parse(text), ("exclusion",)) for name, text in texts.items()]


def knowledge_of(emergency: bool, tied: bool, most_obstacles: int) -> Knowledge:
    """Return the concepts, the rules of the four actions, and the exclusions."""
    return Knowledge.of(space_of(emergency), rules(emergency), exclusions(tied, most_obstacles))


def space_of(emergency: bool) -> ConceptSpace:
    """Return the 21 concepts, all true or false, and with an ambulance whether there is an emergency."""
    names = (*CONCEPTS, EMERGENCY) if emergency else CONCEPTS
    return ConceptSpace(tuple(Concept(name, (False, True)) for name in names))


def complete_changes(
    values: Mapping[str, Value], changes: Mapping[str, Value], tied: bool, first: str
) -> dict[str, Value]:
    """Return the changes and what must follow from them; a road that is not clear any more gets the obstacle `first`.

    >>> complete_changes({name: name == "clear" for name in CONCEPTS}, {"car": True}, False, "rider")
    {'car': True, 'clear': False}
    """
    after = {**values, **changes}
    more: dict[str, Value] = dict(changes)
    if "clear" in changes and after["clear"] == any(after[name] for name in OBSTACLES):
        more |= dict.fromkeys(OBSTACLES, False) if changes["clear"] else {first: True}
    more["clear"] = not any({**after, **more}[name] for name in OBSTACLES)
    if more["clear"] == values["clear"] and "clear" not in changes:
        del more["clear"]
    return {**more, **(_tied_changes({**values, **more}, changes) if tied else {})}


def _tied_changes(after: Mapping[str, Value], changes: Mapping[str, Value]) -> dict[str, Value]:
    """Return what must follow where concepts are tied as in the released sampler."""
    more: dict[str, Value] = {}
    greens = ("green_light", "left_green_light", "right_green_light")
    for name in changes:
        if name in greens:
            more |= dict.fromkeys(greens, changes[name])
        for side in ("left", "right"):
            if name in (f"{side}_lane", f"no_{side}_lane"):
                other = f"no_{side}_lane" if name == f"{side}_lane" else f"{side}_lane"
                more[other] = not changes[name]
    if changes.get("stop_sign"):
        more |= {"red_light": False, **dict.fromkeys(greens, False)}
    elif any({**changes, **more}.get(name) for name in ("red_light", *greens)):
        more["stop_sign"] = False
    return more
