"""Models and backbones by name. Only the modules of this package import torch, and only when one is asked for."""

from assay.registry import Registry

CONCEPT, RULE, SYMBOLIC = (f"assay.models.{kind}" for kind in ("concept", "rule", "symbolic"))

MODELS = Registry("model")
MODELS.add(
    "blackbox",
    "a plain network from picture to labels; says nothing of concepts",
    f"{CONCEPT}.blackbox:BlackBox",
)
MODELS.add(
    "cbm",
    "a concept bottleneck: concepts first, labels from them by a head, learned or given",
    f"{CONCEPT}.cbm:CBM",
)
MODELS.add(
    "dpl",
    "concepts first, labels from them by the rule, exactly (DeepProbLog style)",
    f"{RULE}.dpl:DPL",
)
MODELS.add(
    "ltn",
    "concepts first, labels from them by the rule read as fuzzy logic (Logic Tensor Networks)",
    f"{RULE}.ltn:LTN",
)
MODELS.add(
    "bears",
    "an ensemble of dpl whose members read concepts as differently as the labels allow",
    f"{RULE}.bears:Bears",
)

MODELS.add(
    "embedding",
    "a small network on features that are not trained: CLIP or any other weights from a local folder",
    f"{CONCEPT}.embedding:Embedding",
)
MODELS.add(
    "semantic",
    "a concept bottleneck that is taught to keep the constraints (semantic loss)",
    f"{CONCEPT}.semantic:Semantic",
)

MODELS.add(
    "cem",
    "concept embeddings: labels from embeddings that concepts mix (CEM)",
    f"{CONCEPT}.cem:CEM",
)
MODELS.add(
    "probcbm",
    "concepts as uncertain embeddings, labels from samples of them (ProbCBM)",
    f"{CONCEPT}.probcbm:ProbCBM",
)
MODELS.add(
    "ecbm",
    "concepts and labels of the least energy, found by search (ECBM)",
    f"{CONCEPT}.ecbm:ECBM",
)
MODELS.add("dcr", "labels by rules that a network writes for each example (DCR)", f"{CONCEPT}.dcr:DCR")
MODELS.add(
    "synthesis",
    "the cheapest program that explains the examples, on concepts",
    f"{SYMBOLIC}.synthesis.learner:Synthesis",
)
MODELS.add(
    "alpha-ilp",
    "clauses found by beam search, weighed by gradients on uncertain concepts (alphaILP style)",
    "assay.models.alpha_ilp.learner:AlphaIlp",
)
MODELS.add("ilp", "clauses that cover the examples, by our own learner, on concepts", f"{SYMBOLIC}.ilp.learner:Ilp")
MODELS.add("aleph", "clauses by Aleph (needs SWI-Prolog and Aleph 5)", f"{SYMBOLIC}.ilp.aleph:Aleph")
MODELS.add("popper", "clauses by Popper (needs a checkout of Popper 4.4 or 3.1)", f"{SYMBOLIC}.ilp.popper:Popper")
MODELS.add("tree", "a decision tree on concepts", f"{SYMBOLIC}.tree:Tree")
MODELS.add("rules", "a list of rules (if this, else if that) on concepts", f"{SYMBOLIC}.rules:RuleList")
MODELS.add("linear", "logistic regression on concepts", f"{SYMBOLIC}.linear:Linear")
MODELS.add("mlp", "a small network on concepts", f"{SYMBOLIC}.mlp:MLP")
MODELS.add(
    "incontext",
    "a language or vision-language model that is shown examples and asked for the rule",
    "assay.models.incontext.learner:InContext",
)

SMALL, DEEP, VISION = (f"assay.models.backbones.{kind}" for kind in ("small", "deep", "vision"))

BACKBONES = Registry("backbone")
BACKBONES.add("conv-stride", "3 strided convolutions, dropout (rsbench Tables 12, 13)", f"{SMALL}:conv_stride")
BACKBONES.add("conv-pool", "2 convolutions with pooling, 2 layers (rsbench Table 14)", f"{SMALL}:conv_pool")
BACKBONES.add("mlp-embedding", "2 layers on an embedding (rsbench Table 15)", f"{SMALL}:mlp_embedding")
BACKBONES.add("conv-pool-3", "3 convolutions, 2 layers (rsbench Tables 20, 22)", f"{SMALL}:conv_pool_3")
BACKBONES.add("conv-wide", "2 convolutions with pooling, 1 layer (rsbench Table 21)", f"{SMALL}:conv_wide")
BACKBONES.add("mlp", "2 layers on the pixels, for pictures too small to convolve", f"{SMALL}:mlp")
BACKBONES.add("mlp-wide", "2 wide layers on the pixels (rsbench Tables 16, 18)", f"{SMALL}:mlp_wide")
BACKBONES.add(
    "mlp-embedding-small",
    "2 smaller layers on an embedding (rsbench Table 11)",
    f"{SMALL}:mlp_embedding_small",
)
BACKBONES.add(
    "conv-pool-5",
    "5 convolutions with pooling, 2 layers (rsbench Table 17)",
    f"{SMALL}:conv_pool_5",
)
BACKBONES.add("conv-pool-6", "6 convolutions with pooling, 2 layers (rsbench Table 9)", f"{SMALL}:conv_pool_6")
BACKBONES.add("resnet-18", "ResNet-18 (rsbench Tables 8, 10); may begin from weights", f"{DEEP}:resnet_18")
BACKBONES.add("resnet-small", "a ResNet of 3 stages for small pictures", f"{DEEP}:resnet_small")
BACKBONES.add("vgg-11", "VGG with 8 convolutions; may begin from weights", f"{DEEP}:vgg_11")
BACKBONES.add("vgg-16", "VGG with 13 convolutions; may begin from weights", f"{DEEP}:vgg_16")
BACKBONES.add(
    "efficientnet-lite0", "EfficientNet-Lite0; @imagenet has weights from a package", f"{DEEP}:efficientnet_lite0"
)
BACKBONES.add("vit", "a small vision transformer (needs assay[vision])", f"{VISION}:vit")
BACKBONES.add("swin", "a small Swin transformer (needs assay[vision])", f"{VISION}:swin")
BACKBONES.add("efficientnet-b0", "EfficientNet-B0 (needs assay[vision])", f"{VISION}:efficientnet_b0")
BACKBONES.add(
    "pretrained",
    "pretrained@FOLDER: CLIP or any vision model of transformers (needs assay[vision])",
    f"{VISION}:pretrained",
)
