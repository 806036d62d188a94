"""A zoo of trained models: each has a cause that was set up in its training, and was measured without a diagnosis.

`python -m benchmarks.trained` trains all of them and keeps their answers under `benchmarks/records/trained`; `--list`
lists them, `--only NAME` trains one, `--more` trains the further runs of a study of validity. `kept.read_case` reads a
kept case. What each module holds: `kept` the file format, `sources` worlds and their pictures, `photographs` pictures
that nobody drew, `networks` the models, `setups` what is trained and why, `building` a case from a setup, `measures`
facts recomputed from kept arrays, `words` which words of a verdict these facts make true or false.
"""
