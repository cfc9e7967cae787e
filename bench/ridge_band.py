"""Does the mean of many draws lie in the band that `kspec ridge` prints by default, mean ± spread of 8 draws?

    KSPEC_DATA=... PYTHONPATH=build/python OPENBLAS_NUM_THREADS=1 python3 bench/ridge_band.py [SEED]

40 settings: wine quality, communities, handwritten digits and diabetes (scikit-learn), 2N/n = 0.9 and 4, five
lambda. The draws of the band and the 100 others have different seeds. SEED also chooses the rows.
"""

import csv
import os
import sys
import warnings

import numpy as np
from sklearn.datasets import load_diabetes, load_digits

import kspec

LAMBDA = [1e-4, 1e-3, 1e-2, 1, 30]


def wine():
    path = os.path.join(os.environ["KSPEC_DATA"], "wine", "winequality-white.csv")
    table = np.genfromtxt(path, delimiter=";", skip_header=1)
    return table[:, :-1], table[:, -1]


def communities():
    path = os.path.join(os.environ["KSPEC_DATA"], "communities", "communities.data")
    with open(path) as f:
        table = np.array([[np.nan if v == "?" else float(v) for v in row[5:]] for row in csv.reader(f)])
    complete = ~np.isnan(table).any(axis=0)
    return table[:, complete][:, :-1], table[:, -1]


def digits():
    d = load_digits()
    return d.data, d.target % 2 * 2.0 - 1


def diabetes():
    d = load_diabetes()
    return d.data, d.target


def standardised(x, rows):
    scale = x[:rows].std(axis=0)
    return (x - x[:rows].mean(axis=0)) / np.where(scale > 0, scale, 1)


def main():
    warnings.simplefilter("ignore")
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 2026
    held = held_by_theory = warned = count = 0
    print("| data | n | N | λ | predicted | band of 8 draws | mean of 100 | predicted / mean |  |")
    print("|---|---|---|---|---|---|---|---|---|")
    for load, n in ((wine, 300), (communities, 300), (digits, 300), (diabetes, 221)):
        x, y = load()
        rows = np.random.default_rng(seed).permutation(len(x))[: 2 * n]
        x, y = standardised(x[rows], n), standardised(y[rows], n)
        for ratio in (0.9, 4):
            options = dict(target=y[:n], test=x[n:], test_target=y[n:], features=[int(ratio * n / 2)],
                           lambda_=LAMBDA, sigma="median", threads=1)
            band = kspec.ridge(x[:n], seed=2 * seed, **options)
            many = kspec.ridge(x[:n], seed=2 * seed + 1, empirical=100, **options)
            for p, q in zip(band.points, many.points):
                mean, sd, truth = p["empirical_test_mse"], p["empirical_test_sd"], q["empirical_test_mse"]
                inside = abs(truth - mean) <= sd
                count, held = count + 1, held + inside
                held_by_theory += abs(p["test_mse"] / truth - 1) <= 0.1
                warned += abs(p["test_mse"] / mean - 1) > 0.1
                print(f"| {load.__name__} | {n} | {p['features']} | {p['lambda']:g} | {p['test_mse']:.4g} "
                      f"| {mean:.4g} ± {sd:.2g} | {truth:.4g} | {p['test_mse'] / truth:.2f} "
                      f"| {'' if inside else 'outside'} |", flush=True)
    print(f"\nInside the band: {held} of {count}. Predictions within 10% of the mean: {held_by_theory}. "
          f"More than 10% from the 8 draws: {warned}.")


if __name__ == "__main__":
    sys.exit(main())
