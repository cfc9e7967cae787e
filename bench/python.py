"""What the Python package costs: a call beside the C call inside it, and random features beside scikit-
learn's.

PYTHONPATH=build/python python bench/python.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import kspec
import numpy as np


def shortest(call: Callable[[], Any], seconds: float = 1.0) -> float:
    """The least time of one call, over as many as fit into some seconds"""
    call()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - began)
    return best


def overhead(call: Callable[[], kspec.Result], seconds: float = 1.0) -> tuple[float, float]:
    """Medians: seconds of a call, and of the C call inside it, which the result says"""
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        result = call()
        times.append((time.perf_counter() - began, result.seconds))
    whole, inside = np.median(times, axis=0)
    return whole, inside


def main() -> None:
    x = kspec.generate.rff(20, 20, dim=2)
    print("a call on 20 x 20, one thread       Python      C call    overhead")
    for name, call in (
        ("dimension", lambda: kspec.dimension(x, threads=1)),
        ("moments, n = 2", lambda: kspec.moments(x, n=2, threads=1)),
        ("moments", lambda: kspec.moments(x, threads=1)),
    ):
        python, c = overhead(call)
        print(f"{name:30s}  {1e6 * python:8.0f} us {1e6 * c:8.0f} us {1e6 * (python - c):8.0f} us")

    from kspec.sklearn import RandomFourierFeatures
    from sklearn.kernel_approximation import RBFSampler

    print("\nrandom features, 2000 rows, 1000 features     RBFSampler  RandomFourierFeatures  ratio")
    for p in (11, 784):
        a = np.random.default_rng(0).normal(size=(2000, p))
        theirs = RBFSampler(gamma=1 / p, n_components=1000, random_state=0).fit(a)
        ours = RandomFourierFeatures(gamma=1 / p, n_components=1000, random_state=0).fit(a)
        s, k = shortest(lambda: theirs.transform(a), 3), shortest(lambda: ours.transform(a), 3)
        print(f"p = {p:3d} {1e3 * s:45.1f} ms {1e3 * k:17.1f} ms  {s / k:8.1f}")


main()
