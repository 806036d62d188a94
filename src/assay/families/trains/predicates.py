"""The predicates of V-LoL's printed programs and of its README, for programs given as `prolog=`.

`ON_LISTS` reads the attributes off V-LoL's list of cars; as facts, trains have them already. `PREDICATES` says all else
in terms of these, so that a program may use our words and V-LoL's in either form.
"""

ON_LISTS = """
has_car(T, C) :- member(C, T).
car_num(c(N, _, _, _, _, _, _), N).
colour(c(_, rectangle, _, _, _, _, _), yellow).
colour(c(_, bucket, _, _, _, _, _), green).
colour(c(_, ellipse, _, _, _, _, _), grey).
colour(c(_, hexagon, _, _, _, _, _), red).
colour(c(_, u_shaped, _, _, _, _, _), blue).
car_length(c(_, _, Length, _, _, _, _), Length).
wall(c(_, _, _, not_double, _, _, _), solid).
wall(c(_, _, _, double, _, _, _), braced).
roof(c(_, _, _, _, none, _, _), none).
roof(c(_, _, _, _, arc, _, _), foundation).
roof(c(_, _, _, _, flat, _, _), solid).
roof(c(_, _, _, _, jagged, _, _), braced).
roof(c(_, _, _, _, peaked, _, _), peaked).
axles(c(_, _, _, _, _, Wheels, _), Wheels).
loads(c(_, _, _, _, _, _, l(_, Loads)), Loads).
load(c(_, _, _, _, _, _, l(none, _)), none).
load(c(_, _, _, _, _, _, l(rectangle, _)), box).
load(c(_, _, _, _, _, _, l(triangle, _)), golden_vase).
load(c(_, _, _, _, _, _, l(circle, _)), barrel).
load(c(_, _, _, _, _, _, l(diamond, _)), diamond).
load(c(_, _, _, _, _, _, l(hexagon, _)), metal_pot).
load(c(_, _, _, _, _, _, l(utriangle, _)), oval_vase).
"""
"""What facts say of trains, of a list of cars."""

PREDICATES = r"""
has_car(T, C, N) :- has_car(T, C), car_num(C, N).
infront(T, C, D) :- has_car(T, C, N), has_car(T, D, M), M =:= N + 1.
somewhere_behind(T, C, D) :- has_car(T, C, N), has_car(T, D, M), N > M.
X /= Y :- X \= Y.

short(C) :- car_length(C, short).
long(C) :- car_length(C, long).

car_color(C, Colour) :- colour(C, Colour).
yellow(C) :- colour(C, yellow).
green(C) :- colour(C, green).
grey(C) :- colour(C, grey).
red(C) :- colour(C, red).
blue(C) :- colour(C, blue).
rectangle(C) :- colour(C, yellow).
bucket(C) :- colour(C, green).
ellipse(C) :- colour(C, grey).
hexagon(C) :- colour(C, red).
u_shaped(C) :- colour(C, blue).

double(C) :- wall(C, braced).
braced_wall(C) :- wall(C, braced).
solid_wall(C) :- wall(C, solid).

open(C) :- roof(C, none).
closed(C) :- \+ open(C).
has_roof0(C, none) :- roof(C, none).
has_roof0(C, arc) :- roof(C, foundation).
has_roof0(C, flat) :- roof(C, solid).
has_roof0(C, jagged) :- roof(C, braced).
has_roof0(C, peaked) :- roof(C, peaked).
has_roof2(C, none) :- roof(C, none).
has_roof2(C, roof_foundation) :- roof(C, foundation).
has_roof2(C, solid_roof) :- roof(C, solid).
has_roof2(C, braced_roof) :- roof(C, braced).
has_roof2(C, peaked_roof) :- roof(C, peaked).
has_roof(C, r(Roof, N)) :- has_roof0(C, Roof), car_num(C, N).
none(r(none, _)).
arc(r(arc, _)).
flat(r(flat, _)).
jagged(r(jagged, _)).
peaked(r(peaked, _)).
roof_open(C) :- roof(C, none).
roof_foundation(C) :- roof(C, foundation).
solid_roof(C) :- roof(C, solid).
braced_roof(C) :- roof(C, braced).
peaked_roof(C) :- roof(C, peaked).

has_wheel0(C, Wheels) :- axles(C, Wheels).
has_wheel(C, Wheels) :- axles(C, Wheels).
has_wheel(C, w(N, Wheel)) :- car_num(C, N), axles(C, Wheels), between(1, 3, Wheel), Wheel =< Wheels.

load_num(C, Loads) :- loads(C, Loads).
has_payload(C, Load) :- load(C, Load), Load \= none.
has_load0(C, rectangle) :- load(C, box).
has_load0(C, triangle) :- load(C, golden_vase).
has_load0(C, circle) :- load(C, barrel).
has_load0(C, hexagon) :- load(C, metal_pot).
has_load0(C, utriangle) :- load(C, oval_vase).
has_load0(C, golden-vase) :- load(C, golden_vase).
has_load0(C, metal-pot) :- load(C, metal_pot).
has_load0(C, oval-vase) :- load(C, oval_vase).
has_load0(C, Load) :- load(C, Load), Load \= none.
has_load1(T, Load) :- has_car(T, C), has_load0(C, Load).
has_load(C, l(Load, Loads)) :- has_load0(C, Load), loads(C, Loads).
has_load(C, Load) :- has_load0(C, Load).
box(C) :- load(C, box).
golden_vase(C) :- load(C, golden_vase).
barrel(C) :- load(C, barrel).
diamond(C) :- load(C, diamond).
metal_pot(C) :- load(C, metal_pot).
oval_vase(C) :- load(C, oval_vase).
"""
"""V-LoL's predicates. A load is named as in Michalski's trains, as in the pictures, and as the paper prints it."""
