"""At the boundary: a model that is right on clear cases, and how it shows that it has not learned the rule."""

import assay

# The rule: a lamp, and a bus or a tram. The machine derives in which ways it holds, and in which it is just missed.
rule = assay.Knowledge.of(assay.bits(["lamp", "bus", "tram", "rain"]), {"stop": "lamp and (bus or tram)"})
boundary = rule.boundaries[0]
print("holds:      ", [variant.name for variant in boundary.variants])
print("just misses:", [type.name for type in boundary.types])

# A model that has learned "a bus or a tram" and ignores the lamp is right on all positives and on what is far away.
codes = rule.space.all_codes().repeat(20, axis=0)
shortcut = assay.evaluate(assay.parse("bus or tram"), rule.space, codes).astype(int)[:, None]
evidence = assay.Evidence(rule, "test", rule.labels_of(codes), codes, shortcut, codes, (None,), (None,) * 4)
diagnosis = assay.diagnose(evidence)
for score in diagnosis.regions["test"]:
    print(f"{score.kind:8} {score.name:32} {score.accuracy:.2f}")
print(next(reason for reason in diagnosis.reasons if "boundary" in reason))
assert [score.accuracy for score in diagnosis.regions["test"]] == [1.0, 1.0, 0.0, 1.0, 0.0, 1.0]
