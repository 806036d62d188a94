"""Drawings of people."""

from assay.families.coco.drawing.brush import INK, Appearance, Brush, coat, paint, shade
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
