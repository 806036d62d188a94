"""Draws scenes with Blender's Cycles, in a process of its own that knows nothing of Assay: `python blender_worker.py`.

Each line of its input names a folder with `scene.json` and `arrays.npz`. It answers "done" and its CPU seconds when
`shot.npz` is there (`light`, `owner`, `depth`), or "failed: ..." in one line. Its first answer is "ready".
"""

import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
FARTHEST = 1e5


def main() -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Blender chats on its output
    try:
        import bpy
    except ImportError as error:
        print(f"failed: {error}", file=answers, flush=True)
        return
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        try:
            start = time.process_time()
            draw(bpy, Path(line.rstrip("\n")))
            print(f"done {time.process_time() - start:.3f}", file=answers, flush=True)
        except Exception as error:
            traceback.print_exc()
            print(f"failed: {' '.join(str(error).split())}", file=answers, flush=True)


def draw(bpy: Any, folder: Path) -> None:
    """Draw the scene in a folder, once for its light and once for what each pixel shows."""
    spec = json.loads((folder / "scene.json").read_text())
    with np.load(folder / "arrays.npz") as arrays:
        scene = build_scene(bpy, spec, dict(arrays))
    configure_render(scene, spec)
    light = render_pixels(bpy, scene, folder / "light.exr")[..., :3]
    labels = render_labels(bpy, scene, spec, folder / "labels.exr")
    owner = np.rint(labels[..., 0]).astype(np.int64) - 1
    depth = np.where(owner >= 0, labels[..., 1], np.inf)
    np.savez(folder / "shot.npz", light=light, owner=owner, depth=depth)


def build_scene(bpy: Any, spec: dict[str, Any], arrays: dict[str, Array]) -> Any:
    """Return a new Blender scene as described."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    meshes = [build_mesh(bpy, arrays, number) for number in range(spec["meshes"])]
    textures = [build_image(bpy, arrays[f"texture{number}"]) for number in range(spec["textures"])]
    materials = [build_material(bpy, entry, textures) for entry in spec["materials"]]
    for number, entry in enumerate(spec["instances"]):
        thing = add_object(bpy, scene, f"i{number}", meshes[entry["mesh"]], arrays["matrices"][number])
        thing.material_slots[0].link = "OBJECT"
        thing.material_slots[0].material = materials[entry["material"]]
        thing.pass_index = number + 1
    if spec["ground"] is not None:
        thing = add_object(bpy, scene, "ground", build_ground(bpy, spec), np.eye(4))
        thing.material_slots[0].link = "OBJECT"
        thing.material_slots[0].material = materials[spec["ground"]["material"]]
        thing.pass_index = len(spec["instances"]) + 1
    for light in spec["lights"]:
        add_light(bpy, scene, light)
    scene.world = build_sky(bpy, spec["sky"])
    add_camera(bpy, scene, spec["camera"])
    return scene


def add_object(bpy: Any, scene: Any, name: str, mesh: Any, matrix: Array) -> Any:
    """Add something to the scene, in its place."""
    thing = bpy.data.objects.new(name, mesh)
    thing.matrix_world = matrix.T.tolist()
    scene.collection.objects.link(thing)
    return thing


def build_mesh(bpy: Any, arrays: dict[str, Array], number: int) -> Any:
    """Return a mesh with its own normals."""
    points, faces = arrays[f"vertices{number}"], arrays[f"faces{number}"]
    mesh = bpy.data.meshes.new(f"m{number}")
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", points.astype(np.float32).ravel())
    mesh.loops.add(faces.size)
    mesh.loops.foreach_set("vertex_index", faces.astype(np.int32).ravel())
    mesh.polygons.add(len(faces))
    mesh.polygons.foreach_set("loop_start", np.arange(0, faces.size, 3, dtype=np.int32))
    mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), dtype=bool))
    mesh.update(calc_edges=True)
    mesh.normals_split_custom_set_from_vertices(arrays[f"normals{number}"].astype(np.float32).tolist())
    mesh.materials.append(None)
    return mesh


def build_ground(bpy: Any, spec: dict[str, Any]) -> Any:
    """Return a very large plane, of small faces where the scene is so that shadows are exact there."""
    near = spec["ground"]["near"]
    steps = [-FARTHEST * near, -near, near, FARTHEST * near]
    points = [(x, y, spec["ground"]["z"]) for y in steps for x in steps]
    faces = [(r * 4 + c, r * 4 + c + 1, r * 4 + c + 5, r * 4 + c + 4) for r in range(3) for c in range(3)]
    mesh = bpy.data.meshes.new("ground")
    mesh.from_pydata(points, [], faces)
    mesh.materials.append(None)
    return mesh


def build_image(bpy: Any, pixels: Array) -> Any:
    """Return a texture's image."""
    high, wide = pixels.shape[:2]
    image = bpy.data.images.new("texture", wide, high)
    filled = np.ones((high, wide, 4), dtype=np.float32)
    filled[..., :3] = pixels[::-1] / 255
    image.pixels.foreach_set(filled.ravel())
    image.update()
    image.pack()
    return image


def build_material(bpy: Any, spec: dict[str, Any], textures: list[Any]) -> Any:
    """Return a principled material."""
    material = bpy.data.materials.new("material")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = (*spec["color"], 1)
    shader.inputs["Emission Color"].default_value = (*spec["color"], 1)
    shader.inputs["Metallic"].default_value = spec["metallic"]
    shader.inputs["Roughness"].default_value = spec["roughness"]
    if spec["texture"] is not None:
        colour = texture_colour(nodes, links, spec, textures[spec["texture"]])
        links.new(colour, shader.inputs["Base Color"])
        links.new(colour, shader.inputs["Emission Color"])
    if spec["emission"] > 0:  # it is seen, and mirrored, but lights nothing
        path, either, times = (nodes.new(f"ShaderNode{kind}") for kind in ("LightPath", "Math", "Math"))
        either.operation, times.operation = "MAXIMUM", "MULTIPLY"
        links.new(path.outputs["Is Camera Ray"], either.inputs[0])
        links.new(path.outputs["Is Glossy Ray"], either.inputs[1])
        links.new(either.outputs[0], times.inputs[0])
        times.inputs[1].default_value = spec["emission"]
        links.new(times.outputs[0], shader.inputs["Emission Strength"])
    return material


def texture_colour(nodes: Any, links: Any, spec: dict[str, Any], image: Any) -> Any:
    """Return the colour of an image laid over an object's own x and y."""
    place, move, scale, look = (
        nodes.new(f"ShaderNode{kind}") for kind in ("TexCoord", "VectorMath", "VectorMath", "TexImage")
    )
    move.operation, scale.operation = "SUBTRACT", "DIVIDE"
    move.inputs[1].default_value = (*spec["corner"], 0)
    scale.inputs[1].default_value = (*spec["size"], 1)
    look.image, look.extension = image, "REPEAT"
    links.new(place.outputs["Object"], move.inputs[0])
    links.new(move.outputs[0], scale.inputs[0])
    links.new(scale.outputs[0], look.inputs["Vector"])
    return look.outputs["Color"]


def add_light(bpy: Any, scene: Any, spec: dict[str, Any]) -> None:
    """Add a light to the scene."""
    data = bpy.data.lights.new("light", spec["kind"])
    data.energy, data.color = spec["energy"], spec["color"]
    if spec["kind"] == "SUN":
        data.angle = spec["angle"]
    else:
        data.shape, data.size = "SQUARE", spec["size"]
    thing = add_object(bpy, scene, "light", data, np.array(spec["matrix"]))
    thing.visible_camera = False


def build_sky(bpy: Any, spec: dict[str, Any]) -> Any:
    """Return a world whose light goes from the horizon's to the zenith's by the sine of the height."""
    world = bpy.data.worlds.new("sky")
    world.use_nodes = True
    nodes, links = world.node_tree.nodes, world.node_tree.links
    back = next(node for node in nodes if node.type == "BACKGROUND")
    place, part = nodes.new("ShaderNodeTexCoord"), nodes.new("ShaderNodeSeparateXYZ")
    high, under, up, down, all_ = (
        nodes.new(f"ShaderNode{kind}") for kind in ("Math", "Math", "VectorMath", "VectorMath", "VectorMath")
    )
    high.operation, under.operation, all_.operation = "MAXIMUM", "LESS_THAN", "ADD"
    up.operation = down.operation = "SCALE"
    high.inputs[1].default_value = under.inputs[1].default_value = 0.0
    zenith, horizon, below = (np.array(spec[name]) for name in ("zenith", "horizon", "below"))
    up.inputs[0].default_value, down.inputs[0].default_value = zenith - horizon, below - horizon
    total = nodes.new("ShaderNodeVectorMath")
    total.operation = "ADD"
    total.inputs[1].default_value = horizon
    links.new(place.outputs["Generated"], part.inputs[0])
    for node in (high, under):
        links.new(part.outputs["Z"], node.inputs[0])
    links.new(high.outputs[0], up.inputs["Scale"])
    links.new(under.outputs[0], down.inputs["Scale"])
    links.new(up.outputs[0], all_.inputs[0])
    links.new(down.outputs[0], all_.inputs[1])
    links.new(all_.outputs[0], total.inputs[0])
    links.new(total.outputs[0], back.inputs["Color"])
    return world


def add_camera(bpy: Any, scene: Any, spec: dict[str, Any]) -> None:
    """Put the camera in its place."""
    data = bpy.data.cameras.new("camera")
    data.sensor_fit, data.sensor_width = "HORIZONTAL", 36.0
    data.clip_start, data.clip_end = 1e-3, 1e9
    if spec["projection"] == "fisheye":
        data.type = "PANO"
        lens = data if hasattr(data, "panorama_type") else data.cycles
        lens.panorama_type = "FISHEYE_EQUISOLID"
        lens.fisheye_fov = 2 * np.pi
        lens.fisheye_lens = 9.0 / np.sin(spec["fov"] / 4)
    else:
        data.angle_x = spec["fov"]
    scene.camera = add_object(bpy, scene, "camera", data, np.array(spec["matrix"]))


def configure_render(scene: Any, spec: dict[str, Any]) -> None:
    """Choose Cycles, its samples, and the size and form of the picture."""
    render, cycles = scene.render, scene.cycles
    render.engine = "CYCLES"
    render.resolution_x, render.resolution_y, render.resolution_percentage = spec["width"], spec["height"], 100
    if hasattr(render.image_settings, "media_type"):
        render.image_settings.media_type = "IMAGE"
    render.image_settings.file_format = "OPEN_EXR"
    render.image_settings.color_mode, render.image_settings.color_depth = "RGB", "32"
    cycles.device, cycles.seed, cycles.use_adaptive_sampling = "CPU", 0, False
    cycles.samples, cycles.use_denoising = spec["samples"], True
    cycles.denoiser = "OPENIMAGEDENOISE"
    render.use_persistent_data = False


def render_pixels(bpy: Any, scene: Any, path: Path) -> Array:
    """Render, and return the picture's numbers, first row on top."""
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(str(path))
    image.colorspace_settings.name = "Non-Color"
    wide, high = image.size
    pixels = np.zeros(wide * high * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels.reshape(high, wide, 4)[::-1]


def render_labels(bpy: Any, scene: Any, spec: dict[str, Any], path: Path) -> Array:
    """Render one ray through each pixel's middle: which object it hits, and how far away."""
    material = bpy.data.materials.new("labels")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    nodes.clear()
    out, glow, both, who, far = (
        nodes.new(f"ShaderNode{kind}")
        for kind in ("OutputMaterial", "Emission", "CombineXYZ", "ObjectInfo", "CameraData")
    )
    links.new(who.outputs["Object Index"], both.inputs[0])
    name = "View Distance" if spec["camera"]["projection"] == "fisheye" else "View Z Depth"
    links.new(far.outputs[name], both.inputs[1])
    links.new(both.outputs[0], glow.inputs["Color"])
    links.new(glow.outputs[0], out.inputs["Surface"])
    scene.view_layers[0].material_override = material
    scene.world = None
    for thing in scene.objects:
        thing.hide_render = thing.type == "LIGHT"
    cycles = scene.cycles
    cycles.samples, cycles.use_denoising, cycles.max_bounces, cycles.filter_width = 1, False, 0, 0.01
    return render_pixels(bpy, scene, path)


if __name__ == "__main__":
    main()
