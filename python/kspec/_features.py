"""Random Fourier features and Gram matrices of a kernel."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Literal

import numpy as np

from . import _arrays
from . import _header as h
from ._call import Input, Progress, Watch, _whole, above_zero
from ._errors import error_of
from ._files import read
from ._library import library

Kernel = Literal["gaussian", "laplace", "cauchy", "matern"]
Frequencies = Literal["iid", "orthogonal"]
_KERNELS = {
    "gaussian": h.KSPEC_KERNEL_GAUSSIAN,
    "laplace": h.KSPEC_KERNEL_LAPLACE,
    "cauchy": h.KSPEC_KERNEL_CAUCHY,
    "matern": h.KSPEC_KERNEL_MATERN,
}
_FREQUENCIES = {"iid": h.KSPEC_FREQUENCIES_IID, "orthogonal": h.KSPEC_FREQUENCIES_ORTHOGONAL}


def _kernel_call(
    name: str,
    x: Input,
    width: int | None,
    kernel: str,
    sigma: Any,
    gamma: float | None,
    nu: float | None,
    frequencies: str,
    seed: int,
    threads: int,
    progress: Progress,
) -> np.ndarray[Any, Any]:
    if kernel not in _KERNELS:
        raise ValueError(f"kernel: {kernel!r} must be one of {', '.join(_KERNELS)}")
    if frequencies not in _FREQUENCIES:
        raise ValueError(f"frequencies: {frequencies!r} must be one of {', '.join(_FREQUENCIES)}")
    if isinstance(x, (str, os.PathLike)):
        x = read(x, nan="error")
    a = _arrays.to_array("x", x)[0]
    if a.ndim != 2:
        raise ValueError(f"x has {a.ndim} axes; rows and columns are expected")
    out = np.empty((a.shape[0], a.shape[0] if width is None else width))
    options = h.kspec_norm_opts(
        size=ctypes.sizeof(h.kspec_norm_opts),
        kernel=_KERNELS[kernel],
        median_sigma=int(sigma == "median"),
        sigma=0.0 if sigma is None or sigma == "median" else above_zero("sigma", sigma),
        gamma=0.0 if gamma is None else above_zero("gamma", gamma),
        nu=0.0 if nu is None else above_zero("nu", nu),
        frequencies=_FREQUENCIES[frequencies],
        features=width or 0,
        seed=_whole("seed", seed, 0),
        threads=_whole("threads", threads, 0, 1024),
    )
    err = h.kspec_error()
    with Watch(progress) as watch:
        options.progress = watch.progress
        status = getattr(library(), name)(
            ctypes.byref(_arrays.matrix(a)),
            ctypes.byref(options),
            _arrays.pointer(out),
            ctypes.byref(err),
        )
    if status:
        raise error_of(status, err.msg.decode())
    return out


def features(
    x: Input,
    q: int = 256,
    *,
    kernel: Kernel = "gaussian",
    sigma: float | Literal["median"] | None = None,
    gamma: float | None = None,
    nu: float | None = None,
    frequencies: Frequencies = "iid",
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> np.ndarray[Any, Any]:
    """q random Fourier features of each row of x: Z with Z Z^T near the Gram matrix, without bias.

    The kernel is exp(-gamma |x-y|^2), gamma = 1/(2 sigma^2), or another one; sigma is 1 by default. nu is the
    smoothness of matern, 1.5 by default. Orthogonal frequencies are closer to the kernel. Feature j
    is the same whatever q is, and the same for every x of as many columns; a row's features do not depend on
    the other rows. x may be the name of a file.
    """
    q = _whole("q", q, 1)
    return _kernel_call(
        "kspec_features", x, q, kernel, sigma, gamma, nu, frequencies, seed, threads, progress
    )


def gram(
    x: Input,
    *,
    kernel: Kernel = "gaussian",
    sigma: float | Literal["median"] | None = None,
    gamma: float | None = None,
    nu: float | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> np.ndarray[Any, Any]:
    """The Gram matrix K_ij = k(x_i, x_j) of the rows of x, an array or the name of a file."""
    return _kernel_call("kspec_gram", x, None, kernel, sigma, gamma, nu, "iid", seed, threads, progress)
