"""Tasks whose pictures are taken of scenes in three dimensions: a task describes the scene, an engine draws it."""

from abc import abstractmethod
from typing import ClassVar

from assay.render import Engine, Picture, Quality, Scene, check_engine, picture_of
from assay.tasks.base import Column, Task, TaskConfig
from assay.worlds import World


class SceneConfig(TaskConfig):
    """The engine that renders the scenes, and its quality."""

    engine: Engine = "embedded"
    """What renders the pictures: the built-in ray tracer, or Blender's Cycles (extra `blender`)."""
    quality: Quality = "standard"
    """How well they are drawn: `draft` has grain, `high` takes longer."""


class SceneTask(Task):
    """A task that describes scenes."""

    config: SceneConfig
    farthest: ClassVar[float]
    """Depths beyond this count as this."""

    @abstractmethod
    def scene(self, world: World) -> Scene:
        """Return the scene of a world, for any engine."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The picture, the boxes and masks of the things in it, and how far away everything is."""
        return ("image", "things", "instances", "depth")

    def check_ready(self) -> None:
        """Raise if the engine is not installed."""
        check_engine(self.config.engine)

    def render(self, world: World) -> Picture:
        """Draw the scene."""
        return picture_of(self.scene(world), self.farthest, self.config.engine, self.config.quality)
