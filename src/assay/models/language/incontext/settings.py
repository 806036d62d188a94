"""The settings of an in-context learner."""

from typing import Literal

from pydantic import Field, model_validator

from assay.models.language.incontext.endpoint_settings import EndpointConfig
from assay.models.language.incontext.wording import Form
from assay.models.symbolic.base import SymbolicConfig


class InContextConfig(SymbolicConfig, EndpointConfig):
    """Settings of an in-context learner. The endpoint and its key come from the environment only."""

    shots: int = Field(24, ge=1)
    """How many labelled examples the prompt has, balanced over the label's values as far as possible."""
    show: Literal["images", "symbols", "text"] = "images"
    """How an example appears in the prompt: as picture, as concepts (predicted by perception), or as text."""
    form: Form = "formula"
    """The form of the rule in the answer: words and a `formula`, words and a `prolog` program, or `words` only."""
    classify: Literal["evaluate", "ask"] = "evaluate"
    """Who applies the rule: we evaluate the formula on concepts, or the model is asked about each example."""
    splits: list[str] = ["test"]
    """The splits that the model is asked about, with classify=ask; for others use `assay predict`."""

    @model_validator(mode="after")
    def _classifies(self) -> "InContextConfig":
        if self.form == "words" and self.classify == "evaluate":
            raise ValueError("form=words leaves nothing to evaluate; use classify=ask, or form=formula or prolog")
        return self
