"""Drawings of people, and of animals seen from the side."""

from itertools import pairwise

import numpy as np

from assay.families.coco.drawing.brush import INK, WHITE, Appearance, Brush, coat, paint, shade
from assay.render import Colour

SKINS: tuple[Colour, ...] = ((245, 214, 186), (226, 178, 140), (188, 132, 94), (140, 92, 62), (92, 60, 44))
HAIRS: tuple[Colour, ...] = ((40, 30, 26), (92, 58, 32), (170, 120, 62), (222, 190, 120), (130, 130, 132))


def person(brush: Brush, look: Appearance) -> None:
    """A person who stands, walks or waves."""
    skin = SKINS[int(look.tone * 97) % len(SKINS)]
    hair = HAIRS[int(look.hue * 89) % (2 if sum(skin) < 420 else len(HAIRS))]
    shirt, trousers = coat(look), paint(look.hue + 0.45 + 0.3 * look.tone, 0.35, 0.25 + 0.4 * look.pose)
    step = 0.05 + 0.09 * ((look.pose * 3) % 1.0)
    _legs(brush, step, trousers, short=look.tone < 0.25, skin=skin)
    waves = look.pose > 0.7
    far_hand = (-0.21, 0.93) if waves else (-0.16 - step / 3, 0.46)
    near_hand = (0.17 + step / 3, 0.47) if look.pose > 0.35 else (0.13, 0.52)
    for hand, elbow in ((far_hand, (-0.19, 0.68 if waves else 0.62)), (near_hand, (0.175, 0.62))):
        side = -0.105 if hand[0] < 0 else 0.105
        brush.stroke([(side, 0.775), elbow], shade(shirt, 0.86), 0.06)
        brush.stroke([elbow, hand], skin, 0.042)
    brush.shape([(-0.125, 0.80), (-0.05, 0.83), (0.05, 0.83), (0.125, 0.80), (0.095, 0.46), (-0.095, 0.46)], shirt)
    brush.shape([(0.03, 0.83), (0.125, 0.80), (0.095, 0.46), (0.05, 0.46)], shade(shirt, 0.9))
    brush.block(-0.03, 0.80, 0.03, 0.86, shade(skin, 0.88))
    _head(brush, skin, hair, long=look.hue < 0.45)


def _legs(brush: Brush, step: float, trousers: Colour, short: bool, skin: Colour) -> None:
    for side, tone in ((-1, 0.82), (1, 1.0)):
        foot, knee = side * (0.035 + step), side * (0.045 + step * 0.6)
        brush.stroke([(side * 0.045, 0.48), (knee, 0.26)], shade(trousers, tone), 0.085)
        brush.stroke([(knee, 0.26), (foot, 0.04)], shade(skin if short else trousers, tone), 0.06)
        brush.shape(
            [(foot - 0.035, 0.0), (foot + 0.075, 0.0), (foot + 0.06, 0.035), (foot - 0.03, 0.05)], shade(INK, 1.4)
        )


def _head(brush: Brush, skin: Colour, hair: Colour, long: bool) -> None:
    if long:
        brush.round_block(-0.068, 0.81, 0.068, 0.97, hair)
    brush.disc(0.0, 0.92, 0.066, hair, 0.08)
    brush.disc(0.008, 0.905, 0.058, skin, 0.07)
    brush.shape([(-0.06, 0.93), (0.0, 0.955), (0.062, 0.935), (0.045, 0.985), (-0.045, 0.985)], hair)
    if brush.height > 90:
        for eye in (-0.012, 0.032):
            brush.disc(eye, 0.91, 0.008, INK)
        brush.stroke([(-0.005, 0.875), (0.025, 0.875)], shade(skin, 0.6), 0.006)


def _animal_legs(brush: Brush, places: tuple[float, ...], top: float, width: float, colour: Colour) -> None:
    """Draw legs: the farther pair darker, and a hoof or paw below each."""
    for number, x in enumerate(places):
        tone = shade(colour, 0.75 if number % 2 else 1.0)
        brush.shape([(x - width / 2, top), (x + width / 2, top), (x + width * 0.4, 0), (x - width * 0.4, 0)], tone)
        brush.block(x - width * 0.45, 0, x + width * 0.5, 0.045, shade(colour, 0.45))


def _swing(look: Appearance) -> float:
    """Return how far a step reaches."""
    return float(0.07 * np.sin(2 * np.pi * look.pose))


def dog(brush: Brush, look: Appearance) -> None:
    """A dog that stands, or sits."""
    fur = paint(0.07 + 0.04 * look.hue, 0.65 - 0.5 * look.hue, 0.3 + 0.6 * look.tone)
    dark = shade(fur, 0.6)
    if look.pose > 0.6:
        _sitting_dog(brush, fur, dark)
        return
    step = _swing(look)
    _animal_legs(brush, (-0.4 + step, -0.3 - step, 0.3 - step, 0.2 + step), 0.45, 0.13, fur)
    brush.stroke([(-0.46, 0.6), (-0.6, 0.74), (-0.64, 0.9)], fur, 0.07)
    brush.shape([(-0.5, 0.6), (-0.44, 0.36), (0.1, 0.34), (0.38, 0.4), (0.42, 0.7), (0.1, 0.66), (-0.36, 0.68)], fur)
    brush.shape([(0.26, 0.5), (0.3, 0.74), (0.44, 0.86), (0.56, 0.7), (0.42, 0.46)], fur)
    _dog_head(brush, 0.5, 0.82, fur, dark)


def _sitting_dog(brush: Brush, fur: Colour, dark: Colour) -> None:
    brush.stroke([(-0.3, 0.06), (-0.48, 0.1), (-0.56, 0.22)], fur, 0.07)
    brush.disc(-0.16, 0.2, 0.22, shade(fur, 0.9), 0.2)
    brush.shape([(-0.34, 0.06), (-0.3, 0.4), (0.0, 0.76), (0.24, 0.72), (0.22, 0.3), (0.1, 0.04)], fur)
    for x, tone in ((0.06, 0.8), (0.2, 1.0)):
        brush.shape([(x - 0.06, 0.42), (x + 0.06, 0.42), (x + 0.06, 0.0), (x - 0.04, 0.0)], shade(fur, tone))
        brush.block(x - 0.05, 0.0, x + 0.1, 0.05, dark)
    brush.block(-0.2, 0.0, 0.06, 0.06, dark)
    _dog_head(brush, 0.18, 0.82, fur, dark)


def _dog_head(brush: Brush, x: float, y: float, fur: Colour, dark: Colour) -> None:
    brush.disc(x, y, 0.15, fur, 0.135)
    brush.shape([(x + 0.08, y + 0.06), (x + 0.26, y - 0.01), (x + 0.25, y - 0.1), (x + 0.04, y - 0.12)], fur)
    brush.disc(x + 0.26, y - 0.02, 0.03, INK)
    brush.stroke([(x + 0.1, y - 0.09), (x + 0.22, y - 0.08)], dark, 0.015)
    brush.shape([(x - 0.12, y + 0.1), (x - 0.02, y + 0.14), (x - 0.05, y - 0.1), (x - 0.15, y - 0.12)], dark)
    brush.disc(x + 0.07, y + 0.04, 0.022, INK)


def cow(brush: Brush, look: Appearance) -> None:
    """A cow with patches, horns and an udder; she stands or grazes."""
    brown = look.hue > 0.5
    hide = paint(0.06, 0.55, 0.35 + 0.4 * look.tone) if brown else WHITE
    patch = WHITE if brown else shade(INK, 0.9 + 0.8 * look.tone)
    step = _swing(look)
    _animal_legs(brush, (-0.52 + step, -0.4 - step, 0.34 - step, 0.22 + step), 0.46, 0.1, hide)
    brush.stroke([(-0.6, 0.82), (-0.68, 0.7), (-0.67, 0.42)], shade(hide, 0.8), 0.03)
    brush.disc(-0.28, 0.36, 0.1, (236, 170, 168), 0.07)
    brush.shape(
        [(-0.62, 0.84), (-0.62, 0.5), (-0.45, 0.38), (0.3, 0.36), (0.46, 0.5), (0.48, 0.82), (0.1, 0.86), (-0.3, 0.85)],
        hide,
    )
    brush.shape([(-0.5, 0.84), (-0.52, 0.6), (-0.3, 0.52), (-0.16, 0.66), (-0.22, 0.85)], patch)
    brush.shape([(0.06, 0.85), (0.02, 0.62), (0.2, 0.5), (0.34, 0.6), (0.3, 0.84)], patch)
    drop = -0.42 if look.pose > 0.66 else 0.0
    brush.shape([(0.36, 0.84), (0.46, 0.5), (0.68, 0.68 + drop), (0.62, 0.9 + drop * 0.8)], hide)
    _cow_head(brush, 0.68, 0.82 + drop, hide, patch)


def _cow_head(brush: Brush, x: float, y: float, hide: Colour, patch: Colour) -> None:
    for side in (-0.06, 0.06):
        brush.stroke([(x + side, y + 0.1), (x + side * 2.2, y + 0.19)], (226, 214, 184), 0.025)
        brush.shape([(x + side, y + 0.06), (x + side * 3, y + 0.1), (x + side * 2.6, y + 0.02)], shade(hide, 0.75))
    brush.shape([(x - 0.11, y + 0.12), (x + 0.09, y + 0.12), (x + 0.12, y - 0.14), (x - 0.02, y - 0.18)], hide)
    brush.shape([(x - 0.11, y + 0.12), (x - 0.02, y + 0.12), (x - 0.02, y - 0.06), (x - 0.08, y)], patch)
    brush.disc(x + 0.05, y - 0.14, 0.085, (226, 176, 166), 0.06)
    brush.disc(x + 0.06, y + 0.03, 0.018, INK)


def sheep(brush: Brush, look: Appearance) -> None:
    """A sheep: a woolly cloud on thin legs."""
    wool = paint(0.11, 0.06 + 0.14 * look.hue, 0.82 + 0.16 * look.tone)
    face = shade(INK, 1.2) if look.hue < 0.6 else (206, 186, 160)
    step = _swing(look)
    _animal_legs(brush, (-0.34 + step, -0.24 - step, 0.26 - step, 0.16 + step), 0.34, 0.075, face)
    for place in range(12):
        turn = 2 * np.pi * place / 12
        brush.disc(-0.06 + 0.4 * np.cos(turn), 0.6 + 0.2 * np.sin(turn), 0.17, shade(wool, 0.86 + 0.02 * (place % 4)))
    brush.disc(-0.06, 0.62, 0.44, wool, 0.26)
    for x, y in ((-0.3, 0.68), (-0.08, 0.76), (0.14, 0.68), (-0.16, 0.54), (0.1, 0.5)):
        brush.ring(x, y, 0.07, shade(wool, 0.86), 0.016)
    y = 0.4 if look.pose > 0.7 else 0.74
    brush.disc(0.4, y + 0.02, 0.17, wool)
    brush.shape([(0.34, y + 0.12), (0.5, y + 0.12), (0.64, y - 0.12), (0.56, y - 0.19), (0.42, y - 0.1)], face)
    brush.shape([(0.36, y + 0.09), (0.2, y + 0.03), (0.24, y - 0.04), (0.38, y + 0.02)], shade(face, 0.8))
    brush.disc(0.42, y + 0.13, 0.1, wool, 0.07)
    brush.disc(0.5, y + 0.03, 0.02, WHITE if look.hue < 0.6 else INK)


def elephant(brush: Brush, look: Appearance) -> None:
    """An elephant with its trunk down, or raised."""
    hide = paint(0.58 + 0.1 * (look.hue - 0.5), 0.08 + 0.08 * look.hue, 0.45 + 0.25 * look.tone)
    step = _swing(look)
    _animal_legs(brush, (-0.44 + step, -0.26 - step, 0.22 - step, 0.06 + step), 0.46, 0.19, hide)
    brush.stroke([(-0.58, 0.72), (-0.66, 0.56), (-0.65, 0.36)], shade(hide, 0.75), 0.03)
    brush.shape(
        [(-0.6, 0.74), (-0.56, 0.42), (-0.3, 0.34), (0.2, 0.36), (0.36, 0.5), (0.34, 0.86), (0.1, 0.95), (-0.3, 0.95)],
        hide,
    )
    raised = look.pose > 0.62
    trunk = [(0.56, 0.6), (0.7, 0.52), (0.76, 0.66), (0.7, 0.86)] if raised else [
        (0.58, 0.62), (0.66, 0.42), (0.66, 0.2), (0.6, 0.1)
    ]  # fmt: skip
    for number, (start, stop) in enumerate(pairwise(trunk)):
        brush.stroke([start, stop], shade(hide, 0.95), 0.13 - 0.03 * number)
    brush.disc(0.46, 0.74, 0.19, hide, 0.2)
    brush.shape([(0.54, 0.56), (0.6, 0.6), (0.78, 0.46), (0.72, 0.44)], (244, 238, 218))
    brush.shape([(0.4, 0.92), (0.22, 0.98), (0.1, 0.84), (0.12, 0.62), (0.26, 0.5), (0.4, 0.64)], shade(hide, 0.82))
    brush.shape([(0.36, 0.88), (0.24, 0.92), (0.16, 0.82), (0.18, 0.66), (0.26, 0.58), (0.36, 0.68)], shade(hide, 0.9))
    brush.disc(0.54, 0.78, 0.02, INK)
