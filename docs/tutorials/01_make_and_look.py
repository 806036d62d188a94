"""Make a dataset, open it, and look at a world and a counterfactual of it."""

import tempfile
from pathlib import Path

from assay import TASKS, Dataset, Recipe, make
from assay.config import Settings

task = TASKS["mnadd"](k=2)
print(task.knowledge.labels[0].formula)  # a + b
print(task.knowledge.diagram.counts[(7,)])  # 8 worlds have the sum 7

with tempfile.TemporaryDirectory() as folder:
    recipe = Recipe("mnadd", Settings({"k": 2}), seed=1, train=200)
    manifest = make(recipe, Path(folder) / "data")
    print(manifest["fingerprint"], {split["name"]: split["size"] for split in manifest["splits"]})

    train = Dataset.open(Path(folder) / "data")["train"]
    print(train.images.shape, train.concepts[0], train.labels[0])

    world = train.world(0)
    print(world.text)
    changed = world.do(a=3)  # a counterfactual: the same style, another digit
    assert task.render(world).image.shape == task.render(changed).image.shape == (28, 56)
    assert task.knowledge.labels_of(task.space.encode([changed.values]))[0, 0] == 3 + world["b"]
