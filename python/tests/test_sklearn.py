"""For scikit-learn: its own checks of estimators, the kernel, and a curve that needs no training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import kspec
from kspec.sklearn import (
    KernelSpectrum,
    RandomFeatureRidge,
    RandomFourierFeatures,
    WeightedFourierRegressor,
    ridge_curve,
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        KernelSpectrum(),
        RandomFourierFeatures(n_components=20),
        RandomFeatureRidge(),
        WeightedFourierRegressor(),
    ],
)
def test_scikit_learns_own_checks(estimator: Any) -> None:
    check_estimator(estimator)


def test_kernel_spectrum(x: Any) -> None:
    e = KernelSpectrum(n=3).fit(x)
    assert e.dimension_ == kspec.dimension(x).dimension
    assert np.array_equal(e.moments_, kspec.moments(x, n=3, center=True).estimates.value)
    assert np.array_equal(e.eigenvalues_, kspec.spectrum(x, n=3).eigenvalues)
    assert e.spectrum_.method == "fit" and e.n_features_in_ == 30


def test_the_kernel_of_rbf_sampler(x: Any) -> None:
    """Both estimate exp(-gamma |x-y|^2): entries of Z Z^T have a variance below 1/q, and 820 of them stay
    within 6 of it."""
    q = 5_000
    for gamma in (0.05, "scale"):
        ours = RandomFourierFeatures(gamma=gamma, n_components=q, random_state=1).fit(x)
        theirs = RBFSampler(gamma=gamma, n_components=q, random_state=1).fit(x)
        K = kspec.gram(x, gamma=ours.gamma_)
        for Z in (ours.transform(x), theirs.transform(x)):
            assert np.abs(Z @ Z.T - K).max() < 6 / np.sqrt(q)
    assert set(RBFSampler().get_params()) <= set(RandomFourierFeatures().get_params())


def test_same_seed_same_features(x: Any) -> None:
    a, b = (RandomFourierFeatures(random_state=3).fit_transform(x) for _ in range(2))
    assert np.array_equal(a, b)
    t = RandomFourierFeatures(random_state=3).fit(x)
    assert np.array_equal(t.transform(x[:7]), a[:7]) and np.array_equal(t.transform(np.asfortranarray(x)), a)
    assert t.transform(x.astype("f4")).dtype == np.float32
    assert list(t.get_feature_names_out()[:1]) == ["randomfourierfeatures0"]


def test_ridge_curve() -> None:
    """Against scikit-learn's own regressions, averaged over 10 draws of the features."""
    random = np.random.default_rng(0)
    X, X_test = random.normal(size=(300, 30)), random.normal(size=(200, 30))
    w = random.normal(size=30) / np.sqrt(30)
    y, y_test = np.tanh(2 * X @ w) + 0.3, np.tanh(2 * X_test @ w) + 0.3
    counts, alphas = [101, 600], [0.01, 1.0]

    def check(gamma: float, intercept: bool, shift: float, off: float) -> None:
        curve = ridge_curve(
            X,
            y + shift,
            X_test,
            y_test + shift,
            n_components=counts,
            alpha=alphas,
            gamma=gamma,
            fit_intercept=intercept,
        )
        for i, q in enumerate(counts):
            for j, alpha in enumerate(alphas):
                errors = []
                for seed in range(10):
                    model = make_pipeline(
                        RBFSampler(gamma=gamma, n_components=q, random_state=seed),
                        Ridge(alpha=alpha, fit_intercept=intercept),
                    )
                    model.fit(X, y + shift)
                    pairs = ((X, y), (X_test, y_test))
                    errors.append([np.mean((model.predict(a) - b - shift) ** 2) for a, b in pairs])
                train, test = np.mean(errors, axis=0)
                assert curve.train_mse[i, j] == pytest.approx(train, rel=off)
                assert curve.test_mse[i, j] == pytest.approx(test, rel=off)

    check(0.2, True, 0, 0.05)
    check(0.05, True, 5, 0.15)
    check(0.05, False, 1, 0.16)


def _table() -> tuple[Any, Any]:
    random = np.random.default_rng(2)
    X = random.normal(size=(300, 4)) * [1, 20, 3, 1]
    return X, 7 + np.sin(X[:, 0]) + X[:, 1] / 20 + 0.2 * random.normal(size=300)


def test_random_feature_ridge() -> None:
    """The model is RBFSampler's and Ridge's; its error is the predicted one, and near the noise's."""
    X, y = _table()
    model = RandomFeatureRidge().fit(X[:200], y[:200])
    error = np.mean((model.predict(X[200:]) - y[200:]) ** 2)
    assert model.predicted_mse_ is not None and error == pytest.approx(model.predicted_mse_, rel=0.4)
    assert 0.04 < error < 0.1 and model.score(X[200:], y[200:]) > 0.9
    assert model.recommendation_.recommended["features"] > 0
    Z = (X - X[:200].mean(axis=0)) / X[:200].std(axis=0)
    columns = RandomFourierFeatures(
        n_components=model.features_, gamma=model.gamma_, random_state=model.seed_
    ).fit_transform(Z)
    plain = Ridge(alpha=model.alpha_).fit(columns[:200], y[:200])
    assert np.allclose(plain.predict(columns[200:]), model.predict(X[200:]), rtol=1e-9)
    # two targets
    both = RandomFeatureRidge().fit(X[:200], np.c_[y, -y][:200]).predict(X[200:])
    assert np.allclose(both[:, 0], -both[:, 1], atol=1e-9)


@pytest.mark.parametrize("given", [{"features": 40}, {"alpha": 0.1}, {"gamma": 0.05, "features": 150}])
def test_given_parameters_are_kept(given: Any) -> None:
    X, y = _table()
    model = RandomFeatureRidge(**given).fit(X[:200], y[:200])
    for name, value in given.items():
        assert getattr(model, name + "_") == value
    assert model.recommendation_ is None and model.predicted_mse_ is not None
    assert np.mean((model.predict(X[200:]) - y[200:]) ** 2) < 0.15
    with pytest.raises(ValueError, match="must be above 0, or 'auto'"):
        RandomFeatureRidge(**{name: -1 for name in given}).fit(X, y)


def test_weighted_fourier_regressor() -> None:
    """It is kspec.smooth(); of several columns the curve is along one direction."""
    random = np.random.default_rng(3)
    x = random.uniform(0, 6, 80)
    y = np.exp(np.sin(x)) + 0.1 * random.normal(size=80)
    model = WeightedFourierRegressor().fit(x[:, None], y)
    at = np.linspace(0.5, 5.5, 11)
    s = kspec.smooth(y, x, at=at)
    value, low, high = model.predict(at[:, None], return_interval=True)
    assert np.array_equal(value, s.predictions.value) and np.array_equal(high, s.predictions.ci_high)
    assert ((low < np.exp(np.sin(at))) & (np.exp(np.sin(at)) < high)).mean() > 0.7
    assert (model.noise_, model.basis_) == (s.noise, s.basis)
    weights = random.uniform(0.5, 2, 80)
    weighted = WeightedFourierRegressor().fit(x[:, None], y, sample_weight=weights)
    assert np.array_equal(weighted.curve_.value, kspec.smooth(y, x, sample_weight=weights).value)
    X = random.normal(size=(200, 3))
    y = np.tanh(X[:, 0] - X[:, 1]) + 0.05 * random.normal(size=200)
    assert WeightedFourierRegressor().fit(X, y).score(X, y) > 0.9
