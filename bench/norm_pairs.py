"""rff-debiased with pairs of a cosine and a sine, or with random phases: spread and coverage.

    KSPEC_DATA=... PYTHONPATH=build/python OPENBLAS_NUM_THREADS=1 python3 bench/norm_pairs.py > table.md

Sigma decides; an odd q has no pairs, so 64 features are compared with 65.
"""

import os
import sys
import warnings

import numpy as np
from scipy.spatial.distance import pdist

import kspec


def data():
    path = os.path.join(os.environ["KSPEC_DATA"], "wine", "winequality-white.csv")
    wine = np.genfromtxt(path, delimiter=";", skip_header=1)[:1000, :-1]
    wine = (wine - wine.mean(axis=0)) / wine.std(axis=0)
    normal = np.random.default_rng(3).normal(size=(1000, 11))
    return {"wine": wine, "normal": normal}


def main():
    warnings.simplefilter("ignore")
    print("| data | σ/median | norm | 65 features | covered | 64 features | covered | paired | variances |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, x in data().items():
        median = np.median(pdist(x))
        for factor in (0.3, 0.5, 1, 3):
            sigma = factor * median
            norm = kspec.norm(x, method="eigen", sigma=sigma, threads=1).results[0]["value"]
            cells, variance = [], []
            for q in (65, 64):
                r = kspec.norm(x, method="rff-debiased", sigma=sigma, features=q, repeat=100, draws=True,
                               seed=7, threads=1).results[0]
                held = sum(d["ci_low"] <= norm <= d["ci_high"] for d in r["draws"])
                cells.append(f"{r['value']:.4g} ± {r['spread']:.2g} | {held}%")
                variance.append(r["spread"] ** 2)
            print(f"| {name} | {factor:g} | {norm:.4g} | {' | '.join(cells)} "
                  f"| {'yes' if r['paired'] else 'no'} | {variance[0] / variance[1]:.3g} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
