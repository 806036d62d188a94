"""The rounds of mending: diagnose, stop if all is well, choose what to buy, retrain, record.

Every round is an ordinary run in the folder of the mending, `round-1`, `round-2`, ..., on a dataset with what was
bought until then, `data-1`, `data-2`, ...; the run that it began with stays where it is. `mending.json` is written
after each round, so that a mending that was killed goes on with the round that it was in.
"""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from assay.base import (
    ConfigError,
    DataError,
    Figure,
    Settings,
    curve_plot,
    html_table,
    html_text,
    refuse_links,
    require_empty,
    to_frame,
    write_atomically,
)
from assay.contracts import RunRecord, to_json
from assay.dataset import Dataset, versions
from assay.diagnosis import Diagnosis, diagnose_run, headline, taught_by
from assay.lab.acquisition import STRATEGIES
from assay.lab.acquisition.round_data import RoundData
from assay.lab.acquisition.situation import AcquiredData, AcquisitionContext, MendSettings
from assay.models import MODELS, Epoch, Model, TrainSpec, load_model, train_run
from assay.runs import RunFolder, check_dataset

if TYPE_CHECKING:
    import pandas as pd


SHIFTED_FIRST = ("unconfounded", "ood")
"""Of the splits that differ from training, the one whose label accuracy is shown first."""
RECORD = "mending.json"
Progress = Callable[[str, float, float, str], None]
"""Told what is done, how far, of how much, and a note."""


@dataclass(frozen=True)
class MendingRound:
    """A round: what was spent until then, and what the model trained with it is like."""

    number: int
    run: str
    """Where the run lies, as seen from the folder of the mending."""
    spent: int
    searched: int
    """At how many concepts of pictures an annotator looked."""
    bought: Mapping[str, int]
    """How much of each kind was bought until then."""
    verdict: str
    kinds: tuple[str, ...]
    why: str
    label_f1: float | None
    concept_f1: float | None
    accuracy: Mapping[str, float]
    """The label accuracy on each split."""
    seconds: float
    """What choosing, training and diagnosing took."""

    @classmethod
    def of(cls, diagnosis: Diagnosis, **facts: Any) -> "MendingRound":
        """Return the round of a diagnosis."""
        first = next(iter(diagnosis.scores.values()))
        label_f1, concept_f1 = (
            first[name].value if first[name].applies else None for name in ("label_f1", "concept_f1")
        )
        accuracy = {split: found["label_accuracy"].value for split, found in diagnosis.scores.items()}
        line = headline(diagnosis)
        scores = {"label_f1": label_f1, "concept_f1": concept_f1, "accuracy": accuracy}
        known: dict[str, Any] = {"verdict": line.verdict, "kinds": diagnosis.kinds, "why": line.why, **scores}
        return cls(**known, **facts)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "MendingRound":
        """Return the round of plain data."""
        return cls(**{**record, "kinds": tuple(record["kinds"])})

    @property
    def elsewhere(self) -> float | None:
        """The label accuracy on a split that differs from training, if there is one."""
        return next((self.accuracy[name] for name in SHIFTED_FIRST if name in self.accuracy), None)

    @property
    def cells(self) -> list[str]:
        """The round as a row of a table."""
        numbers = (self.label_f1, self.concept_f1, self.elsewhere)
        shown = ["" if value is None else f"{value:.2f}" for value in numbers]
        return [str(self.number), str(self.spent), self.verdict, *shown, f"{self.seconds:.1f}", self.why]


@dataclass(frozen=True, repr=False)
class AcquisitionCurve:
    """The rounds of a mending, the first being the run that it began with."""

    head: ClassVar = ("round", "spent", "verdict", "label F1", "concept F1", "elsewhere", "seconds", "why")
    """What the cells of a round are."""
    strategy: str
    rounds: tuple[MendingRound, ...]
    goal: tuple[str, ...]
    """The verdicts that end it."""
    ended: str | None = None
    """Why it ended, if it has."""

    @property
    def mended(self) -> MendingRound | None:
        """The first round whose verdict is as it should be."""
        return next((one for one in self.rounds if one.verdict in self.goal), None)

    @property
    def spent(self) -> int:
        """What was spent in all."""
        return self.rounds[-1].spent

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain data."""
        return {
            "strategy": self.strategy,
            "goal": list(self.goal),
            "ended": self.ended,
            "spent_until_mended": None if self.mended is None else self.mended.spent,
            "rounds": [asdict(one) for one in self.rounds],
        }

    @property
    def text(self) -> str:
        """What became of the model, in a sentence."""
        before, last = self.rounds[0].verdict, self.rounds[-1]
        if self.mended is not None:
            return f"{before} -> {self.mended.verdict}, {self.mended.spent} spent by {self.strategy!r}"
        return f"{before} -> {last.verdict}, not mended with {last.spent} spent by {self.strategy!r}: {self.ended}"

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame, a row for each round."""
        keys = ("number", "spent", "verdict", "label_f1", "concept_f1", "elsewhere", "seconds")
        return to_frame({key: [getattr(one, key) for one in self.rounds] for key in keys})

    def plot(self) -> Figure:
        """Draw F1 of labels and concepts, and accuracy elsewhere, over what was spent."""
        curves: dict[str, Sequence[float]] = {}
        for key in ("label_f1", "concept_f1", "elsewhere"):
            values = [getattr(one, key) for one in self.rounds]
            if None not in values:
                curves[key.replace("_", " ").replace(" f1", " F1")] = values
        return curve_plot("spent", [one.spent for one in self.rounds], curves, self.text)

    def __repr__(self) -> str:
        return f"MendingCurve({self.text}; {len(self.rounds) - 1} rounds)"

    def _repr_html_(self) -> str:
        return html_text(self.text, bold=True) + html_table(list(self.head), [one.cells for one in self.rounds])


def mend_run(
    run: Path, dataset: Dataset, settings: MendSettings, output: Path, report: Progress = lambda *_: None
) -> AcquisitionCurve:
    """Mend the model of a run within a budget, and return what each round gave; go on if part of it is there.

    Parameters
    ----------
    run
        The folder of the run to begin with.
    dataset
        What it was trained on.
    settings
        The strategy, the budget and the number of rounds.
    output
        The folder of the rounds and the curve.
    report
        Told what is done, how much of how much.
    """
    STRATEGIES.entry(settings.strategy)
    start = RunFolder(run)
    check_dataset(start, dataset)
    for split in ("train", "valid"):
        if split not in dataset:
            raise ConfigError(f"{str(dataset.folder)!r} has no split {split!r}; a model is mended without stages")
    return _Mending(start, dataset, settings, output, report).run()


@dataclass
class _Mending:
    """A mending under way."""

    start: RunFolder
    dataset: Dataset
    settings: MendSettings
    output: Path
    report: Progress
    rounds: list[MendingRound] = field(default_factory=list)
    purchases: list[dict[str, Any]] = field(default_factory=list)

    def run(self) -> AcquisitionCurve:
        """Go through the rounds that are not done yet."""
        self._resume()
        strategy: Callable[[AcquisitionContext], AcquiredData] = STRATEGIES[self.settings.strategy]
        while (ended := self._end()) is None:
            began, number, before = time.perf_counter(), len(self.rounds), self.holdings
            bought = strategy(self._situation(number, before))
            if not bought.spent_since(before):
                ended = "nothing is left that it could buy"
                break
            run, data = self._train(number, bought)
            self._judge(run, data, bought, before, began)
        return self._keep(ended)

    # -- where it stands -----------------------------------------------------------------------------------------------

    @cached_property
    def record(self) -> RunRecord:
        """The record of the run that it began with."""
        return self.start.record

    @cached_property
    def first(self) -> AcquiredData:
        """What the first run had: the concept labels that it was trained on."""
        return AcquiredData(load_model(self.start.folder).supervised_concepts(self.dataset["train"]))

    @property
    def holdings(self) -> AcquiredData:
        """What there is now."""
        holdings = self.first
        for purchase in self.purchases:
            holdings = holdings.with_purchase(purchase)
        return holdings

    @property
    def goal(self) -> tuple[str, ...]:
        """The verdicts that end it: a model without concepts is opaque at best, and data may have no rule.

        An unidentified model is wrong in nothing but concepts outside of the rule, which no label can identify.
        """
        model: type[Model] = MODELS[self.record.model]
        best = ("sound", "unidentified") if self.dataset.knowledge.has_rule else ("no rule",)
        return best if model.has_concepts else (*best, "opaque")

    def _end(self) -> str | None:
        """Return why it ends now, None if it goes on."""
        last = self.rounds[-1]
        if last.verdict in self.goal:
            return f"the verdict is {last.verdict}"
        return "the budget is spent" if last.spent >= self.settings.budget else None

    # -- one round -----------------------------------------------------------------------------------------------------

    def _situation(self, number: int, holdings: AcquiredData) -> AcquisitionContext:
        run = self.start.folder if number == 1 else self._folder(number - 1)
        budget = min(self.settings.spending(number), self.settings.budget - self.rounds[-1].spent)
        self.report(f"choosing for round {number}", self.rounds[-1].spent, self.settings.budget, self.settings.strategy)
        return AcquisitionContext(
            run=run,
            dataset=self.dataset,
            current=RunFolder(run).dataset(self.dataset) if number > 1 else self.dataset,
            holdings=holdings,
            budget=budget,
            number=number,
            settings=self.settings,
            committee=self.output / f"committee-{number}",
        )

    def _folder(self, number: int) -> Path:
        return self.output / f"round-{number}"

    def _train(self, number: int, bought: AcquiredData) -> tuple[RunFolder, Dataset]:
        """Train the model anew with what there is, unless that is done, and return the run and its dataset."""
        model: type[Model] = MODELS[self.record.model]
        round_data = RoundData(self.dataset, self.first, bought, self.settings)
        data, run = round_data.write(self.output / f"data-{number}"), RunFolder(self._folder(number))
        settings = Settings(round_data.model_settings(model.saved_settings(self.start.folder, self.record)))

        def report(epoch: Epoch, epochs: int) -> None:
            self.report(f"round {number}", epoch.number, epochs, f"epoch {epoch.number} of {epochs}")

        if not run.is_finished:
            train_run(TrainSpec(self.record.model, settings, self.record.seed), data, run.folder, report)
        check_dataset(run, data)
        return run, data

    def _judge(self, run: RunFolder, data: Dataset, bought: AcquiredData, before: AcquiredData, began: float) -> None:
        """Diagnose a run and record the round."""
        diagnosis = diagnose_run(run, data, None if bought.redrawn or bought.fresh else taught_by(self.dataset))
        place = Path(os.path.relpath(run.folder.resolve(), self.output.resolve())).as_posix()
        self.purchases.append(bought.purchase_since(before))
        self.rounds.append(
            MendingRound.of(
                diagnosis,
                number=len(self.rounds),
                run=place,
                spent=bought.spent_since(self.first),
                searched=bought.searched,
                bought=bought.bought_since(self.first),
                seconds=round(time.perf_counter() - began, 3),
            )
        )
        self._keep(None)

    # -- on disk -------------------------------------------------------------------------------------------------------

    @property
    def identity(self) -> dict[str, Any]:
        """What is mended how: a folder of another mending is not taken up."""
        of = self.record
        files = of.files if "files" in of.model_fields_set else None
        known = {"model": of.model, "seed": of.seed, "config": of.config, "files": files}
        plain = {"settings": self.settings.model_dump(mode="json"), "of": known, "data": self.dataset.fingerprint}
        return dict(json.loads(to_json(plain)))

    def _keep(self, ended: str | None) -> AcquisitionCurve:
        """Write the rounds so far, each with what was bought for it."""
        curve = AcquisitionCurve(self.settings.strategy, tuple(self.rounds), self.goal, ended)
        record = curve.to_dict()
        for one, purchase in zip(record["rounds"], self.purchases, strict=True):
            one["purchase"] = purchase
        write_atomically(self.output / RECORD, to_json({**self.identity, **record, "versions": versions()}))
        return curve

    def _resume(self) -> None:
        """Take up the rounds of an earlier call, or begin with a diagnosis of the run as it is."""
        refuse_links(self.output)
        path = self.output / RECORD
        if not path.exists():
            require_empty(self.output)
            began = time.perf_counter()
            self._judge(self.start, self.dataset, self.first, self.first, began)
            return
        record = read_record(path)
        if {key: record.get(key) for key in self.identity} != self.identity:
            raise DataError(f"{str(self.output)!r} holds another mending; choose another folder or delete it")
        for one in record["rounds"]:
            self.purchases.append(one.pop("purchase"))
            self.rounds.append(MendingRound.from_dict(one))


def read_record(path: Path) -> dict[str, Any]:
    """Return the record of a mending."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(record["rounds"], list):
            return record
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise DataError(f"{str(path)!r} is damaged; delete the folder and mend again")
