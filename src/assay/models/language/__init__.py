"""Language and vision-language models: they learn a rule from examples in a prompt, or read concepts off pictures.

`incontext` is the learner; `vlm` and `clip` are the readers. Only `clip`, weights in a local folder, needs torch.
"""
