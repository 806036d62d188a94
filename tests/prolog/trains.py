"""Trains of up to four cars, and rules for them as users write them: on lists, and on facts."""

import numpy as np

from assay.base import rng_for
from assay.logic import ABSENT, Concept, ConceptSpace, Slot

VALUES = {
    "colour": ("yellow", "green", "grey", "red", "blue"),
    "length": ("short", "long"),
    "roof": ("none", "foundation", "solid", "braced", "peaked"),
    "axles": (2, 3),
    "loads": (0, 1, 2, 3),
    "load": ("none", "box", "golden_vase", "barrel", "diamond"),
}
SLOTS = tuple(Slot(f"car{number}", "cars", tuple(VALUES)) for number in range(1, 5))
SPACE = ConceptSpace(
    tuple(
        Concept(slot.concept(name), values if place < 2 else (*values, ABSENT))
        for place, slot in enumerate(SLOTS)
        for name, values in VALUES.items()
    ),
    SLOTS,
)
TEMPLATE = "{each(cars, c({place}, {colour}, {length}, {roof}, {axles}, l({load}, {loads})))}"
HEAD = "eastbound"

ON_LISTS = """
has_car(T, C) :- member(C, T).
car_num(c(N, _, _, _, _, _), N).
colour(c(_, X, _, _, _, _), X).
short(c(_, _, short, _, _, _)).
long(c(_, _, long, _, _, _)).
closed(c(_, _, _, R, _, _)) :- R \\= none.
wheels(c(_, _, _, _, W, _), W).
load_num(c(_, _, _, _, _, l(_, N)), N).
has_load0(c(_, _, _, _, _, l(S, N)), S) :- N > 0.
has_load1([C|_], S) :- has_load0(C, S).
has_load1([_|T], S) :- has_load1(T, S).
"""
LISTS = {
    "theory_x": "eastbound([Car|Cars]) :- (short(Car), closed(Car))"
    " ; (has_load0(Car, golden_vase), has_load1(Cars, barrel)) ; eastbound(Cars).",
    "numerical": "eastbound(T) :- has_car(T, C), load_num(C, N), car_num(C, N), wheels(C, N).",
    "complex": """
eastbound(T) :- has_car(T, C), car_num(C, N), load_num(C, L), N < L, wheels(C, W), N < W.
eastbound(T) :- has_car(T, C), has_car(T, D), short(C), long(D), colour(C, X), colour(D, X), car_num(C, N),
    wheels(D, W), N < W.
eastbound(T) :- has_car(T, A), has_car(T, B), has_car(T, C), colour(A, X), colour(B, Y), colour(C, Z),
    X \\= Y, Y \\= Z, X \\= Z.""",
    "cut": "eastbound([C|_]) :- short(C), !, closed(C). eastbound([_|T]) :- eastbound(T).",
    "cut after choice": "eastbound(T) :- first(T, C), colour(C, yellow).\n"
    "first(T, C) :- member(C, T), load_num(C, N), N >= 2, !. first([C|_], C).",
    "cut on a value": "eastbound(T) :- member(C, T), good(C). good(c(_, red, _, _, _, _)) :- !, fail."
    " good(c(_, blue, short, _, _, _)) :- !. good(C) :- closed(C), wheels(C, 3), !. good(C) :- load_num(C, 3).",
    "if-then-else": "eastbound(T) :- has_car(T, C), ( long(C) -> wheels(C, 3) ; colour(C, red) -> closed(C)"
    " ; colour(C, blue) ).",
    "findall": "eastbound(T) :- findall(N, (member(C, T), load_num(C, N)), L), sum_list(L, S), length(T, K), S > K + 1.",
    "findall of some": "eastbound(T) :- findall(N, (member(C, T), short(C), load_num(C, N)), L), length(L, 2).",
    "count": "eastbound(T) :- aggregate_all(count, (member(C, T), short(C)), N), N >= 2,"
    " \\+ (member(D, T), colour(D, red)).",
    "forall": "eastbound(T) :- forall(member(C, T), (short(C) ; closed(C))), last(T, D), wheels(D, 2), T = [E|_],"
    " \\+ E = D.",
    "arithmetic": "eastbound(T) :- append(_, [A, B|_], T), load_num(A, X), load_num(B, Y), Z is X * 2 - Y, Z > 1,"
    " Z mod 2 =:= 0.",
}
"""Rules on lists that can be written as formulas."""
ASKED = {
    "call": "eastbound(T) :- G =.. [member, C, T], call(G), call(short, C), maplist(nice, T). nice(C) :- \\+ colour(C, red).",
    "sort": "eastbound(T) :- findall(L-N, (member(C, T), load_num(C, L), car_num(C, N)), Ps), msort(Ps, S),"
    " last(S, _-K), K > 2, include(short, T, Ss), length(Ss, M), M >= 1,"
    " setof(X, C^(member(C, T), colour(C, X)), Xs), length(Xs, 3).",
    "fold": "eastbound(T) :- foldl(add, T, 0, S), S mod 3 =:= 0, nth1(2, T, D), ( long(D) -> true ; wheels(D, 2), S > 3 )."
    " add(C, A, B) :- load_num(C, N), B is A + N.",
    "soft": "eastbound(T) :- ( member(C, T), colour(C, blue) *-> short(C) ; member(C, T), colour(C, red) ),"
    " once(member(_, T)), forall(member(D, T), (load_num(D, N), N =< 2)).",
    "bagof": "eastbound(T) :- bagof(N, C^(member(C, T), colour(C, K), load_num(C, N)), L), K \\== yellow,"
    " sum_list(L, S), S >= 4, max_list(L, M), between(2, 3, M).",
}
"""Rules on lists that can only be asked."""
FLAT = {
    "theory_x": """
short(C) :- car_length(C, short).
closed(C) :- roof(C, R), R \\= none.
has_load(C, S) :- load(C, S), loads(C, N), N > 0.
eastbound(T) :- has_car(T, C), short(C), closed(C).
eastbound(T) :- has_car(T, C), has_load(C, golden_vase), before(C, D), has_load(D, barrel).""",
    "complex": """
eastbound(T) :- has_car(T, C), car_num(C, N), loads(C, L), N < L, axles(C, W), N < W.
eastbound(T) :- has_car(T, C), has_car(T, D), car_length(C, short), car_length(D, long), colour(C, X), colour(D, X),
    car_num(C, N), axles(D, W), N < W.
eastbound(T) :- has_car(T, A), has_car(T, B), has_car(T, C), colour(A, X), colour(B, Y), colour(C, Z),
    X \\= Y, Y \\= Z, X \\= Z.""",
    "negation": """
eastbound(T) :- has_car(T, C), colour(C, red), \\+ (has_car(T, D), colour(D, blue)), \\+ roof(C, none).
eastbound(T) :- has_car(T, C), car_num(C, 2), axles(C, N), loads(C, M), M >= N - 1.
eastbound(T) :- forall(has_car(T, C), car_length(C, short)).""",
    "invented": "inv1(A, B) :- before(A, B), colour(A, X), colour(B, X).\n"
    "eastbound(A) :- has_car(A, B), has_car(A, C), inv1(B, C), before(C, D), roof(D, solid).",
    "either": "eastbound(T) :- has_car(T, C), ( colour(C, red) ; colour(C, blue), axles(C, 3) ), loads(C, 1).",
}
"""Flat rules on facts, which clingo takes too."""
FACTS = {
    "if-then-else": "eastbound(T) :- has_car(T, C), ( car_length(C, long) -> axles(C, 3) ; colour(C, red) ),"
    " \\+ (has_car(T, D), before(D, C)).",
    "cut": "first(T, C) :- has_car(T, C), roof(C, R), R \\= none, !. eastbound(T) :- first(T, C), colour(C, yellow).",
    "count": "eastbound(T) :- aggregate_all(count, (has_car(T, C), colour(C, red)), N), N >= 2.",
}
"""Rules on facts that are not flat."""


def drawn(count: int) -> np.ndarray:
    """Return trains of two to four cars."""
    rng = rng_for(3, "trains")
    codes = np.stack([rng.integers(len(concept.present), size=count) for concept in SPACE.concepts], axis=1)
    cars = rng.integers(2, 5, size=count)
    for place, slot in enumerate(SLOTS[2:], 2):
        for name in slot.concepts:
            codes[cars <= place, SPACE.place(name)] = len(SPACE.concept(name).present)
    return codes


def theory_x(codes: np.ndarray) -> list[bool]:
    """Return the label of theory X, restated in plain Python."""
    found = []
    for row in codes:
        values = SPACE.decode(row)
        cars = [{name: values[slot.concept(name)] for name in VALUES} for slot in SLOTS]
        there = [car for car in cars if car["colour"] != ABSENT]
        loads = [car["load"] if car["loads"] else None for car in there]
        covered = any(car["length"] == "short" and car["roof"] != "none" for car in there)
        order = any(one == "golden_vase" and "barrel" in loads[at + 1 :] for at, one in enumerate(loads))
        found.append(covered or order)
    return found
