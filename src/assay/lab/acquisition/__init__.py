"""Acquisition of data that repairs a model: diagnose it, choose what to acquire, retrain, and again, within a budget.

Data flow, one way: `holdings` (what was bought so far), `situation` (what a strategy sees), the strategies (`labels`,
`misread`, `plan`, `confounders`), `redrawing`, `round_data` (what a round is trained on), `curve`, `loop`.
"""
