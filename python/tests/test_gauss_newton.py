"""Weighted Gauss-Newton against the minimum that weighted least squares has by its gradient."""

import numpy as np
import pytest

import kspec


def decay(x, y):
    def model(theta):
        e = np.exp(-theta[1] * x)
        return y - theta[0] * e, np.column_stack([e, -theta[0] * x * e])

    return model


def test_gradient_is_zero():
    x = np.linspace(0, 3, 25)
    rng = np.random.default_rng(1)
    y = 2 * np.exp(-0.7 * x) + 0.1 * rng.normal(size=25)
    weights = rng.uniform(0.5, 3, size=25)
    model = decay(x, y)
    theta = kspec.gauss_newton(model, [1.5, 0.5], data_weights=weights.reshape(-1, 1))
    residual, jacobian = model(theta)
    assert np.abs(jacobian.T @ (weights**2 * residual)).max() < 1e-9
    plain = kspec.gauss_newton(model, [1.5, 0.5])
    assert np.abs(plain - theta).max() > 1e-3


def test_no_convergence_is_an_error():
    x = np.linspace(0, 3, 25)
    with pytest.raises(RuntimeError, match="not converged after 1 steps"):
        kspec.gauss_newton(decay(x, 2 * np.exp(-0.7 * x)), [1.5, 0.5], steps=1)


@pytest.mark.parametrize("bad", [{"steps": 0}, {"tolerance": -1}])
def test_bad_numbers_are_refused(bad):
    x = np.linspace(0, 3, 25)
    with pytest.raises(ValueError, match=next(iter(bad))):
        kspec.gauss_newton(decay(x, 2 * np.exp(-0.7 * x)), [1.5, 0.5], **bad)
