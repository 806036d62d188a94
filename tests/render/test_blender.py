"""Blender beside the embedded engine: the same objects in the same pixels, the same light; and what is said without it."""

import contextlib
import os
import sys
from dataclasses import replace

import numpy as np
import pytest

from assay.base import AssayError, MissingExtra, RunFailed
from assay.render import check_engine, label_pixels, picture_of, running_blender, shoot
from tests.render.test_engines import room


def has_blender():
    """Return whether Blender can be started."""
    try:
        check_engine("blender")
    except MissingExtra:
        return False
    return True


needs_blender = pytest.mark.skipif(not has_blender(), reason="bpy is not installed")


def agreement(scene):
    """Draw a scene with both; return the shots and the share of pixels in which they show the same."""
    theirs, mine = shoot(scene, "blender", "draft"), label_pixels(scene)
    return theirs, mine, (theirs.things == mine.things).mean()


@needs_blender
def test_masks_boxes_parts_and_depth_agree_with_blender():
    scene = room()
    theirs, mine, same = agreement(scene)
    assert same > 0.998
    assert (theirs.parts == mine.parts).mean() > 0.998
    pictures = (picture_of(scene, 20.0, engine, "draft") for engine in ("blender", "embedded"))
    for one, other in zip(*(picture.things for picture in pictures), strict=True):
        sides = [(one.box.left, other.box.left), (one.box.top, other.box.top), (one.box.right, other.box.right)]
        assert max(abs(a - b) for a, b in [*sides, (one.box.bottom, other.box.bottom)]) <= 1
    near = np.isfinite(mine.depth) & (theirs.things == mine.things) & (mine.depth < 50)
    assert np.median(np.abs(theirs.depth[near] - mine.depth[near])) < 1e-3


@needs_blender
def test_light_and_textures_agree_with_blender():
    scene = room()
    theirs, mine = shoot(scene, "blender", "standard").image.astype(int), shoot(scene).image.astype(int)
    blocks = (theirs - mine).reshape(9, 8, 12, 8, 3).mean(axis=(1, 3))  # edges of the texture fall a little otherwise
    assert np.abs(blocks).mean() < 5
    assert np.abs(blocks.mean(axis=(0, 1))).max() < 4


@needs_blender
def test_a_fisheye_agrees_with_blender():
    scene = room()
    _, mine, same = agreement(replace(scene, camera=replace(scene.camera, projection="fisheye", fov=90.0)))
    assert same > 0.995
    assert (mine.things > 0).mean() > 0.02


@needs_blender
def test_a_blender_that_died_is_started_again():
    scene = replace(room(), width=16, height=12)
    running = running_blender()
    running.process.kill()
    running.process.wait()
    assert shoot(scene, "blender", "draft").image.shape == (12, 16, 3)


# -- without it --------------------------------------------------------------------------------------------------------


def stop():
    """End the Blender that runs, if one does."""
    with contextlib.suppress(AssayError):
        running_blender().stop()


@pytest.fixture
def pretend(tmp_path, monkeypatch):
    """Take a program for Blender that cannot draw, but does what a script says."""

    def take(body):
        stop()
        program = tmp_path / "python"
        program.write_text(f"#!{sys.executable}\nimport sys, time\n{body}\n")
        program.chmod(0o755)
        monkeypatch.setenv("ASSAY_BLENDER_PYTHON", str(program))
        stop()

    yield take
    stop()


@pytest.mark.skipif(has_blender(), reason="bpy is installed")
def test_without_blender_the_install_line_is_named():
    with pytest.raises(MissingExtra, match=r"drawing with Blender needs: pip install '\.\[blender\]'"):
        shoot(room(), "blender")


@pytest.mark.skipif(os.name == "nt", reason="needs a shebang")
def test_a_python_without_bpy_is_named(pretend, monkeypatch, tmp_path):
    pretend("print('failed: no bpy', flush=True)")
    with pytest.raises(MissingExtra, match="has no bpy"):
        shoot(room(), "blender")
    monkeypatch.setenv("ASSAY_BLENDER_PYTHON", str(tmp_path / "nothing"))
    with pytest.raises(MissingExtra, match="cannot be started"):
        shoot(room(), "blender")


@pytest.mark.skipif(os.name == "nt", reason="needs a shebang")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.stdin.readline(); sys.exit('out of memory')", "ended while it drew: exit code 1, out of memory"),
        ("sys.stdin.readline(); print('failed: bad mesh', flush=True); time.sleep(9)", "could not draw .*: bad mesh"),
        ("time.sleep(60)", "took more than 1 seconds"),
    ],
)
def test_a_blender_that_ends_fails_or_hangs_gives_one_line(pretend, monkeypatch, body, said):
    pretend(f"print('ready', flush=True); {body}")
    running_blender()
    if "seconds" in said:
        monkeypatch.setattr("assay.render.engines.blender.LIMIT", 1.0)  # the limit of a picture, which is 15 minutes
    with pytest.raises(RunFailed, match=said) as caught:
        shoot(room(), "blender")
    assert "\n" not in str(caught.value)
