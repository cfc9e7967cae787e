"""Accumulators: coverage of their intervals, speed next to a product of matrices, and what others give.

    PYTHONPATH=build/python python3 bench/stream.py coverage [--seeds N] [--process NAME] [--keep ROWS]
    PYTHONPATH=build/python python3 bench/stream.py speed [--rows P] [--cols Q] [--threads T]
    PYTHONPATH=build/python python3 bench/stream.py layer [--seeds N]

`coverage`: of 95% intervals from a sample of 300 (--keep) of 1,500 rows, on eight processes whose truth is
known, next to those of one call: the mean ratio of their widths, and how many ratios are within 5% of 1.
`speed`: update() and result() next to A.T @ A by the same OpenBLAS.
`layer`: the dimension of a layer of 256 units by batch size, next to formulas that are in use.
"""

import argparse
import json
import os
import sys
import time

THREADS = sys.argv[sys.argv.index("--threads") + 1] if "--threads" in sys.argv else "1"
os.environ["OPENBLAS_NUM_THREADS"] = THREADS
import numpy as np

import kspec
from contenders import truths
from processes import processes

NAMES = ("flat", "power", "spiked", "offset", "place", "field", "sparse", "mixture")


def accumulate(x, batch=200, **options):
    acc = kspec.Accumulator(x.shape[1], **options)
    for i in range(0, len(x), batch):
        acc.update(x[i : i + batch])
    return acc


def coverage(args):
    P, Q, keep = 1500, 80, args.keep
    print(f"{P} rows x {Q} columns, {keep} rows kept, {args.seeds} seeds")
    print(f"{'process':10} {'stream':>7} {'one call':>8} {'width':>6} {'in 5%':>6}")
    for name in [args.process] if args.process else NAMES:
        process = processes()[name][1]()
        truth = truths(process)["dimension"]
        inside, whole, widths, difference = 0, 0, [], 0.0
        for seed in range(args.first, args.first + args.seeds):
            rng = np.random.default_rng([seed, len(name), ord(name[0]), ord(name[1])])
            x = process.sample(rng, P, Q, 1)[0]
            r = accumulate(x, reservoir=keep, stream=seed + 1, threads=1).result()
            w = kspec.dimension(x, threads=1)
            inside += r.ci_low <= truth <= r.ci_high
            whole += w.ci_low <= truth <= w.ci_high
            widths.append((r.ci_high - r.ci_low) / (w.ci_high - w.ci_low))
            difference = max(difference, abs(r.dimension / w.dimension - 1))
        n = args.seeds / 100
        print(
            f"{name:10} {inside / n:6.1f}% {whole / n:7.1f}% {np.mean(widths):6.3f} "
            f"{100 * np.mean(np.abs(np.array(widths) - 1) <= 0.05):6.1f}%  estimates differ by at most "
            f"{difference:.0e}",
            flush=True,
        )


def best(call, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def speed(args):
    rng = np.random.default_rng(1)
    P, Q, threads = args.rows, args.cols, int(THREADS)
    x = rng.normal(size=(P, 40)) @ rng.normal(size=(40, Q)) + rng.normal(size=(P, Q))
    product = best(lambda: x.T @ x, args.repeats)
    held = []

    def update():
        acc = kspec.Accumulator(Q, threads=threads, stream=1)
        for i in range(0, P, 1000):
            acc.update(x[i : i + 1000])
        held[:] = [acc]

    took = {"update()": best(update, args.repeats)}
    took["result()"] = best(lambda: held[0].result(), args.repeats)
    took["dimension()"] = best(lambda: kspec.dimension(x, threads=threads), args.repeats)
    print(f"{P} x {Q}, {threads} thread(s): A.T @ A {product:.3f} s")
    for name, seconds in took.items():
        print(f"{name:12} {seconds:8.3f} s  {seconds / product:6.2f} times A.T @ A")


# ---- what is in use, each by its formula ----


def rank_me(x):
    """Garrido et al. 2023: the exponential of the entropy of normalized singular values"""
    s = np.linalg.svd(x, compute_uv=False)
    p = s / s.sum() + 1e-7
    return np.exp(-np.sum(p * np.log(p)))


def plain_ratio(x):
    """The participation ratio of the sample covariance, as in the package `dimensionality`"""
    y = x - x.mean(0)
    k = y @ y.T if len(y) < y.shape[1] else y.T @ y
    return np.trace(k) ** 2 / np.sum(k * k)


def streamed(x):
    return accumulate(x, 512, sampled="rows", threads=1).result().dimension


def plain_cka(x, y):
    """torch_cka's biased HSIC"""
    x, y = x - x.mean(0), y - y.mean(0)
    return np.sum((x.T @ y) ** 2) / np.sqrt(np.sum((x.T @ x) ** 2) * np.sum((y.T @ y) ** 2))


def streamed_cka(x, y):
    acc = kspec.Accumulator(x.shape[1], y.shape[1], sampled="rows", threads=1)
    return acc.update(x, y).result().alignment


def layer(args):
    units, rng = 256, np.random.default_rng(7)
    values = 1 / np.arange(1.0, units + 1) ** 0.6
    axes = np.linalg.qr(rng.normal(size=(units, units)))[0] * np.sqrt(values)
    other = np.linalg.qr(rng.normal(size=(units, units)))[0] * np.sqrt(values)
    truth = values.sum() ** 2 / np.sum(values**2)
    print(f"a layer of {units} units of dimension {truth:.1f}; a second one has nothing in common with it")
    print(f"{'batch':>6} {'what':12} {'mean':>8} {'truth':>7} {'spread':>8} {'seconds':>9}")
    kinds = {"kspec": streamed, "plain ratio": plain_ratio, "RankMe": rank_me}
    pairs = {"kspec": streamed_cka, "torch_cka": plain_cka}
    points = {}
    for batch in (64, 256, 1024, 4096, 8192):
        found, took = {}, {}
        for seed in range(args.seeds):
            x = np.random.default_rng([seed, batch]).normal(size=(batch, units)) @ axes.T + 3
            y = np.random.default_rng([seed, batch, 1]).normal(size=(batch, units)) @ other.T
            calls = {(k, truth if k != "RankMe" else None): (f, (x,)) for k, f in kinds.items()}
            calls |= {(f"CKA, {k}", 0.0): (f, (x, y)) for k, f in pairs.items()}
            for key, (f, arrays) in calls.items():
                start = time.perf_counter()
                found.setdefault(key, []).append(f(*arrays))
                took.setdefault(key, []).append(time.perf_counter() - start)
        for (name, want), values_of in found.items():
            target = f"{want:7.1f}" if want is not None else "      -"
            points.setdefault(name, []).append((batch, np.mean(values_of), np.std(values_of)))
            print(
                f"{batch:6} {name:16} {np.mean(values_of):8.3f} {target} {np.std(values_of):8.3f} "
                f"{np.median(took[name, want]):9.4f}",
                flush=True,
            )


    if args.figure:
        draw(args.figure, points, truth)


def draw(path, points, truth):
    """A figure for kspec plot: means with a standard deviation on either side"""
    names = {"kspec": "kspec", "plain ratio": "plain participation ratio", "RankMe": "RankMe"}
    series = [
        {
            "label": label,
            "style": "band",
            "x": [p[0] for p in points[name]],
            "y": [p[1] for p in points[name]],
            "low": [p[1] - p[2] for p in points[name]],
            "high": [p[1] + p[2] for p in points[name]],
        }
        for name, label in names.items()
    ]
    series.append({"label": "truth", "style": "line", "x": [64, 8192], "y": [truth, truth]})
    title = f"a layer of dimension {truth:.0f}: only one estimate does not depend on the batch"
    axes = {"xlabel": "rows in a batch", "ylabel": "dimension", "xscale": "log"}
    panel = {"title": "", **axes, "series": series}
    figure = {"schema": "kspec-figure/1", "kspec": kspec.__version__, "command": "figure", "title": title}
    with open(path, "w", encoding="utf-8") as f:
        json.dump({**figure, "panels": [panel]}, f)


def main():
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("what", choices=("coverage", "speed", "layer"))
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="coverage: the first seed")
    parser.add_argument("--process", choices=NAMES, help="coverage of this one alone")
    parser.add_argument("--keep", type=int, default=300, help="rows that are kept, of 1,500")
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--cols", type=int, default=2000)
    parser.add_argument("--figure", help="layer: also write a figure, which kspec plot draws")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", default="1", help="of kspec and of OpenBLAS")
    args = parser.parse_args()
    {"coverage": coverage, "speed": speed, "layer": layer}[args.what](args)


main()
