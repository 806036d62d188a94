"""Programs, vocabularies, templates and oracles in their details: names, what is called, what is refused, what is written."""

from importlib import import_module

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, bits, digits
from assay.errors import FormulaError, NoSymbols
from assay.logic import Constraint, Knowledge, Member, Oracle, Var, evaluate, parse
from assay.prolog import (
    PrologError,
    Vocabulary,
    ask_program,
    facts_text,
    label_names,
    labels_text,
    oracle,
    plain_name,
    read_program,
    readable,
    rule_of,
    rules_text,
    tabulate,
    unused_name,
    with_predefined,
)
from assay.prolog.open_worlds import open_worlds
from assay.prolog.oracles import CHECKED, FEW, _some_worlds, _subspace, _whole
from assay.prolog.program import FORBIDDEN, calls
from assay.prolog.templates import WorldTemplate, fill_place
from assay.prolog.terms import CURLY
from assay.prolog.unfold import unfold
from assay.prolog.vocabulary import kind_of_slots
from assay.prolog.write import rule_clauses

oracles = import_module("assay.prolog.oracles")  # the package has a function of this name
COLOURS = ("red", "Dark blue")


def space_of(*slots, plain=()):
    """A space of slots with a colour and a size, of which those that end in a question mark may be absent."""
    made, concepts = [], list(plain)
    for name, group in slots:
        gone = (ABSENT,) if name.endswith("?") else ()
        slot = Slot(name.rstrip("?"), group, ("colour", "size"))
        concepts += [Concept(slot.concept("colour"), (*COLOURS, *gone)), Concept(slot.concept("size"), (1, 2, *gone))]
        made.append(slot)
    return ConceptSpace(tuple(concepts), tuple(made))


BOXES = space_of(("box1", "boxes"), ("box2?", "boxes"), plain=(Concept("n", (3, 5)), Concept("wet", (False, True))))


def called(text):
    clause = next(iter(read_program(text).clauses.values()))[0]
    return sorted(f"{name}/{arity}" for (name, arity), _ in calls(clause))


def test_goals_inside_control_are_called():
    assert called("p :- a, (b ; c -> d), \\+ e, not(f), findall(X, g(X), _), forall(h, i), once(j), ignore(k).") == sorted(
        [",/2"] * 7 + [";/2", "->/2", "\\+/1", "not/1", "findall/3", "forall/2", "once/1", "ignore/1", "a/0", "b/0", "c/0",
         "d/0", "e/0", "f/0", "g/1", "h/0", "i/0", "j/0", "k/0"]
    )  # fmt: skip
    assert called("p :- aggregate_all(count, a, _) *-> bagof(X, Y^b(X, Y), _) ; setof(X, c(X), _).") == sorted(
        ["*->/2", ";/2", "aggregate_all/3", "bagof/3", "^/2", "setof/3", "a/0", "b/2", "c/1"]
    )
    assert called("p :- maplist(q, A, B), include(r(1), A, B).") == sorted(
        [",/2", "maplist/3", "q/2", "include/3", "r/2"]
    )
    assert called("p :- foldl(q, A, 0, B), call(r, 1), call(s), partition(t, A, B, C), exclude(u, A, B).") == sorted(
        [",/2"] * 4 + ["foldl/4", "q/3", "call/2", "r/1", "call/1", "s/0", "partition/4", "t/1", "exclude/3", "u/1"]
    )


def test_what_changes_anything_is_forbidden():
    assert {
        "shell",
        "open",
        "assertz",
        "retract",
        "halt",
        "consult",
        "write",
        "delete_file",
        "process_create",
    } <= FORBIDDEN
    for name in sorted(FORBIDDEN):
        with pytest.raises(PrologError, match="a rule only decides"):
            read_program(f"p :- {name}(x).").complete()


def test_programs_are_completed_by_the_library_and_no_further():
    whole = read_program("p(X) :- last([1, X], Y), q(Y).").complete([("q", 1)])
    assert set(whole.clauses) == {("p", 1), ("last", 2), ("$last", 3)}
    own = read_program("p :- last(1, 2). last(1, 2).").complete()
    assert set(own.clauses) == {("p", 0), ("last", 2)}
    assert read_program("p :- q. r.").called_predicates == {("q", 0), ("true", 0)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (":- dynamic q.", "q is no name/arity"), (":- dynamic q/a.", "q / a is no name/arity"), (":- use_module(library(files)).", "is not allowed"),
        ("a:p :- q.", "a module qualifier in 'a : p' is not allowed"), ("p :- \\+ 3.", "3 is no goal"), ("p :- (q ; 1.5).", "1.5 is no goal"),
        ("X :- p.", "cannot be the head of a clause"), ("true :- p.", "true/0 is built in"), ("a, b :- c.", "/2 is built in"),
    ],
)  # fmt: skip
def test_what_no_program_may_hold(text, message):
    with pytest.raises(PrologError) as caught:
        read_program(text)
    assert message in str(caught.value)


def test_names_for_prolog():
    assert [plain_name(text) for text in ("Red one", "x", "9a", "é", "a-b", "Été")] == [
        "red_one",
        "x",
        "c_9a",
        "c__",
        "a_b",
        "c__t_",
    ]
    assert unused_name("a", {"a", "a_"}) == "a__" and unused_name("b", {"a"}) == "b"
    slots = [Slot(name, "group", ("x",)) for name in ("car_1", "car_2", "bus3", "7")]
    assert (
        kind_of_slots(slots[:2]) == "car"
        and kind_of_slots(slots[:3]) == "group"
        and kind_of_slots(slots[3:]) == "group"
    )


def test_relations_of_a_space():
    clash = space_of(
        ("box1", "boxes"),
        ("box2", "boxes"),
        ("hat1", "hats"),
        plain=(Concept("length", (1, 2)), Concept("size", (7, 8))),
    )
    found = [(r.name, r.what, r.types, r.group, r.attribute) for r in Vocabulary(clash).relations]
    assert found == [
        ("has_box", "has", ("world", "box"), "boxes", ""), ("box_num", "number", ("box", "int"), "boxes", ""),
        ("has_hat", "has", ("world", "hat"), "hats", ""), ("hat_num", "number", ("hat", "int"), "hats", ""),
        ("before", "before", ("box", "box"), "", ""), ("colour", "attribute", ("box", "colour"), "boxes", "colour"),
        ("size", "attribute", ("box", "size"), "boxes", "size"), ("hat_colour", "attribute", ("hat", "colour"), "hats", "colour"),
        ("hat_size", "attribute", ("hat", "size"), "hats", "size"), ("concept_length", "concept", ("world", "concept_length"), "", "length"),
        ("concept_size", "concept", ("world", "concept_size"), "", "size"),
    ]  # fmt: skip
    words = Vocabulary(clash)
    assert (
        words.relation("attribute", "hats", "size").name == "hat_size"
        and words.relation("concept", attribute="size").name == "concept_size"
    )
    assert words.relation("attribute", "boxes", "colour").values == COLOURS
    with pytest.raises(KeyError):
        words.relation("attribute", "hats", "weight")
    assert "before" not in [r.name for r in Vocabulary(space_of(("hat1", "hats"))).relations]


def test_worlds_are_these_facts():
    codes = BOXES.encode([
        {"n": 5, "wet": True, "box1.colour": "Dark blue", "box1.size": 1, "box2.colour": "red", "box2.size": 2},
        {"n": 3, "wet": False, "box1.colour": "red", "box1.size": 2, "box2.colour": ABSENT, "box2.size": ABSENT},
    ])  # fmt: skip
    assert facts_text(Vocabulary(BOXES), codes, first=7) == (
        "has_box(w7,w7_box1).\nhas_box(w7,w7_box2).\nhas_box(w8,w8_box1).\n"
        "box_num(w7_box1,1).\nbox_num(w7_box2,2).\nbox_num(w8_box1,1).\nbefore(w7_box1,w7_box2).\n"
        "colour(w7_box1,'Dark blue').\ncolour(w7_box2,red).\ncolour(w8_box1,red).\n"
        "size(w7_box1,1).\nsize(w7_box2,2).\nsize(w8_box1,2).\nn(w7,5).\nn(w8,3).\nwet(w7,true).\nwet(w8,false).\n"
    )


def test_labels_and_constraints_are_these_clauses():
    known = Knowledge.of(
        BOXES, {"sum": "n + 1", "n2": "n == 5 or wet", "member": "wet"}, [Constraint("Not wet", parse("not wet"), ())]
    )
    assert label_names(known) == {"sum": "sum", "n2": "n2", "member": "label_member"}
    assert rules_text(known) == (
        "sum(W,A) :- n(W,B),A is B + 1.\nn2(W) :- n(W,5).\nn2(W) :- wet(W,true).\nlabel_member(W) :- wet(W,true).\n"
        "violates(W,not_wet) :- \\+ \\+ wet(W,true).\n"
    )
    assert (
        labels_text(known, np.array([[0, 1, 0], [1, 0, 1]]), first=3)
        == "sum(w3,4).\nsum(w4,6).\nn2(w3).\nlabel_member(w4).\n"
    )


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("f(X)", "a variable has no value"), ("f({nn})", "no concept or attribute 'nn'; did you mean 'n'"),
        ("{each(bxes, {size})}", "no group of slots bxes; did you mean 'boxes'"), ("{3}", "names no concept, attribute or group"),
        ("{n: [3, 5]}", "other names are written [value-name, ...]"), ("{each(boxes, {weight})}", "no concept or attribute 'weight'"),
        ("{each(boxes, {each(boxes, {size})})}", "names no concept"), ("{each(boxes)}", "names no concept"),
    ],
)  # fmt: skip
def test_templates_that_cannot_be(template, message):
    with pytest.raises(PrologError) as caught:
        list(WorldTemplate(BOXES, template).terms(np.zeros((1, 6), dtype=int)))
    assert message in str(caught.value)


def test_templates_write_worlds():
    codes = BOXES.encode(
        [{"n": 5, "wet": True, "box1.colour": "Dark blue", "box1.size": 1, "box2.colour": ABSENT, "box2.size": ABSENT}]
    )
    (term,) = WorldTemplate(
        BOXES, "w({n: [5-five]}, {wet}, {each(boxes, b({place}, {colour: [red-r]}, {size}))}, fixed)"
    ).terms(codes)
    assert term == ("w", "five", "true", (".", ("b", 1, "Dark blue", 1), "[]"), "fixed")
    assert fill_place(("f", (CURLY, "place"), ("g", (CURLY, "n"))), 4) == ("f", 4, ("g", (CURLY, "n")))


def test_open_worlds_are_all_choices_of_what_is_there():
    space = space_of(("a1?", "as"), ("a2?", "as"), ("b1?", "bs"))
    template = "{each(as, {size})}"
    packed, any_ = ([guards for guards, _ in open_worlds(space, template, one)] for one in (True, False))
    assert len(packed) == 3 * 2 and len(any_) == 4 * 2
    assert [str(guard) for guard in packed[2]] == [
        "a1.colour != 'absent'",
        "a2.colour == 'absent'",
        "b1.colour == 'absent'",
    ]
    many = space_of(*((f"a{n}?", "as") for n in range(1, 10)))
    assert len(list(open_worlds(many, template, True))) == 10
    with pytest.raises(NoSymbols, match="too many objects may be absent"):
        next(iter(open_worlds(many, template, False)))
    assert len(list(open_worlds(space_of(*((f"a{n}?", "as") for n in range(1, 9))), template, False))) == 256


def test_an_oracle_sees_its_concepts_only():
    rule = Oracle("p(W) :- n(W, 5), size(B, 2).", "p", "", (Var("n"), Var("box1.size"), Var("box2.size")))
    space = _subspace(rule, BOXES)
    assert (
        space.names == ("n", "box1.size", "box2.size") and [slot.attributes for slot in space.slots] == [("size",)] * 2
    )
    for concepts in ((), (Var("n"), Var("n")), (Var("n"), parse("1"))):
        with pytest.raises(FormulaError, match="must be given names of concepts, each once"):
            _subspace(Oracle("p(W).", "p", "", concepts), BOXES)
    codes = BOXES.all_codes()
    n, first, second = (
        np.array(BOXES.concept(name).values, dtype=object)[codes[:, BOXES.place(name)]] for name in space.names
    )
    expected = (n == 5) & ((first == 2) | (second == 2))
    assert evaluate(rule, BOXES, codes).tolist() == expected.tolist()


def test_programs_of_few_worlds_are_tables():
    rule = oracle("p(W) :- a(W, X), b(W, Y), X > Y.", digits(["a", "b"], (0, 1, 2)))
    table = tabulate(rule, digits(["a", "b"], (0, 1, 2)))
    assert table == Member((Var("a"), Var("b")), ((1, 0), (2, 0), (2, 1)))
    large = bits([f"b{n}" for n in range(15)])
    asked = oracle("p(W) :- b0(W, true).", large)
    assert (
        FEW == 20_000
        and not readable(asked, large)
        and readable(rule, digits(["a", "b"], (0, 1, 2)))
        and readable(parse("b0"), large)
    )
    with pytest.raises(NoSymbols, match="32,768 worlds are too many"):
        tabulate(asked, large)


def test_slots_that_are_partly_absent_are_not_whole():
    codes = BOXES.all_codes()
    gone = codes[:, BOXES.place("box2.colour")] == 2, codes[:, BOXES.place("box2.size")] == 2
    assert _whole(BOXES, codes).tolist() == (gone[0] == gone[1]).tolist()


@pytest.mark.parametrize("packed", [True, False])
def test_worlds_that_programs_are_checked_on(packed):
    space = space_of(("a1?", "as"), ("a2?", "as"), ("a3?", "as"))
    codes = _some_worlds(space, packed)
    there = np.stack([codes[:, space.place(f"a{n}.size")] != 2 for n in (1, 2, 3)], axis=1)
    assert len(codes) == CHECKED and _whole(space, codes).all()
    kinds = {tuple(row) for row in there.tolist()}
    assert len(kinds) == (4 if packed else 8) and (kinds == {(n > 0, n > 1, n > 2) for n in range(4)}) == packed
    assert all(len(np.unique(codes[:, place])) == size for place, size in enumerate(space.sizes))
    shares = there.mean(axis=0)
    assert shares == pytest.approx([0.75, 0.5, 0.25] if packed else [0.7] * 3, abs=0.1)


def test_answers_are_asked_by_the_numbers_of_values():
    space = ConceptSpace((Concept("n", (7, 2, 5)),))
    rule = oracle("p(W) :- n(W, X), X > 4.", space)
    assert ask_program(rule, space, np.array([[2], [5], [7]]), {"n": [7, 2, 5]}).tolist() == [False, True, True]
    assert isinstance(rule_of("p(W) :- n(W, X), X > 4.", space), type(parse("n > 4")))


def test_the_worlds_to_check_on_are_the_same_everywhere():
    found = _some_worlds(digits(["a", "b"]), False)
    assert found[:5].tolist() == [[2, 6], [0, 3], [2, 0], [2, 1], [3, 1]] and len(found) == 400


def test_goals_after_a_variable_are_called_and_checked_too():
    assert called("p(X) :- X, a, (Y ; b).") == sorted([",/2", ",/2", ";/2", "a/0", "b/0"])
    assert called("p(X, G) :- call(G, 1), maplist(X, [a]), foldl(q(2), [], 0, _).") == sorted(
        [",/2", ",/2", "call/2", "maplist/2", "foldl/4", "q/4"]
    )
    for text in ("p(X) :- X, 3.", "p(X) :- 3, X.", "p(X) :- (X ; a), findall(Y, 3, _)."):
        with pytest.raises(PrologError, match="3 is no goal"):
            read_program(text)


@pytest.mark.parametrize("text", ["?- halt.", ":- table p/1.", ":- p.", "?- p, q.", ":- use_module(lists)."])
def test_nothing_is_done_because_a_program_says_so(text):
    with pytest.raises(PrologError, match="is not allowed; allowed are dynamic, discontiguous and use_module"):
        read_program(text)


def test_directives_declare_all_that_they_list():
    text = ":- dynamic [q/1, r/2], s/3.\n?- discontiguous t/0, u/1.\n:- use_module(library(pairs)).\np(1)."
    read = read_program(text)
    assert read.declared == {("q", 1), ("r", 2), ("s", 3), ("t", 0), ("u", 1)} == read.complete().declared
    assert list(read.clauses) == [("p", 1)]


def test_clauses_of_a_predicate_stay_in_their_order_wherever_they_stand():
    read = read_program("p(2). q(1). p(1) :- q(1). p(3).", "mine")
    assert [str(clause) for clause in read.clauses["p", 1]] == ["p(2).", "p(1) :- q(1).", "p(3)."]
    assert str(read) == "p(2).\np(1) :- q(1).\np(3).\nq(1).\n"
    with pytest.raises(PrologError, match="^mine line 2: no predicate qq/1 in 'qq\\(1\\)'; did you mean 'q/1'?"):
        read_program("q(1).\np(1) :- qq(1).", "mine").complete()


def test_predefined_predicates_come_once_and_before_those_of_the_library():
    shelf = "last(X, Y) :- own(X, Y). own(1, 2). q(X) :- own(X, _)."
    assert with_predefined("p(X) :- last(X, 2), q(X), last(X, X).", shelf).splitlines()[2:] == [
        "last(X,Y) :- own(X,Y).", "q(X) :- own(X,A).", "own(1,2).",
    ]  # fmt: skip
    own = ":- dynamic q/1.\np(X) :- q(X)."
    assert with_predefined(own, shelf) == own
    assert with_predefined("p(X) :- last(X, 1). last(1, 1).", shelf) == "p(X) :- last(X, 1). last(1, 1)."
    with pytest.raises(PrologError, match="^mine line 1: no predicate qq/1 .*did you mean 'q/1'"):
        with_predefined("p(X) :- qq(X).", shelf, name="mine")


def test_labels_that_are_not_known_are_no_facts():
    known = Knowledge.of(
        digits(["a"], (0, 1)), {"twice": "2 * a", "one": "a == 1", "hue": "'red' if a == 1 else 'Blue'"}
    )
    assert [label.values for label in known.labels] == [(0, 2), (False, True), ("red", "Blue")]
    assert labels_text(known, np.array([[1, 1, 0], [-1, -1, -1], [0, 0, 1]]), first=8) == (
        "twice(w8,2).\ntwice(w9,absent).\ntwice(w10,0).\none(w8).\nhue(w8,red).\nhue(w9,absent).\nhue(w10,'Blue').\n"
    )


def test_programs_on_terms_have_no_facts_in_formulas_either():
    with pytest.raises(PrologError, match="no predicate n/2"):
        unfold(read_program("p(W) :- n(W, 3)."), "p", BOXES, "{n}")
    assert unfold(read_program("p(5)."), "p", digits(["n"]), "{n}") == parse("n == 5")


def test_tables_are_made_up_to_a_number_of_worlds(monkeypatch):
    space = digits(["a", "b"], (0, 1, 2))
    rule = oracle("p(W) :- a(W, X), b(W, Y), X > Y.", space)
    one = Oracle("q(W) :- b(W, 2).", "q", "", (Var("b"),))
    monkeypatch.setattr(oracles, "FEW", 9)
    assert len(tabulate(rule, space).rows) == 3 and readable(rule, space) and readable(rule & one, space)
    assert tabulate(one, space) == Member((Var("b"),), ((2,),))
    monkeypatch.setattr(oracles, "FEW", 8)
    with pytest.raises(NoSymbols, match="9 worlds are too many to tabulate"):
        tabulate(rule, space)
    assert readable(one, space) and not readable(rule, space)
    assert not readable(rule & one, space) and not readable(one & ~rule, space)


def test_concepts_may_be_told_in_another_order():
    space = digits(["a", "b"], (3, 1, 2))
    rule = parse("prolog('p(W) :- a(W, X), b(W, Y), X > Y.', 'p', '', b, a)")
    assert _subspace(rule, space).names == ("b", "a")
    codes = space.all_codes()
    assert evaluate(rule, space, codes).tolist() == [a > b for a in (3, 1, 2) for b in (3, 1, 2)]
    rows = np.array([[1, 3], [3, 1], [2, 2]])  # b and a
    assert ask_program(rule, space, rows, {"a": [3, 1, 2], "b": [3, 1, 2]}).tolist() == [True, False, False]


def test_every_slot_must_be_whole():
    space = space_of(("a1?", "as"), ("b1", "bs"), ("a2?", "as"))
    codes = space.all_codes()
    gone = {
        name: codes[:, space.place(name)] == 2 for slot in ("a1", "a2") for name in (f"{slot}.colour", f"{slot}.size")
    }
    expected = (gone["a1.colour"] == gone["a1.size"]) & (gone["a2.colour"] == gone["a2.size"])
    assert _whole(space, codes).tolist() == expected.tolist() and 0 < expected.sum() < len(codes)
    rule = oracle("p(W).", space)
    assert evaluate(rule, space, codes).tolist() == expected.tolist()


def test_a_program_is_tried_when_it_becomes_a_rule():
    space = digits(["a", "b"], (0, 1))
    for text, why in (
        ("p(W) :- z(W, 1).", "no predicate z/2"),
        ("p(", "^mine.pl line 1 column 2"),
        ("p(W) :- 3.", "3 is no goal"),
    ):
        for make in (oracle, rule_of):
            with pytest.raises(PrologError, match=why):
                make(text, space, name="mine.pl")
    with pytest.raises(PrologError, match="defines no q/1"):
        oracle("p(W) :- a(W, 1).", space, head="q")
    two = "p(W) :- a(W, 1). q(W) :- b(W, 1)."
    assert [oracle(two, space, head).head for head in (None, "p", "q")] == ["q", "p", "q"]
    assert [str(rule_of(two, space, head)) for head in (None, "p", "q")] == ["b == 1", "a == 1", "b == 1"]


def test_a_formula_that_says_something_else_is_not_taken(monkeypatch):
    space = digits(["a", "b"], (0, 1, 2))
    assert rule_of("p(W) :- a(W, 1).", space) == parse("a == 1")
    monkeypatch.setattr(oracles, "formula_of", lambda program, vocabulary, head: parse("a == 1 and b != 2"))
    rule = rule_of("p(W) :- a(W, 1).", space)
    assert isinstance(rule, Oracle) and rule.concepts == (Var("a"), Var("b")) and rule.head == "p"
    seen = []

    def derived(program, head, space, template, packed):
        seen.append((head, template, packed))
        return parse("a == 1")

    monkeypatch.setattr(oracles, "unfold", derived)
    assert rule_of("p(f(1)).", space, template="f({a})", packed=True) == parse("a == 1")
    assert rule_of("p(f(1)). q(2).", space, "p", "f({a})") == parse("a == 1")
    assert seen == [("p", "f({a})", True), ("p", "f({a})", False)]


def test_a_rule_that_is_a_program_is_not_written_as_clauses():
    space = digits(["a"], (0, 1))
    known = Knowledge.of(space, {"y": oracle("p(W) :- a(W, 1).", space), "z": "a == 0"})
    with pytest.raises(FormulaError, match="label 'y' is a Prolog program already; its text is in the knowledge"):
        rules_text(known)
    assert [str(clause) for clause in rule_clauses(known, known.labels[1], "zero")] == ["zero(W) :- a(W,0)."]
