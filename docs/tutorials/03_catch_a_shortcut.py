"""A reasoning shortcut: a wrong reading of the digits that keeps every training sum, found by the diagnosis."""

import assay

ds = assay.make("mnadd-evenodd", n=400)

# training has 0+6, 2+8, 4+6, 4+8 and odd pairs: with one added to 0, 2, 4 and taken from 6, 8, no sum changes
wrong = {"digit": {0: 1, 2: 3, 4: 5, 6: 5, 8: 7}}
diagnosis = assay.diagnose(ds, [assay.given_reading(ds[name], wrong) for name in ("test", "ood")])
print(diagnosis.text)
assert diagnosis.verdict == "shortcut" and diagnosis.agreement == 1.0

truth = [assay.oracle(ds[name]) for name in ("test", "ood")]
assert assay.diagnose(ds, truth).verdict == "sound"
