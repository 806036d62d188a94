"""A decision tree on concepts, by scikit-learn."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from assay.base import Array, Codes, import_extra
from assay.logic import ConceptSpace, Const, Formula, Not, Var, conjunction, disjunction
from assay.models.symbolic.base import SymbolicConfig
from assay.models.symbolic.baseline import Baseline, BaselineConfig, Encoding

MOST_LEAVES = 12
"""How many leaves of a tree are written in words."""
Path = tuple[tuple[int, bool], ...]
"""The nodes on the way to a leaf, and whether the value there is above the threshold."""


class TreeConfig(BaselineConfig):
    """How a tree is grown."""

    scaled: bool = False
    depth: int | None = Field(None, ge=1)
    """The most questions in a row."""
    leaf: int = Field(1, ge=1)
    """The fewest examples in a leaf."""


def column_tests(space: ConceptSpace, encoding: Encoding) -> list[tuple[str, str]]:
    """Return for each column of the inputs what is written where it is at most a threshold `{}`, and where above.

    >>> from assay.logic.concepts import bits
    >>> column_tests(bits(["a"]), "numbers")
    [('not a', 'a')]
    """
    tests: list[tuple[str, str]] = []
    for concept in space.concepts:
        ordered = not concept.optional and concept.kind != "symbol"
        if ordered and encoding != "values":
            name = concept.name
            tests.append((f"not {name}", name) if concept.kind == "bool" else (f"{name} <= {{:g}}", f"{name} > {{:g}}"))
        if not ordered or encoding != "numbers":
            tests += [(f"{concept.name} != {value}", f"{concept.name} == {value}") for value in concept.values]
    return tests


def value_tests(space: ConceptSpace) -> list[Formula]:
    """Return what each column asks where each is a value: whether a concept has it."""
    return [
        Not(Var(concept.name))
        if value is False
        else Var(concept.name)
        if value is True
        else Var(concept.name).eq(value)
        for concept in space.concepts
        for value in concept.values
    ]


def _leaves(parts: Mapping[str, Array], node: int = 0, path: Path = ()) -> Iterator[tuple[int, Path]]:
    """Give the leaves below a node, each with the way to it."""
    if parts["left"][node] < 0:
        yield node, path
        return
    for side, above in (("left", False), ("right", True)):
        yield from _leaves(parts, int(parts[side][node]), (*path, (node, above)))


class Tree(Baseline):
    """A decision tree on concepts."""

    name = "tree"
    Config: ClassVar[type[SymbolicConfig]] = TreeConfig
    config: TreeConfig

    def fit_estimator(self, inputs: Array, targets: Codes, seed: int) -> dict[str, Array]:
        """Return the nodes of a tree."""
        library = import_extra("sklearn.tree", "the model 'tree'")
        estimator = library.DecisionTreeClassifier(
            max_depth=self.config.depth, min_samples_leaf=self.config.leaf, random_state=seed
        ).fit(inputs, targets)
        tree: Any = estimator.tree_
        shares = tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True)
        return {
            "left": np.asarray(tree.children_left, dtype=np.int64),
            "right": np.asarray(tree.children_right, dtype=np.int64),
            "feature": np.asarray(tree.feature, dtype=np.int64),
            "threshold": np.asarray(tree.threshold, dtype=np.float64),
            "shares": np.asarray(shares, dtype=np.float64),
            "examples": np.asarray(tree.n_node_samples, dtype=np.int64),
        }

    def describe(self) -> list[str]:
        """Return a rule for each leaf, with how many training examples it covers, those with most first."""
        names = column_tests(self.space, self.config.encoding)
        lines = []
        for label in self.knowledge.labels:
            parts = self.parts[label.name]
            if "examples" not in parts:
                continue
            leaves = list(_leaves(parts))
            for node, path in sorted(leaves, key=lambda leaf: -int(parts["examples"][leaf[0]]))[:MOST_LEAVES]:
                count, best = int(parts["examples"][node]), int(parts["shares"][node].argmax())
                value = label.values[int(parts["classes"][best])]
                right = round(count * float(parts["shares"][node][best]))
                tests = [names[int(parts["feature"][at])][above].format(parts["threshold"][at]) for at, above in path]
                lines.append(
                    f"{label.name} is {value} in {right:,} of {count:,} where {' and '.join(tests) or 'always'}"
                )
            if len(leaves) > MOST_LEAVES:
                lines.append(f"{label.name}: {len(leaves) - MOST_LEAVES} more leaves of fewer examples")
        return lines

    def program(self) -> dict[str, Any]:
        """Return a tree on values as formulas, as learners of formulas keep them: the leaves that say each value."""
        asked = value_tests(self.space)
        labels = {}
        for label in self.knowledge.labels:
            parts = self.parts[label.name]
            classes = parts["classes"].tolist()
            says: dict[int, list[Formula]] = {code: [] for code in classes}
            if len(classes) == 1:
                says[classes[0]].append(Const(True))
            for node, path in _leaves(parts) if len(classes) > 1 else ():
                tests = [(asked[int(parts["feature"][at])], above) for at, above in path]
                holds = conjunction(*(test if above else Not(test) for test, above in tests)) if path else Const(True)
                says[classes[int(parts["shares"][node].argmax())]].append(holds)
            texts = {code: str(disjunction(*leaves) if leaves else Const(False)) for code, leaves in says.items()}
            if label.kind == "bool":  # one formula says it all
                true = label.values.index(True)
                texts = {true: texts.get(true, str(Const(False)))}
            formulas = [[code, text] for code, text in texts.items()]
            labels[label.name] = {"formulas": formulas, "otherwise": classes[0], "notes": {}}
        return {"labels": labels}

    def scores(self, parts: Mapping[str, Array], inputs: Array) -> Array:
        """Walk all examples down the tree at once."""
        nodes, rows = np.zeros(len(inputs), dtype=np.int64), np.arange(len(inputs))
        while (inner := parts["left"][nodes] >= 0).any():
            values = inputs[rows, np.maximum(parts["feature"][nodes], 0)].astype(np.float32)  # as scikit-learn compares
            step = np.where(values <= parts["threshold"][nodes], parts["left"][nodes], parts["right"][nodes])
            nodes = np.where(inner, step, nodes)
        return parts["shares"][nodes]
