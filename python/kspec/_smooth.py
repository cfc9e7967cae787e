"""kspec.smooth: a smooth curve through data, `kspec wls fit` for arrays."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from . import _functions as f
from ._call import Progress, run
from ._results import Smooth

Array = np.ndarray[Any, Any]


def _numbers(values: Any) -> Any:
    """An array; a name of a column or of a file, and a number of a column, stay what they are"""
    if values is None or isinstance(values, (str, int)) or hasattr(values, "__fspath__"):
        return values
    return values if hasattr(values, "iloc") else np.asarray(values)


def smooth(
    y: Any,
    x: Any = None,
    *,
    basis: Literal["auto", "real", "cosine", "legendre", "chebyshev", "fourier"] | None = None,
    learn: int | Literal["auto"] | None = None,
    beta: float | Literal["auto"] | None = None,
    noise: float | Literal["auto"] | None = None,
    period: float | None = None,
    sample_weight: Any = None,
    target: Any = None,
    at: Any = None,
    nan: Literal["error", "omit-rows"] | None = None,
    stop_at_noise: bool = False,
    threads: int | None = None,
    progress: Progress = None,
) -> Smooth:
    """A smooth curve through the points (x, y), with a 95% band.

    Basis, smoothness and noise are chosen by the marginal likelihood of the data; what is given is not.

    Parameters
    ----------
    y : N numbers, real or complex, or a table of which `x` and `target` name columns
    x : where they are, in any order; by default N points of an even grid, 2 pi j/N
    basis : "real" (sines and cosines), "cosine", "legendre", "chebyshev", or "fourier" for complex data
    learn : how many functions of the basis
    beta : variances fall as (1+l)^(-2 beta) with the frequency or degree l
    noise : standard deviation of the noise, of a point of weight 1
    period : of the periodic bases
    sample_weight : as in scikit-learn
    at : further x, at which `predictions` are made
    nan : "omit-rows" takes missing values of y as gaps, at which the curve is given
    stop_at_noise : least squares with the fewest functions that leave a residual of the noise's size

    Returns
    -------
    Smooth, with value, ci_low and ci_high at the points, `predictions`, `noise`, `beta`, `basis`, and plot()
    """
    y = _numbers(y)
    pairs = isinstance(y, np.ndarray) and np.iscomplexobj(y)
    if pairs:
        y = np.column_stack([y.real, y.imag])
    options = dict(
        x=_numbers(x),
        basis=basis,
        learn=learn,
        beta=beta,
        noise=noise,
        period=period,
        sample_weight=_numbers(sample_weight),
        target=target,
        at=_numbers(at),
        nan=nan,
        stop_at_noise=stop_at_noise,
        complex=pairs,
        threads=threads,
    )
    if beta is None:
        options["beta"] = "auto"  # a curve, also with the modes e^{ikx} and a given number of them
    return Smooth._of(run(["wls", "fit"], (y,), "y", f._wls_fit, options, progress))
