"""Before any training: how many reasoning shortcuts do the labels allow, and which supervision would rule them out?"""

import assay

count = assay.count("mnadd-evenodd")
print(f"{count.total} readings of the digits keep every sum of the training pairs: the right one, and shortcuts")
assert count.total == 36 and count.readings is not None

for step in count.readings.plan():  # which values to supervise, those that rule out most first
    print(f"supervise {step.supervised}: {step.left} left")
assert [step.left for step in count.readings.plan()][-1] == 1
