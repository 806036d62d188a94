"""Models and backbones by name; the only room with torch, which is imported when a model is asked for.

`MODELS` and `BACKBONES` are the registries. `train_run` trains what an `Order` says and writes a run, `load_model` and
`predict_run` read one. Beside them: probes, saliency, discovery of concepts, and `wrap` for models of other frameworks.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.models.backbones.build import build_backbone as build_backbone
    from assay.models.concept.alignment import Aligned as Aligned
    from assay.models.concept.alignment import Alignment as Alignment
    from assay.models.concept.alignment import align_run as align_run
    from assay.models.concept.probcbm import MOST_LOG_VARIANCE as MOST_LOG_VARIANCE
    from assay.models.concept.probcbm import ProbCBM as ProbCBM
    from assay.models.core.concept_readers import reader_for as reader_for
    from assay.models.core.devices import describe_gpu as describe_gpu
    from assay.models.core.devices import device_for as device_for
    from assay.models.core.devices import number_formats as number_formats
    from assay.models.core.devices import one_thread as one_thread
    from assay.models.core.devices import own_stream as own_stream
    from assay.models.core.feeds import Feed as Feed
    from assay.models.core.fitting import fit_together as fit_together
    from assay.models.core.logs import check_log as check_log
    from assay.models.core.losses import supervised_labels as supervised_labels
    from assay.models.core.model import Epoch as Epoch
    from assay.models.core.model import Model as Model
    from assay.models.core.neural import NeuralConfig as NeuralConfig
    from assay.models.core.neural import NeuralModel as NeuralModel
    from assay.models.core.optimization import Optimization as Optimization
    from assay.models.core.perception import one_hot as one_hot
    from assay.models.core.perception_settings import perception_of as perception_of
    from assay.models.core.precision import SECONDS as SECONDS
    from assay.models.core.precision import bfloat16_fault as bfloat16_fault
    from assay.models.core.robust import MASKS as MASKS
    from assay.models.core.robust import Robustness as Robustness
    from assay.models.core.runs import Order as Order
    from assay.models.core.runs import finished_already as finished_already
    from assay.models.core.runs import load_model as load_model
    from assay.models.core.runs import predict_run as predict_run
    from assay.models.core.runs import train_run as train_run
    from assay.models.core.runs import train_seeds as train_seeds
    from assay.models.core.runs import train_together as train_together
    from assay.models.core.runs import transfer_run as transfer_run
    from assay.models.core.steps import ManySeeds as ManySeeds
    from assay.models.core.steps import OneSeed as OneSeed
    from assay.models.core.subconcepts import readers_of as readers_of
    from assay.models.core.tensors import TorchSplit as TorchSplit
    from assay.models.core.training import Training as Training
    from assay.models.explain.bypass import Bypass as Bypass
    from assay.models.explain.bypass import bypass as bypass
    from assay.models.explain.discovering import Discovered as Discovered
    from assay.models.explain.discovering import DiscoveryPlan as DiscoveryPlan
    from assay.models.explain.discovering import discover as discover
    from assay.models.explain.examined import ExaminedPredictor as ExaminedPredictor
    from assay.models.explain.layers import Subject as Subject
    from assay.models.explain.layers import activations as activations
    from assay.models.explain.layers import layer_features as layer_features
    from assay.models.explain.layers import layer_names as layer_names
    from assay.models.explain.layers import sensitivity as sensitivity
    from assay.models.explain.masks import ConceptMasks as ConceptMasks
    from assay.models.explain.probe_runs import probe_run as probe_run
    from assay.models.explain.probing import Ask as Ask
    from assay.models.explain.probing import Probed as Probed
    from assay.models.explain.probing import probe_layers as probe_layers
    from assay.models.explain.saliency import Saliency as Saliency
    from assay.models.explain.saliency import SaliencyPlan as SaliencyPlan
    from assay.models.explain.saliency import measure_saliency as measure_saliency
    from assay.models.explain.tcav import concept_directions as concept_directions
    from assay.models.explain.tcav import effects as effects
    from assay.models.external.pyc import annotations_of as annotations_of
    from assay.models.external.pyc import to_pyc as to_pyc
    from assay.models.external.pyc import wrap_pyc as wrap_pyc
    from assay.models.external.wrapped import Wrapped as Wrapped
    from assay.models.external.wrapped import wrap as wrap
    from assay.models.language.conversation import Cache as Cache
    from assay.models.language.endpoint import Reply as Reply
    from assay.models.registered import BACKBONES as BACKBONES
    from assay.models.registered import METHODS as METHODS
    from assay.models.registered import MODELS as MODELS
    from assay.models.rule.bears import Bears as Bears
    from assay.models.rule.circuit import DiagramLayer as DiagramLayer
    from assay.models.rule.circuit import RuleLayer as RuleLayer
    from assay.models.rule.fuzzy_logic import FuzzyRule as FuzzyRule
    from assay.models.rule.fuzzy_logic import Semantics as Semantics
    from assay.models.symbolic.base import SymbolicConfig as SymbolicConfig
    from assay.models.symbolic.base import SymbolicModel as SymbolicModel
    from assay.models.symbolic.examples import Examples as Examples
    from assay.models.symbolic.examples import most_probable_codes as most_probable_codes
    from assay.models.symbolic.examples import pack_bits as pack_bits
    from assay.models.symbolic.formulas import FormulaModel as FormulaModel
    from assay.models.symbolic.synthesis.language import LeafBlock as LeafBlock
    from assay.models.symbolic.synthesis.language import ProgramLanguage as ProgramLanguage
    from assay.models.symbolic.synthesis.language import leaves_of as leaves_of
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
