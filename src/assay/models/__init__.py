"""Models and backbones by name. Only the modules of this package import torch, and only when one is asked for."""

from assay.registry import Registry

MODELS = Registry("model")
MODELS.add(
    "blackbox", "a plain network from picture to labels; says nothing of concepts", "assay.models.blackbox:BlackBox"
)
MODELS.add(
    "cbm",
    "a concept bottleneck: concepts first, labels from them by a learned head",
    "assay.models.bottleneck:Bottleneck",
)
MODELS.add(
    "dpl",
    "concepts first, labels from them by the rule, exactly (DeepProbLog style)",
    "assay.models.probabilistic:Probabilistic",
)
MODELS.add(
    "ltn",
    "concepts first, labels from them by the rule read as fuzzy logic (Logic Tensor Networks)",
    "assay.models.fuzzy:Fuzzy",
)
MODELS.add(
    "bears",
    "an ensemble of dpl whose members read concepts as differently as the labels allow",
    "assay.models.ensemble:Ensemble",
)

BACKBONES = Registry("backbone")
BACKBONES.add(
    "conv-stride", "3 strided convolutions, dropout (rsbench Tables 12, 13)", "assay.models.backbones:conv_stride"
)
BACKBONES.add(
    "conv-pool", "2 convolutions with pooling, 2 layers (rsbench Table 14)", "assay.models.backbones:conv_pool"
)
BACKBONES.add("mlp-embedding", "2 layers on an embedding (rsbench Table 15)", "assay.models.backbones:mlp_embedding")
BACKBONES.add("conv-pool-3", "3 convolutions, 2 layers (rsbench Tables 20, 22)", "assay.models.backbones:conv_pool_3")
BACKBONES.add(
    "conv-wide", "2 convolutions with pooling, 1 layer (rsbench Table 21)", "assay.models.backbones:conv_wide"
)
BACKBONES.add("mlp", "2 layers on the pixels, for pictures too small to convolve", "assay.models.backbones:mlp")
