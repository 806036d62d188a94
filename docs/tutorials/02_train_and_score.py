"""Train two models on the same data and score them on the test split."""

import assay

# three pixels and a rule over them: learned in seconds
ds = assay.make("mnlogic", pixels=True, k=3, formula="a and b or c", n=256)

for model in ("blackbox", "cbm"):
    run = assay.train(model, ds, epochs=12, learning_rate=0.01, device="cpu")
    scores = assay.score(ds, run, metrics=["label_accuracy", "concept_accuracy"])["test"]
    # a black box predicts no concepts: that score is not a number
    print(model, {metric: round(result.value, 2) for metric, result in scores.items()})
    assert scores["label_accuracy"].value > 0.9
    assert scores["concept_accuracy"].applies == (model == "cbm")
