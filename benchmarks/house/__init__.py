"""What a user can see of Assay, recorded: `python -m benchmarks.house record`, `compare`, `mutants` and `walks`.

A probe is a named piece of work at the door (commands and public functions) that gives texts by part. Each runs in a
fork of a process that has imported everything and done nothing, in a copy of a small folder, so that neither order nor
caches matter. Times, paths, versions and the last digits of numbers are left out.
"""
