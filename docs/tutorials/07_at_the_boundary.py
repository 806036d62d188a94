"""At the boundary: a model that is right on easy cases, and how it shows that it has not learned the rule."""

# %% [markdown]
# # 7. At the boundary of a rule
#
# A driver must stop where there is a traffic light and a bus or a tram. From this rule alone, Assay derives in which ways
# it can hold (*variants*) and in which ways a scene can just miss it (*near-boundary types*).

# %%
import pandas as pd

import assay

rule = assay.Knowledge.of(assay.bits(["light", "bus", "tram", "rain"]), {"stop": "light and (bus or tram)"})
boundary = rule.boundaries[0]
print("holds:      ", [variant.name for variant in boundary.variants])
print("just missed:", [type.name for type in boundary.types])

# %% [markdown]
# A model that has learned "a bus or a tram" and ignores the light is right wherever the rule holds, and on scenes that are
# far from the boundary.

# %%
codes = rule.space.all_codes().repeat(20, axis=0)
shortcut = assay.evaluate(assay.parse("bus or tram"), rule.space, codes).astype(int)[:, None]
evidence = assay.Evidence(rule, "test", rule.labels_of(codes), codes, shortcut, codes, (None,), (None,) * 4)
diagnosis = assay.diagnose(evidence)
regions = [(score.kind, score.name, score.accuracy) for score in diagnosis.regions["test"]]
pd.DataFrame(regions, columns=["kind", "region", "accuracy"]).set_index("kind").round(2)

# %%
diagnosis.plot("boundary")

# %% [markdown]
# The accuracy over all scenes hides this; the accuracy near the boundary shows it. The diagnosis compares what may be the
# cause: every concept is right where labels are wrong, so that it is the rule, and not the boundary, that the model misses.

# %%
print("\n".join(diagnosis.sentences))

# %% [markdown]
# Every task has a split `hard` with as many worlds of each variant and of each near-boundary type as it can give.
