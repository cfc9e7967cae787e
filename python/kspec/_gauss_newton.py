"""Weighted Gauss-Newton for nonlinear models, each step by `wls features`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._call import _whole, above_zero
from ._functions import wls_features


def gauss_newton(
    model: Callable[[np.ndarray[Any, Any]], tuple[Any, Any]],
    theta: Any,
    *,
    data_weights: Any = None,
    feature_weights: Any = None,
    ridge: float | None = None,
    steps: int = 50,
    tolerance: float = 1e-10,
) -> np.ndarray[Any, Any]:
    """The theta that minimises |A (y - f(theta))|^2, from a start.

    model(theta) returns the residual y - f(theta), N numbers, and the Jacobian of f, N x p. Each step
    minimises |A (J step - residual)|^2 by kspec.wls_features(), with the same weights and ridge. Ends when no
    number moves by more than the tolerance, or raises RuntimeError after so many steps.
    """
    at, limit = np.array(theta, dtype=float), above_zero("tolerance", tolerance)
    for _ in range(_whole("steps", steps, 1)):
        residual, jacobian = model(at)
        fit = wls_features(
            np.atleast_2d(np.asarray(jacobian, dtype=float)),
            target=np.asarray(residual, dtype=float).reshape(-1, 1),
            data_weights=data_weights,
            feature_weights=feature_weights,
            ridge=ridge,
        )
        step = np.asarray(fit.points[0]["theta"], dtype=float).reshape(at.shape)
        at += step
        if np.abs(step).max() <= limit:
            return at
    raise RuntimeError(f"not converged after {steps} steps: the last moved theta by {np.abs(step).max():.3g}")
