"""Parameters of a regression chosen by theory, against a search over a grid with cross-validation.

python examples/random_feature_ridge.py [--full] [--splits K] [--first SEED] [--data DIR]

Half of the rows are for training. Both choose the bandwidth, the number of random features and the ridge;
both test errors are on the other rows. SEED is that of the first of K splits. Printed is the split whose
ratio of errors is the median.

--full takes the larger grid, in the place of a small one. DIR has wine/ and communities/ (their addresses are
in scripts/data.txt); without it the tables are those that scikit-learn brings along.
"""

from __future__ import annotations

import argparse
import pathlib
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kspec.sklearn import RandomFeatureRidge

Array = np.ndarray[Any, Any]


def tables(folder: str | None) -> Iterator[tuple[str, Array, Array]]:
    yield "diabetes", *load_diabetes(return_X_y=True)
    X, y = load_digits(return_X_y=True)
    yield "digits 3 v 8", X[(y == 3) | (y == 8)], np.where(y[(y == 3) | (y == 8)] == 8, 1.0, -1.0)
    if not folder:
        X, y = load_breast_cancer(return_X_y=True)
        yield "breast cancer", X, y.astype(float)
        return
    wine = np.genfromtxt(pathlib.Path(folder, "wine/winequality-white.csv"), delimiter=";", skip_header=1)
    yield "wine quality", wine[:, :-1], wine[:, -1]
    crimes = np.genfromtxt(pathlib.Path(folder, "communities/communities.data"), delimiter=",")[:, 5:]
    crimes = crimes[:, ~np.isnan(crimes).any(axis=0)]
    yield "communities", crimes[:, :-1], crimes[:, -1]


def grid(X: Array, full: bool) -> GridSearchCV:
    rows = StandardScaler().fit_transform(X)[:500]
    distance = np.median(euclidean_distances(rows)[np.triu_indices(len(rows), 1)])
    factors = [0.3, 0.5, 0.7, 1, 1.4, 2, 3] if full else [0.5, 1, 2]
    return GridSearchCV(
        make_pipeline(StandardScaler(), RBFSampler(random_state=0), Ridge()),
        {
            "rbfsampler__gamma": [0.5 / (f * distance) ** 2 for f in factors],
            "rbfsampler__n_components": [50, 100, 200, 500, 1000] if full else [50, 200],
            "ridge__alpha": np.logspace(-4, 2, 7) if full else [0.01, 0.1, 1],
        },
        scoring="neg_mean_squared_error",
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--data")
    parser.add_argument("--only", default="")
    a = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        f"{'':14}{'theory: q':>9} {'alpha':>8} {'gamma':>8} {'MSE':>8} {'s':>6}   "
        f"{'grid: q':>9} {'alpha':>8} {'gamma':>8} {'MSE':>8} {'s':>6}   {'errors':>6} {'times':>6}"
    )
    for name, X, y in tables(a.data):
        if a.only not in name:
            continue
        lines = []
        for seed in range(a.first, a.first + a.splits):
            X0, X1, y0, y1 = train_test_split(X, y, test_size=0.5, random_state=seed)
            start = time.perf_counter()
            theory = RandomFeatureRidge(threads=1).fit(X0, y0)
            between = time.perf_counter()
            search = grid(X0, a.full).fit(X0, y0)
            seconds = between - start, time.perf_counter() - between
            best = search.best_params_
            error = [np.mean((m.predict(X1) - y1) ** 2) for m in (theory, search)]
            chosen = (
                (theory.features_, theory.alpha_, theory.gamma_),
                tuple(best[k] for k in ("rbfsampler__n_components", "ridge__alpha", "rbfsampler__gamma")),
            )
            line = f"{name:14}"
            for (q, alpha, gamma), e, s in zip(chosen, error, seconds):
                line += f"{q:9} {alpha:8.2g} {gamma:8.2g} {e:8.4g} {s:6.2f}   "
            ratio = error[0] / error[1]
            lines.append((ratio, f"{line}{ratio:6.3f} {seconds[0] / seconds[1]:6.3f}"))
        print(sorted(lines)[len(lines) // 2][1], flush=True)


main()
