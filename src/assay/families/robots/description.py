"""Robots in words: a table in one line, terse notes, sentences from templates, or free prose; and reading them back.

What is said of a part is decided before it is worded: stated, masked (spoken of without saying what it is like) or
omitted. Each part is spoken of at most once, so that no text contradicts itself.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from assay.logic import Value

Level = Literal["table", "terse", "templated", "free"]
DRAWS = 24
"""How many numbers a wording is made of."""

LEFT, RIGHT = "left", "right"
SHAPES = {
    "trapezoid": ("trapezoid", "tapered"), "rounded": ("rounded", "domed"), "square": ("square", "boxy"),
    "five_sided": ("five-sided", "pentagonal"), "l_shaped": ("L-shaped", "boot-like"),
    "three_sided": ("three-sided", "triangular"), "four_sided": ("four-sided", "kite-shaped"),
}  # fmt: skip
SOLES = {
    "flat": (("flat {} feet", "{} feet with flat soles"), "trapezoid rounded square five_sided l_shaped"),
    "pointy": (("pointy {} feet", "{} feet that end in a point"), "trapezoid rounded square three_sided four_sided"),
}
MASKED = "?"

PHRASES: Mapping[str, Mapping[Value, tuple[str, ...]]] = {
    "head": {
        "square": ("a square head", "a boxy head", "a head with four corners"),
        "round": ("a round head", "a circular head", "a head like a ball"),
        MASKED: ("a head of some shape", "a head"),
    },
    "body": {
        "square": ("a square body", "a boxy torso", "a body with four corners"),
        "round": ("a round body", "a circular torso", "a body like a ball"),
        MASKED: ("a body of some shape", "a torso"),
    },
    "knees": {
        True: ("knees", "two knee joints", "legs that bend at the knees"),
        False: ("no knees", "no knee joints", "legs without knees"),
        MASKED: ("legs of some kind", "legs"),
    },
    "elbows": {
        True: ("elbows", "two elbow joints", "arms that bend at the elbows"),
        False: ("no elbows", "no elbow joints", "arms without elbows"),
        MASKED: ("arms of some kind", "arms"),
    },
    "antennae": {
        True: ("antennae", "two antennae", "a pair of antennae"),
        False: ("no antennae", "nothing like antennae", "a top without antennae"),
        MASKED: ("a top of some kind", "a top"),
    },
    "ears": {
        "square": ("square ears", "boxy ears", "ears like small boxes"),
        "triangle": ("triangular ears", "three-cornered ears", "ears that taper to a tip"),
        MASKED: ("ears of some shape", "ears"),
    },
    "mouth": {
        "closed": ("a closed mouth", "a mouth that is shut", "a mouth like a thin bar"),
        "open": ("an open mouth", "a mouth that is wide open", "a mouth full of teeth"),
        MASKED: ("a mouth of some kind", "a mouth"),
    },
    "hand": {
        "round_circle": ("circular hands", "hands like balls"),
        "round_oval": ("wide oval hands", "hands like eggs on their side"),
        "round_oval_tall": ("tall oval hands", "hands like eggs on end"),
        "edgy_triangle": ("triangular hands", "three-cornered hands"),
        "edgy_square": ("square hands", "boxy hands"),
        "edgy_trapezoid": ("trapezoid hands", "hands that widen outward"),
        MASKED: ("hands of some shape", "hands"),
    },
    "foot": {
        **{
            f"{sole}_{shape}": tuple(form.format(word) for word in SHAPES[shape] for form in forms)
            for sole, (forms, shapes) in SOLES.items()
            for shape in shapes.split()
        },
        MASKED: ("feet of some shape", "feet"),
    },
}
TITLES = {"hand": "hands", "foot": "feet"}
OPENINGS = ("This robot has {}.", "The robot comes with {}.", "It is a robot with {}.")
FOLLOWING = ("It also has {}.", "One can see {}, too.", "There is more: {}.")
PAINTED = ("It is {} on the left and {} on the right.", "Its left side is {}, its right side {}.")


@dataclass(frozen=True)
class Wording:
    """How a robot is described: numbers that choose among words and orders, and what is left unsaid.

    `masked`    parts that are spoken of without saying what they are like
    `omitted`   parts that are not spoken of
    """

    draws: Sequence[int]
    masked: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()

    def number(self, place: int, below: int) -> int:
        """Return the draw at this place as a number from 0 up."""
        return self.draws[place % len(self.draws)] % max(1, below)

    def pick(self, place: int, options: Sequence[str]) -> str:
        """Return the option that the draw at this place chooses."""
        return options[self.number(place, len(options))]

    def statements(self, robot: Mapping[str, Value]) -> dict[str, Value]:
        """Return what is said of each part: its value, or a mark that it is masked."""
        return {part: MASKED if part in self.masked else v for part, v in robot.items() if part not in self.omitted}


@dataclass(frozen=True)
class ParsedDescription:
    """What a description says: the values stated, the parts masked, and the colours of the two sides."""

    stated: Mapping[str, Value]
    masked: tuple[str, ...] = ()
    colours: tuple[str, ...] = field(default=())


def describe(robot: Mapping[str, Value], colours: Sequence[str], level: Level, wording: Wording) -> str:
    """Return a robot in words; without colours where the picture has none.

    >>> describe({"head": "round", "knees": False}, ["red", "teal"], "terse", Wording([0], masked=("head",)))
    'Head: unclear. Knees: no. Colours: red, teal.'
    """
    statements = wording.statements(robot)
    if level == "table":
        cells = [f"{part}={'?' if value == MASKED else plain(value)}" for part, value in statements.items()]
        return ", ".join([*cells, *(f"{side}={c}" for side, c in zip((LEFT, RIGHT), colours, strict=False))])
    if level == "terse":
        values = {part: "unclear" if value == MASKED else plain(value) for part, value in statements.items()}
        lines = [f"{title(part)}: {value}." for part, value in values.items()]
        return " ".join([*lines, *([f"Colours: {', '.join(colours)}."] if colours else [])])
    write = _templated if level == "templated" else free_prose
    return write(statements, colours, wording)


def title(part: str) -> str:
    """Return the name of a part as notes begin with it."""
    return TITLES.get(part, part).capitalize()


def plain(value: Value) -> str:
    """Return a value as a word."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("_", " ")


def _templated(statements: Mapping[str, Value], colours: Sequence[str], wording: Wording) -> str:
    """Say one phrase a part, in an order of the wording's, three or so to a sentence."""
    places = {part: place for place, part in enumerate(PHRASES)}
    parts = sorted(statements, key=lambda part: wording.number(places[part], 2**31))
    phrases = [wording.pick(9 + place, PHRASES[part][statements[part]]) for place, part in enumerate(parts)]
    sentences = []
    for place, start in enumerate(range(0, len(phrases), 3)):
        frames = FOLLOWING if place else OPENINGS
        sentences.append(wording.pick(18 + place, frames).format(join_phrases(phrases[start : start + 3])))
    if colours:
        sentences.append(wording.pick(22, PAINTED).format(*colours))
    return " ".join(sentences)


def join_phrases(phrases: Sequence[str]) -> str:
    """Return phrases as a list in a sentence: "a, b and c"."""
    return " and ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)


# -- free prose --------------------------------------------------------------------------------------------------------

FREE: Mapping[str, Mapping[Value, tuple[str, ...]]] = {
    "head": {
        "square": ("its head is all corners", "the head could be a cardboard box", "the head is cut square"),
        "round": ("its head has no corners", "the head could be a marble", "the head is perfectly round"),
        MASKED: ("there is a head on top", "it has a head"),
    },
    "body": {
        "square": ("the trunk below is a crate", "the torso is a plain rectangle", "it is built like a fridge"),
        "round": ("the trunk below is a barrel", "the torso is a big disc", "it is built like a ball"),
        MASKED: ("there is a trunk below", "it has a torso"),
    },
    "knees": {
        True: ("its legs can bend", "there are joints halfway down the legs", "you can make out the knees"),
        False: ("its legs are straight rods", "the legs run down without a joint", "you look for knees in vain"),
        MASKED: ("it stands on two legs", "it has legs"),
    },
    "elbows": {
        True: ("its arms can bend", "there are joints halfway along the arms", "you can make out the elbows"),
        False: ("its arms are straight rods", "the arms stick out without a joint", "you look for elbows in vain"),
        MASKED: ("it holds out two arms", "it has arms"),
    },
    "antennae": {
        True: (
            "a pair of feelers grows from its crown",
            "antennae poke up",
            "it could pick up radio, with those aerials",
        ),
        False: ("nothing grows from its crown", "its crown is bare", "it could not pick up radio, lacking aerials"),
        MASKED: ("it has a crown", "there is a crown up there"),
    },
    "ears": {
        "square": ("the ears are little blocks", "small cubes serve as ears", "its ears are cut off straight"),
        "triangle": ("the ears are little wedges", "small spikes serve as ears", "its ears run to a tip"),
        MASKED: ("there are ears at the sides", "it has ears"),
    },
    "mouth": {
        "closed": ("it keeps its mouth shut", "its lips are one thin line", "no tooth is to be seen"),
        "open": ("it bares its teeth", "its mouth stands open", "it shows a toothy grin"),
        MASKED: ("there is a mouth", "it has a mouth"),
    },
    "hand": {
        "round_circle": ("the hands are two balls", "its hands are round as coins"),
        "round_oval": ("the hands are eggs lying down", "its hands are ovals, wider than tall"),
        "round_oval_tall": ("the hands are eggs standing up", "its hands are ovals, taller than wide"),
        "edgy_triangle": ("the hands are arrow heads", "its hands have three corners"),
        "edgy_square": ("the hands are two dice", "its hands have four equal sides"),
        "edgy_trapezoid": ("the hands are small shovels", "its hands flare out toward the ends"),
        MASKED: ("it has hands", "there are hands at the ends of the arms"),
    },
    "foot": {
        "flat_trapezoid": ("it stands on flat bells", "its feet widen down to a level sole"),
        "flat_rounded": ("it stands on flat-bottomed domes", "its feet are half-moons on a level sole"),
        "flat_square": ("it stands flat on two cubes", "its feet are squares with a level sole"),
        "flat_five_sided": ("it stands on level pentagons", "its feet have five sides, the lowest one level"),
        "flat_l_shaped": ("it wears flat boots", "its feet bend like the letter L, with a level sole"),
        "pointy_trapezoid": ("it balances on bells with a tip below", "its feet widen, then run to a tip below"),
        "pointy_rounded": ("it balances on domes with a tip below", "its feet are half-moons with a tip below"),
        "pointy_square": ("it balances on cubes with a tip below", "its feet are squares with a tip below"),
        "pointy_three_sided": ("it balances on upside-down triangles", "its feet have three sides and a tip below"),
        "pointy_four_sided": ("it balances on two kites", "its feet are diamonds with a tip below"),
        MASKED: ("it has feet", "there are feet below"),
    },
}
GROUPS = (("head", "ears", "mouth", "antennae"), ("body", "elbows", "hand"), ("knees", "foot"))
ALIKE = ("both head and body are {}", "head and body match, each {}")
NEITHER = ("it has neither knees nor elbows", "no limb has a joint")
BOTH = ("its arms and legs all have joints", "knees and elbows are both there")
LINKS = (", and ", "; ", ", while ")
COLOURED = (
    "Half {}, half {}, seen from left to right", "Painted {} to the left and {} to the right",
    "On the left it is {}, on the right {}",
)  # fmt: skip


def free_prose(statements: Mapping[str, Value], colours: Sequence[str], wording: Wording) -> str:
    """Say the same in prose: parts that go together in one sentence, what is alike in one clause."""
    clauses = {part: wording.pick(place, FREE[part][value]) for place, (part, value) in enumerate(statements.items())}
    shape, joint = statements.get("head", MASKED), statements.get("knees", MASKED)
    if shape == statements.get("body") != MASKED and wording.number(9, 2):
        clauses |= {"head": wording.pick(10, ALIKE).format(shape), "body": ""}
    if joint == statements.get("elbows") != MASKED and wording.number(11, 2):
        clauses |= {"elbows": wording.pick(12, BOTH if joint else NEITHER), "knees": ""}
    sentences = [wording.pick(13, COLOURED).format(*colours) + "."] if colours else []
    for number, group in enumerate(GROUPS):
        phrases = [clauses[part] for part in group if clauses.get(part)]
        first = wording.number(14 + number, len(phrases))
        phrases = phrases[first:] + phrases[:first]
        if phrases:
            turn = wording.number(17 + number, len(LINKS))
            links = [LINKS[(turn + place) % len(LINKS)] for place in range(len(phrases) - 1)]
            text = phrases[0] + "".join(link + clause for link, clause in zip(links, phrases[1:], strict=True))
            sentences.append(text[0].upper() + text[1:] + ".")
    return " ".join(sentences)


# -- reading -----------------------------------------------------------------------------------------------------------


def read_description(text: str) -> ParsedDescription:
    """Return what a table, terse notes or a templated description say; of free prose only what is worded alike.

    >>> read_description("Head: unclear. Knees: no. Colours: red, teal.").stated
    {'knees': False}
    """
    if re.match(r"\w+=", text):
        cells = dict(cell.split("=", 1) for cell in text.split(", "))
        return _from_notes(cells, (cells.pop(LEFT, ""), cells.pop(RIGHT, "")))
    if re.match(r"\w+:", text):
        notes = dict(note.split(": ", 1) for note in text.rstrip(".").split(". "))
        parts = {title(part): part for part in PHRASES}
        colours = tuple(notes.pop("Colours", "").split(", "))
        return _from_notes({parts[name]: word for name, word in notes.items()}, colours)
    pattern, meanings = _lexicon()
    mentions = [meanings[phrase] for phrase in pattern.findall(text)]
    stated = {part: value for part, value in mentions if value != MASKED}
    painted = (re.search(form.format(r"(\w+)", r"(\w+)").replace(".", r"\."), text) for form in PAINTED)
    colours = next((match.groups() for match in painted if match), ())
    return ParsedDescription(stated, tuple(part for part, value in mentions if value == MASKED), colours)


def _from_notes(notes: Mapping[str, str], colours: Sequence[str]) -> ParsedDescription:
    words = {part: {plain(value): value for value in values if value != MASKED} for part, values in PHRASES.items()}
    stated = {part: words[part][word] for part, word in notes.items() if word in words[part]}
    return ParsedDescription(stated, tuple(part for part in notes if part not in stated), tuple(filter(None, colours)))


@cache
def _lexicon() -> tuple[re.Pattern[str], dict[str, tuple[str, Value]]]:
    """Return a pattern of all phrases, longer ones first, and what each says of which part."""
    meanings = {
        phrase: (part, value) for part, all_of in PHRASES.items() for value, some in all_of.items() for phrase in some
    }
    longest = sorted(meanings, key=len, reverse=True)
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest)) + r")(?!\w)"), meanings
