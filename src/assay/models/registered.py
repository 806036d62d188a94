"""Models, backbones, discovery methods and readers by name and address, so that listing them imports nothing heavy."""

from assay.base import Registry

MODELS = Registry("model", "assay.models.registered", "assay.models", "assay.models.core.model:Model")
for _name, _summary, _target in (
    ("blackbox", "a plain network from picture to labels; predicts no concepts", "concept.blackbox:BlackBox"),
    ("cbm", "a concept bottleneck: concepts first, labels from them by a head, learned or given", "concept.cbm:CBM"),
    ("dpl", "concepts first, labels from them by the rule, exactly (DeepProbLog style)", "rule.dpl:DPL"),
    ("ltn", "concepts first, labels from them by the rule read as fuzzy logic (Logic Tensor Networks)", "rule.ltn:LTN"),
    ("bears", "an ensemble of dpl whose members read concepts as differently as the labels allow", "rule.bears:Bears"),
    ("embedding", "a small network on features that are not trained: CLIP or any other weights from a local folder",
     "concept.embedding:Embedding"),
    ("semantic", "a concept bottleneck that is trained to satisfy the constraints (semantic loss)",
     "concept.semantic:Semantic"),
    ("cem", "concept embeddings: labels from embeddings that concepts mix (CEM)", "concept.cem:CEM"),
    ("probcbm", "concepts as uncertain embeddings, labels from samples of them (ProbCBM)", "concept.probcbm:ProbCBM"),
    ("ecbm", "concepts and labels of the least energy, found by search (ECBM)", "concept.ecbm:ECBM"),
    ("dcr", "labels by a rule that a network writes for each example (DCR)", "concept.dcr:DCR"),
    ("synthesis", "the cheapest program that explains the examples, on concepts",
     "symbolic.synthesis.learner:Synthesis"),
    ("alpha-ilp", "clauses found by beam search, weighed by gradients on uncertain concepts (alphaILP style)",
     "symbolic.alpha_ilp.learner:AlphaIlp"),
    ("ilp", "clauses that cover the examples, by our own learner, on concepts", "symbolic.ilp.learner:Ilp"),
    ("aleph", "clauses by Aleph (needs SWI-Prolog and Aleph 5)", "symbolic.ilp.aleph:Aleph"),
    ("popper", "clauses by Popper (needs a checkout of Popper 4.4 or 3.1)", "symbolic.ilp.popper:Popper"),
    ("tree", "a decision tree on concepts", "symbolic.tree:Tree"),
    ("rules", "a list of rules (if this, else if that) on concepts", "symbolic.rules:RuleList"),
    ("linear", "logistic regression on concepts", "symbolic.linear:Linear"),
    ("mlp", "a small network on concepts", "symbolic.mlp:MLP"),
    ("incontext", "a language or vision-language model that is shown examples and asked for the rule",
     "language.incontext:InContext"),
):  # fmt: skip
    MODELS.add(_name, _summary, f"assay.models.{_target}")

BACKBONES = Registry("backbone")
for _name, _summary, _target in (
    ("conv-stride", "3 strided convolutions, dropout (rsbench Tables 12, 13)", "small:conv_stride"),
    ("conv-pool", "2 convolutions with pooling, 2 layers (rsbench Table 14)", "small:conv_pool"),
    ("mlp-embedding", "2 layers on an embedding (rsbench Table 15)", "small:mlp_embedding"),
    ("conv-pool-3", "3 convolutions, 2 layers (rsbench Tables 20, 22)", "small:conv_pool_3"),
    ("conv-wide", "2 convolutions with pooling, 1 layer (rsbench Table 21)", "small:conv_wide"),
    ("conv-3", "3 convolutions without pooling (the concept benchmark's detector)", "small:conv_3"),
    ("conv-norm", "2 convolutions with group norm at half the resolution, 1 layer: cells of boards", "small:conv_norm"),
    ("mlp", "2 layers on the pixels, for pictures too small to convolve", "small:mlp"),
    ("mlp-wide", "2 wide layers on the pixels (rsbench Tables 16, 18)", "small:mlp_wide"),
    ("mlp-embedding-small", "2 smaller layers on an embedding (rsbench Table 11)", "small:mlp_embedding_small"),
    ("conv-pool-5", "5 convolutions with pooling, 2 layers (rsbench Table 17)", "small:conv_pool_5"),
    ("conv-pool-6", "6 convolutions with pooling, 2 layers (rsbench Table 9)", "small:conv_pool_6"),
    ("bag-of-ngrams", "for texts: runs of 1 to 3 words, wherever they are", "texts:bag_of_ngrams"),
    ("text-transformer", "for texts: a small transformer of 2 layers", "texts:text_transformer"),
    ("resnet-18", "ResNet-18 (rsbench Tables 8, 10); may begin from weights", "deep:resnet_18"),
    ("resnet-34", "ResNet-34; may begin from weights", "deep:resnet_34"),
    ("resnet-50", "ResNet-50, with bottlenecks; may begin from weights", "deep:resnet_50"),
    ("resnet-101", "ResNet-101, with bottlenecks; may begin from weights", "deep:resnet_101"),
    ("resnet-small", "a ResNet of 3 stages for small pictures", "deep:resnet_small"),
    ("vgg-11", "VGG with 8 convolutions; may begin from weights", "deep:vgg_11"),
    ("vgg-16", "VGG with 13 convolutions; may begin from weights", "deep:vgg_16"),
    ("efficientnet-lite0", "EfficientNet-Lite0; @imagenet has weights from a package", "deep:efficientnet_lite0"),
    ("efficientnet-b0", "EfficientNet-B0; may begin from weights", "deep:efficientnet_b0"),
    ("vit-b-16", "ViT-B/16, a vision transformer; may begin from weights", "transformer:vit_b_16"),
    ("vit-l-32", "ViT-L/32, a large vision transformer; may begin from weights", "transformer:vit_l_32"),
    ("swin-t", "Swin-T, a transformer over windows; may begin from weights", "transformer:swin_t"),
    ("vit", "a small vision transformer (needs transformers)", "vision:vit"),
    ("swin", "a small Swin transformer (needs transformers)", "vision:swin"),
    ("pretrained", "pretrained@FOLDER: CLIP or any vision model of transformers (needs transformers)",
     "vision:pretrained"),
):  # fmt: skip
    BACKBONES.add(_name, _summary, f"assay.models.backbones.{_target}")

METHODS = Registry("discovery method")
for _name, _summary, _target in (
    ("sae-topk", "a sparse autoencoder that keeps the k largest units of each example", "sparse:TopKAutoencoder"),
    ("sae-l1", "a sparse autoencoder with an L1 penalty on its units", "sparse:L1Autoencoder"),
    ("pca", "principal components", "components:PCA"),
    ("ica", "independent components (FastICA)", "components:ICA"),
    ("nmf", "non-negative matrix factorisation", "components:NMF"),
    ("kmeans", "k-means: each unit is how near an example is to a prototype", "components:KMeans"),
    ("posthoc-cbm", "post-hoc CBM: concept activation vectors, and a sparse label head", "bottlenecks:PosthocCBM"),
    ("label-free-cbm", "label-free CBM: units that follow CLIP, and a sparse label head", "bottlenecks:LabelFreeCBM"),
    ("slots", "slot attention on the pictures, trained to draw them again", "slots:Slots"),
    ("random-directions", "baseline: random directions of the activations", "components:RandomDirections"),
    ("random", "baseline: random numbers that know nothing of the picture", "components:RandomUnits"),
):  # fmt: skip
    METHODS.add(_name, _summary, f"assay.models.explain.{_target}")

READERS = Registry("reader")
READERS.add("vlm", "a vision-language model behind an endpoint", "assay.models.language.vlm:VlmReader")
READERS.add("clip", "CLIP from a local folder", "assay.models.language.clip:ClipReader")
