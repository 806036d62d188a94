"""Small programs over few worlds: what the interpreter proves is what both formulas of the program say."""

import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, digits
from assay.errors import NoSymbols
from assay.logic import evaluate
from assay.prolog import Vocabulary, Worlds, formula_of, label, read_program
from assay.prolog import unfold as unfolding
from assay.prolog.symbols import FALSE
from assay.prolog.unfold import Unfolder, unfold

PAIR = digits(["a", "b"], (0, 1, 2, 3))
BOXES = ConceptSpace(
    (
        Concept("box1.hue", ("red", "blue", "grey")), Concept("box1.size", (1, 2)),
        Concept("box2.hue", ("red", "blue", "grey", ABSENT)), Concept("box2.size", (1, 2, ABSENT)),
        Concept("lid", ("grey", "red")), Concept("wet", (False, True)), Concept("n", (1, 2, 3)),
    ),
    (Slot("box1", "boxes", ("hue", "size")), Slot("box2", "boxes", ("hue", "size"))),
)  # fmt: skip


def whole(space):
    codes = space.all_codes()
    gone = [codes[:, space.place(name)] == len(space.concept(name).present) for name in ("box2.hue", "box2.size")]
    return codes[gone[0] == gone[1]]


def truths(test):
    return [bool(test(a, b)) for a in range(4) for b in range(4)]


@pytest.mark.parametrize(
    ("body", "test"),
    [
        ("X < Y", lambda a, b: a < b), ("X =< Y", lambda a, b: a <= b), ("X > Y", lambda a, b: a > b),
        ("X >= Y", lambda a, b: a >= b), ("X =:= Y", lambda a, b: a == b), ("X =\\= Y", lambda a, b: a != b),
        ("2 < X", lambda a, b: a > 2), ("2 =< X", lambda a, b: a >= 2), ("2 > X", lambda a, b: a < 2),
        ("2 >= X", lambda a, b: a <= 2), ("1 =:= Y", lambda a, b: b == 1), ("1 =\\= Y", lambda a, b: b != 1),
        ("1 < 2, X > 0", lambda a, b: a > 0), ("2 < 1", lambda a, b: False), ("X = Y", lambda a, b: a == b),
        ("X == Y", lambda a, b: a == b), ("X \\= Y", lambda a, b: a != b), ("X \\== Y", lambda a, b: a != b),
        ("X = 2", lambda a, b: a == 2), ("X \\= 2", lambda a, b: a != 2), ("X == 3", lambda a, b: a == 3),
        ("X \\== 3", lambda a, b: a != 3), ("X = 7", lambda a, b: False), ("X \\= 7", lambda a, b: True),
        ("X = red", lambda a, b: False), ("X = 1.0", lambda a, b: False), ("X = f(_)", lambda a, b: False),
        ("Z = f(X, Y), Z = f(1, 2)", lambda a, b: (a, b) == (1, 2)), ("f(X, Y) \\= f(1, 2)", lambda a, b: (a, b) != (1, 2)),
        ("f(X) = g(Y)", lambda a, b: False), ("f(X, 1) = f(Y)", lambda a, b: False), ("f(X, a) = f(2, b)", lambda a, b: False),
        ("Z == X", lambda a, b: False), ("Z \\== X", lambda a, b: True), ("Z \\= X", lambda a, b: False),
        ("Z is X + 2 * Y, Z > 5", lambda a, b: a + 2 * b > 5), ("Z is X - Y, Z =:= 1", lambda a, b: a - b == 1),
        ("Z is -X, Z + 2 >= Y", lambda a, b: 2 - a >= b), ("3 is X + Y", lambda a, b: a + b == 3),
        ("Z is min(X, Y), Z =:= 1", lambda a, b: min(a, b) == 1), ("Z is max(X, Y), Z < 2", lambda a, b: max(a, b) < 2),
        ("abs(X - Y) =:= 2", lambda a, b: abs(a - b) == 2), ("(X + Y) mod 3 =:= 1", lambda a, b: (a + b) % 3 == 1),
        ("X > 2 ** 1", lambda a, b: a > 2), ("X =:= 7 // 2", lambda a, b: a == 3),
        ("( X > 2 ; Y > 2 )", lambda a, b: a > 2 or b > 2), ("( X = 1 ; X = 2 ; Y = 0 )", lambda a, b: a in (1, 2) or b == 0),
        ("\\+ X > 1", lambda a, b: a <= 1), ("not(X = Y)", lambda a, b: a != b), ("\\+ \\+ X = 2", lambda a, b: a == 2),
        ("\\+ fail, X = 1", lambda a, b: a == 1), ("\\+ true", lambda a, b: False), ("otherwise, X > Y", lambda a, b: a > b),
        ("\\+ (X > 1, Y > 1)", lambda a, b: not (a > 1 and b > 1)), ("forall(X > 1, Y > 1)", lambda a, b: a <= 1 or b > 1),
        ("( X > 1 -> Y > 1 ; Y = 0 )", lambda a, b: b > 1 if a > 1 else b == 0),
        ("( X > 1 -> Y > 1 )", lambda a, b: a > 1 and b > 1),
        ("( X > 2 -> Y = 1 ; X > 1 -> Y = 2 ; Y = 3 )", lambda a, b: b == (1 if a > 2 else 2 if a > 1 else 3)),
        ("( member(Z, [1, 2]), Z = X -> Y = Z ; Y = 0 )", lambda a, b: b == a if a in (1, 2) else b == 0),
        ("once((member(Z, [2, 1]), Z >= X)), Y = Z", lambda a, b: a <= 2 and b == 2),
        ("member(X, [1, Y, 3])", lambda a, b: a in (1, b, 3)), ("memberchk(X, [0, 2])", lambda a, b: a in (0, 2)),
        ("member(Z, [1, 3]), Z =:= X + Y", lambda a, b: a + b in (1, 3)), ("member(X-Z, [1-2, 2-3]), Y = Z", lambda a, b: (a, b) in ((1, 2), (2, 3))),
        ("length([X, Y], Z), X = Z", lambda a, b: a == 2), ("nth1(X, [p, q, r], q)", lambda a, b: a == 2),
        ("nth0(X, [p, q, r], q)", lambda a, b: a == 1), ("nth1(2, [X, Y], 3)", lambda a, b: b == 3),
        ("sum_list([X, Y, 1], Z), Z > 5", lambda a, b: a + b + 1 > 5), ("sum_list([1, 2], X)", lambda a, b: a == 3),
        ("aggregate_all(count, (member(Z, [X, Y, 2]), Z > 1), N), N >= 2", lambda a, b: (a > 1) + (b > 1) + 1 >= 2),
        ("aggregate_all(count, member(_, [p, q]), X)", lambda a, b: a == 2),
        ("aggregate_all(count, (member(Z, [X, Y]), Z > 2), 1)", lambda a, b: (a > 2) + (b > 2) == 1),
        ("findall(Z, (member(Z, [X, Y, 1]), Z > 0), [_, _])", lambda a, b: (a > 0) + (b > 0) == 1),
        ("findall(Z, (member(Z, [X, Y]), Z > 1), L), sum_list(L, S), S = 3", lambda a, b: a * (a > 1) + b * (b > 1) == 3),
        ("findall(Z-c, member(Z, [X, Y]), [Q-c, R-c]), Q < R", lambda a, b: a < b),
        ("member(Z, [X, Y]), Z > 2, !", lambda a, b: a > 2 or b > 2),
        ("member(Z, [X, Y]), Z > 1, !, Z < 3", lambda a, b: a < 3 if a > 1 else b == 2),
    ],
)  # fmt: skip
def test_goals_on_two_numbers_say_what_python_says(body, test):
    text = f"p(W) :- a(W, X), b(W, Y), {body}."
    program, codes = read_program(text), PAIR.all_codes()
    expected = truths(test)
    assert label(program, Worlds(PAIR, codes), head="p").tolist() == expected
    assert evaluate(formula_of(program, PAIR, "p"), PAIR, codes).tolist() == expected
    assert evaluate(unfold(program, "p", PAIR), PAIR, codes).tolist() == expected


def there(world):
    return [(n, world[f"box{n}.hue"], world[f"box{n}.size"]) for n in (1, 2) if world[f"box{n}.hue"] != ABSENT]


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("p(W) :- has_box(W, B), hue(B, red), size(B, 2).", lambda w: any(h == "red" and s == 2 for _, h, s in there(w))),
        ("p(W) :- has_box(W, B), hue(B, H), lid(W, H).", lambda w: any(h == w["lid"] for _, h, _ in there(w))),
        ("p(W) :- has_box(W, B), hue(B, H), lid(W, L), H \\= L.", lambda w: any(h != w["lid"] for _, h, _ in there(w))),
        ("p(W) :- wet(W, true), lid(W, grey).", lambda w: w["wet"] and w["lid"] == "grey"),
        ("p(W) :- wet(W, X), X == false.", lambda w: not w["wet"]),
        ("p(W) :- before(A, B), hue(A, H), hue(B, H).", lambda w: len(there(w)) == 2 and w["box1.hue"] == w["box2.hue"]),
        ("p(W) :- before(A, B), size(A, X), size(B, Y), X < Y.", lambda w: len(there(w)) == 2 and w["box1.size"] < w["box2.size"]),
        ("p(W) :- has_box(W, A), has_box(W, B), before(B, A), hue(A, grey).", lambda w: w["box2.hue"] == "grey"),
        ("p(W) :- has_box(W, B), box_num(B, N), n(W, N), size(B, 1).", lambda w: any(k == w["n"] and s == 1 for k, _, s in there(w))),
        ("p(W) :- has_box(W, B), box_num(B, 2).", lambda w: len(there(w)) == 2),
        ("p(W) :- has_box(W, A), has_box(W, B), A \\= B, size(A, X), size(B, X).",
         lambda w: len(there(w)) == 2 and w["box1.size"] == w["box2.size"]),
        ("p(W) :- has_box(W, A), has_box(W, B), A == B, hue(B, blue), hue(A, H), H \\= red.",
         lambda w: any(h == "blue" for _, h, _ in there(w))),
        ("p(W) :- \\+ (has_box(W, B), hue(B, grey)).", lambda w: all(h != "grey" for _, h, _ in there(w))),
        ("p(W) :- forall(has_box(W, B), size(B, 1)).", lambda w: all(s == 1 for _, _, s in there(w))),
        ("p(W) :- aggregate_all(count, (has_box(W, B), size(B, 2)), N), n(W, N).",
         lambda w: sum(s == 2 for _, _, s in there(w)) == w["n"]),
        ("p(W) :- aggregate_all(count, has_box(W, B), 2).", lambda w: len(there(w)) == 2),
        ("p(W) :- aggregate_all(count, (has_box(W, B), hue(B, pink)), N), N < 1, lid(W, red).", lambda w: w["lid"] == "red"),
        ("p(W) :- aggregate_all(count, (has_box(W, B), size(B, X), n(W, M), X < M), N), N >= 1.",
         lambda w: any(s < w["n"] for _, _, s in there(w))),
        ("p(W) :- aggregate_all(count, (has_box(W, A), has_box(W, B), before(A, B)), N), N >= 1.", lambda w: len(there(w)) == 2),
        ("p(W) :- has_box(W, B), ( hue(B, red) -> size(B, 1) ; hue(B, blue) -> size(B, 2) ; wet(W, true) ).",
         lambda w: any((s == 1 if h == "red" else s == 2 if h == "blue" else w["wet"]) for _, h, s in there(w))),
        ("p(W) :- first(W, B), size(B, 2). first(W, B) :- has_box(W, B), hue(B, H), H \\= red, !. first(W, B) :- has_box(W, B).",
         lambda w: next((s == 2 for _, h, s in there(w) if h != "red"), any(s == 2 for _, _, s in there(w)))),
        ("p(W) :- has_box(W, B), ok(B). ok(B) :- hue(B, red), !, size(B, 1). ok(B) :- size(B, 2).",
         lambda w: any((s == 1 if h == "red" else s == 2) for _, h, s in there(w))),
        ("p(W) :- q(W), r(W). q(W) :- wet(W, true). q(W) :- n(W, 3). r(W) :- lid(W, red). r(W) :- n(W, N), N < 2.",
         lambda w: (w["wet"] or w["n"] == 3) and (w["lid"] == "red" or w["n"] < 2)),
        ("p(W) :- n(W, N), kind(N, odd), lid(W, L), nice(L). kind(1, odd). kind(2, even). kind(3, odd). nice(red).",
         lambda w: w["n"] in (1, 3) and w["lid"] == "red"),
        ("p(W) :- has_box(W, B), size(B, N), n(W, M), M =:= N + 1.", lambda w: any(w["n"] == s + 1 for _, _, s in there(w))),
    ],
)  # fmt: skip
def test_programs_on_boxes_say_what_python_says(text, test):
    program, codes = read_program(text), whole(BOXES)
    expected = [bool(test(BOXES.decode(row))) for row in codes]
    assert label(program, Worlds(BOXES, codes), head="p").tolist() == expected
    assert 0 < sum(expected) < len(expected)
    assert evaluate(formula_of(program, BOXES, "p"), BOXES, codes).tolist() == expected
    assert evaluate(unfold(program, "p", BOXES), BOXES, codes).tolist() == expected


@pytest.mark.parametrize("packed", [True, False])
def test_worlds_as_terms_may_have_other_names_for_values(packed):
    template = "w({each(boxes, b({place}, {hue: [red-r, grey-g]}, {size}))}, {lid: [red-blue]}, {n})"
    program = read_program(
        "p(w(L, C, N)) :- member(b(P, H, S), L), ( H = C, S = 2 ; H = g, P = N ; H = r, C = grey, S = P )."
    )

    def test(w):
        return any(
            (h == "blue" and w["lid"] == "red" and s == 2) or (h == "grey" and k == w["n"])
            or (h == "red" and w["lid"] == "grey" and s == k)
            for k, h, s in there(w)
        )  # fmt: skip

    codes = whole(BOXES)
    expected = [test(BOXES.decode(row)) for row in codes]
    assert label(program, Worlds(BOXES, codes, template), head="p").tolist() == expected
    assert evaluate(unfold(program, "p", BOXES, template, packed), BOXES, codes).tolist() == expected


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("p(W) :- before(A, B), hue(A, red), hue(B, blue).", "any(a.hue == 'red' and b.hue == 'blue' for a, b in pairs(boxes))"),
        ("p(W) :- has_box(W, A), size(A, 1), before(A, B), hue(B, blue).",
         "any(a.size == 1 and b.hue == 'blue' for a, b in pairs(boxes))"),
        ("p(W) :- before(B, A), hue(A, H), hue(B, H).", "any(b.hue == a.hue for a, b in pairs(boxes))"),
        ("p(W) :- has_box(W, A), has_box(W, B), hue(A, red), hue(B, blue).",
         "any(any(a.hue == 'red' and b.hue == 'blue' for b in boxes) for a in boxes)"),
        ("p(W) :- n(W, 1). p(W) :- n(W, 1).", "n == 1"), ("p(W) :- n(W, 1), n(W, 1), true.", "n == 1"),
        ("p(W) :- n(W, N), N < 3, \\+ wet(W, true).", "n < 3 and wet != True"),
        ("p(W) :- n(W, 1). p(_).", "True"), ("p(W) :- n(W, 9). p(W) :- lid(W, red).", "lid == 'red'"),
        ("p(W) :- \\+ (n(W, 1), lid(W, red)).", "not (n == 1 and lid == 'red')"),
        ("p(W) :- aggregate_all(count, (has_box(W, B), size(B, 2), hue(B, red)), N), N =< 1.",
         "count(a.size == 2 and a.hue == 'red' for a in boxes) <= 1"),
    ],
)  # fmt: skip
def test_flat_programs_are_short_formulas(text, formula):
    assert str(formula_of(text, BOXES, "p")) == formula


@pytest.mark.parametrize(
    ("body", "test"),
    [
        ("( X > 2 ; X < 1 ), Y = 1", lambda a, b: (a > 2 or a < 1) and b == 1),
        ("\\+ (Z = X, Z > 1), Z = Y, Z > 0", lambda a, b: a <= 1 and b > 0),
        ("memberchk(Z, [2, 1]), Y = Z, X > 0", lambda a, b: b == 2 and a > 0),
        ("findall(Z, member(Z, [0, 1, 2, 3, 4, 5, 6, 7, 8]), L), length(L, N), X + Y < N - 5", lambda a, b: a + b < 4),
        ("member(Z, [X, Y]), Z > 1, !, member(Z, [Y])", lambda a, b: a == b if a > 1 else b > 1),
        ("forall(member(Z, [X, Y]), (Z > 0 ; X = Y))", lambda a, b: (a > 0 and b > 0) or a == b),
        ("( \\+ X = Y -> X > Y ; X = 2 )", lambda a, b: a > b if a != b else a == 2),
        ("nth1(Z, [X, Y], 3), Z > 1", lambda a, b: b == 3), ("length([_, _|[]], Y), member(X, [Y, 0])", lambda a, b: b == 2 and a in (2, 0)),
        ("f(X, Z) = f(1, Y), Z > 1", lambda a, b: a == 1 and b > 1), ("\\+ (member(Z, [X, 3]), Z =:= Y)", lambda a, b: b not in (a, 3)),
    ],
)  # fmt: skip
def test_what_follows_a_choice_or_a_negation_is_kept(body, test):
    test_goals_on_two_numbers_say_what_python_says(body, test)


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("p(W) :- has_box(foo, B).", lambda w: False), ("p(W) :- has_box(V, B), n(V, 1).", lambda w: w["n"] == 1),
        ("p(W) :- aggregate_all(count, size(_, S), N), n(W, N).", lambda w: len(there(w)) == w["n"]),
        ("p(W) :- aggregate_all(count, (has_box(W, B), hue(C, red)), N), N =:= 2.",
         lambda w: len(there(w)) * sum(h == "red" for _, h, _ in there(w)) == 2),
        ("p(W) :- aggregate_all(count, (has_box(W, B), size(B, S), n(W, S)), N), N =:= 1.",
         lambda w: sum(s == w["n"] for _, _, s in there(w)) == 1),
        ("p(W) :- has_box(W, A), ( hue(A, red) ; size(A, 2) ), wet(W, true).",
         lambda w: w["wet"] and any(h == "red" or s == 2 for _, h, s in there(w))),
        ("p(W) :- first(W, H), lid(W, H). first(W, H) :- box_num(B, 1), hue(B, H). first(W, grey) :- wet(W, true).",
         lambda w: w["lid"] == w["box1.hue"] or (w["wet"] and w["lid"] == "grey")),
    ],
)  # fmt: skip
def test_facts_that_are_counted_or_asked_about_another_world(text, test):
    program, codes = read_program(text), whole(BOXES)
    expected = [bool(test(BOXES.decode(row))) for row in codes]
    assert label(program, Worlds(BOXES, codes), head="p").tolist() == expected
    assert evaluate(formula_of(program, BOXES, "p"), BOXES, codes).tolist() == expected
    assert evaluate(unfold(program, "p", BOXES), BOXES, codes).tolist() == expected


def test_a_quantifier_has_a_name_that_no_concept_has():
    slots = tuple(Slot(name, "boxes", ("size",)) for name in ("b", "d"))
    concepts = (Concept("a", (1, 2)), *(Concept(slot.concept("size"), (1, 2)) for slot in slots), Concept("c", (0, 1)))
    space = ConceptSpace(concepts, slots)
    found = formula_of("p(W) :- a(W, N), has_boxes(W, B), size(B, N), c(W, 1).", space, "p")
    assert str(found) == "any(a == e.size and c == 1 for e in boxes)"
    assert evaluate(found, space, space.all_codes()).tolist() == [
        a in (b, d) and c == 1 for a in (1, 2) for b in (1, 2) for d in (1, 2) for c in (0, 1)
    ]


@pytest.mark.parametrize(
    ("body", "clauses", "test"),
    [
        ("( true -> X = 1 ; X = 2 )", "", lambda a, b: a == 1), ("( X >= 0 -> Y = 1 ; Y = 2 )", "", lambda a, b: b == 1),
        ("q(Z), Z = X", "q(1) :- !. q(2).", lambda a, b: a == 1), ("q(X)", "q(Z) :- !, Z = 1. q(2).", lambda a, b: a == 1),
        ("q(X, Y)", "q(1, 2) :- !. q(1, 3). q(2, Z) :- Z > 1.", lambda a, b: (a, b) in ((1, 2), (1, 3)) or (a == 2 and b > 1)),
        ("q(X, Y)", "q(Z, U) :- Z > 1, !, U > 1. q(Z, U) :- Z < U.", lambda a, b: b > 1 if a > 1 else a < b),
        ("q(X, Y)", "q(Z, _) :- ( Z = 1 ; Z \\= 1 ), !. q(_, 7).", lambda a, b: True),
        ("q(X, Y)", "q(Z, U) :- member(Z, [1, 2, 3]), !, U = Z. q(_, 3).", lambda a, b: b == a if a else b == 3),
        ("q([X, Y])", "q([]). q([Z|T]) :- Z > 0, q(T).", lambda a, b: a > 0 and b > 0),
        ("q(X, N), N = Y", "q(0, 1). q(Z, N) :- Z > 0, M is Z - 1, N = M.", lambda a, b: b == (a - 1 if a else 1)),
    ],
)  # fmt: skip
def test_clauses_with_and_without_cuts_on_unknown_numbers(body, clauses, test):
    program, codes = read_program(f"p(W) :- a(W, X), b(W, Y), {body}. {clauses}"), PAIR.all_codes()
    expected = truths(test)
    assert label(program, Worlds(PAIR, codes), head="p").tolist() == expected
    assert evaluate(unfold(program, "p", PAIR), PAIR, codes).tolist() == expected
    assert evaluate(formula_of(program, PAIR, "p"), PAIR, codes).tolist() == expected


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("!, X > 1, !, Y > 1", "a clause has two cuts"), ("Z", "a goal is an unbound variable"), ("( X > 1 *-> true ; true )", "is not understood here"),
        ("msort([X, Y], _)", "msort/2 is not understood here"), ("aggregate_all(max(Z), member(Z, [X, Y]), 2)", "aggregate_all/3 is not understood here"),
        ("findall(Z, (member(Z, [X, Y, X, Y, X, Y, X, Y, X]), Z > 1), L), length(L, 3)", "too many answers that depend on the world"),
    ],
)  # fmt: skip
def test_programs_that_have_no_formula_say_why(body, why):
    with pytest.raises(NoSymbols, match=why):
        unfold(read_program(f"p(W) :- a(W, X), b(W, Y), {body}.", "mine"), "p", PAIR)
    assert "mine cannot be written as a formula: " in str(_refusal(body))


def _refusal(body):
    with pytest.raises(NoSymbols) as caught:
        formula_of(read_program(f"p(W) :- a(W, X), b(W, Y), {body}.", "mine"), PAIR, "p")
    return caught.value


def test_too_many_ways_are_given_up(monkeypatch):
    program = read_program("p(W) :- a(W, X), b(W, Y), ( X > 1 ; X > 0 ; Y > 1 ), ( Y = 1 ; Y = 2 ).")
    assert len(Unfolder(program.complete(Vocabulary(PAIR).keys), Vocabulary(PAIR), True).proofs(("p", "w"))) == 6
    monkeypatch.setattr(unfolding, "MOST_PATHS", 6)
    assert unfold(program, "p", PAIR) != FALSE
    monkeypatch.setattr(unfolding, "MOST_PATHS", 5)
    with pytest.raises(NoSymbols, match="there are more than 5 ways to prove p"):
        unfold(program, "p", PAIR)


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("p(W) :- hue(box1, red).", lambda w: w["box1.hue"] == "red"), ("p(W) :- box_num(box2, N), n(W, N).", lambda w: w["n"] == 2 and len(there(w)) == 2),
        ("p(W) :- has_box(W, box2).", lambda w: len(there(w)) == 2), ("p(W) :- before(box1, B), size(B, 2).", lambda w: w["box2.size"] == 2),
        ("p(W) :- findall(S, size(_, S), L), sum_list(L, N), n(W, N).", lambda w: sum(s for _, _, s in there(w)) == w["n"]),
    ],
)  # fmt: skip
def test_objects_may_be_named(text, test):
    test_facts_that_are_counted_or_asked_about_another_world(text, test)


def test_steps_on_the_way_to_a_formula_are_counted(monkeypatch):
    def unfolder(text):
        program = read_program(text)
        return Unfolder(program.complete(Vocabulary(PAIR).keys), Vocabulary(PAIR), True)

    found = unfolder("p(W) :- a(W, 1), true. p(W) :- ( b(W, 2) ; fail ).")
    assert [str(path) for path in found.proofs(("p", "w"))] == ["(<a == 1>,)", "(<b == 2>,)"]
    assert found.steps == 1 + 3 + 1  # the question, the first clause and its two goals, the second clause
    monkeypatch.setattr(unfolding, "MOST_STEPS", 5)
    assert len(unfolder(str(found.program)).proofs(("p", "w"))) == 2
    monkeypatch.setattr(unfolding, "MOST_STEPS", 4)
    with pytest.raises(NoSymbols, match="it may recurse for ever, or there are too many ways through it"):
        unfolder(str(found.program)).proofs(("p", "w"))


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("p(W) :- a(W, 1).", 1), ("p(W) :- q(W). q(W) :- r(W). r(W) :- a(W, 1).", 3), ("p(W) :- \\+ (true, a(W, 1)).", 2),
        ("p(W) :- a(W, X), ( (true, X > 1) -> true ; fail ).", 2), ("p(W) :- a(W, X), ( X > 1 -> true, X > 2 ; fail ).", 1),
        ("p(W) :- aggregate_all(count, (true, a(W, 1)), 1).", 2), ("p(W) :- findall(X, (true, a(W, X)), [1]).", 2),
        ("p(W) :- a(W, X), q(X), b(W, 1). q(X) :- X > 1, !, true.", 2),
    ],
)  # fmt: skip
def test_clauses_and_conditions_go_deeper_and_other_goals_do_not(text, depth, monkeypatch):
    expected = label(text, Worlds(PAIR, PAIR.all_codes()), head="p")
    monkeypatch.setattr(unfolding, "DEEPEST", depth)
    found = unfold(read_program(text), "p", PAIR)
    assert evaluate(found, PAIR, PAIR.all_codes()).tolist() == expected.tolist() and 0 < expected.sum() < len(expected)
    monkeypatch.setattr(unfolding, "DEEPEST", depth - 1)
    with pytest.raises(NoSymbols, match="it may recurse for ever"):
        unfold(read_program(text), "p", PAIR)
