"""Programs that mean harm: each must end in an answer or in one line, soon, and in little memory."""

from assay.logic import digits

SPACE = digits(["a", "b"])
BOMB = "bomb(0, x). bomb(N, f(T, T)) :- N > 0, M is N - 1, bomb(M, T). "
"""A term of 2^N leaves in N cells: whoever walks through it without looking for shared parts never ends."""
SUMS = "sums(0, 1). sums(N, T + T) :- N > 0, M is N - 1, sums(M, T). "
CHAIN = "chain(0, true). chain(N, (T, T)) :- N > 0, M is N - 1, chain(M, T). "
LISTS = "lists(0, []). lists(N, [T|T]) :- N > 0, M is N - 1, lists(M, T). "

ON_CYCLIC_TERMS = {
    "unify": "X = f(X), Y = f(Y), X = Y", "not unifiable": "X = f(X), Y = f(Y), X \\= Y",
    "equal": "X = f(X), Y = f(Y), X == Y", "order": "X = f(X, a), Y = f(Y, b), X @< Y",
    "compare": "X = f(X), Y = f(Y), compare(O, X, Y), O = (=)", "copy": "X = f(X), copy_term(X, Y), Y = f(_)",
    "ground": "X = f(X), ground(X)", "findall": "X = f(X, Z), findall(X, member(Z, [1, 2]), L), L = [_]",
    "bagof": "X = f(X), bagof(X, member(_, [1]), _)", "setof": "X = f(X, Z), setof(X, member(Z, [2, 1]), _)",
    "aggregate": "X = f(X), aggregate_all(set(X), member(_, [1, 2]), _)", "count": "X = f(X), aggregate_all(count, X, _)",
    "univ": "X = f(X), X =.. [_, Y], Y == X", "functor": "X = f(X), functor(X, N, _), N = f",
    "message": "X = f(X), sum_list(X, _)", "message of arithmetic": "X = f(X), Y is X, Y > 0",
    "arithmetic": "X = 1 + X, Y is X, Y > 0", "comparison": "X = 1 + X, X > 0",
    "call": "X = f(X), call(X)", "conjunction": "G = (true, G), call(G)", "disjunction": "G = (fail ; G), call(G)",
    "if": "G = (true -> G ; true), call(G)", "negation": "G = (\\+ G), call(G)", "forall": "X = f(X), forall(X, true)",
    "sort of cyclic items": "X = f(X), Y = f(Y), msort([X, Y], _)",
}  # fmt: skip
ON_CYCLIC_LISTS = {
    "is_list": "is_list(X)", "length": "length(X, N), N > 0", "member": "member(b, X)", "memberchk": "memberchk(b, X)",
    "nth0": "nth0(_, X, b)", "nth1": "nth1(N, X, b), N > 0", "sum_list": "sum_list(X, _)", "max_list": "max_list(X, _)",
    "msort": "msort(X, _)", "sort": "sort(X, _)", "sort by place": "sort(0, @>=, X, _)", "keysort": "keysort(X, _)",
    "list_to_set": "list_to_set(X, _)", "max_member": "max_member(_, X)", "atom_chars": "atom_chars(_, X)",
    "append": "append(X, [b], _)", "reverse": "reverse(X, _)", "last": "last(X, _)", "maplist": "maplist(atom, X)",
    "include": "include(atom, X, _)", "foldl": "foldl([E, A, B]>>true, X, 0, _)", "subset": "subset(X, [a])",
    "delete": "delete(X, a, _)", "univ": "_ =.. X", "message": "X > 1",
}  # fmt: skip
ON_BOMBS = {
    "equal": "bomb(60, X), bomb(60, Y), X == Y", "unify": "bomb(60, X), bomb(60, Y), X = Y",
    "not unifiable": "bomb(60, X), bomb(60, Y), X \\= Y", "order": "bomb(60, X), bomb(60, Y), X @< Y",
    "copy": "bomb(60, X), copy_term(X, Y), Y = f(_, _)", "ground": "bomb(60, X), ground(X)",
    "findall": "bomb(60, X), findall(X, member(_, [1, 2, 3]), L), L = [_, _, _]",
    "setof": "bomb(60, X), bomb(60, Y), setof(Z, member(Z, [X, Y]), _)", "message": "bomb(60, X), sum_list(X, _)",
    "sort": "bomb(60, X), bomb(60, Y), sort([X, Y], _)", "memberchk": "bomb(60, X), bomb(60, Y), memberchk(X, [Y])",
    "list_to_set": "bomb(60, X), bomb(60, Y), list_to_set([X, Y, X, Y], _)", "call": "bomb(60, X), call(X)",
    "arithmetic": "sums(60, X), Y is X, Y > 0", "comparison": "sums(60, X), X > 0", "max_list": "sums(60, X), max_list([X], _)",
    "sum": "sums(60, X), aggregate_all(sum(X), member(_, [1]), _)", "between": "sums(60, X), between(1, X, _), fail",
    "conjunction": "chain(60, G), call(G)", "negation": "chain(60, G), \\+ call(G)", "once": "chain(60, G), once(G)",
    "nested lists": "lists(60, X), lists(60, Y), msort([X, Y], _)", "failing": "bomb(60, X), bomb(59, Y), X = f(Y, Z), Z == x",
    "template": "bomb(24, X), aggregate_all(bag(X), between(1, 1000, _), _)",
    "many copies": "bomb(16, X), findall(Y, (between(1, 100000, _), copy_term(X, Y)), _)",
}  # fmt: skip
ON_NUMBERS = {
    "long product": "X is 7 ** 60000, Y is X * X, Y > 0", "shown": "X is 7 ** 60000, sum_list(X, _)",
    "text of a long number": "X is 7 ** 60000, atom_length(X, N), N > 3", "letters": "X is 7 ** 60000, atom_chars(X, _)",
    "shifts": "X is (1 << 199999) << 199999, Y is X << 199999, Y > 0", "negative shift": "X is 1 >> -10000000000, X > 0",
    "power of powers": "X is 2 ** 2 ** 2 ** 2 ** 2 ** 2, X > 0", "no whole number": "X is 7 ** 20000, Y is X ** -1, Y > 0",
    "too large a float": "X is 7 ** 60000 + 0.5, X > 0", "sum of floats": "X is 7 ** 60000, sum_list([X, 0.5], _)",
    "division": "X is 7 ** 60000 / 0.5, X > 0", "not a number": "X is inf - inf, X > 0", "rounding": "X is floor(inf), X > 0",
    "a long list": "X is 7 ** 60000, length(_, X)", "an odd place": "X is 7 ** 60000, nth0(X, [a], _)",
    "sum by aggregate": "X is 7 ** 60000, aggregate_all(sum(Y), member(Y, [X, 0.5]), _)", "plus": "X is 7 ** 60000, plus(X, 0.5, _)",
    "growing sum": "grow(1, 60000)",
}  # fmt: skip
LOOPS = {
    "loop": "go", "repeat": "repeat, fail", "counting": "between(1, inf, N), N < 0", "growing lists": "length(_, N), N < 0",
    "long lists again and again": "repeat, length(L, 1000000), L = [a|_], fail", "open lists": "member(a, _), fail",
    "permutations": "numlist(L), permutation(L, P), P = [z|_]", "answers": "findall(N, between(1, inf, N), _)",
    "sorting again and again": "numlist(L), repeat, msort(L, [z|_])", "deep": "deep(100000000)", "backtracking": "many(30), fail",
    "long atoms": "double(a, 60)", "sets again and again": "findall(X, between(1, 20000, X), L), list_to_set(L, S), S = []",
    "lists in lists": "findall(L, (between(1, 1000000, _), length(L, 1000)), _)",
}  # fmt: skip
HELP = {
    "growing sum": "grow(_, 0). grow(X, N) :- M is N - 1, Y is X + X, grow(Y, M). ",
    "permutations": "numlist([a, b, c, d, e, f, g, h, i, j, k, l]). ",
    "sorting again and again": "numlist(L) :- findall(X, between(1, 10000, X), L). ",
    "deep": "deep(N) :- M is N - 1, deep(M), true. ", "backtracking": "many(0). many(N) :- M is N - 1, (many(M) ; many(M)). ",
    "long atoms": "double(_, 0). double(A, N) :- atom_chars(B, [A, A]), M is N - 1, double(B, M). ",
    "loop": "go :- go. ",
}  # fmt: skip
TEXTS = {
    "a long conjunction": "p(_) :- " + ", ".join(["true"] * 100_000) + ".",
    "a long conjunction of comparisons": "p(W) :- a(W, X), " + ", ".join(["X > 0"] * 20_000) + ".",
    "a long disjunction": "p(W) :- a(W, X), ( " + " ; ".join(["X > 9"] * 20_000) + " ).",
    "a long list with a variable": "p(W) :- a(W, X), memberchk(X, [" + ", ".join(["X", "1"] * 20_000) + "]).",
    "a long sum": "p(W) :- a(W, X), Y is " + " + ".join(["X"] * 100_000) + ", Y > 0.",
    "a long power": "p(W) :- a(W, X), Y is " + " ^ ".join(["1"] * 20_000) + ", Y >= X.",
    "many clauses": "".join(f"q({i}). " for i in range(20_000)) + "p(W) :- a(W, X), q(X).",
    "brackets": "p(_) :- " + "(" * 100_000 + "true" + ")" * 100_000 + ".",
    "a deep term": "p(_) :- X = " + "f(" * 100_000 + "a" + ")" * 100_000 + ", X = a.",
    "a deep list": "p(_) :- X = " + "[" * 100_000 + "]" * 100_000 + ", X = [].",
    "minus signs": "p(_) :- X is " + "- " * 100_000 + "1, X > 0.",
    "a digit after the other": "p(W) :- a(W, X), X < " + "9" * 100_000 + ".",
    "a hexadecimal number": "p(W) :- a(W, X), X < 0x" + "f" * 100_000 + ".",
    "an unpaired surrogate by its number": "p(_) :- X = '\\xD800\\', atom_length(X, 2).",
    "an unpaired surrogate": "p(_) :- X = '\ud800', atom_length(X, 2).",
    "a surrogate as a name": "'\\xDFFF\\'(_). p(W) :- '\\xDFFF\\'(W).",
    "a quote that is never closed": "p(_) :- X = '" + "\\x41\\n" * 2_000 + ".",
    "a text that is never closed": 'p(_) :- X = "' + "\\x4141" * 2_000 + ".",
    "a comment that is never closed": "p(_) :- true. /* " + "* / " * 100_000,
    "no text": "", "null bytes": "\x00" * 1000, "only a dot": ".", "dots": ". " * 1000, "no character": "p(_) :- X = '\\x110000\\'.",
    "a very long name": "p(_) :- " + "q" * 900_000 + ".", "a very long text": "p(_). " + "% " * 3_000_000,
}  # fmt: skip
FORBIDDEN = {
    "a shell": "shell('touch harm')", "a file": "open('/etc/passwd', read, _)", "code": "consult('/etc/passwd')",
    "directives": ":- initialization(shell(ls)). p(_)", "modules": "system:shell(ls)", "facts": "assertz(a(w, 1))",
    "by call": "X = shell, call(X, ls)", "by univ": "G =.. [halt], call(G)", "by maplist": "maplist(shell, [ls])",
}  # fmt: skip


def _all() -> dict[str, str]:
    found = {f"cyclic term: {name}": f"p(_) :- {goal}." for name, goal in ON_CYCLIC_TERMS.items()}
    found |= {f"cyclic list: {name}": f"p(_) :- X = [a|X], {goal}." for name, goal in ON_CYCLIC_LISTS.items()}
    for name, goal in ON_BOMBS.items():
        needed = "".join(text for text in (BOMB, SUMS, CHAIN, LISTS) if text.split("(")[0] + "(" in goal)
        found[f"shared parts: {name}"] = f"{needed}p(_) :- {goal}."
    found |= {f"numbers: {name}": f"{HELP.get(name, '')}p(_) :- {goal}." for name, goal in ON_NUMBERS.items()}
    found |= {f"loops: {name}": f"{HELP.get(name, '')}p(_) :- {goal}." for name, goal in LOOPS.items()}
    found |= {f"texts: {name}": text for name, text in TEXTS.items()}
    found |= {f"forbidden: {name}": f"p(_) :- {goal}." for name, goal in FORBIDDEN.items()}
    return found


PROGRAMS = _all()
