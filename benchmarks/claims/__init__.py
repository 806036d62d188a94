"""A law: every sentence that a diagnosis says is a predicate over evidence, and holds when it is counted again.

`python -m benchmarks.claims` diagnoses 300 random predictors, and with `--kept` the zoo of trained models, takes every
sentence of every diagnosis apart by patterns, and counts what it claims again from arrays. Nothing of `assay.diagnosis`
is used but the diagnosis that is being checked. A sentence that no pattern knows counts as false. A second law: the
first word accounts for at least half of the wrong labels, where labels are wrong too often and a cause is named.

What each module holds: `rows` a split counted by numpy and the rule, `patterns` the templates of sentences, `told` a
diagnosis beside what it speaks of, `on_concepts`, `on_labels`, `on_findings`, `on_errors`, `meanings` and `steps` what each
sentence claims, `account` the second law, `predictors` the random ones.
"""
