"""The scoreboard: estimators against processes whose truth is known.

    PYTHONPATH=build/python python3 bench/calibration.py run [--quick] [--jobs N] [-o FILE]
    PYTHONPATH=build/python python3 bench/calibration.py page FILE > docs/calibration.md

`run` draws matrices and writes what every estimator gave: bias, error, coverage, width, time. `page` makes
the tables and pictures. Estimators are in contenders.py, processes in processes.py.
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
import zlib

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the processes share the cores
import numpy as np

from contenders import CONTENDERS, Data, truths
from processes import processes

SIZES = ((40, 60), (100, 300), (300, 100))
INTERVALS = ("m1", "m2", "dimension")  # cheap: these get many seeds
SEED = 33  # of the published tables; others were used to choose the intervals
DEPENDENT = {"series": 8, "blocks": 10}  # how many rows make a group


def labels(name, P):
    if name not in DEPENDENT:
        return None
    size = max(DEPENDENT[name], P // 15) if name == "series" else DEPENDENT[name]
    return np.arange(P) // size


def one(job):
    """All answers to some questions from one draw of one process"""
    name, P, Q, seed, questions, grouped = job
    process = one.processes.setdefault(name, processes()[name][1]())
    x = process.sample(np.random.default_rng([SEED, zlib.crc32(name.encode()), P, Q, seed]), P, 2 * Q, 2)
    data = Data(x[:, :, :Q].copy(), x[:, :, Q:].copy(), labels(name, P) if grouped else None)
    truth, out = truths(process), []
    for question in questions:
        if np.any(np.isnan(truth[question])):
            continue
        for estimator, function in CONTENDERS[question].items():
            start = time.perf_counter()
            try:
                answer = function(data)
            except Exception:  # an estimator that refuses these data has no answer
                answer = np.nan
            seconds = time.perf_counter() - start
            out.append((question, estimator, *scored(answer, truth[question]), seconds))
    return name + (", grouped" if grouped else ""), P, Q, out


one.processes = {}


def scored(answer, truth):
    """value / truth, ends / truth, doubted; a list of eigenvalues becomes 1 + its error"""
    nan = float("nan")
    if isinstance(truth, np.ndarray):
        if np.any(np.isnan(answer)):
            return nan, nan, nan, False
        values = np.zeros_like(truth)
        values[: min(len(answer), len(truth))] = answer[: len(truth)]
        return 1 + float(np.sum(np.abs(values - truth)) / truth.sum()), nan, nan, False
    answer = answer if isinstance(answer, tuple) else (answer, nan, nan)
    value, low, high, doubted = (*answer, False)[:4]
    numbers = [nan if v is None else float(v) / truth for v in (value, low, high)]
    return *numbers, bool(doubted)


def jobs_of(quick, seeds):
    """Every cell has its first draw before any has its second: a run that ends early is balanced"""
    names = ("power", "counts", "outliers", "topics") if quick else tuple(processes())
    cells = [(name, P, Q) for name in names for P, Q in (SIZES[:1] if quick else SIZES)]
    for seed in range(seeds[0]):
        for cell in cells:
            yield *cell, seed, INTERVALS, False
            if cell[0] in DEPENDENT:
                yield *cell, seed, INTERVALS, True
    others = tuple(q for q in CONTENDERS if q not in INTERVALS)
    for seed in range(seeds[1]):
        for cell in cells:
            yield *cell, seed, others, False


def summary(rows):
    """One cell: rows of (value, low, high, doubted, seconds), in units of the truth"""
    value, low, high, doubted, seconds = np.array(rows, float).T
    with_interval = ~np.isnan(low)
    covered = (low <= 1) & (1 <= high)
    missed = with_interval & ~covered
    known = ~np.isnan(value)
    return {
        "seeds": len(rows),
        "unanswered": int(np.sum(~known)),
        "bias": float(np.mean(value[known]) - 1) if known.any() else None,
        "rmse": float(np.sqrt(np.mean((value[known] - 1) ** 2))) if known.any() else None,
        "coverage": float(np.mean(covered[with_interval])) if with_interval.any() else None,
        "intervals": int(with_interval.sum()),
        "width": float(np.median((high - low)[with_interval])) if with_interval.any() else None,
        "missed": int(missed.sum()),
        "missed_doubted": int(np.sum(doubted[missed])),
        "doubted": float(np.mean(doubted)),
        "seconds": float(np.median(seconds)),
    }


def run(args):
    seeds = (60, 6) if args.quick else (args.seeds, args.spectra)
    start, cells = time.time(), {}
    with multiprocessing.Pool(args.jobs) as pool:
        for name, P, Q, out in pool.imap_unordered(one, jobs_of(args.quick, seeds), chunksize=4):
            for question, estimator, *numbers in out:
                cells.setdefault((question, name, P, Q, estimator), []).append(numbers)
            if args.minutes and time.time() - start > 60 * args.minutes:
                break
    table = [
        {"question": q, "process": name, "rows": P, "cols": Q, "estimator": e, **summary(rows)}
        for (q, name, P, Q, e), rows in sorted(cells.items())
    ]
    json.dump({"seconds": time.time() - start, "jobs": args.jobs, "seed": SEED, "cells": table}, args.output)
    args.output.write("\n")


def main():
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    commands = parser.add_subparsers(required=True)
    of_run = commands.add_parser("run")
    of_run.add_argument("--quick", action="store_true", help="four processes, one size, few seeds")
    of_run.add_argument("--seeds", type=int, default=400, help="draws a cell for moments and dimension")
    of_run.add_argument("--spectra", type=int, default=40, help="draws a cell for everything else")
    of_run.add_argument("--minutes", type=float, help="stop after so many")
    of_run.add_argument("--jobs", type=int, default=os.cpu_count())
    of_run.add_argument("-o", "--output", type=argparse.FileType("w"), default=sys.stdout)
    of_run.set_defaults(call=run)
    args = parser.parse_args()
    args.call(args)


if __name__ == "__main__":
    sys.exit(main())
