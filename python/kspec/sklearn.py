"""For scikit-learn: the spectrum behind a matrix as an estimator, random features, and a curve without
training."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _functions as f
from ._features import features

try:  # since scikit-learn 1.6; before, a method of the estimator
    from sklearn.utils.validation import validate_data as _validate
except ImportError:

    def _validate(estimator: Any, X: Any, **options: Any) -> Any:
        return estimator._validate_data(X, **options)


__all__ = ["KernelSpectrum", "RandomFourierFeatures", "RidgeCurve", "ridge_curve"]

Array = np.ndarray[Any, Any]


def _seed(random_state: Any) -> int:
    """An int is the seed itself; anything else draws one."""
    if isinstance(random_state, numbers.Integral) and int(random_state) >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


class KernelSpectrum(BaseEstimator):
    """The eigenvalues, moments and dimension of the kernel behind the rows of X.

    Parameters
    ----------
    method : "fit", "moments", or "auto": fit where X has at least 4 rows and 4 columns.
    n : the highest order of the moments, 4 by default, or less where a side is shorter.
    center : which mean is removed: "rows" or True (that of each column), "cols" (of each row), "none" or
        False.
    random_state, threads : the seed, and the number of threads (all by default).

    Attributes
    ----------
    eigenvalues_, moments_ : arrays; moments_[k] is m(k+1).
    dimension_ : the participation ratio m(1)^2/m(2), without the bias of the sample's size.
    spectrum_, moments_result_, dimension_result_ : the results they come from, with error bars and plot();
        the last is None below 5 rows or 3 columns, where the dimension is that of the moments.
    """

    def __init__(
        self,
        method: str = "auto",
        n: int | None = None,
        center: bool | str = True,
        random_state: Any = 0,
        threads: int | None = None,
    ) -> None:
        self.method = method
        self.n = n
        self.center = center
        self.random_state = random_state
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> KernelSpectrum:
        X = _validate(self, X, dtype=np.float64, ensure_min_samples=3, ensure_min_features=2)
        shortest = min(X.shape)
        common: dict[str, Any] = dict(seed=_seed(self.random_state), threads=self.threads, center=self.center)
        order = min(4, shortest) if self.n is None else self.n
        method: Any = self.method
        if method == "auto":
            method = "fit" if shortest >= 4 else "moments"
        self.moments_result_ = f.moments(X, n=order, **common)
        self.spectrum_ = f.spectrum(X, method=method, n=order, **common)
        # fewer rows or columns have no jackknife, but moments
        small = X.shape[0] < 5 or X.shape[1] < 3
        self.dimension_result_ = None if small else f.dimension(X, **common)
        self.moments_ = self.moments_result_.estimates["value"]
        self.eigenvalues_ = self.spectrum_.eigenvalues
        self.dimension_ = float(self.dimension_result_ or self.moments_result_)
        return self


class RandomFourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random Fourier features of the kernel exp(-gamma |x-y|^2): RBFSampler with the same parameters, and
    faster.

    Parameters
    ----------
    gamma : a number, or "scale": 1/(columns * variance of X).
    n_components : how many features.
    random_state : an int is the seed of kspec.features(); anything else draws one.
    threads : all processors by default.
    """

    def __init__(
        self,
        *,
        gamma: float | str = 1.0,
        n_components: int = 100,
        random_state: Any = None,
        threads: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> RandomFourierFeatures:
        X = _validate(self, X, dtype=(np.float64, np.float32))
        self.seed_ = _seed(self.random_state)
        if self.gamma == "scale":
            variance = X.var(dtype=np.float64)
            self.gamma_ = 1.0 / (X.shape[1] * variance) if variance != 0 else 1.0
        else:
            self.gamma_ = float(self.gamma)
        self._n_features_out = self.n_components
        return self

    def transform(self, X: Any) -> Array:
        check_is_fitted(self)
        X = _validate(self, X, dtype=(np.float64, np.float32), reset=False)
        Z = features(X, self.n_components, gamma=self.gamma_, seed=self.seed_, threads=self.threads or 0)
        return Z.astype(X.dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclasses.dataclass(frozen=True, eq=False)
class RidgeCurve:
    """Predicted mean squared errors, [i, j] for n_components[i] and alpha[j]"""

    n_components: Array
    alpha: Array
    train_mse: Array
    test_mse: Array

    def to_dataframe(self) -> Any:
        import pandas as pd

        index = pd.MultiIndex.from_product([self.n_components, self.alpha], names=["n_components", "alpha"])
        return pd.DataFrame(
            {"train_mse": self.train_mse.ravel(), "test_mse": self.test_mse.ravel()}, index=index
        )

    def plot(self, ax: Any = None) -> Any:
        """The errors by the longer of the two parameters."""
        from ._plot import COLORS, ORDER

        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(layout="constrained")[1]
        by_alpha = len(self.alpha) >= len(self.n_components)
        x, others = (self.alpha, self.n_components) if by_alpha else (self.n_components, self.alpha)
        word = "n_components" if by_alpha else "alpha"
        for k, other in enumerate(others):
            color = COLORS[ORDER[k % len(ORDER)]]
            train, test = ((a[k] if by_alpha else a[:, k]) for a in (self.train_mse, self.test_mse))
            ax.plot(x, test, color=color, label=f"test, {word} = {other:g}")
            ax.plot(x, train, color=color, linestyle="--", label=f"train, {word} = {other:g}")
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("alpha" if by_alpha else "n_components")
        ax.set_ylabel("mean squared error")
        ax.legend(frameon=False, fontsize="small")
        return ax


def ridge_curve(
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    n_components: int | Sequence[int] = 100,
    alpha: float | Sequence[float] = 1.0,
    gamma: float = 1.0,
    fit_intercept: bool = True,
    threads: int | None = None,
) -> RidgeCurve:
    """Predicts the validation curve of RBFSampler(gamma, n_components) and Ridge(alpha), without training.

    With fit_intercept the means of features and targets over the rows of X are subtracted, as Ridge does.
    Rows are at most some thousands: the prediction holds a few matrices of rows x rows. It is that of the
    limit in which rows, columns and features are all large: at 300 rows of 30 columns it was within 4% of
    scikit-learn's test errors at gamma = 0.2, and within 15% where the kernel is wide (docs/ridge.md).
    """
    X, X_test = np.asarray(X, dtype=np.float64), np.asarray(X_test, dtype=np.float64)
    y, y_test = np.asarray(y, dtype=np.float64), np.asarray(y_test, dtype=np.float64)
    counts, strengths = np.atleast_1d(n_components).astype(int), np.atleast_1d(alpha).astype(float)
    train, test = [], []
    for q in counts:
        # kspec's columns are sqrt(2) cos(w.x + b), sqrt(q) times RBFSampler's; its |y - S b|^2 is a mean
        points = f.ridge(
            X,
            target=y,
            test=X_test,
            test_target=y_test,
            features=int(q),
            lambda_=strengths * q / len(X),
            sigma=(2.0 * gamma) ** -0.5,
            activation="phases",
            intercept=fit_intercept,
            threads=threads,
        ).points
        train.append(points["train_mse"])
        test.append(points["test_mse"])
    return RidgeCurve(counts, strengths, np.array(train), np.array(test))
