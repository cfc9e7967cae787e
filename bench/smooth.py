"""Smooth curves against the truth: `kspec.smooth(y, x)` with no options, on signals that are known.

    python bench/smooth.py [--seeds 200] [--first 0] [--signals 0-8] [--sizes 32,64,256] [--rivals] [--jobs 1]

Prints a line of a table for each signal, kind of points and noise, with three figures for each number of
points: the mean maximum error over that of least squares with the best degree of the best basis, chosen with
the truth in hand; the share of points at which the 95% band holds the truth; the estimated noise over the
true one.

--rivals: instead, the root mean squared error, the band's coverage and a fit's processor time in ms, and the
same for SciPy's make_smoothing_spline and scikit-learn's GaussianProcessRegressor.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
import warnings
from typing import Any

import numpy as np

import kspec

Array = np.ndarray[Any, Any]
TURN = 2 * np.pi
SIGNALS = [
    ("e^{sin x} + 0.3 cos 3x", lambda x: np.exp(np.sin(x)) + 0.3 * np.cos(3 * x)),
    ("two tones", lambda x: np.sin(3 * x) + 0.5 * np.cos(7 * x)),
    ("Poisson kernel", lambda x: 1 / (1.3 - np.cos(x))),
    ("trend and sine", lambda x: x / 2 + np.sin(2 * x)),
    ("bump", lambda x: np.exp(-((x - np.pi) ** 2) / 0.32)),
    ("step", lambda x: np.where(x < 2, 0.0, 1.0)),
    ("kink", lambda x: np.abs(x - 2)),
    ("nothing but noise", lambda x: 0 * x),
    ("straight line", lambda x: x / 2),
]


def points(signal: int, size: int, regular: bool, noise: float, seed: int) -> tuple[Array, Array, Array]:
    """x, the truth and y; x is uniform on the circle where it is not a grid"""
    r = np.random.default_rng([seed, signal, size, regular, int(100 * noise)])
    x = TURN * np.arange(size) / size if regular else np.sort(r.uniform(0, TURN, size))
    truth = SIGNALS[signal][1](x)
    return x, truth, truth + noise * r.normal(size=size)


def bases(x: Array) -> list[tuple[Array, int]]:
    """Functions of sines and cosines, cosines and Legendre polynomials, and how many have each degree"""
    most = min(len(x), 60)
    k = np.arange(1, most // 2)
    circle = np.stack([np.cos(np.outer(x, k)), np.sin(np.outer(x, k))], axis=2).reshape(len(x), -1)
    return [
        (np.column_stack([np.ones(len(x)), circle]), 2),
        (np.cos(np.outer(x / 2, np.arange(most))), 1),
        (np.polynomial.legendre.legvander(x / np.pi - 1, most - 1), 1),
    ]


def best_degrees(x: Array, truth: Array, y: Array) -> list[Array]:
    """The maximum error of least squares with each degree of each basis"""
    errors = []
    for functions, each in bases(x):
        q = np.linalg.qr(functions)[0]
        fits = np.cumsum(q * (q.T @ y), axis=1)[:, ::each]
        errors.append(np.abs(fits - truth[:, None]).max(axis=0))
    return errors


def ours(x: Array, y: Array, regular: bool) -> tuple[Array, Array, float]:
    s = kspec.smooth(y, None if regular else x, threads=1)
    return s.value, (s.ci_high - s.ci_low) / 2, s.noise


def spline(x: Array, y: Array, regular: bool) -> tuple[Array, Array | None, float]:
    from scipy.interpolate import make_smoothing_spline

    return make_smoothing_spline(x, y)(x), None, np.nan


def process(x: Array, y: Array, regular: bool) -> tuple[Array, Array | None, float]:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, normalize_y=True).fit(x[:, None], y)
    value, sd = model.predict(x[:, None], return_std=True)
    noise = np.sqrt(model.kernel_.k2.noise_level) * y.std()
    return value, 1.96 * np.sqrt(np.maximum(sd**2 - noise**2, 0)), noise


def cell(signal: int, size: int, regular: bool, noise: float, seeds: range) -> str:
    error, cover, sigma, degrees = [], [], [], []
    for seed in seeds:
        x, truth, y = points(signal, size, regular, noise, seed)
        value, half, found = ours(x, y, regular)
        error.append(np.abs(value - truth).max())
        cover.append(np.mean(np.abs(value - truth) <= half))
        sigma.append(found / noise)
        degrees.append(best_degrees(x, truth, y))
    least = min(np.mean([d[b] for d in degrees], axis=0).min() for b in range(3))
    return f"{np.mean(error) / least:.2f} | {100 * np.mean(cover):.1f} | {np.mean(sigma):.2f}"


def rivals(signal: int, size: int, regular: bool, noise: float, seeds: range) -> str:
    cells = []
    for fit in (ours, spline, process):
        error, cover, seconds = [], [], []
        for seed in seeds:
            x, truth, y = points(signal, size, regular, noise, seed)
            start = time.process_time()
            value, half, _ = fit(x, y, regular)
            seconds.append(time.process_time() - start)
            error.append(np.sqrt(np.mean((value - truth) ** 2)))
            if half is not None:
                cover.append(np.mean(np.abs(value - truth) <= half))
        cells.append(f"{np.mean(error):.4f}" + (f" | {100 * np.mean(cover):.0f}" if cover else ""))
        cells[-1] += f" | {1e3 * np.median(seconds):.1f}"
    return " | ".join(cells)


def of_cell(a: tuple[bool, int, int, bool, float, range]) -> str:
    warnings.simplefilter("ignore")
    return (rivals if a[0] else cell)(*a[1:])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--signals", default="0-8")
    parser.add_argument("--sizes", default="32,64,256")
    parser.add_argument("--rivals", action="store_true")
    parser.add_argument("--jobs", type=int, default=1, help="processes; set OPENBLAS_NUM_THREADS=1")
    a = parser.parse_args()
    first, _, last = a.signals.partition("-")
    sizes = [int(s) for s in a.sizes.split(",")]
    seeds = range(a.first, a.first + a.seeds)
    rows = [
        (signal, regular, noise)
        for signal in range(int(first), int(last or first) + 1)
        for regular in (True, False)
        for noise in (0.05, 0.3)
    ]
    cells = [(a.rivals, signal, size, *other, seeds) for signal, *other in rows for size in sizes]
    with multiprocessing.Pool(a.jobs) as pool:
        found = pool.imap(of_cell, cells)
        for signal, regular, noise in rows:
            row = [SIGNALS[signal][0], "even" if regular else "uneven", f"{noise}"]
            print("| " + " | ".join(row + [next(found) for _ in sizes]) + " |", flush=True)


if __name__ == "__main__":
    main()
