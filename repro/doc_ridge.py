#!/usr/bin/env python3
"""The tables of docs/measurements/ridge.md: repro/doc_ridge.py [TABLE...]

All take about ten minutes on two cores. "in SE" is prediction less mean, in standard errors of the mean.
"""
import math

from page import Page, markdown
from paper002 import FASHION, KANNADA, MNIST, PAPER, ridge, standard_error

page = Page("ridge", f"The tables of docs/measurements/ridge.md, on {PAPER}")
EMPIRICAL = ("--empirical", 30)
LAMBDAS = [10.0**k for k in range(-4, 3)]


def measured(j, p, what):
    """Mean ± standard error of the mean, and how many of those the prediction is away"""
    mean, error = p[f"empirical_{what}_mse"], standard_error(j, p, what)
    return f"{mean:.4g} ± {error:.2g}", f"{(p[f'{what}_mse'] - mean) / error:+.1f}"


@page.table
def double_descent():
    """MNIST 8 v 9, n = 500, λ = 1e-7"""
    N = [50, 100, 150, 200, 225, 240, 250, 260, 275, 300, 400, 500, 750, 1000, 1500, 2000]
    j = ridge(page, MNIST, "8,9", 250, N, [1e-7], *EMPIRICAL)
    rows = []
    for p in j["points"]:
        off = p["train_mse"] / p["empirical_train_mse"] - 1
        rows.append([f"{p['features'] / j['rows']:g}", f"{p['test_mse']:.4g}", *measured(j, p, "test"),
                     f"{p['train_mse']:.3g}", measured(j, p, "train")[0], f"{100 * off:+.0f}%",
                     p["iterations"]])
    return markdown(["N/n", "test, predicted", "measured", "in SE", "training, predicted", "measured", "off",
                     "steps"], rows)


@page.table
def beyond_the_kernel():
    """MNIST 1 v 7, n = 1024"""
    j = ridge(page, (MNIST[0], None), "1,7", 512, [512, 2048], LAMBDAS, *EMPIRICAL)
    rows = [[p["features"], f"{p['lambda']:g}", f"{p['train_mse']:.4g}", *measured(j, p, "train"),
             f"{p['kernel_train_mse']:.4g}"] for p in j["points"]]
    return markdown(["N", "λ", "training, predicted", "measured", "in SE", "kernel"], rows)


def against_lambda(files, per_class, test_per_class, N):
    j = ridge(page, files, "5,6", per_class, [N], LAMBDAS, "--test-per-class", test_per_class, *EMPIRICAL)
    rows = [[f"{p['lambda']:g}", f"{p['train_mse']:.4g}", *measured(j, p, "train"), f"{p['test_mse']:.4g}",
             *measured(j, p, "test")] for p in j["points"]]
    head = ["λ", "training, predicted", "measured", "in SE", "test, predicted", "measured", "in SE"]
    return markdown(head, rows)


@page.table
def fashion():
    """Fashion-MNIST 5 v 6, n = 2048, N = 512"""
    return against_lambda(FASHION, 1024, 1000, 512)


@page.table
def kannada():
    """Kannada-MNIST 5 v 6: half of the test set for training, n = 1000, N = 250"""
    return against_lambda(KANNADA, 500, 500, 250)


@page.table
def noise():
    """MNIST 3 v 7, 2N = n = 512, λ = 1e-7: test rows are training rows and noise"""
    rows = []
    for power in range(-10, 1):
        j = ridge(page, (MNIST[0], None), "3,7", 256, [256], [1e-7],
                  "--test-noise", repr(math.sqrt(10.0**power)), *EMPIRICAL)
        p = j["points"][0]
        rows.append([f"1e{power}", f"{p['train_mse']:.3g}", measured(j, p, "train")[0],
                     f"{p['test_mse']:.3g}", *measured(j, p, "test")])
    return markdown(["noise variance", "training, predicted", "measured", "test, predicted", "measured",
                     "in SE"], rows)


@page.table
def optimal():
    """MNIST 3 v 7, n = 500: the best λ, and the test error there; then the best N for several λ"""
    N = [50, 125, 250, 500, 1000, 2000]
    best = ridge(page, MNIST, "3,7", 250, N, None, *EMPIRICAL, "--optimize", "lambda")
    tiny = ridge(page, MNIST, "3,7", 250, N, [1e-7], *EMPIRICAL)
    rows = [[f"{p['features'] / best['rows']:g}", f"{p['lambda']:.3g}", f"{p['test_mse']:.4g}",
             *measured(best, p, "test"), f"{q['test_mse']:.4g}", measured(tiny, q, "test")[0]]
            for p, q in zip(best["points"], tiny["points"])]
    fixed = ridge(page, MNIST, "3,7", 250, [2000], [1e-7, 0.01, 1], "--optimize", "features")["points"]
    head = ["N/n", "best λ", "test there, predicted", "measured", "in SE", "test at 1e-7, predicted",
            "measured"]
    return markdown(head, rows) + [""] + [
        f"λ = {p['lambda']:g}: the best N up to 2000 is {p['features']}, test error {p['test_mse']:.4g}"
        for p in fixed]


page.finish()
