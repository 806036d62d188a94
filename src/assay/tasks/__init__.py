"""What a task is, and the tasks by name.

A `Task` declares its concepts and its rule once, draws styles, and renders worlds. `TASKS` has those of all families; a
preset is another task with other defaults.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.tasks.base import Column as Column
    from assay.tasks.base import Intervention as Intervention
    from assay.tasks.base import SceneConfig as SceneConfig
    from assay.tasks.base import SceneTask as SceneTask
    from assay.tasks.base import Task as Task
    from assay.tasks.base import TaskConfig as TaskConfig
    from assay.tasks.base import combinations as combinations
    from assay.tasks.base import resize_splits as resize_splits
    from assay.tasks.registered import TASKS as TASKS
    from assay.tasks.registered import Preset as Preset
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
