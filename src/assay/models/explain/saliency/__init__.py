"""Saliency: which pixels does an answer depend on?

Data flow, one way:

`methods`      integrated gradients, Grad-CAM, occlusion, input gradient: functions from scores and pictures to maps
`examined`     the model that is explained: a network with gradients, or anything that answers pictures
`randomised`   the same network with layers drawn anew, from the top down
`explaining`   maps of examples, scored on the pixels of concepts and of marks (`assay.metrics.saliency`)
`folder`       maps over pictures as PNG files, and the record
"""
