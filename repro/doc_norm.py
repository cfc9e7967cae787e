#!/usr/bin/env python3
"""The tables of docs/measurements/norm.md: repro/doc_norm.py [--docs] [TABLE...]

All take about 10 minutes. wine and communities are the UCI sets of the paper on the spectral norm;
communities has all of its 1994 rows here.
"""
import json
import math
import os
import pathlib
import subprocess
import time

from harness import mean, slope
from page import Page, markdown
from paper001 import CRIME, WINE

page = Page("norm", "The tables of docs/measurements/norm.md")
FASHION = "fashion/t10k-images-idx3-ubyte.gz"
SETS = (("wine", WINE, 4898), ("communities", CRIME, 1994))  # name, data, rows


def norm(data, cached=True, **options):
    """The results of kspec norm by method. data: a set of paper001, a file of images (the first 1500), or a
    number of normal points in 11 dimensions"""
    after = None
    if isinstance(data, int):
        source = ["x.npy"]
        after = ["generate", "linear", "--rows", data, "--cols", 11, "--dim", 11, "--seed", 1, "-o", "x.npy"]
    elif isinstance(data, str):
        source = [page.data(data), "--select-rows", "0-1499"]
    else:
        source = [page.data(data.file), "--select-cols", data.columns]
    for key, value in options.items():
        source += [f"--{key.replace('_', '-')}"] + ([] if value is True else [value])
    r = page.kspec("norm", *source, after=after, cached=cached)
    return {m["method"]: m for m in r["results"]}


def exact(data, **options):
    return norm(data, method="lanczos", **options)["lanczos"]["value"]


def with_spread(r):
    return f"{r['value']:.4g} ± {r['spread']:.2g}"


def interval(r):
    return f"{r['ci_low']:.4g} … {r['ci_high']:.4g}"


@page.table
def methods():
    """every method in the paper's settings and in others"""
    rows = []
    for name, data, n in SETS:
        for scale, option in (("standardize", {"standardize": True}), ("minmax", {"minmax": True}),
                              ("unit rows", {"unit": "rows"}), ("unit columns", {"unit": "cols"})):
            for sigma in (data.sigma, 1) if "unit" not in option else (data.sigma,):
                r = norm(data, method="eigen,power,rff-power,nystrom,rff-nystrom,rff-debiased", sigma=sigma,
                         features=data.features, sample=round(0.8 * n), sample_first=True, updates=5,
                         repeat=20, **option)
                eigen, rff, debiased = r["eigen"]["value"], r["rff-power"], r["rff-debiased"]
                rows.append([name, scale, sigma, data.features, f"{eigen:.4f}", f"{r['power']['value']:.4f}",
                             with_spread(rff), f"{rff['value'] / eigen:.2f}", f"{r['nystrom']['value']:.4g}",
                             with_spread(r["rff-nystrom"]), with_spread(debiased), interval(debiased)])
    return markdown(["data", "scaling", "σ", "q", "eigen", "power, t = 5", "rff-power, t = 5", "rff / eigen",
                     "nystrom", "rff-nystrom", "rff-debiased", "its mean interval"], rows)


@page.table
def coverage():
    """how often the interval of rff-debiased covers the norm"""
    settings = [
        ("wine, min–max", WINE, dict(minmax=True, sigma=0.1, features=150)),
        ("wine, min–max", WINE, dict(minmax=True, sigma=1, features=150)),
        ("communities, min–max", CRIME, dict(minmax=True, sigma=0.5, features=50)),
        ("communities, min–max", CRIME, dict(minmax=True, sigma=1, features=50)),
        ("wine, standardised", WINE, dict(standardize=True, sigma=1, features=200)),
        ("Fashion-MNIST, 1500 images", FASHION, dict(minmax=True, sigma=8, features=60)),
        ("normal, 1000 × 11", 1000, dict(sigma=8, features=40)),
        ("normal, 1000 × 11", 1000, dict(sigma=4, features=100)),
        ("wine, min–max, Laplace", WINE, dict(minmax=True, sigma=1, kernel="laplace", features=100)),
        ("wine, min–max, Cauchy", WINE, dict(minmax=True, sigma=1, kernel="cauchy", features=60)),
    ]
    rows = []
    for label, data, options in settings:
        K = exact(data, **{k: v for k, v in options.items() if k != "features"})
        covered = []
        for seed in (0, 1000):
            r = norm(data, method="rff-power,rff-debiased", repeat=100, draws=True, seed=seed, **options)
            debiased = r["rff-debiased"]
            covered.append(sum(x["ci_low"] <= K <= x["ci_high"] for x in debiased["draws"]))
        rows.append([label, options["sigma"], options["features"], f"{K:.4g}", with_spread(r["rff-power"]),
                     with_spread(debiased), interval(debiased), *(f"{c}%" for c in covered)])
    return markdown(["data", "σ", "q", "norm", "rff-power", "rff-debiased", "mean interval",
                     "covered, seed 0", "covered, seed 1000"], rows)


@page.table
def scaling():
    """seconds by method and number of rows"""
    sizes = {"eigen": [500, 1000, 2000, 4000], "power": [500, 1000, 2000, 4000, 8000, 16000],
             "rff-power": [500, 1000, 2000, 4000, 8000, 16000, 64000, 256000]}

    def seconds(method, n):
        options = dict(method=method, sigma=4, features=150, updates=5, threads=1)
        return min(norm(n, cached=False, **options)[method]["seconds"] for _ in range(3))

    every = sorted({n for ns in sizes.values() for n in ns})
    rows = []
    for method, ns in sizes.items():
        times = {n: seconds(method, n) for n in ns}
        large = [n for n in ns if n >= 1000]
        rows.append([method, *(f"{times[n]:.3g}" if n in times else "" for n in every),
                     f"{slope(large, [times[n] for n in large]):.2f}"])
    return markdown(["seconds, one thread; n =", *every, "slope, n ≥ 1000"], rows)


@page.table
def sklearn():
    """features and Gram matrices beside scikit-learn's, one thread each"""
    os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    import numpy as np
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.metrics.pairwise import rbf_kernel
    dimensions, repeat, n, q, gram_rows = (2, 11, 100, 784), 3, 50000, 150, 4000
    rng = np.random.default_rng(0)

    def bench(what, rows, cols):
        program = pathlib.Path(page.kspec_path).parent / "bench/kspec-bench"
        words = [program, what, "--rows", rows, "--cols", cols, "--repeat", repeat, "--json"]
        return json.loads(subprocess.run(map(str, words), check=True, capture_output=True).stdout)["results"]

    def best(call):
        times = []
        for _ in range(repeat):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return min(times)

    def line(what, p, ours, theirs, tiles=""):
        return [what, p, f"{ours['seconds']:.4f}", f"{theirs:.4f}", f"{ours['seconds'] / theirs:.2f}",
                f"{ours['of_product_and_pass']:.2f}", tiles]

    rows = []
    for p, ours in zip(dimensions, bench("features", n, q)):
        x = rng.normal(size=(n, p)) / np.sqrt(p)
        sampler = RBFSampler(gamma=0.5, n_components=q, random_state=0).fit(x)
        rows.append(line(f"{q} features of {n} rows", p, ours, best(lambda: sampler.transform(x))))
    results = bench("norm", gram_rows, 8)
    for p, tiles, whole in zip(dimensions, results[0::2], results[1::2]):
        x = rng.normal(size=(gram_rows, p))
        rows.append(line(f"Gram matrix of {gram_rows} rows", p, whole,
                         best(lambda: rbf_kernel(x, gamma=0.5 / p)), f"{tiles['of_product_and_pass']:.2f}"))
    return markdown(["", "p", "kspec, s", "scikit-learn, s", "ratio", "kspec / (product + pass)",
                     "its tiles alone"], rows)


@page.table
def updates():
    """power and rff-power against the number of updates"""
    rows = []
    for name, data, _ in SETS:
        K = exact(data, sigma=1, minmax=True)
        for method in ("power", "rff-power"):
            values = [norm(data, method=method, sigma=1, minmax=True, features=data.features, updates=t,
                           repeat=20)[method]["value"] for t in (1, 2, 3, 5, 10)]
            rows.append([name, f"{K:.5g}", method, *(f"{v:.5g}" for v in values)])
    return markdown(["data (min–max, σ = 1)", "norm", "method", "t = 1", "2", "3", "5", "10"], rows)


@page.table
def features():
    """the error of rff-power against the number of features"""
    qs, rows = [25, 50, 100, 200, 400], []
    for name, data, _ in SETS:
        K = exact(data, sigma=1, minmax=True)
        errors = []
        for q in qs:
            r = norm(data, method="rff-power", sigma=1, minmax=True, features=q, repeat=40, draws=True)
            errors.append(math.sqrt(mean([(d["value"] / K - 1) ** 2 for d in r["rff-power"]["draws"]])))
        rows.append([name, *(f"{e:.3f}" for e in errors), f"{slope(qs, errors):.2f}"])
    return markdown(["relative error of rff-power (root mean square); q =", *qs, "slope"], rows)


@page.table
def sampling():
    """nystrom and rff-nystrom against the share of the rows"""
    rows = []
    for name, data, n in SETS:
        K = exact(data, sigma=1, minmax=True)
        for which, options in (("first", {"sample_first": True}), ("random", {})):
            r = [norm(data, method="nystrom,rff-nystrom", sigma=1, minmax=True, features=data.features,
                      sample=round(f * n), repeat=20, **options) for f in (0.2, 0.4, 0.6, 0.8, 1)]
            rows += [[name, f"{K:.5g}", m, which, *(f"{x[m]['value']:.5g}" for x in r)]
                     for m in ("nystrom", "rff-nystrom")]
    head = ["data (min–max, σ = 1)", "norm", "method", "rows", "r/n = 0.2", "0.4", "0.6", "0.8", "1"]
    return markdown(head, rows)


page.finish()
