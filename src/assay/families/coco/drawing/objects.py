"""Object classes by name, each with its drawing: the nineteen that the rules of COCOLogic-V2 speak of."""

from collections.abc import Callable, Mapping

from assay.families.coco.drawing import animals, household, people, vehicles
from assay.families.coco.drawing.brush import Appearance, Brush

Drawing = Callable[[Brush, Appearance], None]

DRAWINGS: Mapping[str, Drawing] = {
    "traffic_light": vehicles.traffic_light,
    "bicycle": vehicles.bicycle,
    "bus": vehicles.bus,
    "train": vehicles.train,
    "bottle": household.bottle,
    "cup": household.cup,
    "pizza": household.pizza,
    "cow": animals.cow,
    "elephant": animals.elephant,
    "sheep": animals.sheep,
    "person": people.person,
    "dog": animals.dog,
    "car": vehicles.car,
    "bowl": household.bowl,
    "truck": vehicles.truck,
    "couch": household.couch,
    "chair": household.chair,
    "motorcycle": vehicles.motorcycle,
    "surfboard": household.surfboard,
}
