"""How often 95% intervals hold the truth where rows are a series (--block), or columns are standardized.

    PYTHONPATH=build/python OPENBLAS_NUM_THREADS=1 python3 bench/series.py [SIMULATIONS] > tables.md

Rows are x_i = sqrt(l) z_i W with 40 latent variables of variance k^-0.8, and Gaussian weights W. Of a series
each latent variable is AR(1): z_i = rho z_{i-1} + noise. It prints the Markdown tables of
docs/measurements/dimension.md.
"""

import sys
import warnings

import numpy as np

import kspec

LATENT = np.arange(1, 41) ** -0.8


def series(rng, rows, cols, rho, tails=None):
    z = rng.normal(size=(rows, 40))
    if tails:
        z = rng.standard_t(tails, (rows, 40)) * np.sqrt((tails - 2) / tails)
    for i in range(1, rows):
        z[i] = rho * z[i - 1] + np.sqrt(1 - rho**2) * z[i]
    weights = rng.normal(size=(40, cols))
    scale = np.sqrt((LATENT[:, None] * weights**2).sum(axis=0))  # the true standard deviations
    return (z * np.sqrt(LATENT)) @ weights, scale


def measure(count, truth, make):
    """Coverage, the median of the estimates, the median ratio of the ends, how many were refused"""
    held, values, ratios, refused = 0, [], [], 0
    for seed in range(count):
        try:
            r = make(np.random.default_rng([seed, 31]))
        except (kspec.Error, ValueError):
            refused += 1
            continue
        held += r.ci_low <= truth <= r.ci_high
        values.append(r.dimension)
        ratios.append(r.ci_high / r.ci_low)
    done = count - refused
    value, ratio = np.nanmedian(values) / truth, np.nanmedian(ratios)
    return f"{100 * held / done:.1f}% | {value:.3f} | {ratio:.2f} | {refused}"


def of_series(count):
    truth = LATENT.sum() ** 2 / (LATENT**2).sum()
    print(f"| ρ | option | coverage | median estimate / {truth:.2f} | upper / lower end | refused |")
    print("|---|---|---|---|---|---|")
    for rho in (0, 0.5, 0.8, 0.9, 0.95, 0.98):
        for block in (None, "auto"):

            def make(rng):
                return kspec.dimension(series(rng, 300, 60, rho)[0], block=block, threads=1)

            option = "`--block auto`" if block else ""
            print(f"| {rho} | {option} | {measure(count, truth, make)} |", flush=True)


def of_standardized(count):
    weights = np.random.default_rng(1).normal(size=(200_000, 40)) ** 2 * LATENT
    truth = 1 / ((weights / weights.sum(axis=1, keepdims=True)).mean(axis=0) ** 2).sum()
    head = f"coverage | median estimate / {truth:.2f} | upper / lower end | refused"
    print(f"| rows × columns | z | divided by | {head} |")
    print("|---|---|---|---|---|---|---|")
    sizes = (30, 60, None), (100, 60, None), (300, 60, None), (300, 300, None), (300, 60, 5)
    for rows, cols, tails in sizes:
        for known in (True, False):

            def make(rng):
                x, scale = series(rng, rows, cols, 0, tails)
                return kspec.dimension(x / scale if known else x, standardize=not known, threads=1)

            what = "true standard deviations" if known else "`--standardize`"
            name = f"Student's t, {tails}" if tails else "normal"
            print(f"| {rows} × {cols} | {name} | {what} | {measure(count, truth, make)} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    of_series(simulations)
    print()
    of_standardized(simulations)
