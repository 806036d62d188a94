"""The task that a dataset was made by, built again from the manifest, so that its worlds can be rendered anew."""

from assay.config import Settings
from assay.data.dataset import Dataset
from assay.data.recipe import find_task
from assay.errors import DataError
from assay.tasks import TASKS
from assay.tasks.base import Task


def task_of(dataset: Dataset, settings: Settings | None = None) -> Task:
    """Return the task of a dataset, with settings on top that say where its sources lie now."""
    manifest = dataset.manifest
    about = manifest["task"]
    if about["name"] not in TASKS:
        raise DataError(f"the task {about['name']!r} of {str(dataset.folder)!r} is not one that assay has")
    make = find_task(about["name"])
    if make.version != about["version"]:
        raise DataError(f"{str(dataset.folder)!r} is of version {about['version']} of its task, this is {make.version}")
    task = make(Settings({**about["config"], **manifest.get("local", {})}).merge(settings or Settings()))
    if task.sources() != manifest["sources"]:
        raise DataError(f"{str(dataset.folder)!r} was made from other source images than those at hand")
    if task.space != dataset.knowledge.space:
        raise DataError(f"the concepts of {str(dataset.folder)!r} are not those of its task, so nothing is drawn anew")
    return task
