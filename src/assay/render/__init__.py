"""From worlds to pictures: pixels, and what shows where.

`Canvas` draws in two dimensions; a `Scene` of solids is rendered by `shoot`, with the embedded ray tracer or Blender.
Either gives a `Picture`: the image, and the objects with their boxes, masks and depth.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.render.canvas import Canvas as Canvas
    from assay.render.canvas import Colour as Colour
    from assay.render.canvas import Points as Points
    from assay.render.canvas import ellipse_points as ellipse_points
    from assay.render.canvas import regular_polygon as regular_polygon
    from assay.render.engines import Engine as Engine
    from assay.render.engines import Quality as Quality
    from assay.render.engines import check_engine as check_engine
    from assay.render.engines import label_pixels as label_pixels
    from assay.render.engines import picture_of as picture_of
    from assay.render.engines import shoot as shoot
    from assay.render.engines.blender import running_blender as running_blender
    from assay.render.image_files import Letterbox as Letterbox
    from assay.render.image_files import open_image as open_image
    from assay.render.image_files import read_photograph as read_photograph
    from assay.render.marks import MARK_NAMES as MARK_NAMES
    from assay.render.marks import mark_area as mark_area
    from assay.render.marks import mark_picture as mark_picture
    from assay.render.picture import Box as Box
    from assay.render.picture import Layout as Layout
    from assay.render.picture import ObjectBox as ObjectBox
    from assay.render.picture import Picture as Picture
    from assay.render.picture import decode_png as decode_png
    from assay.render.picture import encode_png as encode_png
    from assay.render.picture import packed_pixels as packed_pixels
    from assay.render.scene import AreaLight as AreaLight
    from assay.render.scene import Camera as Camera
    from assay.render.scene import Ground as Ground
    from assay.render.scene import Instance as Instance
    from assay.render.scene import Material as Material
    from assay.render.scene import Mesh as Mesh
    from assay.render.scene import Scene as Scene
    from assay.render.scene import Sky as Sky
    from assay.render.scene import Sun as Sun
    from assay.render.scene import Texture as Texture
    from assay.render.scene import Vector as Vector
    from assay.render.scene import linear_rgb as linear_rgb
    from assay.render.scene import pose as pose
    from assay.render.solids import Point as Point
    from assay.render.solids import box as box
    from assay.render.solids import cylinder as cylinder
    from assay.render.solids import extrude as extrude
    from assay.render.solids import hull as hull
    from assay.render.solids import mesh_of as mesh_of
    from assay.render.solids import prism as prism
    from assay.render.solids import rectangle as rectangle
    from assay.render.solids import revolve as revolve
    from assay.render.solids import sphere as sphere
    from assay.render.solids import torus as torus
    from assay.render.solids import union as union
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
