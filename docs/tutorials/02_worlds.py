"""Worlds: what a task is made of, and how to change one concept of a picture."""

# %% [markdown]
# # 2. Tasks, worlds and counterfactuals
#
# A task declares its concepts and its rule once. A **world** is a value for each concept together with a *style*:
# everything else that is random about the picture. Because the style is stored, the same world can be drawn again with one
# concept changed.

# %%
import matplotlib.pyplot as plt

import assay

task = assay.TASKS["robots"](size=64)
for concept in task.space.concepts:
    print(concept.name, concept.values)

# %% [markdown]
# The rule is a formula, and therefore data: every model, metric and diagnosis reads the same object.

# %%
print(task.knowledge.labels[0].name, "=", task.knowledge.labels[0].formula)

# %% [markdown]
# A dataset is made of worlds. Here is the first one of the training split, as text.

# %%
ds = assay.make("robots", size=64, n=120)
world = ds["train"].world(0)
print(world.text)

# %% [markdown]
# We set three concepts, then change a single one, and leave the style as it is. The label follows from the rule.

# %%
first = world.do(knees=True, mouth="open", foot_shape="flat")
second = first.do(foot_shape="pointy")
third = first.do(antennae=not first["antennae"])
for name, one in {"first": first, "other feet": second, "other antennae": third}.items():
    label = task.knowledge.labels_of(task.space.encode([one.values]))[0, 0]
    print(f"{name}: {task.knowledge.labels[0].name} is {bool(label)}")

# %% [markdown]
# The feet change the label and the antennae do not. The pictures differ in nothing else:


# %%
def show(*worlds: assay.World) -> plt.Figure:
    figure, axes = plt.subplots(1, len(worlds), figsize=(2.2 * len(worlds), 2.2))
    for axis, one in zip(axes, worlds, strict=True):
        axis.imshow(task.render(one).image)
        axis.set_axis_off()
    plt.close(figure)
    return figure


show(first, second, third)

# %% [markdown]
# Such pairs are how Assay asks whether a model follows the right concept: change one concept that should change the label,
# and one that should not. Every dataset has them ready as a split of its own.

# %%
pairs = assay.pairs(ds)
print(pairs)
pairs.plot(8)
