"""Blender as an engine: Cycles in one long-lived process of its own, which is handed scenes as files.

It is found where `bpy` is installed beside Assay, or at the interpreter that ASSAY_BLENDER_PYTHON names.
"""

import atexit
import contextlib
import importlib.util
import io
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, Any

import numpy as np

from assay.base import Array, MissingExtra, RunFailed, install_line, start_program, write_new
from assay.render.scene import AreaLight, Camera, Material, Scene, Shot, Sun, Texture, look_axes, shot_from_passes

SAMPLES = {"draft": 8, "standard": 32, "high": 128}
LIMIT = 900.0
"""Seconds that one picture may take."""
WORKER = Path(__file__).with_name("blender_worker.py")


def interpreter() -> str | None:
    """Return the Python that has Blender, or None."""
    named = os.environ.get("ASSAY_BLENDER_PYTHON")
    if named:
        return named
    return sys.executable if importlib.util.find_spec("bpy") else None


class Blender:
    """A process with Blender in it."""

    def __init__(self, python: str) -> None:
        self.seconds = 0.0
        self.stack = contextlib.ExitStack()
        self.notes: IO[bytes] = self.stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (it is entered)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.notes}
        try:
            self.process = self.stack.enter_context(start_program([python, str(WORKER)], **pipes, text=True))
        except OSError as error:
            self.stack.close()
            raise MissingExtra(f"Blender's Python cannot be started: {error}") from error
        self.answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        if self.answer() != "ready":
            self.stop()
            raise MissingExtra(f"{python} has no bpy; drawing with Blender needs: {install_line('blender')}")

    def _listen(self) -> None:
        with self.process.stdout or io.StringIO() as lines:
            for line in lines:
                self.answers.put(line.strip())
        self.answers.put("")

    def answer(self) -> str:
        """Return its next line; "" when it has ended."""
        try:
            return self.answers.get(timeout=LIMIT)
        except queue.Empty:
            self.stop()
            raise RunFailed(f"Blender took more than {LIMIT:.0f} seconds for one picture") from None

    def draw(self, folder: Path) -> None:
        """Let the process render the scene in a folder."""
        with contextlib.suppress(OSError):  # its end shows in the answer
            print(folder, file=self.process.stdin, flush=True)
        answer = self.answer()
        if answer.startswith("done"):
            self.seconds += float(answer.split()[1])
            return
        if not answer:
            answer = self._last_note()
            self.stop()
            raise RunFailed(f"Blender's process ended while it drew: {answer}")
        raise RunFailed(f"Blender could not draw the scene: {answer.removeprefix('failed: ')}")

    def _last_note(self) -> str:
        self.process.wait()
        self.notes.seek(0)
        lines = self.notes.read().decode(errors="replace").strip().splitlines()
        return f"exit code {self.process.poll()}, {lines[-1].strip() if lines else 'no word'}"

    def stop(self) -> None:
        """End the process."""
        with contextlib.suppress(OSError):  # what is left of a scene that it did not read
            self.stack.close()

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self.process.poll() is None


_running: dict[int, Blender] = {}


def running_blender() -> Blender:
    """Return this process's Blender, started at its first use and again when it has ended."""
    mine = _running.get(os.getpid())
    if mine is None or not mine.alive:
        python = interpreter()
        if python is None:
            raise MissingExtra(f"drawing with Blender needs: {install_line('blender')}")
        mine = _running[os.getpid()] = Blender(python)
        atexit.register(mine.stop)
    return mine


def render_with_blender(scene: Scene, quality: str) -> Shot:
    """Return the scene's picture by Cycles, with what each pixel shows."""
    blender = running_blender()
    with tempfile.TemporaryDirectory(prefix="assay-blender-") as name:
        folder = Path(name)
        description, arrays = describe_scene(scene, SAMPLES[quality])
        write_new(folder / "scene.json", json.dumps(description).encode())
        write_new(folder / "arrays.npz", _packed(arrays))
        blender.draw(folder)
        with np.load(folder / "shot.npz") as shot:
            light, owner, depth = shot["light"], shot["owner"], shot["depth"]
    return shot_from_passes(scene, light, owner, depth.astype(np.float64))


def _packed(arrays: dict[str, Array]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def describe_scene(scene: Scene, samples: int) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return a scene as plain data and arrays."""
    meshes = list(dict.fromkeys(instance.mesh for instance in scene.instances))
    materials = [instance.material for instance in scene.instances] + ([scene.ground.material] if scene.ground else [])
    textures = list(dict.fromkeys(m.texture for m in materials if m.texture is not None))
    matrices = np.array([instance.matrix for instance in scene.instances], dtype=np.float64)
    arrays = {"matrices": matrices.reshape(-1, 4, 4)}
    for number, mesh in enumerate(meshes):
        arrays[f"vertices{number}"], arrays[f"normals{number}"] = mesh.vertices, mesh.normals
        whole = (mesh.faces != np.roll(mesh.faces, 1, axis=1)).all(axis=1)  # Blender dies of a face that is a line
        arrays[f"faces{number}"] = mesh.faces[whole]
    arrays |= {f"texture{number}": texture.pixels for number, texture in enumerate(textures)}
    numbers = {mesh: number for number, mesh in enumerate(meshes)}
    description = {
        "width": scene.width, "height": scene.height, "samples": samples,
        "meshes": len(meshes), "textures": len(textures),
        "materials": [_material(m, textures) for m in materials],
        "instances": [{"mesh": numbers[instance.mesh], "material": k} for k, instance in enumerate(scene.instances)],
        "ground": _ground(scene, len(materials) - 1),
        "lights": [_light(light) for light in scene.lights],
        "sky": {"zenith": scene.sky.zenith, "horizon": scene.sky.horizon, "below": scene.sky.below},
        "camera": _camera(scene.camera),
    }  # fmt: skip
    return description, arrays


def _material(m: Material, textures: list[Texture]) -> dict[str, Any]:
    plain = {"color": m.color, "metallic": m.metallic, "roughness": m.roughness, "emission": m.emission}
    if m.texture is None:
        return {**plain, "texture": None}
    return {**plain, "texture": textures.index(m.texture), "corner": m.texture.corner, "size": m.texture.size}


def _ground(scene: Scene, material: int) -> dict[str, Any] | None:
    if scene.ground is None:
        return None
    places = [scene.camera.eye, scene.camera.target, *(instance.matrix[:3, 3] for instance in scene.instances)]
    near = 4 * float(np.abs(np.array(places)).max())
    return {"material": material, "z": scene.ground.z, "near": max(near, 1.0)}


def _light(light: AreaLight | Sun) -> dict[str, Any]:
    if isinstance(light, Sun):
        frame = _frame((0.0, 0.0, 0.0), -np.asarray(light.direction))
        angle = float(np.radians(light.angle))
        return {"kind": "SUN", "energy": light.strength, "color": light.color, "angle": angle, "matrix": frame}
    frame = _frame(light.position, np.subtract(light.target, light.position))
    return {"kind": "AREA", "energy": light.power, "color": light.color, "size": light.size, "matrix": frame}


def _camera(camera: Camera) -> dict[str, Any]:
    frame = _frame(camera.eye, np.subtract(camera.target, camera.eye), camera.up)
    return {"projection": camera.projection, "fov": float(np.radians(camera.fov)), "matrix": frame}


def _frame(at: Any, towards: Array, up: Any = (0.0, 0.0, 1.0)) -> list[list[float]]:
    """Return the matrix of what looks along its own -z, its own y as near to `up` as can be."""
    right, over, forward = look_axes(towards, up)
    matrix = np.eye(4)
    matrix[:3, :3] = np.stack([right, over, -forward], axis=1)
    matrix[:3, 3] = at
    return matrix.tolist()
