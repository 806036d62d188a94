"""Make a dataset, open it, and look at a world and a counterfactual of it."""

import assay

task = assay.TASKS["mnadd"](k=2)
print(task.knowledge.labels[0].formula)  # a + b
print(task.knowledge.diagram.counts[(7,)])  # 8 worlds have the sum 7

ds = assay.make("mnadd", k=2, seed=1, n=200)
print(ds)

train = ds["train"]
print(train[0]["concepts"], train[0]["labels"])
print(train.images.shape, train.concepts[0], train.labels[0])  # arrays: pictures, and codes into the lists of values

world = train.world(0)
print(world.text)
changed = world.do(a=3)  # a counterfactual: the same style, another digit
assert task.render(world).image.shape == task.render(changed).image.shape == (28, 56)
assert task.knowledge.labels_of(task.space.encode([changed.values]))[0, 0] == 3 + world["b"]
