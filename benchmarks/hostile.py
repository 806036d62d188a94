"""Names and values that are markup, in everything that becomes a page: is any of it live?

A dataset whose every name and value is one of `HOSTILE` is shown in every way that Assay has: in notebooks, as report,
board, card and bundle. The pages are parsed. None may have an element, an attribute or a link that a dataset of plain
names does not have.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.api import Run, show
from assay.auditing import Audit, audit, audited_dataset
from assay.contracts import BottleneckModel, Manifest, Prediction, Predictions, rule_head, to_json
from assay.counting import count_shortcuts
from assay.dataset import Dataset, describe, write_shards
from assay.diagnosis import (
    InterventionPlan,
    InterventionResult,
    Trial,
    Truth,
    Units,
    budgets_from,
    diagnose_predictions,
    policy_of,
)
from assay.exchange import from_table
from assay.lab import AcquisitionCurve, BoardRow, MendingRound, SuiteBoard, find_suite, write_board, write_rows
from assay.logic import Knowledge, bits
from assay.render import encode_png
from assay.reporting import write_report
from assay.viewer import State, write_bundle
from assay.worlds import CONTENT
from benchmarks.fuzz import Work

HOSTILE = (
    "<img src=x onerror=alert(1)>", "<img ", "<script>alert(2)</script>", "</td></tr></table><script>alert(3)</script>",
    '"><svg onload=alert(4)>', "' onmouseover='alert(5)", '<a href="javascript:alert(6)">x</a>',
    "[x](javascript:alert(7))", "![x](https://evil.example/x.png)", "[x]: javascript:alert(8)",
    "<javascript:alert(9)>", "`<b onclick=a>`", "```\n<script>alert(10)</script>\n```", "a | b | <i>c</i>",
    "&lt;script&gt;alert(11)&lt;/script&gt;",
    "&#60;img src=x&#62;", "{{ 7 * 7 }}", "{% include 'style.css' %}", "${alert(12)}", "$\\frac{$",
    "</style><script>alert(13)</script>", "</textarea><iframe src=//evil.example>", "<!-- ", "]]><x>",
    "javascript:alert(14)", "data:text/html,<script>alert(15)</script>", "# heading\n\n<h1>y</h1>",
    "- item\n\n1. <li>z</li>", "\u202e<b>gnp.exe", "\\<u>\\</u>", "<style>*{display:none}</style>",
    "<base href=//evil.example>", "{balance.__class__} {0} %s %n", "</title><object data=x>",
    "<https://evil.example>", "~~~",
)  # fmt: skip
PLAIN = tuple(f"value{chr(10) * name.count(chr(10))} {number}" for number, name in enumerate(HOSTILE))
CONCEPTS, ROWS, SPLIT_NAMES = 4, 40, ("train", "valid", "test")


class Shape(HTMLParser):
    """The elements of a page with the names of their attributes, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[tuple[str, tuple[str, ...]]] = set()
        self.links: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """Take an element."""
        self.elements.add((tag, tuple(sorted(name for name, _ in attrs))))
        for name, value in attrs:
            if name in ("href", "src", "action", "data", "srcset", "formaction", "xlink:href"):
                self.links.add(_kind_of_link(str(value)))

    def handle_decl(self, decl: str) -> None:
        """Take a declaration."""
        self.elements.add(("!", (decl,)))

    def handle_comment(self, data: str) -> None:
        """Take a comment, which may hide what follows."""
        self.elements.add(("!--", ()))


def _kind_of_link(address: str) -> str:
    """Return an address without what names within a page or a picture of ours may be."""
    if address.startswith("data:image/png;base64,"):
        return "a picture"
    page = address.partition("#")[0]
    if not page:
        return "within the page"
    return "a file" if ":" not in page and page[:2] != "//" else address


def surplus(hostile: str, clean: str) -> list[str]:
    """Return what a page of hostile names has that one of plain names has not."""
    found, usual = Shape(hostile), Shape(clean)
    return sorted(map(str, found.elements - usual.elements)) + sorted(found.links - usual.links)


def markdown_page(text: str) -> str:
    """Return Markdown as a page, as GitHub and the hub show it, and as mkdocs does."""
    import markdown
    from markdown_it import MarkdownIt

    shown = str(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    return shown + str(markdown.markdown(text, extensions=["tables", "fenced_code"]))


# -- a dataset whose every name is hostile -----------------------------------------------------------------------------


def hostile_dataset(folder: Path, names: Sequence[str] = HOSTILE, with_rule: bool = True) -> Dataset:
    """Write a dataset that has these names as values, names of labels, of the task and of all else."""
    names = [name.strip() for name in names]
    each = len(names) // CONCEPTS
    values = [list(names[number * each : (number + 1) * each]) for number in range(CONCEPTS)]
    size = ROWS * len(SPLIT_NAMES)
    cells = {f"c{number}": [own[(row * (number + 1) + row // each) % each] for row in range(size)]
             for number, own in enumerate(values)}  # fmt: skip
    some = [own[: each // 2] for own in values]
    rules = {f"label{i}": f"c{i} in [{', '.join(map(repr, some[i]))}]" for i in range(CONCEPTS)}
    labels: dict[str, list[Any]] = {
        name: [cell in some[i] if with_rule else names[-1 - (row + i) % 3] for row, cell in enumerate(cells[f"c{i}"])]
        for i, name in enumerate(rules)
    }
    picture = encode_png(np.zeros((8, 8, 3), dtype=np.uint8))
    columns = {**cells, **labels, "split": [SPLIT_NAMES[row // ROWS] for row in range(size)]}
    rule = rules if with_rule else None
    shutil.rmtree(folder, ignore_errors=True)
    made = from_table(columns, folder, images=[picture] * size, concepts=[*cells], labels=[*labels], rule=rule,
                      name=" ".join(names))  # fmt: skip
    renamed = json.loads(_rename_labels(to_json(made.manifest.to_dict()).decode(), names, json.dumps))
    for split in renamed["splits"]:
        table = pq.read_table(folder / split["shards"][0]["file"])
        heads = [_rename_labels(column, names, str) for column in table.column_names]
        styles = [{**json.loads(style), CONTENT: {"file": names[row % len(names)]}}
                  for row, style in enumerate(table["style"].to_pylist())]  # fmt: skip
        table = table.set_column(table.column_names.index("style"), "style", pa.array(map(json.dumps, styles)))
        shards = write_shards(split["name"], [table.rename_columns(heads)], folder)
        split["shards"] = [shard.to_dict() for shard in shards]
    folder.joinpath("manifest.json").write_bytes(to_json(_renamed(renamed, names)))
    return Dataset.open(folder)


def _card(manifest: Manifest) -> str:
    return describe(manifest)["README.md"].decode()


def _rename_labels(text: str, names: Sequence[str], write: Callable[[str], str]) -> str:
    """Return a text with hostile names of labels, as a stranger's program may write them."""
    for number, name in enumerate(names[:CONCEPTS]):
        text = text.replace(
            f"label{number}", write(name).removeprefix('"').removesuffix('"') if write is not str else name
        )
    return text


def _renamed(manifest: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a manifest in which a stranger has written names wherever nothing depends on them."""
    text = " ".join(names)
    imported = {**manifest["task"]["imported"], "layout": text, "splits": text, "resize": text}
    knowledge = {**manifest["knowledge"]}
    groups = [{**group, "name": names[number]} for number, group in enumerate(knowledge["encoders"])]
    known = {"summary": text, "drawn": text, "task": {**manifest["task"], "imported": imported}}
    changed = {**manifest, **known, "knowledge": {**knowledge, "encoders": groups}}
    changed["versions"] = {**manifest["versions"], "assay": text, names[1]: text}
    changed["pairs"] = {**manifest["pairs"], "none": text}
    return Manifest.of(changed).to_dict()


# -- all that becomes a page -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pages:
    """A dataset with what is said of it, as pages by name."""

    folder: Path
    names: Sequence[str]
    with_rule: bool

    def all(self) -> dict[str, str]:
        """Return each page as HTML."""
        dataset = hostile_dataset(self.folder / "data", self.names, self.with_rule)
        found = self.predictions(dataset)
        path = self.folder / "mine.parquet"
        found.write(path, dataset.knowledge)
        return {
            **{name: page._repr_html_() for name, page in self.shown(dataset, found).items()},
            **self.cards(dataset),
            **self.report(path, dataset),
            **self.bundle(path),
            **self.board(),
        }

    @property
    def text(self) -> str:
        """All names in a row."""
        return " ".join(self.names)

    def predictions(self, dataset: Dataset) -> Predictions:
        """Return predictions some of which are wrong, by a model of a hostile name."""
        data = dataset["test"]
        concepts, labels = np.roll(data.concepts, 3, axis=0), np.roll(data.labels, 3, axis=0)
        said = {name: Prediction(concepts[:, i]) for i, name in enumerate(data.knowledge.space.names)}
        named = {name: Prediction(labels[:, i]) for i, name in enumerate(data.knowledge.label_names)}
        return Predictions(data.fingerprint, "test", data.index, named, said, {"model": self.text, "note": self.text})

    def shown(self, dataset: Dataset, found: Predictions) -> Mapping[str, Any]:
        """Return what notebooks show."""
        from assay.viewer import Viewer

        audited: Audit = audit(audited_dataset(dataset), ("complete", "visible"))
        shown = {
            "Dataset": dataset,
            "SplitData": dataset["test"],
            "Diagnosis": diagnose_predictions(dataset, {"test": found}),
            "Audit": replace(audited, dataset=self.text, results=(*audited.results, *self.results(audited))),
            "AcquisitionCurve": self.mending(),
            "Viewer": Viewer(self.names[24], None, None),  # type: ignore[arg-type]
            "Run": self.run(dataset),
            "Facts": show(dataset.folder),
            "InterventionResult": self.intervention(),
        }
        return {**shown, "ReadingCount": count_shortcuts(dataset.knowledge)} if self.with_rule else shown

    def run(self, dataset: Dataset) -> Run:
        """Return a run whose record a stranger wrote."""
        folder = self.folder / f"run {self.names[0].replace('/', '')}"
        folder.mkdir(parents=True, exist_ok=True)
        data = {"folder": str(dataset.folder), "fingerprint": dataset.fingerprint, "task": self.text}
        about = {"model": self.text, "seed": 0, "config": {}, "knowledge": {}, "layout": {}, "data": data}
        (folder / "run.json").write_text(json.dumps(about), encoding="utf-8")
        (folder / "history.json").write_text(json.dumps({"epochs": [{"loss": 1.0, "score": 0.5}]}), encoding="utf-8")
        return Run.open(folder)

    def intervention(self) -> InterventionResult:
        """Return what came of a plan of hostile names."""
        model = BottleneckModel(self.text, [np.eye(2)], rule_head(Knowledge.of(bits(["a"]), {"y": "a"})))
        units, codes = Units.of(bits(["a"])), np.array([[0], [1]])
        trial = Trial(model, units, model.concepts, Truth(codes, codes))
        curve = trial.run(policy_of("fixed"), budgets_from("1", units))
        plan = InterventionPlan(policy=self.text, split=self.text, source=self.text)
        unused: Any = None
        return InterventionResult(plan, self.text, unused, unused, curve, curve, None, unused, unused, ())

    def results(self, audited: Audit) -> list[Any]:
        """Return results of checks that say something hostile."""
        return [replace(audited.results[0], check=name, text=name) for name in self.names]

    def mending(self) -> AcquisitionCurve:
        """Return rounds of hostile verdicts."""
        facts: dict[str, Any] = {"label_f1": None, "concept_f1": None, "accuracy": {}, "seconds": 0.0}
        facts |= {"searched": 0, "bought": {}, "kinds": ()}
        rounds = [
            MendingRound(number=number, run=name, spent=number, verdict=name, why=name, **facts)
            for number, name in enumerate(self.names)
        ]
        return AcquisitionCurve(self.text, tuple(rounds), (), self.text)

    def cards(self, dataset: Dataset) -> dict[str, str]:
        """Return the card, that of a dataset that was made from a rule, and the section of the audit."""
        manifest = dataset.manifest
        made = {key: value for key, value in manifest.task.to_dict().items() if key != "imported"}
        source = {"name": self.text, "sha256": self.text}
        about = {"settings": {self.names[0]: self.text}, "splits": [self.text], "seed": 3, "parent": self.text}
        made |= {"annotation": {**about, "reader": {"reader": self.text}}}
        sources = dict.fromkeys(self.names, source)
        cards = {
            "card": _card(manifest),
            "card of a task": _card(Manifest.of({**manifest.to_dict(), "task": made, "sources": sources})),
        }
        results = audit(audited_dataset(dataset), ("complete",))
        folder = self.folder / "audited"
        folder.mkdir(exist_ok=True)
        replace(results, results=(*self.results(results),)).write(folder)
        cards["card of an audit"] = (folder / "README.md").read_text(encoding="utf-8")
        return {name: markdown_page(text.partition("\n---\n")[2] or text) for name, text in cards.items()}

    def report(self, path: Path, dataset: Dataset) -> dict[str, str]:
        """Return the report as HTML and Markdown."""
        page = write_report([path], self.folder / "report", self.text, about=self.text, dataset=dataset)
        markdown = page.with_suffix(".md").read_text(encoding="utf-8")
        return {"report.html": page.read_text(encoding="utf-8"), "report.md": markdown_page(markdown)}

    def bundle(self, path: Path) -> dict[str, str]:
        """Return the page of the viewer, whose data must be JSON that scripts read as data."""
        out = self.folder / "bundle"
        shutil.rmtree(out, ignore_errors=True)
        write_bundle(State.open([self.folder / "data", path]), out, 4)
        for file in out.rglob("*.json"):
            json.loads(file.read_text(encoding="utf-8"))
        return {f"bundle {page.name}": page.read_text(encoding="utf-8") for page in out.rglob("*.html")}

    def board(self) -> dict[str, str]:
        """Return the board of rows that say nothing but hostile words."""
        suite, rows = find_suite(), []
        dataset, level = next(iter(suite.datasets)), next(iter(suite.levels))
        for name in self.names:
            words = dict.fromkeys(("verdict", "tone", "why", "also", "run", "assay"), name)
            said = json.dumps({"3": name})
            rows.append(BoardRow(suite.name, dataset, name, level, 0, "done", wrong=said, misread=said, **words))
            rows.append(BoardRow(suite.name, dataset, f"{name}!", level, 0, "refused", reason=name))
        records = self.folder / "records"
        shutil.rmtree(records, ignore_errors=True)
        write_rows(rows, records / "all.parquet")
        out = write_board(suite, [records], self.folder / "board").parent
        pages = {page.name: page.read_text(encoding="utf-8") for page in (out / "index.html", out / f"{dataset}.html")}
        linked = SuiteBoard(
            suite, tuple(replace(row, link="-".join((row.reason or row.why).split(" "))) for row in rows)
        )
        return {**pages, "board.md": markdown_page((out / "board.md").read_text(encoding="utf-8")), **_linked(linked)}


def _linked(board: SuiteBoard) -> dict[str, str]:
    """Return the page of a board whose rows were not read from a file, and have hostile links."""
    from assay.dataset import versions
    from assay.reporting import page_environment

    template = page_environment().get_template("board.html")
    return {"linked board": template.render(board=board, versions=versions(), viewer="", ranks=board.rank_table)}


def hostile_pages(place: Path) -> Iterator[tuple[str, Work]]:
    """Give an attempt for each page, of datasets with and without a rule."""
    for with_rule in (True, False):
        clean, hostile = (Pages(place / "hostile", names, with_rule).all() for names in (PLAIN, HOSTILE))
        for name, text in hostile.items():
            yield name, partial(_is_clean, text, clean[name])


def _is_clean(hostile: str, clean: str) -> bool:
    return not surplus(hostile, clean)
