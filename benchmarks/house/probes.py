"""The probes: what they run, and what of it is compared."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.house.forks import Probe, Texts
from benchmarks.house.seen import call, content, flat, tree
from benchmarks.house.stage import FAMILIES, PIXELS, QUICK, SMALLER, SPLITS, WRITTEN, filled

MODELS = {"tree": "", "cbm": "--epochs 1 --set device=cpu", "blackbox": "--epochs 1 --set device=cpu"}
CPU = "--set device=cpu"
MANY = 30
"""So many files are compared each as a whole."""
MARKS = ("watermark", "frame", "patch", "brightness", "noise", "blur", "compression", "position")
UNITS = ("pca", "kmeans", "ica", "nmf", "random-directions", "sae-topk", "posthoc-cbm")
EXPORTS = {"prolog": "data", "bdd-oia": "driving", "clevr": "clevr", "vlol": "trains", "valued": "chess"}
NETWORKS = ("ltn", "bears", "semantic", "dcr", "ecbm", "probcbm", "cem", "dpl")
Scene = tuple[tuple[str, ...], list[str]]
"""What is needed, and the commands."""


def scenes() -> dict[str, Scene]:
    """Return what the probes of the command line run, by name."""
    fill = {"SPLITS": SPLITS, "PIXELS": PIXELS, "QUICK": QUICK}
    found: dict[str, Scene] = {
        name: ((*scene["needs"],), [filled(words, fill) for words in scene["run"]])
        for name, scene in WRITTEN["scenes"].items()
    }
    for mark in MARKS:
        found[f"confound {mark}"] = (("imported",), [f"confound imported -o marked --what {mark} --with alarm --json"])
    for method in UNITS:
        words = f"discover {method} run-sums sums -o found --seeds 0-1 --set repetitions=1 --set units=6 {CPU} --json"
        found[f"discover {method}"] = (("sums", "run-sums"), [words])
    for form, family in EXPORTS.items():
        found[f"export {form}"] = ((family,), [f"export {family} -o out --to {form} --json"])
    for name in NETWORKS:
        found[f"train {name}"] = (("data",), [f"train {name} data -o run {QUICK} --json", "score run --json"])
    for family in FAMILIES:
        for model, settings in MODELS.items():
            judge = "score run --json" if "blackbox" in model or family == "chess" else "diagnose run --json"
            found[f"family {family} {model}"] = ((family,), [f"train {model} {family} -o run {settings}", judge])
    return found


def play(commands: Iterable[str]) -> Texts:
    """Run the commands; return what each printed, and what files lie there in the end."""
    before = {path for path in Path().rglob("*") if path.is_file()}
    printed = {words: call(words) for words in commands}
    made = sorted({path for path in Path().rglob("*") if path.is_file()} - before)
    files = {str(path): content(path) for path in made if ".cache" not in path.parts and "history" not in path.name}
    return printed | (files if len(files) < MANY else {"files": tree(Path())})


def make_task(name: str) -> Texts:
    """Make a few examples of a task; return what it is and what its files hold, with each picture."""
    from assay import TASKS

    sizes = " ".join(
        f"--split {split.name}=2" for split in TASKS[name]().splits() if not split.name.startswith("train")
    )
    if name in WRITTEN["only_shown"]:  # it takes a minute to place what its pictures hold
        return {"show": call(f"show {name}")}
    form = "--json" if small(name) == SMALLER["chess"] else ""
    return {
        "make": call(f"make {name} -o out -n 4 {sizes} --workers 1 {small(name)}"),
        "show": call(f"show {name} {form}"),
        "files": tree(Path("out")),
    }


def outcome(work: Callable[[], Any]) -> str:
    """Return what a function gives as text, or how it refuses."""
    try:
        return "\n".join(flat(plain(work())))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def plain(value: Any) -> Any:
    """Return lists of plain data, or of texts."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value if isinstance(value, (dict, int, float)) else str(value)


def space() -> Any:
    """Return the concepts that formulas and programs are about."""
    from assay import ConceptSpace, bits, digits

    return ConceptSpace((*bits(["a", "b", "c"]).concepts, *digits(["d", "e", "f"], range(4)).concepts))


def meanings(text: str) -> Texts:
    """Return what a formula means, in every form in which it can be written."""
    from assay import Knowledge, compile_diagram, count_shortcuts, evaluate, latex, parse, to_cnf

    codes = space().all_codes()

    def knowledge() -> Any:
        return Knowledge.of(space(), {"y": text})

    forms: dict[str, Callable[[], Any]] = {
        "parse": lambda: [parse(text), latex(parse(text)), evaluate(parse(text), space(), codes)[::7]],
        "knowledge": lambda: [knowledge().labels_of(codes[::11]), knowledge().to_dict()],
        "clauses": lambda: to_cnf(knowledge()).to_dimacs(),
        "diagram": lambda: compile_diagram([parse(text)], space()).counts,
        "boundary": lambda: knowledge().boundaries[0].near(codes[::5]),
        "shared": lambda: count_shortcuts(knowledge(), "shared", codes[::9], seconds=20).to_dict(),
        "alone": lambda: count_shortcuts(knowledge(), "per-concept", codes[::9], seconds=20).total,
    }
    return {f"{name} of {text}": outcome(form) for name, form in forms.items()}


def logic() -> Texts:
    """Return what all formulas mean."""
    return {name: told for text in WRITTEN["formulas"] for name, told in meanings(text).items()}


def proofs(text: str) -> Texts:
    """Return what a program proves of worlds, and the formula that it is."""
    from assay.prolog import Worlds, formula_of, label, read_program, rule_of

    worlds = Worlds(space(), space().all_codes()[::3])
    return {
        f"worlds of {text}": outcome(lambda: label(text, worlds)),
        f"formula of {text}": outcome(lambda: formula_of(read_program(text), space())),
        f"rule of {text}": outcome(lambda: rule_of(text, space())),
    }


def prolog() -> Texts:
    """Return what all programs prove."""
    return {name: told for text in WRITTEN["programs"] for name, told in proofs(text).items()}


def zoo(task: str) -> Texts:
    """Return what is diagnosed of every predictor with a planted fault."""
    return {
        name: "\n".join(["", *judged.sentences, *judged.details]) for name, _, judged in specimens(habitat_of(task))
    }


def metrics() -> Texts:
    """Return every metric of some predictors whose faults are known."""
    import assay

    found = {}
    for name, planted, _ in specimens(habitat_of("kand-logic"), 6):
        for split, rows in planted.evidence.items():
            scores = {metric: outcome(partial(assay.METRICS[metric], rows)) for metric in assay.METRICS}
            found[f"{name} {split}"] = "\n".join(f"{metric} {value}" for metric, value in scores.items())
    return found


def habitat_of(task: str) -> Any:
    """Return a small habitat of the zoo."""
    from assay.testing import zoo_task

    return zoo_task(task, 0, {"train": 400, "test": 200, "ood": 100, "hard": 100})


def specimens(home: Any, most: int | None = None) -> Iterator[tuple[str, Any, Any]]:
    """Yield what was planted in a habitat, and what is diagnosed of it."""
    from assay.testing import FAULTY_PREDICTORS, try_specimen

    for name in list(FAULTY_PREDICTORS)[:most]:
        tried = try_specimen(name, home)
        if tried is not None:
            yield name, *tried


def small(task: str) -> str:
    """Return the settings that make the pictures of a task small."""
    families = {"bdd": "driving", "sdd": "driving", "kand": "kandinsky", "valued": "chess", "blocks": "trains"}
    start = task.partition("-")[0]
    return SMALLER.get(families.get(start, start), "")


def all_probes() -> list[Probe]:
    """Return every probe."""
    from assay import TASKS

    played = [Probe(name, partial(play, commands), needs) for name, (needs, commands) in scenes().items()]
    tasks = [Probe(f"task {name}", partial(make_task, name)) for name in sorted(TASKS)]
    homes = [Probe(f"zoo {task}", partial(zoo, task)) for task in ("mnadd-evenodd", "robots", "mnlogic")]
    return [Probe("logic", logic), Probe("prolog", prolog), Probe("metrics", metrics), *homes, *tasks, *played]
