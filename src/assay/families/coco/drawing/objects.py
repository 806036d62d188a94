"""Drawings of vehicles and of what stops them, of furniture, of what stands on tables, and of surfboards."""

import numpy as np

from assay.families.coco.drawing.brush import (
    GLASS,
    INK,
    METAL,
    RUBBER,
    WHITE,
    Appearance,
    Brush,
    coat,
    mirror,
    paint,
    shade,
)
from assay.render import Colour

YELLOW: Colour = (250, 214, 90)
RED: Colour = (214, 52, 44)


def _wheel(brush: Brush, x: float, radius: float) -> None:
    brush.disc(x, radius, radius, RUBBER)
    brush.disc(x, radius, radius * 0.55, METAL)
    brush.disc(x, radius, radius * 0.18, shade(METAL, 0.6))


def car(brush: Brush, look: Appearance) -> None:
    """A car from the side, or from the front."""
    body = coat(look)
    if faces_us(look):
        _car_front(brush, body)
        return
    boxy = look.pose < 0.3
    roof = [(-1.02, 0.6), (-0.8, 0.98), (0.42, 0.98), (0.85, 0.6)] if boxy else [
        (-0.85, 0.58), (-0.5, 0.97), (0.22, 1.0), (0.78, 0.58)
    ]  # fmt: skip
    brush.shape(roof, body)
    glass = [(-0.72, 0.62), (-0.46, 0.9), (-0.08, 0.92), (-0.08, 0.62)]
    brush.shape([(x - 0.2, y) if boxy and x < -0.2 else (x, y) for x, y in glass], GLASS)
    brush.shape([(0.0, 0.62), (0.0, 0.92), (0.22, 0.92), (0.6, 0.62)], GLASS)
    brush.shape([(-1.28, 0.2), (-1.3, 0.48), (-1.2, 0.62), (0.85, 0.62), (1.2, 0.54), (1.3, 0.42), (1.3, 0.2)], body)
    brush.block(-1.29, 0.18, 1.3, 0.27, shade(body, 0.7))
    brush.stroke([(-0.04, 0.28), (-0.04, 0.6)], shade(body, 0.7), 0.015)
    brush.block(-0.24, 0.5, -0.12, 0.53, shade(body, 0.6))
    brush.disc(1.2, 0.45, 0.06, YELLOW)
    brush.block(-1.3, 0.42, -1.22, 0.53, RED)
    for x in (-0.78, 0.8):
        brush.disc(x, 0.24, 0.27, shade(body, 0.5), 0.25)
        _wheel(brush, x, 0.22)


def _car_front(brush: Brush, body: Colour) -> None:
    for side in (-1, 1):
        brush.block(min(side * 0.4, side * 0.56), 0.0, max(side * 0.4, side * 0.56), 0.3, RUBBER)
        brush.shape([(side * 0.58, 0.66), (side * 0.7, 0.66), (side * 0.7, 0.74), (side * 0.56, 0.72)], body)
    brush.shape(mirror([(0.42, 0.99), (0.56, 0.62)]), body)
    brush.shape(mirror([(0.37, 0.93), (0.49, 0.64)]), GLASS)
    brush.round_block(-0.63, 0.12, 0.63, 0.64, body)
    brush.block(-0.34, 0.3, 0.34, 0.43, shade(body, 0.4))
    for side in (-1, 1):
        brush.disc(side * 0.48, 0.43, 0.09, WHITE, 0.07)
    brush.block(-0.6, 0.13, 0.6, 0.23, shade(body, 0.65))
    brush.block(-0.16, 0.2, 0.16, 0.29, WHITE)


def truck(brush: Brush, look: Appearance) -> None:
    """A lorry with a cab and a box, or an open bed."""
    cab, box = coat(look), paint(look.hue + 0.4, 0.15 + 0.2 * look.tone, 0.9)
    brush.block(-1.0, 0.17, 0.95, 0.27, INK)
    if look.pose < 0.65:
        brush.block(-1.02, 0.27, 0.38, 1.0, box)
        for x in (-0.68, -0.33, 0.02):
            brush.stroke([(x, 0.29), (x, 0.98)], shade(box, 0.88), 0.012)
        brush.block(-1.02, 0.27, 0.38, 0.34, shade(box, 0.75))
    else:
        brush.block(-1.02, 0.27, 0.38, 0.52, box)
        brush.shape([(-0.98, 0.52), (-0.7, 0.72), (-0.3, 0.66), (0.1, 0.76), (0.34, 0.52)], (150, 112, 72))
        brush.block(-1.02, 0.46, 0.38, 0.52, shade(box, 0.75))
    brush.shape([(0.42, 0.2), (0.42, 0.86), (0.78, 0.86), (0.92, 0.54), (1.0, 0.5), (1.0, 0.2)], cab)
    brush.shape([(0.52, 0.54), (0.52, 0.79), (0.74, 0.79), (0.86, 0.54)], GLASS)
    brush.block(0.42, 0.17, 1.01, 0.25, shade(cab, 0.6))
    brush.block(0.93, 0.3, 1.0, 0.38, YELLOW)
    for x in (-0.72, -0.4, 0.7):
        _wheel(brush, x, 0.16)


def bus(brush: Brush, look: Appearance) -> None:
    """A bus from the side with its row of windows, or from the front."""
    body = coat(look)
    trim = WHITE if sum(body) < 480 else shade(body, 0.55)
    if faces_us(look):
        _bus_front(brush, body, trim)
        return
    brush.round_block(-1.3, 0.1, 1.3, 1.0, body)
    brush.block(-1.28, 0.34, 1.28, 0.42, trim)
    for place in range(6):
        left = -1.2 + place * 0.36
        brush.block(left, 0.52, left + 0.31, 0.86, GLASS)
        brush.shape([(left, 0.86), (left, 0.62), (left + 0.2, 0.86)], shade(GLASS, 1.12))
    brush.block(0.98, 0.16, 1.2, 0.86, shade(GLASS, 0.8))
    brush.stroke([(1.09, 0.16), (1.09, 0.86)], INK, 0.02)
    brush.block(-1.28, 0.1, 1.28, 0.17, shade(body, 0.55))
    brush.disc(1.24, 0.24, 0.045, YELLOW)
    for x in (-0.78, 0.72):
        _wheel(brush, x, 0.15)


def _bus_front(brush: Brush, body: Colour, trim: Colour) -> None:
    for side in (-1, 1):
        brush.block(side * 0.29 - 0.07, 0.0, side * 0.29 + 0.07, 0.2, RUBBER)
        brush.stroke([(side * 0.38, 0.78), (side * 0.46, 0.76), (side * 0.46, 0.62)], INK, 0.03)
    brush.round_block(-0.4, 0.08, 0.4, 1.0, body)
    brush.block(-0.28, 0.85, 0.28, 0.95, INK)
    brush.block(-0.2, 0.88, 0.18, 0.92, YELLOW)
    brush.round_block(-0.35, 0.42, 0.35, 0.83, GLASS)
    brush.shape([(-0.3, 0.8), (-0.3, 0.5), (0.0, 0.8)], shade(GLASS, 1.12))
    brush.stroke([(0.0, 0.42), (0.0, 0.82)], shade(body, 0.6), 0.02)
    brush.block(-0.39, 0.3, 0.39, 0.34, trim)
    for side in (-1, 1):
        brush.disc(side * 0.29, 0.22, 0.055, YELLOW)
    brush.block(-0.39, 0.09, 0.39, 0.15, shade(body, 0.6))


def train(brush: Brush, look: Appearance) -> None:
    """A railcar on its track from the side, or a locomotive from the front."""
    body = coat(look)
    stripe = YELLOW if abs(look.hue - 0.13) > 0.1 else RED
    if faces_us(look):
        _train_front(brush, body, stripe)
        return
    brush.block(-1.3, 0.0, 1.3, 0.03, shade(METAL, 0.7))
    for x in np.linspace(-1.22, 1.22, 12).tolist():
        brush.block(x - 0.05, -0.03, x + 0.05, 0.0, (104, 84, 66))
    brush.shape([(-1.3, 0.14), (-1.3, 0.95), (0.75, 0.95), (1.12, 0.72), (1.3, 0.4), (1.28, 0.14)], body)
    brush.shape([(0.78, 0.9), (1.06, 0.7), (1.18, 0.52), (0.8, 0.52)], GLASS)
    brush.block(-1.3, 0.95, 0.7, 1.0, shade(body, 0.6))
    brush.block(-1.3, 0.3, 1.29, 0.38, stripe)
    for left in np.linspace(-1.22, 0.42, 6).tolist():
        brush.round_block(left, 0.52, left + 0.22, 0.8, GLASS)
    brush.stroke([(-0.55, 0.14), (-0.55, 0.94)], shade(body, 0.6), 0.02)
    for x in (-1.1, -0.8, -0.3, 0.0, 0.62, 0.92):
        brush.disc(x, 0.1, 0.09, INK)
        brush.disc(x, 0.1, 0.04, METAL)
    brush.disc(1.24, 0.26, 0.04, WHITE)


def _train_front(brush: Brush, body: Colour, stripe: Colour) -> None:
    for side in (-1, 1):
        brush.stroke([(side * 0.24, 0.03), (side * 0.38, 0.0)], shade(METAL, 0.8), 0.03)
    brush.block(-0.34, 0.05, 0.34, 0.16, INK)
    brush.shape(mirror([(0.2, 1.0), (0.36, 0.86), (0.38, 0.14)]), body)
    for side in (-1, 1):
        brush.round_block(side * 0.165 - 0.135, 0.58, side * 0.165 + 0.135, 0.83, GLASS)
        brush.disc(side * 0.26, 0.3, 0.05, YELLOW)
    brush.block(-0.37, 0.42, 0.37, 0.5, stripe)
    brush.disc(0.0, 0.9, 0.045, WHITE)
    brush.block(-0.1, 0.17, 0.1, 0.27, shade(body, 0.55))


def bicycle(brush: Brush, look: Appearance) -> None:
    """A bicycle from the side."""
    frame = coat(look)
    back, front, pedal = (-0.48, 0.32), (0.5, 0.32), (-0.06, 0.3)
    saddle, head = (-0.2, 0.8), (0.34, 0.78)
    for x, y in (back, front):
        brush.ring(x, y, 0.3, RUBBER, 0.045)
        for turn in np.linspace(0, np.pi, 5)[:4] + look.pose:
            reach = 0.28 * np.array([np.cos(turn), np.sin(turn)])
            brush.stroke([(x - reach[0], y - reach[1]), (x + reach[0], y + reach[1])], METAL, 0.008)
    for line in ([back, pedal, head], [back, (-0.17, 0.66), pedal], [(-0.17, 0.66), head], [head, front]):
        brush.stroke(line, frame, 0.05)
    brush.stroke([(-0.17, 0.66), saddle], INK, 0.035)
    brush.stroke([(-0.31, 0.82), (-0.1, 0.81)], INK, 0.06)
    brush.stroke([head, (0.31, 0.92), (0.42, 0.97), (0.48, 0.9)], INK, 0.04)
    brush.disc(pedal[0], pedal[1], 0.07, shade(METAL, 0.7))
    brush.stroke([(pedal[0] - 0.08, pedal[1] + 0.09), (pedal[0] + 0.08, pedal[1] - 0.09)], INK, 0.03)


def motorcycle(brush: Brush, look: Appearance) -> None:
    """A motorcycle from the side."""
    tank = coat(look)
    for x in (-0.52, 0.52):
        brush.disc(x, 0.28, 0.28, RUBBER)
        brush.disc(x, 0.28, 0.17, METAL)
        brush.disc(x, 0.28, 0.12, shade(METAL, 0.55))
    brush.stroke([(0.52, 0.28), (0.3, 0.78)], shade(METAL, 0.8), 0.06)
    brush.shape([(-0.22, 0.2), (-0.2, 0.48), (0.2, 0.5), (0.24, 0.22)], shade(METAL, 0.62))
    for level in (0.28, 0.35, 0.42):
        brush.stroke([(-0.16, level), (0.18, level)], METAL, 0.025)
    brush.stroke([(-0.05, 0.18), (-0.5, 0.16), (-0.78, 0.24)], METAL, 0.06)
    brush.shape([(-0.12, 0.52), (-0.04, 0.72), (0.26, 0.74), (0.36, 0.58), (0.2, 0.48)], tank)
    brush.shape([(-0.7, 0.62), (-0.62, 0.74), (-0.08, 0.66), (-0.1, 0.54), (-0.5, 0.52)], INK)
    brush.shape([(-0.8, 0.56), (-0.62, 0.64), (-0.4, 0.56), (-0.5, 0.5)], tank)
    brush.shape([(0.26, 0.52), (0.5, 0.6), (0.72, 0.54), (0.52, 0.66)], tank)
    brush.stroke([(0.3, 0.78), (0.24, 0.94), (0.1, 0.94)], INK, 0.045)
    brush.disc(0.38, 0.76, 0.075, YELLOW)
    if look.pose > 0.5:
        brush.shape([(0.3, 0.84), (0.36, 1.0), (0.46, 0.84)], shade(GLASS, 0.95))


def traffic_light(brush: Brush, look: Appearance) -> None:
    """A traffic light on its pole; one lamp is lit."""
    brush.block(-0.018, 0.0, 0.018, 0.72, shade(METAL, 0.55))
    brush.block(-0.05, 0.0, 0.05, 0.03, shade(METAL, 0.4))
    housing = (46, 52, 50) if look.tone < 0.6 else (206, 170, 52)
    brush.round_block(-0.095, 0.56, 0.095, 1.0, housing)
    lit = int(look.pose * 3)
    for place, lamp in enumerate((RED, (246, 180, 52), (60, 196, 92))):
        y = 0.925 - 0.145 * place
        brush.disc(0.0, y, 0.062, shade(lamp, 1.0 if place == lit else 0.3))
        brush.shape([(-0.07, y + 0.02), (-0.05, y + 0.07), (0.05, y + 0.07), (0.07, y + 0.02), (0.0, y + 0.05)], INK)


def faces_us(look: Appearance) -> bool:
    """Return whether something that can be seen from the side or the front is seen from the front."""
    return look.pose > 0.72


def chair(brush: Brush, look: Appearance) -> None:
    """A chair with a high back, seen from the front a little aslant."""
    wood = paint(0.07, 0.6 - 0.4 * look.hue, 0.35 + 0.5 * look.tone)
    seat = coat(look) if look.pose > 0.4 else shade(wood, 1.15)
    for x in (-0.2, 0.13):
        brush.block(x, 0.08, x + 0.055, 0.5, shade(wood, 0.7))
    for x in (-0.24, 0.18):
        brush.block(x, 0.46, x + 0.06, 1.0, wood)
    if look.pose > 0.7:
        brush.round_block(-0.22, 0.6, 0.22, 0.98, seat)
    else:
        for level in (0.62, 0.76, 0.9):
            brush.block(-0.2, level, 0.2, level + 0.07, wood)
    brush.shape([(-0.25, 0.5), (0.25, 0.5), (0.31, 0.4), (-0.31, 0.4)], seat)
    brush.block(-0.31, 0.35, 0.31, 0.4, shade(seat, 0.75))
    for x in (-0.3, 0.24):
        brush.block(x, 0.0, x + 0.06, 0.36, wood)


def couch(brush: Brush, look: Appearance) -> None:
    """A couch with arms, cushions and short feet."""
    cloth = coat(look)
    for x in (-0.9, 0.82):
        brush.block(x, 0.0, x + 0.08, 0.1, (84, 60, 42))
    brush.round_block(-0.88, 0.3, 0.88, 1.0, shade(cloth, 0.85))
    seats = 3 if look.pose > 0.5 else 2
    width = 1.6 / seats
    for place in range(seats):
        left = -0.8 + place * width
        brush.round_block(left + 0.01, 0.46, left + width - 0.01, 0.94, cloth)
        brush.round_block(left + 0.01, 0.28, left + width - 0.01, 0.5, shade(cloth, 1.12))
    brush.block(-0.84, 0.08, 0.84, 0.3, shade(cloth, 0.72))
    for left in (-1.02, 0.78):
        brush.round_block(left, 0.06, left + 0.24, 0.68, shade(cloth, 0.94))
    if look.tone > 0.4:
        brush.round_block(0.38, 0.46, 0.68, 0.8, paint(look.hue + 0.5, 0.55, 0.85))


def bottle(brush: Brush, look: Appearance) -> None:
    """A bottle with a label: slim, or with wide shoulders."""
    glass = paint(look.hue, 0.5, 0.35 + 0.35 * look.tone) if look.pose < 0.6 else paint(0.55, 0.2, 0.85)
    wide, neck = (0.15, 0.045) if look.pose < 0.5 else (0.13, 0.06)
    shoulder = 0.62 if look.pose < 0.5 else 0.7
    spots = [(neck, 0.97), (neck, shoulder + 0.14), (wide, shoulder), (wide, 0.03), (wide - 0.03, 0.0)]
    brush.shape(mirror(spots), glass)
    brush.block(-wide * 0.72, 0.06, -wide * 0.45, shoulder - 0.02, shade(glass, 1.3))
    brush.block(-wide, 0.2, wide, 0.46, shade(WHITE, 0.97))
    brush.block(-wide, 0.29, wide, 0.37, paint(look.hue + 0.4, 0.7, 0.7))
    brush.block(-neck - 0.012, 0.9, neck + 0.012, 1.0, paint(look.hue + 0.3, 0.7, 0.6))


def cup(brush: Brush, look: Appearance) -> None:
    """A mug with a handle, or a glass."""
    if look.pose > 0.7:
        brush.shape(mirror([(0.36, 1.0), (0.27, 0.0)]), (206, 224, 232))
        drink = paint(0.02 + 0.12 * look.hue, 0.75, 0.5 + 0.45 * look.tone)
        brush.shape(mirror([(0.335, 0.78), (0.25, 0.06)]), drink)
        brush.disc(0.0, 0.78, 0.335, shade(drink, 1.2), 0.07)
        brush.block(-0.24, 0.12, -0.17, 0.92, (236, 246, 250))
        return
    china = coat(look)
    brush.ring(0.38, 0.5, 0.2, shade(china, 0.85), 0.1)
    brush.shape(mirror([(0.4, 0.92), (0.38, 0.25), (0.28, 0.0)]), china)
    brush.shape([(0.18, 0.88), (0.4, 0.92), (0.38, 0.25), (0.28, 0.0), (0.16, 0.0)], shade(china, 0.85))
    brush.disc(0.0, 0.91, 0.4, shade(china, 1.15), 0.09)
    brush.disc(0.0, 0.9, 0.34, (74, 46, 30), 0.065)


def bowl(brush: Brush, look: Appearance) -> None:
    """A bowl of soup, salad or fruit."""
    china = coat(look)
    turns = np.linspace(0, np.pi, 17)
    side = np.stack([0.9 * np.cos(turns), 0.72 - 0.68 * np.sin(turns) ** 0.8], axis=1)
    brush.shape(side, china)
    brush.block(-0.32, 0.0, 0.32, 0.09, shade(china, 0.75))
    brush.disc(0.0, 0.72, 0.9, shade(china, 1.15), 0.22)
    food = paint(0.04 + 0.3 * look.hue, 0.65, 0.55 + 0.4 * look.tone)
    brush.disc(0.0, 0.71, 0.78, food, 0.165)
    for place in range(6):
        x = -0.5 + 0.2 * place
        lift = 0.06 if look.pose > 0.5 else 0.0
        brush.disc(x, 0.71 + lift + 0.05 * (-1) ** place, 0.13, shade(food, 0.75 + 0.09 * place), 0.08 + lift)


def pizza(brush: Brush, look: Appearance) -> None:
    """A pizza on a plate, seen aslant; now and then a slice is gone."""
    brush.disc(0.0, 0.46, 1.2, shade(WHITE, 0.86), 0.46)
    brush.disc(0.0, 0.52, 1.2, WHITE, 0.46)
    gone = 0.6 if look.pose > 0.65 else 0.0
    turns = np.linspace(gone + 0.3, 2 * np.pi + 0.3, 40)
    ring = np.stack([np.cos(turns), np.sin(turns) * 0.38], axis=1)
    middle = [[0.0, 0.0]] if gone else []
    for reach, lift, tone in ((1.06, 0.54, (196, 138, 72)), (0.94, 0.57, (214, 78, 48)), (0.9, 0.58, (246, 206, 110))):
        spots = np.array([*(ring * reach).tolist(), *middle]) + np.array([0.0, lift])
        brush.shape(spots, tone)
    topping = ((176, 44, 38), (84, 134, 60), (64, 48, 52))[int(look.hue * 3) % 3]
    for place in range(9):
        turn, far = gone + 0.75 + place * (5.6 - gone) / 8, (0.35, 0.68, 0.6)[place % 3]
        brush.disc(far * np.cos(turn), 0.58 + 0.38 * far * np.sin(turn), 0.13, topping, 0.06)
        brush.disc(far * np.cos(turn + 0.3) * 0.7, 0.58 + 0.27 * far * np.sin(turn + 0.3), 0.05, WHITE, 0.025)


def surfboard(brush: Brush, look: Appearance) -> None:
    """A surfboard that stands in the sand, more or less aslant."""
    board, band = coat(look), paint(look.hue + 0.5, 0.75, 0.85)
    lean = 0.3 * (look.pose - 0.5)
    levels = np.linspace(0.0, 1.0, 15)
    half = 0.125 * np.sqrt(np.maximum(0.0, 1 - np.abs(2 * levels - 0.9) ** 2.6)).clip(0.012)
    right = np.stack([half + lean * levels, levels], axis=1)
    left = np.stack([-half + lean * levels, levels], axis=1)[::-1]
    brush.shape(np.concatenate([right, left]), board)
    for low, high in ((0.3, 0.4), (0.62, 0.66)):
        inside = (levels >= low - 0.04) & (levels <= high + 0.04)
        brush.shape(np.concatenate([right[inside], left[inside[::-1]]]), band)
    brush.stroke([(lean * 0.06, 0.06), (lean * 0.94, 0.94)], shade(board, 0.6) if sum(board) > 200 else WHITE, 0.012)
    brush.shape([(lean * 0.05 - 0.01, 0.1), (lean * 0.05 + 0.12, 0.02), (lean * 0.05 + 0.02, 0.02)], INK)
