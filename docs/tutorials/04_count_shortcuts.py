"""Before any training: how many reasoning shortcuts do the labels allow, and which supervision would rule them out?"""

from assay.config import Settings
from assay.counting.count import count_readings
from assay.data.support import training_support

knowledge, worlds = training_support("mnadd-evenodd", Settings(), seed=0)
count = count_readings(knowledge, "shared", worlds)
print(f"{count.total} readings of the digits keep every sum of the training pairs: the right one, and shortcuts")
assert count.total == 36 and count.readings is not None

for step in count.readings.plan():  # which values to supervise, those that rule out most first
    print(f"supervise {step.supervised}: {step.left} left")
assert [step.left for step in count.readings.plan()][-1] == 1
