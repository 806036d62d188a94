"""V-LoL's printed programs run as they are, on lists and on facts, and a user's own predicates come before ours."""

from pathlib import Path

import numpy as np
import pytest

from assay.base import ConfigError
from assay.logic import Oracle

from .test_task import drawn, task

PRINTED = {  # as in the paper's Section 3 and Appendix A.3, and the released example rules, letter by letter
    "theory_x": """eastbound([Car|Cars]):-
(short(Car), closed(Car));
(has_load0(Car, golden-vase),
has_load1(Cars, barrel));
eastbound(Cars).""",
    "theory_x, appendix": """eastbound([Car|Cars]):- (short(Car), closed(Car));
(has_load0(Car,triangle),has_load1(Cars,circle));
eastbound(Cars).""",
    "numerical": """eastbound(Train):- has_car(Train,Car),load_num(Car,N), car_num(Car,N),
has_wheel0(Car,N).""",
    "complex": """eastbound(Train):-
has_car(Train,Car1),has_car(Train,Car2), has_car(Train,Car3),
(load_num(Car1,N1), car_num(Car1,N2),has_wheel0(Car1,N3), N2 < N1, N2 < N3;
short(Car1), long(Car2),car_num(Car1,N1), car_color(Car1, A),
car_color(Car2, A),has_wheel0(Car2,N2), N1 < N2;
car_color(Car1,X), car_color(Car2,Y),car_color(Car3,Z),X/=Y, Y/=Z, Z/=X).""",
    "complex, released": """
eastbound(Train):- has_car(Train,Car), load_num(Car,N1), car_num(Car,N2), has_wheel0(Car,N3), N2 < N1, N2 < N3.
eastbound(Train):- has_car(Train,Car, N1), has_car(Train,Car2), short(Car), long(Car2), car_color(Car, A), car_color(Car2, A), has_wheel0(Car2,N2), N1 < N2.
eastbound(Train):- has_car(Train,B), has_car(Train,C), has_car(Train,D), car_color(D,X), car_color(C,Y), car_color(B,Z), X\\=Y, Y\\=Z, Z\\=X.""",
    "easy": "eastbound(Train):- has_car(Train,Car), has_car(Train,Car2), short(Car), long(Car2), car_color(Car, A), car_color(Car2, A).",
    "color": "eastbound(A):- has_car(A,B), has_car(A,C), has_car(A,D), car_color(D,X), car_color(C,Y), car_color(B,Z), X\\=Y, Y\\=Z, Z\\=X.",
    "multi": """
eastbound(Train):- has_car(Train,Car), braced_wall(Car), has_car(Train,Car2), load_num(Car2, 2).
eastbound(Train):- has_car(Train,Car), load_num(Car,3), has_car(Train,Car2), car_color(Car2, blue).
eastbound(Train):- has_car(Train,Car), short(Car), has_car(Train,Car2), long(Car2), has_load(Car, A), has_load(Car2, A).""",
    "theory_x, formula": """eastbound(Train) :- has_car(Train, Car1), short(Car1), closed(Car1).
eastbound(Train) :- has_car(Train, Car1), has_car(Train, Car2),
has_load(Car1, golden-vase), has_load(Car2, barrel), somewhere_behind(Train, Car2, Car1).""",
}
CASES = [
    (name, form)
    for name, text in PRINTED.items()
    for form in ("list", "facts")
    if form == "list" or "[Car|Cars]" not in text
]


@pytest.fixture(scope="module")
def trains():
    """Return 300 trains, half of them Michalski's."""
    kinds = ("michalski", "uniform")
    return np.concatenate([drawn(task(distribution=kind, balance="world"), count=150, seed=7) for kind in kinds])


def east(codes, **settings):
    return task(distribution="uniform", **settings).knowledge.labels_of(codes)[:, 0].astype(bool)


@pytest.mark.parametrize(("name", "form"), CASES)
def test_printed_programs_label_as_our_rules_do(name, form, trains):
    expected = east(trains, rule=name.split(",")[0])
    assert 20 < expected.sum() < 280
    held = task(distribution="uniform", prolog=PRINTED[name], prolog_form=form).knowledge
    assert np.array_equal(held.labels_of(trains)[:, 0].astype(bool), expected)
    assert not isinstance(held.labels[0].formula, Oracle)  # it unfolds, as the page says of all of them


def test_the_page_on_trains_shows_a_printed_program():
    page = Path(__file__).parents[3] / "docs" / "families" / "trains.md"
    assert PRINTED["theory_x, appendix"] in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["trains", "blocks"])
def test_a_printed_program_in_a_file_is_the_rule_of_trains_and_blocks(name, tmp_path):
    path = tmp_path / "theory_x.pl"
    path.write_text(PRINTED["theory_x"])
    held = task(name, prolog=str(path))
    codes = drawn(held, count=60)
    assert np.array_equal(held.knowledge.labels_of(codes), task(name).knowledge.labels_of(codes))
    assert not isinstance(held.knowledge.labels[0].formula, Oracle)


# -- each predicate ----------------------------------------------------------------------------------------------------

MEANINGS = {
    "has_car(T, C), car_num(C, 3)": "count(True for c in cars) >= 3",
    "has_car(T, _, 4)": "count(True for c in cars) >= 4",
    "infront(T, C, D), red(C), blue(D)": "any(a.colour == 'red' and b.colour == 'blue' and b.number == a.number + 1"
    " for a, b in pairs(cars))",
    "somewhere_behind(T, C, D), red(C), blue(D)": "any(a.colour == 'blue' and b.colour == 'red' for a, b in pairs(cars))",
    "has_car(T, C), open(C), double(C)": "any(c.roof == 'none' and c.wall == 'braced' for c in cars)",
    "has_car(T, C), has_roof(C, R), flat(R), R = r(_, 2)": "any(c.roof == 'solid' and c.number == 2 for c in cars)",
    "has_car(T, C), has_roof0(C, jagged)": "any(c.roof == 'braced' for c in cars)",
    "has_car(T, C), has_roof2(C, roof_foundation)": "any(c.roof == 'foundation' for c in cars)",
    "has_car(T, C), has_wheel(C, w(1, 3))": "any(c.axles == 3 and c.number == 1 for c in cars)",
    "has_car(T, C), has_wheel(C, 3)": "any(c.axles == 3 for c in cars)",
    "has_car(T, C), has_load(C, l(hexagon, 2))": "any(c.load == 'metal_pot' and c.loads == 2 for c in cars)",
    "has_car(T, C), load_num(C, 0), \\+ has_load(C, _)": "any(c.loads == 0 for c in cars)",
    "has_car(T, C), has_payload(C, oval_vase), ellipse(C)": "any(c.load == 'oval_vase' and c.colour == 'grey' for c in cars)",
    "has_load1(T, utriangle)": "any(c.load == 'oval_vase' for c in cars)",
    "has_load1(T, metal-pot)": "any(c.load == 'metal_pot' for c in cars)",
    "has_car(T, C), colour(C, green), roof(C, peaked), axles(C, 2), car_length(C, short), wall(C, solid), loads(C, 1)":
    "any(c.colour == 'green' and c.roof == 'peaked' and c.length == 'short' and c.wall == 'solid' and c.loads == 1"
    " for c in cars)",
}  # fmt: skip


@pytest.mark.parametrize("form", ["list", "facts"])
@pytest.mark.parametrize("body", MEANINGS)
def test_predicates_mean_what_they_say(body, form):
    codes = drawn(task(distribution="uniform", balance="world"), count=1500, seed=3)
    expected = east(codes, rule=MEANINGS[body])
    assert expected.any() and not expected.all()
    assert np.array_equal(east(codes, prolog=f"eastbound(T) :- {body}.", prolog_form=form), expected)


# -- a user's own ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["list", "facts"])
def test_own_definitions_come_first(form, trains):
    own = "closed(C) :- red(C). eastbound(T) :- has_car(T, C), closed(C)."
    rule = "any(c.colour == 'red' for c in cars)"
    assert np.array_equal(east(trains, prolog=own, prolog_form=form), east(trains, rule=rule))
    inside = "open(_) :- fail. eastbound(T) :- has_car(T, C), closed(C)."  # what is predefined calls the user's too
    assert east(trains, prolog=inside, prolog_form=form).all()


HELPERS = """
has_car(T, C) :- member(C, T).
member(X, [X|_]).
member(X, [_|T]) :- member(X, T).
append([], L, L) :- !.
append([H|L1], L2, [H|L3]) :- append(L1, L2, L3), !.
short(C) :- arg(3, C, short).
open(C) :- arg(5, C, none).
closed(C) :- not(open(C)).
has_wheel0(C, W) :- arg(6, C, W).
has_load0(C, Shape) :- arg(7, C, l(Shape, N)), 1 =< N.
has_load1(T, Shape) :- has_car(T, C), has_load0(C, Shape).
load_num(C, N) :- arg(7, C, l(_, N)).
car_num(C, N) :- arg(1, C, N).
"""


@pytest.mark.parametrize("name", ["theory_x, appendix", "numerical"])
def test_a_file_with_helpers_of_the_same_names_is_no_error(name, trains):
    found = east(trains, prolog=HELPERS + PRINTED[name])
    assert np.array_equal(found, east(trains, rule=name.split(",")[0]))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("eastbound(T) :- has_car(T, C), shrt(C).", "line 1: no predicate shrt/1 .* did you mean 'short/1'"),
        (
            "eastbound(T) :- has_car(T, C),\n has_lod0(C, circle).",
            "no predicate has_lod0/2 .* did you mean 'has_load0/2'",
        ),
    ],
)
def test_a_misspelt_predicate_is_told_with_the_nearest(program, message):
    with pytest.raises(ConfigError, match=message) as caught:
        task(prolog=program)
    assert "\n" not in str(caught.value)
