"""What a trained model holds inside, and what its predictions depend on: probes, saliency, and discovered concepts.

`layers`            the layers of any network: activations, and how the prediction changes with them
`probing`           linear probes of layers; `tcav`  directions of concepts and their effects; `probe_runs`  on disk
`bypass`            whether labels survive when the concepts are set
`saliency_methods`  from scores and pictures to maps, and a network whose layers are drawn anew
`examined`          the model that is explained; `masks`  where its maps should fall; `saliency`  from start to end
`discovery`         what every discovery method is; `sparse`, `components`, `slots` and `bottlenecks` are such methods
`rule_on_top`       the rule learned from discovered concepts; `discovering`  from start to end, for several seeds
"""
