"""Scores of discovered units against the true concepts. Needs no torch.

A *unit* is a number for each example that some method found in a network or in pictures, without a name. Data flow:

`matching`         which unit stands for which concept value, chosen on one split (`fit_matches`), scored on another
`disentanglement`  DCI and the mutual information gap: is each unit about one concept, and each concept in one unit?
`readout`          the probabilities of each concept, read off the units that are matched with its values
`stability`        do several seeds find the same units?
`scores`           all of these beside what the same units give for shuffled examples: chance
"""
