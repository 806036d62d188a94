"""Trains under other rules, with other splits, in the other style."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from assay.render.trains.look import Visualization
from assay.tasks.trains import MichalskiTrains
from assay.tasks.trains_settings import MOST_CARS, TrainsConfig


class NumericalConfig(TrainsConfig):
    """Settings of the numerical trains."""

    rule: str = "numerical"


class NumericalTrains(MichalskiTrains):
    """Trains: has some car as many loads and axles as its number?"""

    name = "trains-numerical"
    Config = NumericalConfig
    config: NumericalConfig
    trial: ClassVar[Mapping[str, Any]] = {"image": False}


class ComplexConfig(TrainsConfig):
    """Settings of the complex trains."""

    rule: str = "complex"


class ComplexTrains(MichalskiTrains):
    """Trains: numbers compared, a short and a long car of one colour, or three colours."""

    name = "trains-complex"
    Config = ComplexConfig
    config: ComplexConfig
    trial: ClassVar[Mapping[str, Any]] = {"image": False}


class OodConfig(TrainsConfig):
    """Settings of the trains with splits out of distribution."""

    ood_longer: int = Field(7, ge=0, le=MOST_CARS)
    ood_uniform: bool = True


class OodTrains(MichalskiTrains):
    """Trains, tested on trains of 7 cars and on cars of every look."""

    name = "trains-ood"
    Config = OodConfig
    config: OodConfig
    trial: ClassVar[Mapping[str, Any]] = {"image": False}


class BlocksConfig(TrainsConfig):
    """Settings of the blocks."""

    visualization: Visualization = "blocks"


class Blocks(MichalskiTrains):
    """Trains as rows of simple blocks: which go east?"""

    name = "blocks"
    Config = BlocksConfig
    config: BlocksConfig
