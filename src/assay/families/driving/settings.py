"""The settings of the driving tasks."""

from typing import Literal

from pydantic import Field, model_validator

from assay.families.driving.drawing.scene import HEIGHT, WIDTH
from assay.tasks import SceneConfig

SHARES = ("prop_in_distribution", "combinations_in_distribution")


class DrivingConfig(SceneConfig):
    """What drawn scenes look like."""

    width: int = Field(WIDTH, ge=32, le=4096)
    """The width of the pictures in pixels."""
    height: int = Field(HEIGHT, ge=32, le=4096)
    """The height of the pictures in pixels."""


class SddOiaConfig(DrivingConfig):
    """Settings of SDD-OIA."""

    ambulance: bool = True
    """Add the concept `emergency`: true in the split `ood` only, where an ambulance has its own rules."""
    tied: bool = False
    """Tie concepts as the released sampler did: all lights green or none, lane or no lane, no sign with a light."""
    most_obstacles: int = Field(4, ge=1, le=4)
    """How many of car, person, rider and other obstacle a road has at once, at most."""

    @model_validator(mode="after")
    def _must_apply(self) -> "SddOiaConfig":
        for name in SHARES:
            if self.ambulance and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} does not go with an ambulance, which is what `ood` is; set ambulance=false")
        return self


class BddOiaConfig(DrivingConfig):
    """Settings of BDD-OIA."""

    folder: str | None = Field(None, exclude=True)
    """The folder that BDD-OIA was unpacked into (`lastframe`): its annotation files, and `data` with the images."""
    labels: Literal["annotated", "rule"] = "annotated"
    """The actions that people annotated, or those that the rule gives for the concepts that they annotated."""
    confusing: bool = False
    """Keep images that people marked as confusing."""
    skip_missing: bool = False
    """Leave out images that are annotated and not there, instead of stopping."""
    width: int = Field(448, ge=32, le=4096)
    height: int = Field(252, ge=32, le=4096)
    """The height of the pictures in pixels; photographs are fitted in, with grey bars where their shape differs."""

    @model_validator(mode="after")
    def _must_apply(self) -> "BddOiaConfig":
        if self.folder is not None:
            self.refuse_shared("does not apply: photographs are divided as they come")
        return self
