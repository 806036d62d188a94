"""Components and prototypes by scikit-learn, and two baselines that no method should fall behind."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch
from pydantic import Field

from assay.base import Array, DataError, ProgressCallback, import_extra, rng_for
from assay.models.explain.discovery import Discoverer, DiscoveryConfig, Scaler, SplitRows


class Components(Discoverer):
    """An estimator of scikit-learn that is fitted on scaled activations and transforms others."""

    scaler: Scaler
    estimator: Any

    @abstractmethod
    def make(self, units: int) -> Any:
        """Return the estimator of so many units."""

    def fit(self, train: SplitRows, valid: SplitRows, report: ProgressCallback) -> None:
        """Fit the estimator; there are no more units than features and examples."""
        report(f"{self.name}, seed {self.seed}", 0, 1)
        self.scaler = Scaler.of(train.rows)
        rows = self.prepared(train)
        count = min(self.config.units, self.most_units(rows))
        if count < self.config.units:
            self.notes.append(f"{count} units instead of {self.config.units}: there are no more features or examples")
        self.estimator = self.make(count)
        try:
            with self.noting_warnings():
                self.estimator.fit(rows)
        except ValueError as error:
            raise DataError(f"method {self.name!r} cannot be fitted on these activations: {error}") from None

    def most_units(self, rows: Array) -> int:
        """Return how many units there can be."""
        return int(min(rows.shape))

    def prepared(self, split: SplitRows) -> Array:
        """Return what the estimator sees of a split."""
        rows: Array = self.scaler(split.rows).double().numpy()
        return rows

    def units(self, split: SplitRows) -> Array:
        """Return what the estimator makes of a split."""
        with self.noting_warnings():
            return np.asarray(self.estimator.transform(self.prepared(split)), dtype=np.float64)

    @property
    def random_state(self) -> int:
        """The seed of the estimator."""
        return self.torch_seed()


class PCA(Components):
    """Principal components; they have no random part, so that seeds differ in the examples that are drawn only."""

    name = "pca"

    def make(self, units: int) -> Any:
        """Return the components of largest variance."""
        library = import_extra("sklearn.decomposition", "the method 'pca'")
        return library.PCA(units, random_state=self.random_state)


class IterativeConfig(DiscoveryConfig):
    """Settings of what is fitted in steps: ICA and NMF."""

    steps: int = Field(300, ge=1)
    """The most steps."""
    tolerance: float = Field(1e-3, gt=0)


class ICA(Components):
    """Independent components by FastICA, on whitened activations."""

    name = "ica"
    Config: ClassVar[type[DiscoveryConfig]] = IterativeConfig
    config: IterativeConfig

    def most_units(self, rows: Array) -> int:
        """Return the rank: features that repeat others, or never fire, cannot be whitened."""
        return int(np.linalg.matrix_rank(rows - rows.mean(axis=0), rtol=1e-3))

    def make(self, units: int) -> Any:
        """Return the components that are least Gaussian."""
        library = import_extra("sklearn.decomposition", "the method 'ica'")
        return library.FastICA(
            units,
            whiten="unit-variance",
            whiten_solver="svd",
            max_iter=self.config.steps,
            tol=self.config.tolerance,
            random_state=self.random_state,
        )


class NMF(Components):
    """Non-negative matrix factorisation; where activations can be below 0, each feature counts from its least."""

    name = "nmf"
    Config: ClassVar[type[DiscoveryConfig]] = IterativeConfig
    config: IterativeConfig
    least: torch.Tensor

    def fit(self, train: SplitRows, valid: SplitRows, report: ProgressCallback) -> None:
        """Fit the factors; remember the least of each feature."""
        self.least = train.rows.amin(dim=0).clamp_max(0)
        if bool((self.least < 0).any()):
            self.notes.append("some activations are below 0: each feature counts from its least in training")
        super().fit(train, valid, report)

    def prepared(self, split: SplitRows) -> Array:
        """Return activations that are not below 0."""
        rows: Array = ((split.rows - self.least).clamp_min(0) / self.scaler.scale).double().numpy()
        return rows

    def make(self, units: int) -> Any:
        """Return the factors."""
        library = import_extra("sklearn.decomposition", "the method 'nmf'")
        return library.NMF(
            units, init="random", max_iter=self.config.steps, tol=self.config.tolerance, random_state=self.random_state
        )


class KMeans(Components):
    """Prototypes: each unit is how near an example is to the mean of a cluster."""

    name = "kmeans"

    def make(self, units: int) -> Any:
        """Return the clusters."""
        library = import_extra("sklearn.cluster", "the method 'kmeans'")
        return library.KMeans(units, n_init=3, random_state=self.random_state)

    def units(self, split: SplitRows) -> Array:
        """Return the distances to all prototypes, below 0 so that the nearest is the largest."""
        return -super().units(split)


class RandomDirections(Discoverer):
    """Activations along random directions: what a method must exceed to have found anything."""

    name = "random-directions"
    scaler: Scaler
    directions: torch.Tensor

    def fit(self, train: SplitRows, valid: SplitRows, report: ProgressCallback) -> None:
        """Draw the directions."""
        self.scaler = Scaler.of(train.rows)
        rng = rng_for(self.seed, self.name, train.rows.shape[1])
        drawn = rng.normal(size=(train.rows.shape[1], self.config.units)) / train.rows.shape[1] ** 0.5
        self.directions = torch.from_numpy(drawn).float()

    def units(self, split: SplitRows) -> Array:
        """Return the activations along each direction."""
        units: Array = (self.scaler(split.rows) @ self.directions).double().numpy()
        return units


class RandomUnits(Discoverer):
    """Random numbers: what chance gives."""

    name = "random"

    def fit(self, train: SplitRows, valid: SplitRows, report: ProgressCallback) -> None:
        """Learn nothing."""

    def units(self, split: SplitRows) -> Array:
        """Return numbers that depend on the seed and the number of the example only."""
        rows = [
            rng_for(self.seed, self.name, split.data.name, int(i)).normal(size=self.config.units)
            for i in split.data.index
        ]
        return np.stack(rows)
