"""What the Python package costs: a call beside the C call in it, random features beside scikit-learn's.

    PYTHONPATH=build/python OPENBLAS_NUM_THREADS=1 python bench/python.py

The variable is for NumPy's own threads: both sides have one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import kspec


def shortest(call: Callable[[], Any], seconds: float = 3.0) -> float:
    """The least processor time of one call, over as many as fit into some seconds"""
    call()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.process_time()
        call()
        best = min(best, time.process_time() - began)
    return best


def overhead(call: Callable[[], kspec.Result], seconds: float = 1.0) -> tuple[float, float]:
    """Medians: seconds of a call, and of the C call inside it, which the result says"""
    times, results, end = [], [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        results.append(call())
        times.append(time.perf_counter() - began)
    return float(np.median(times)), float(np.median([r.seconds for r in results]))


def main() -> None:
    x = kspec.generate.rff(20, 20, dim=2)
    print("a call on 20 x 20, one thread       Python      C call    overhead")
    for name, call in (
        ("dimension", lambda: kspec.dimension(x, threads=1)),
        ("moments, n = 2", lambda: kspec.moments(x, n=2, threads=1)),
    ):
        python, c = overhead(call)
        print(f"{name:30s}  {1e6 * python:8.0f} us {1e6 * c:8.0f} us {1e6 * (python - c):8.0f} us")

    from sklearn.kernel_approximation import RBFSampler

    from kspec.sklearn import RandomFourierFeatures

    print(
        "\nrandom features, 2000 rows, 1000 features, one thread     RBFSampler  RandomFourierFeatures  ratio"
    )
    for p in (11, 784):
        a = np.random.default_rng(0).normal(size=(2000, p))
        theirs = RBFSampler(gamma=1 / p, n_components=1000, random_state=0).fit(a)
        ours = RandomFourierFeatures(gamma=1 / p, n_components=1000, random_state=0, threads=1).fit(a)
        s, k = shortest(lambda: theirs.transform(a)), shortest(lambda: ours.transform(a))
        print(f"p = {p:3d} {1e3 * s:56.1f} ms {1e3 * k:17.1f} ms  {s / k:8.1f}")


main()
