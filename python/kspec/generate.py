"""Matrices whose kernel is known: random Fourier features, draws of a Gaussian process, a linear kernel."""

from __future__ import annotations

import ctypes
from typing import Any, Literal

import numpy as np

from . import _arrays
from . import _header as h
from ._call import Input, Numbers, Progress, Watch, _float, _numbers, _whole, above_zero
from ._errors import error_of
from ._files import read
from ._library import library

__all__ = ["gaussian", "linear", "rff"]

Correlation = Literal["rows", "cols", "both"]
_CORRELATIONS = {
    None: h.KSPEC_NOISE_INDEPENDENT,
    "rows": h.KSPEC_NOISE_ROWS,
    "cols": h.KSPEC_NOISE_COLS,
    "both": h.KSPEC_NOISE_BOTH,
}


# of whole numbers, which C would wrap; 0 means none given there
_BOUNDS = {"dim": (1, 2**64 - 1), "trials": (1, 2**64 - 1), "seed": (0, 2**64 - 1), "threads": (0, 1024)}


def _list(name: str, values: Any) -> Any:
    numbers = [float(v) for v in _numbers(name, values).split(",")]
    return (ctypes.c_double * len(numbers))(*numbers)


def _square(name: str, value: Input) -> tuple[Any, Any]:
    a = read(value) if isinstance(value, str) else _arrays.to_array(name, value)[0]
    if a.ndim != 2:
        raise ValueError(f"{name}: a matrix is needed, not an array of {a.ndim} axes")
    return _arrays.matrix(a), a


def _generate(
    process: int, rows: int, cols: int, given: dict[str, Any], progress: Progress
) -> np.ndarray[Any, Any]:
    options = h.kspec_generate_opts(size=ctypes.sizeof(h.kspec_generate_opts), process=process)
    keep: list[Any] = []
    lists = {"eta": "eta_count", "eigenvalues": "eigenvalue_count"}
    for name, value in given.items():
        if value is None:
            continue
        if name in lists:
            numbers = _list(name, value)
            setattr(options, name, numbers)
            setattr(options, lists[name], len(numbers))
        elif name in ("Sigma", "Sigma_x"):
            matrix, array = _square(name.lower(), value)
            setattr(options, name, ctypes.pointer(matrix))
            keep += [matrix, array]
        elif name == "noise_correlation":
            if value not in _CORRELATIONS:
                raise ValueError(f"noise_correlation: {value!r} must be one of rows, cols, both")
            options.noise_correlation = _CORRELATIONS[value]
        elif name == "noise":
            options.noise = _float(name, value)
        elif name == "noise_share":
            options.noise_share = above_zero(name, value)
        else:
            setattr(options, name, _whole(name, value, *_BOUNDS[name]))
    rows, cols = _whole("rows", rows, 1), _whole("cols", cols, 1)
    trials = options.trials or 1
    out = np.empty((trials, rows, cols))
    err = h.kspec_error()
    with Watch(progress) as watch:
        options.progress = watch.progress
        status = library().kspec_generate(
            rows, cols, ctypes.byref(options), _arrays.pointer(out), ctypes.byref(err)
        )
    if status:
        raise error_of(status, err.msg.decode())
    return out[0] if trials == 1 else out


def rff(
    rows: int,
    cols: int,
    *,
    dim: int | None = None,
    eta: float | Numbers | None = None,
    sigma: Input | None = None,
    sigma_x: Input | None = None,
    noise: float | None = None,
    noise_correlation: Correlation | None = None,
    noise_share: float | None = None,
    trials: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> np.ndarray[Any, Any]:
    """Random Fourier features sqrt(2) sin(w.x + b) of the kernel exp(-eta |x-x'|^2/2), x ~ N(0, I).

    Returns rows x cols numbers, or trials x rows x cols. sigma and sigma_x, instead of eta: the kernel
    exp(-(x-x')^T Sigma^-1 (x-x')/2) under x ~ N(0, Sigma_x). The same options give the numbers of
    `kspec generate rff`.
    """
    given = dict(
        dim=dim,
        eta=eta,
        Sigma=sigma,
        Sigma_x=sigma_x,
        noise=noise,
        noise_correlation=noise_correlation,
        noise_share=noise_share,
        trials=trials,
        seed=seed,
        threads=threads,
    )
    return _generate(h.KSPEC_PROCESS_RFF, rows, cols, given, progress)


def gaussian(
    rows: int,
    cols: int,
    *,
    dim: int | None = None,
    eta: float | Numbers | None = None,
    sigma: Input | None = None,
    sigma_x: Input | None = None,
    noise: float | None = None,
    noise_correlation: Correlation | None = None,
    noise_share: float | None = None,
    trials: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> np.ndarray[Any, Any]:
    """Columns that are draws of the Gaussian process with the kernel of rff(); the options are its
    options."""
    given = dict(
        dim=dim,
        eta=eta,
        Sigma=sigma,
        Sigma_x=sigma_x,
        noise=noise,
        noise_correlation=noise_correlation,
        noise_share=noise_share,
        trials=trials,
        seed=seed,
        threads=threads,
    )
    return _generate(h.KSPEC_PROCESS_GAUSSIAN, rows, cols, given, progress)


def linear(
    rows: int,
    cols: int,
    *,
    dim: int | None = None,
    eigenvalue: float | Numbers | None = None,
    noise: float | None = None,
    noise_correlation: Correlation | None = None,
    noise_share: float | None = None,
    trials: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> np.ndarray[Any, Any]:
    """sum_l sqrt(c_l) x_l w_l, x and w standard normal: a kernel with the eigenvalues c_l, one or one per
    dimension."""
    given = dict(
        dim=dim,
        eigenvalues=eigenvalue,
        noise=noise,
        noise_correlation=noise_correlation,
        noise_share=noise_share,
        trials=trials,
        seed=seed,
        threads=threads,
    )
    return _generate(h.KSPEC_PROCESS_LINEAR, rows, cols, given, progress)
