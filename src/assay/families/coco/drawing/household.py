"""Drawings of furniture, of what stands on tables, and of surfboards."""

import numpy as np

from assay.families.coco.drawing.brush import INK, WHITE, Appearance, Brush, coat, mirror, paint, shade


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
