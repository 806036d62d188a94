"""Copies of a dataset: imported, annotated, with a mark, with changed worlds, in another format, elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.api.arguments import ConfigSource, Data, merge_settings, open_dataset
from assay.base import ConfigError, Folder, Settings, progress_bar, validate, write_atomically
from assay.contracts import PAIRS, parquet_bytes
from assay.dataset import (
    Confounder,
    Dataset,
    SplitData,
    check_code,
    intervened,
    pairs_of,
    refresh_pairs,
    task_of,
)
from assay.exchange import Annotation, confound_dataset
from assay.exchange import annotate as write_annotated
from assay.exchange import export as write_export
from assay.exchange import import_folder as write_imported
from assay.exchange import push as copy_to


def import_folder(
    source: Path | str,
    output: Path | str,
    *,
    layout: str | None = None,
    labels: Sequence[str] = (),
    concepts: Sequence[str] = (),
    rule: Path | str | None = None,
    seed: int = 0,
    config: ConfigSource = None,
    **settings: Any,
) -> Dataset:
    """Import pictures, concepts and labels of your own as a dataset, and open it.

    Parameters
    ----------
    source
        A folder with `concepts.csv` (columns `file`, `concept_NAME`, `label_NAME`), or in one of the layouts.
    output
        The folder of the dataset.
    layout
        `table`, `cub`, `celeba`, `awa2`, `derm7pt`, `coco`, `label_studio`, `cvat` or `hf`; else found out.
    labels
        Columns that are labels.
    concepts
        Columns that are concepts.
    rule
        The file with the rule of the labels; by default `rule.yaml` of the folder.
    seed
        The seed of the split into parts, where there is none.
    config
        Settings, or the YAML file that has them; what is given beside them overrides them.
    **settings
        `picture`, `table`, `split`, `shares`, `size`, `resize` (letterbox, crop, stretch), `counts`, `name`.
    """
    given = {"layout": layout, "labels": list(labels), "concepts": list(concepts), "seed": seed}
    chosen = {**settings, **{key: value for key, value in given.items() if value}}
    return write_imported(source, output, None if rule is None else Path(rule), merge_settings(config, chosen))


def pairs(
    dataset: Data,
    output: Path | str | None = None,
    *,
    n: int | None = None,
    split: str = "test",
    do: Sequence[str] = (),
    redraw: bool = False,
    progress: bool | None = None,
    config: ConfigSource = None,
) -> SplitData:
    """Return the counterfactual worlds of a dataset; one that has none gets them now, if its task is at hand.

    With `output` they are worlds of any split before and after a change, and go to a file of their own: those that were
    changed are its second half.

    Parameters
    ----------
    dataset
        The dataset, or its folder or address.
    output
        A Parquet file, instead of the dataset's split `pairs`.
    n
        How many; by default as many as before.
    split
        With `output`: the split whose worlds are changed.
    do
        With `output`, instead: one of the task's interventions, or `CONCEPT=VALUE`, on all worlds that it applies to.
    redraw
        Whether to draw the split anew where there is one.
    progress
        Whether to show progress on standard error.
    config
        Settings that say where the sources of the task lie now, or the YAML file that has them.
    """
    opened = open_dataset(dataset)
    if output is None:
        if do or split != "test":
            raise ConfigError(
                "--split and --do need -o FILE; the dataset's own split holds single changes of test worlds"
            )
        if redraw or n is not None or opened.pairs is None:
            task = task_of(opened, merge_settings(config))
            with progress_bar(progress) as bar:
                refresh_pairs(opened, task, n, bar.counter("drawing counterfactual worlds", n))
            opened = Dataset.open(opened.folder)
        return opened[PAIRS]
    task = task_of(opened, merge_settings(config))
    found = intervened(opened, split, task, do) if do else pairs_of(opened, split, task, n)
    write_atomically(Path(output), parquet_bytes(found.data.table))
    return found.data


def confound(
    dataset: Data,
    output: Path | str,
    what: str = "watermark",
    goes_with: str | None = None,
    strength: float = 0.95,
    *,
    where: Sequence[str] = (),
) -> Dataset:
    """Write a copy of a dataset whose pictures carry a mark that goes with a label, and open it.

    To confound with a part of the style, or with concepts, make the dataset with the keyword `confound` of
    `assay.make`.

    Parameters
    ----------
    dataset
        The dataset, or its folder or address.
    output
        The folder of the copy.
    what
        The mark: `watermark`, `frame`, `patch`, `brightness`, `noise`, `blur`, `compression`, `position`.
    goes_with
        A label, a concept, or a formula over concepts; by default the first label.
    strength
        In what share of the examples the mark goes with it.
    where
        The splits in which it does; by default all.
    """
    opened = open_dataset(dataset)
    partner = goes_with or opened.knowledge.label_names[0]
    plan = {"what": what, "with": partner, "strength": strength, "where": list(where) or None}
    confound_dataset(opened, [Confounder.model_validate(plan)], Path(output))
    return Dataset.open(output)


@dataclass(frozen=True, repr=False)
class AnnotatedDataset(Dataset):
    """A copy of a dataset with other annotations."""

    usage: dict[str, Any] = field(default_factory=dict, compare=False)
    """What the machine that annotated it used now, if one did: requests, tokens, cost."""


def annotate(
    dataset: Data,
    output: Path | str,
    *,
    seed: int = 0,
    progress: bool | None = None,
    config: ConfigSource = None,
    **settings: Any,
) -> AnnotatedDataset:
    """Write a copy of a dataset with imperfect annotations, and open it.

    The ground truth stays; models are trained on the annotated columns `given_...` beside it.

    Parameters
    ----------
    dataset
        The dataset, or its folder or address.
    output
        The folder of the copy.
    seed
        The random seed, if it is not 0; else that of the settings.
    progress
        Whether to show progress on standard error.
    config
        Settings, or the YAML file that has them; keywords override them.
    **settings
        What becomes of the annotations, such as `concept_noise=0.1`, `label_noise`, `missing`, `drop`, `machine`.
    """
    from assay.lab import machine_of

    seeded = Settings({"seed": seed}, {"seed": "--seed"}) if seed else Settings()
    annotation = validate(Annotation, merge_settings(config, settings).merge(seeded))
    opened = open_dataset(dataset)
    with progress_bar(progress) as bar:
        machine = machine_of(annotation, opened, bar)
        write_annotated(opened, annotation, Path(output), machine)
    copy = Dataset.open(Path(output))
    return AnnotatedDataset(copy.folder, copy.manifest, usage=dict(getattr(machine, "usage", dict)()))


def export(
    dataset: Data, form: str, output: Path | str, *, splits: Sequence[str] = (), tasks: Sequence[str] = ()
) -> dict[str, int]:
    """Write a dataset in the format of another program, and return how many examples of each split were written.

    Parameters
    ----------
    dataset
        The dataset, or its folder or address.
    form
        The format; `assay list exports` has all.
    output
        The folder to write.
    splits
        Only these; by default all.
    tasks
        The names of tasks of your own; data of one of them must have been made by it.
    """
    opened = open_dataset(dataset)
    check_code(opened, tasks)
    return write_export(opened, form, Path(output), list(splits))


def push(dataset: Data, where: Folder | str, *, private: bool = False) -> Folder:
    """Copy a whole dataset to another place, with the card and the Croissant description; return where it lies.

    Parameters
    ----------
    dataset
        The dataset, or its folder or address.
    where
        A folder, an address such as `s3://bucket/folder`, or `hf://USER/NAME` for the Hugging Face hub.
    private
        On the hub, let nobody else see it.
    """
    return copy_to(open_dataset(dataset), where, private)
