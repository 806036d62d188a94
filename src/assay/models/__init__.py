"""Models and backbones by name; the only room with torch, which is imported when a model is asked for.

`MODELS` and `BACKBONES` are the registries. `train_run` trains what a `TrainSpec` says and writes a run, `load_model`
reads one. Beside them: probes, saliency, discovery of concepts, and `wrap` for models of other frameworks.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.models.backbones.build import build_backbone as build_backbone
    from assay.models.concept.alignment import Aligned as Aligned
    from assay.models.concept.alignment import Alignment as Alignment
    from assay.models.concept.alignment import align_run as align_run
    from assay.models.concept.wrapped import Wrapped as Wrapped
    from assay.models.concept.wrapped import annotations_of as annotations_of
    from assay.models.concept.wrapped import to_pyc as to_pyc
    from assay.models.concept.wrapped import wrap as wrap
    from assay.models.concept.wrapped import wrap_pyc as wrap_pyc
    from assay.models.core.circuit import RuleLayer as RuleLayer
    from assay.models.core.devices import describe_gpu as describe_gpu
    from assay.models.core.devices import device_for as device_for
    from assay.models.core.devices import one_thread as one_thread
    from assay.models.core.logs import check_log as check_log
    from assay.models.core.model import Epoch as Epoch
    from assay.models.core.model import Model as Model
    from assay.models.core.model import load_model as load_model
    from assay.models.core.network import ConceptModel as ConceptModel
    from assay.models.core.network import NeuralModel as NeuralModel
    from assay.models.core.perception import one_hot as one_hot
    from assay.models.core.perception import perception_of as perception_of
    from assay.models.core.perception import reader_for as reader_for
    from assay.models.core.runs import TrainSpec as TrainSpec
    from assay.models.core.runs import finished_already as finished_already
    from assay.models.core.runs import train_run as train_run
    from assay.models.core.runs import train_seeds as train_seeds
    from assay.models.core.runs import train_together as train_together
    from assay.models.core.runs import transfer_run as transfer_run
    from assay.models.core.settings import MASKS as MASKS
    from assay.models.core.settings import ConceptConfig as ConceptConfig
    from assay.models.core.settings import NeuralConfig as NeuralConfig
    from assay.models.core.steps import Phase as Phase
    from assay.models.core.tensors import Annotations as Annotations
    from assay.models.core.tensors import Batch as Batch
    from assay.models.core.tensors import Outputs as Outputs
    from assay.models.core.tensors import TorchSplit as TorchSplit
    from assay.models.core.tensors import apply_interventions as apply_interventions
    from assay.models.core.tensors import concept_loss as concept_loss
    from assay.models.core.tensors import label_loss as label_loss
    from assay.models.core.tensors import softmax_each as softmax_each
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
    from assay.models.registered import BACKBONES as BACKBONES
    from assay.models.registered import METHODS as METHODS
    from assay.models.registered import MODELS as MODELS
    from assay.models.symbolic.base import SymbolicConfig as SymbolicConfig
    from assay.models.symbolic.base import SymbolicModel as SymbolicModel
    from assay.models.symbolic.examples import Examples as Examples
    from assay.models.symbolic.formulas import FormulaModel as FormulaModel
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)
