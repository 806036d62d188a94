"""Mending a model: diagnose it, choose what to acquire, retrain, and again, within a budget.

`mend_run` does it by one of `STRATEGIES`; the `MendingCurve` is what each round gave. Data flow, one way: `holdings`
(what was bought so far), `situation` (what a strategy sees), the strategies (`labels`, `misread`, `plan`,
`confounders`), `redrawing`, `round_data` (what a round is trained on), `curve`, `loop`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.mending.curve import CURVE_HEAD as CURVE_HEAD
    from assay.mending.curve import MendingCurve as MendingCurve
    from assay.mending.curve import MendingRound as MendingRound
    from assay.mending.holdings import Holdings as Holdings
    from assay.mending.loop import mend_run as mend_run
    from assay.mending.situation import MendSettings as MendSettings
    from assay.mending.situation import Situation as Situation
    from assay.mending.strategies import STRATEGIES as STRATEGIES
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
