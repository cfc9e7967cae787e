"""For scikit-learn: the spectrum behind a matrix as an estimator, random features, regressions that choose
their parameters by theory, and a validation curve without training."""

from __future__ import annotations

import dataclasses
import numbers
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _functions as f
from ._errors import KspecWarning
from ._features import features as random_features
from ._results import Smooth
from ._smooth import smooth

try:  # since scikit-learn 1.6; before, a method of the estimator
    from sklearn.utils.validation import validate_data as _validate
except ImportError:

    def _validate(estimator: Any, X: Any, **options: Any) -> Any:
        return estimator._validate_data(X, **options)


__all__ = [
    "KernelSpectrum",
    "RandomFeatureRidge",
    "RandomFourierFeatures",
    "RidgeCurve",
    "WeightedFourierRegressor",
    "ridge_curve",
]

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
        Z = random_features(
            X, self.n_components, gamma=self.gamma_, seed=self.seed_, threads=self.threads or 0
        )
        return Z.astype(X.dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


# ---- regressions that choose their parameters ----


class RandomFeatureRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Ridge regression on random Fourier features, RBFSampler and Ridge, with parameters chosen by theory.

    fit() predicts the test error of each choice without training any (kspec.ridge), from at most 1000 rows to
    train on and 1000 to test on, in up to five divisions of the rows. It then trains one model, on all rows.

    Parameters
    ----------
    features : how many, or "auto": the fewest whose predicted error is within 0.5% of the best, times the
        factor by which all rows are more than those that the theory trains on; twice as many where that is
        the most that it tries, four for each row.
    alpha : as Ridge has it, or "auto": of least predicted error.
    gamma : of the kernel exp(-gamma |x-y|^2), or "auto": of 0.3 to 3 times the median distance as sigma.
    standardize : columns to mean 0 and standard deviation 1 first.
    random_state, threads : the seed, and the number of threads (all by default).

    Attributes
    ----------
    features_, alpha_, gamma_ : as chosen.
    predicted_mse_ : their predicted error, averaged over targets; None where all three are given.
    recommendation_ : the result of kspec.ridge(), with the errors along all three; None unless all are
        "auto".
    model_ : the Ridge that was trained.
    """

    def __init__(
        self,
        *,
        features: int | str = "auto",
        alpha: float | str = "auto",
        gamma: float | str = "auto",
        standardize: bool = True,
        random_state: Any = 0,
        threads: int | None = None,
    ) -> None:
        self.features = features
        self.alpha = alpha
        self.gamma = gamma
        self.standardize = standardize
        self.random_state = random_state
        self.threads = threads

    def fit(self, X: Any, y: Any) -> RandomFeatureRidge:
        X, y = _validate(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        given = {k: v for k in ("features", "alpha", "gamma") if (v := getattr(self, k)) != "auto"}
        for name, value in given.items():
            if isinstance(value, str) or not value > 0:
                raise ValueError(f"{name}: {value!r} must be above 0, or 'auto'")
        self.seed_ = _seed(self.random_state)
        self._mean, self._scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        if self.standardize:
            self._mean, scale = X.mean(axis=0), X.std(axis=0)
            self._scale = np.where(scale > 1e-14 * np.abs(X).max(axis=0), scale, 1.0)
        X = (X - self._mean) / self._scale
        self.recommendation_: Any = None
        self.predicted_mse_: float | None = None
        self.features_, self.alpha_, self.gamma_ = 100, 1.0, 1.0 / X.shape[1]
        distance = _median_distance(X, self.seed_)
        if len(given) < 3 and len(X) >= 8 and distance > 0 and np.ptp(y, axis=0).max() > 0:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", KspecWarning)  # the result has its doubts
                if given:
                    self._search(X, y, given, distance)
                else:
                    self._recommend(X, y)
        self.features_ = int(given.get("features", self.features_))
        self.alpha_ = float(given.get("alpha", self.alpha_))
        self.gamma_ = float(given.get("gamma", self.gamma_))
        self.model_ = Ridge(alpha=self.alpha_).fit(self._columns(X), y)
        return self

    def predict(self, X: Any) -> Array:
        check_is_fitted(self)
        X = _validate(self, X, dtype=np.float64, reset=False)
        predicted: Array = self.model_.predict(self._columns((X - self._mean) / self._scale))
        return predicted

    def _columns(self, X: Array) -> Array:
        return random_features(
            X, self.features_, gamma=self.gamma_, seed=self.seed_, threads=self.threads or 0
        )

    def _recommend(self, X: Array, y: Array) -> None:
        r = f.ridge(
            X,
            target=y,
            activation="phases",
            intercept=True,
            standardize=False,
            seed=self.seed_,
            threads=self.threads,
        )
        self.recommendation_ = r
        curve = [p for p in r.curves["features"] if p["test_mse"] is not None]
        least = min(p["test_mse"] for p in curve)
        chosen = next(p for p in curve if p["test_mse"] <= 1.005 * least)
        self.predicted_mse_ = chosen["test_mse"]
        # kspec's columns are sqrt(q/2) times RBFSampler's cosines, and its squares are means
        self.alpha_ = chosen["lambda"] * r.rows / chosen["features"]
        self.gamma_ = 0.5 / chosen["sigma"] ** 2
        end = 2 if chosen is curve[-1] else 1  # where more would be better, twice the most that were tried
        self.features_ = round(end * chosen["features"] * max(1.0, len(X) / r.rows))

    def _search(self, X: Array, y: Array, given: dict[str, Any], distance: float) -> None:
        """What is not given, on a grid: one division of at most 700 rows"""
        order = np.random.default_rng(self.seed_).permutation(len(X))[:700]
        rows = len(order) - int(0.3 * len(order) + 0.5)
        counts = [given["features"]] if "features" in given else np.unique(np.geomspace(2, 4 * rows, 17) // 1)
        strengths = given["alpha"] * np.array(counts) / rows if "alpha" in given else np.logspace(-8, 4, 49)
        scales = np.array([0.3, 0.5, 0.7, 1, 1.4, 2, 3]) * distance
        found = []
        for sigma in [(2 * given["gamma"]) ** -0.5] if "gamma" in given else scales:
            r = f.ridge(
                X[order],
                target=y[order],
                features=[int(q) for q in counts],
                lambda_=strengths,
                sigma=float(sigma),
                activation="phases",
                intercept=True,
                center_target=True,
                test_fraction=0.3,
                seed=self.seed_,
                threads=self.threads,
            )
            for p in r.points:
                alpha = p["lambda"] * rows / p["features"]
                if "alpha" not in given or np.isclose(alpha, given["alpha"]):
                    found.append((p["features"], p["test_mse"], alpha, 0.5 / sigma**2))
        most = 1.005 * min(c[1] for c in found)
        q, self.predicted_mse_, self.alpha_, self.gamma_ = min(c for c in found if c[1] <= most)
        self.features_ = round(q * max(1.0, len(X) / rows))


class WeightedFourierRegressor(RegressorMixin, BaseEstimator):
    """A smooth curve y(x) with a band: kspec.smooth as an estimator.

    Basis, smoothness and noise are chosen by the marginal likelihood of the data
    (docs/explanation/smoothing.md); parameters that are given are not. Of several columns the curve is a
    function of their sum, each times its own slope of y. Whole sample weights are so many equal points;
    others divide the variance of a point's noise.

    Parameters
    ----------
    basis : "auto", "real" (sines and cosines), "cosine", "legendre" or "chebyshev".
    learn, beta, noise, period : as in kspec.smooth(); "auto", or None for the period.
    stop_at_noise : least squares with the fewest functions that leave a residual of the noise's size.
    threads : all by default.

    Attributes
    ----------
    curve_ : the result of kspec.smooth(), with the curve, its band, and plot().
    direction_ : the weights of the columns.
    basis_, noise_, beta_ : as chosen.
    """

    def __init__(
        self,
        *,
        basis: str = "auto",
        learn: int | str = "auto",
        beta: float | str = "auto",
        noise: float | str = "auto",
        period: float | None = None,
        stop_at_noise: bool = False,
        threads: int | None = None,
    ) -> None:
        self.basis = basis
        self.learn = learn
        self.beta = beta
        self.noise = noise
        self.period = period
        self.stop_at_noise = stop_at_noise
        self.threads = threads

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> WeightedFourierRegressor:
        X, y = _validate(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
            if np.all(weights == np.floor(weights)) and weights.sum() < 1e6:
                times = weights.astype(int)
                X, y, weights = np.repeat(X, times, axis=0), np.repeat(y, times), None
        self.direction_ = np.ones(1)
        if X.shape[1] > 1:
            centred = X - np.average(X, axis=0, weights=weights)
            target = y - np.average(y, weights=weights)
            shared = np.average(centred * target[:, None], axis=0, weights=weights)
            own = np.average(centred**2, axis=0, weights=weights)
            self.direction_ = np.divide(shared, own, out=np.zeros(X.shape[1]), where=own > 0)
        self._data = (X @ self.direction_, y, weights)
        self.curve_ = self._call(None)
        self.basis_, self.noise_, self.beta_ = self.curve_.basis, self.curve_.noise, self.curve_.beta
        return self

    def predict(self, X: Any, return_interval: bool = False) -> Any:
        """The curve at X; with return_interval the ends of its 95% band, too: (value, low, high)."""
        check_is_fitted(self)
        X = _validate(self, X, dtype=np.float64, reset=False)
        rows = self._call(X @ self.direction_).predictions
        return (rows["value"], rows["ci_low"], rows["ci_high"]) if return_interval else rows["value"]

    def _call(self, at: Array | None) -> Smooth:
        x, y, weights = self._data
        given: dict[str, Any] = self.get_params()
        return smooth(y, x, sample_weight=weights, at=at, **given)


def _median_distance(X: Array, seed: int) -> float:
    """Of two rows, of at most 300 of them"""
    few = X[np.random.default_rng(seed).permutation(len(X))[:300]]
    return float(np.median(euclidean_distances(few)[np.triu_indices(len(few), 1)]))


# ---- a curve without training ----


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
    scikit-learn's test errors at gamma = 0.2, and within 15% where the kernel is wide
    (docs/explanation/ridge.md).
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
