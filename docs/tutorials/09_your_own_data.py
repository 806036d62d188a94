"""Your own data: pictures, a table of concepts, and a rule if you have one."""

# %% [markdown]
# # 9. Your own data
#
# Pictures of your own, a table of concepts, and a rule if you have one become an ordinary dataset. In this example a
# factory line photographs its parts, and people believe that a part is scrapped if it is scratched and has a dent. The
# photographs are drawn by the code below; yours would lie in a folder beside `concepts.csv`, and
# `assay import FOLDER -o DATA` would read them.

# %%
import numpy as np
import pandas as pd

import assay

rng = np.random.default_rng(0)
table = pd.DataFrame(rng.integers(0, 2, (400, 3)).astype(bool), columns=["scratched", "dent", "painted"])
table["scrap"] = table.scratched & table.dent


def photograph(part: pd.Series) -> np.ndarray:
    picture = rng.integers(90, 110, (24, 24, 3)).astype(np.uint8)
    picture[3:21, 3:21] = (70, 110, 190) if part.painted else (150, 150, 150)
    if part.scratched:
        picture[6:8, 5:19] = 20
    if part.dent:
        picture[13:18, 8:13] = 235
    return picture


pictures = [photograph(part) for _, part in table.iterrows()]
table.head(4)

# %% [markdown]
# A fifth of the concept annotations is missing, and we give no rule yet.

# %%
concepts = ["scratched", "dent", "painted"]
known = table.astype(object).mask(rng.random(table.shape) < 0.2)
known["scrap"] = table.scrap
ds = assay.from_table(known, "line/parts", images=pictures, concepts=concepts, labels=["scrap"])
print(ds)
ds["train"].plot(6)

# %% [markdown]
# A rule learner proposes rules from the table. It says how many examples each covers, and how many of them are exceptions.

# %%
proposed = assay.train("rules", ds, "line/rules")
print("\n".join([*proposed.model.describe(), *proposed.model.coverage()]))

# %% [markdown]
# We import the data again with the rule that people believe. Now Assay can check the labels against it, and count the
# reasoning shortcuts that they allow.

# %%
rule = {"scrap": "scratched and dent"}
ds = assay.from_table(known, "line/ruled", images=pictures, concepts=concepts, labels=["scrap"], rule=rule)
print(assay.audit(ds))
print(assay.count(ds))

# %% [markdown]
# Last, we train a model that gets the labels and the rule but no annotated concept, and ask what it has learned.

# %%
epochs = 20  # in tests: epochs = 1
run = assay.train("dpl", ds, "line/dpl", epochs=epochs)
print(assay.diagnose(ds, run).text)
