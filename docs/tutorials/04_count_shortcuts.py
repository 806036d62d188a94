"""Before any training: how many readings of the concepts keep every label, and what would rule the wrong ones out?"""

from assay.config import Settings
from assay.counting.count import count_readings
from assay.data.support import training_support

knowledge, worlds = training_support("mnadd-evenodd", Settings(), seed=0)
found = count_readings(knowledge, "shared", worlds)
print(f"{found.total} readings of the digits keep every sum of the training pairs; one of them is right")
assert found.total == 36 and found.readings is not None

for step in found.readings.plan():  # what to show the model, the most telling first
    print(f"show {step.supervised}: {step.left} left")
assert [step.left for step in found.readings.plan()][-1] == 1
