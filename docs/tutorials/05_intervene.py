"""Intervene on concepts, the most uncertain first, and measure the accuracy of the labels."""

import assay

ds = assay.make("mnlogic", pixels=True, k=4, formula="(a and b) or (c and d)", n=400)
# a model that is stopped too early: its concepts are not all right yet
run = assay.train("cbm", ds, epochs=2, learning_rate=0.003, device="cpu", head="rule")

result = assay.intervene(run, ds, policy="uncertainty", budget="0-4")
for point in result.curve.points:
    print(f"{point.budget:g} concepts set: label accuracy {point.accuracy:.2f}")
accuracies = [point.accuracy for point in result.curve.points]
assert accuracies[-1] == 1.0 >= accuracies[0]  # with all concepts set, the rule gives the label
assert result.control_changed == 0  # setting the model's own predictions changes nothing
