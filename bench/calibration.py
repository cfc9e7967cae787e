"""The scoreboard: estimators against processes whose truth is known.

    PYTHONPATH=build/python python3 bench/calibration.py run [--quick] [--jobs N] [-o FILE]
    PYTHONPATH=build/python python3 bench/calibration.py page FILE... > docs/calibration.md

`run` draws matrices and writes every answer, in units of the truth, twice a minute what there is so far.
`page` makes the tables, and the pictures in docs/images; it takes several files, made with different --first.
Estimators are in contenders.py, processes in processes.py, the page in scorepage.py. With the package of an
earlier version in the folder $KSPEC_BEFORE, that version answers as well, and the page has the ratios.
"""

import argparse
import functools
import json
import multiprocessing
import os
import sys
import time
import zlib

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the processes share the cores
import numpy as np

from contenders import CONTENDERS, INTERVALS, RARE, SELDOM, Data, presence, truths
from processes import NOISES, noise, processes
from scorecells import DEPENDENT, TWO_TRIALS
from scorepage import page

SIZES = ((40, 60), (100, 300), (300, 100))
SEED = 20261119  # of the published tables; others were used to choose the intervals


def told(name, P):
    """What kspec is told of rows that depend on each other"""
    return {"groups": np.arange(P) // 10} if name == "blocks" else {"block": "auto"}


@functools.cache
def process_of(name):
    return processes()[name][1]()


def generator(name, P, Q, seed):
    return np.random.default_rng([SEED, zlib.crc32(name.encode()), P, Q, seed])


def one(job):
    """All answers to some questions from one draw of one process"""
    name, P, Q, seed, questions, informed, chosen = job
    process = process_of(name)
    x = process.sample(generator(name, P, Q, seed), P, 2 * Q, 2)
    trials = 2 if name in TWO_TRIALS else 1
    data = Data(x[:, :, :Q].copy(), x[:, :, Q:].copy(), told(name, P) if informed else {}, trials)
    truth, out = truths(process, trials), []
    for question in questions:
        if np.any(np.isnan(truth[question])):
            continue
        for estimator, function in CONTENDERS[question].items():
            if chosen and estimator != chosen:
                continue
            if estimator in SELDOM and question not in INTERVALS and seed % RARE:
                continue
            start = time.perf_counter()
            try:
                answer = function(data)
            except Exception:  # an estimator that refuses these data has no answer
                answer = np.nan
            seconds = time.perf_counter() - start
            out.append((question, estimator, *scored(answer, truth[question]), seconds))
    suffix = DEPENDENT[name] if informed else ", two trials" if trials == 2 else ""
    return name + suffix, P, Q, out


def is_there(job):
    """Is there a signal? By one trial and by two, centred or not: none 0, weak 1, clear 2, and z"""
    name, P, Q, seed = job[:4]
    rng, out = generator(name, P, Q, seed), []
    x = noise(name, rng, 2, P, Q) if name in NOISES else process_of(name).sample(rng, P, Q, 2)
    for trials in (1, 2):
        for center in ("rows", "none"):
            start = time.perf_counter()
            signal, z = presence(x[:trials], center)
            seconds = time.perf_counter() - start
            question = f"signal, trials {trials}, center {center}"
            out.append((question, "kspec", signal, z, float("nan"), False, seconds))
    return name, P, Q, out


def answer(job):
    return is_there(job) if job[4] == "signal" else one(job)


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


def jobs_of(names, args):
    """Every cell has its first draws before any has more: a run that ends early is balanced"""
    cells = [(name, P, Q) for name in names for P, Q in (SIZES[:1] if args.quick else SIZES)]
    others = tuple(q for q in CONTENDERS if q not in INTERVALS)
    noises = [(name, *size) for size in SIZES[: 1 if args.quick else 2] for name in NOISES]
    for turn in range(args.spectra):
        part = range(*(args.first + args.seeds * k // args.spectra for k in (turn, turn + 1)))
        for seed in part:
            for cell in cells:
                yield *cell, seed, INTERVALS, False, args.estimator
                if cell[0] in DEPENDENT:
                    yield *cell, seed, INTERVALS, True, args.estimator
        for seed in part[::2]:
            for cell in cells + noises:
                yield *cell, seed, "signal"
        for cell in cells:
            if cell[0] not in DEPENDENT:  # spectra and alignments do not know of groups
                yield *cell, args.first + turn, others, False, args.estimator


def save(file, start, args, cells):
    table = [[*key, rows] for key, rows in sorted(cells.items())]
    options = f"--seeds {args.seeds} --spectra {args.spectra} --first {args.first}"
    options += f" --minutes {args.minutes:.3g}" if args.minutes else ""
    options += f" --only {args.only}" if args.only else ""
    about = {"seconds": time.time() - start, "jobs": args.jobs, "seed": SEED, "options": options}
    text = json.dumps({**about, "cells": table})
    if file == "-":
        print(text)
        return
    with open(file + ".part", "w") as f:
        f.write(text + "\n")
    os.replace(file + ".part", file)


def run(args):
    if args.quick:
        args.seeds, args.spectra = 60, 6
    names = ("power", "counts", "outliers", "topics") if args.quick else tuple(processes())
    names = args.only.split(",") if args.only else names
    start, saved, cells = time.time(), time.time(), {}
    with multiprocessing.Pool(args.jobs) as pool:
        for name, P, Q, out in pool.imap(answer, jobs_of(names, args), chunksize=2):
            for question, estimator, *numbers in out:
                rounded = [float(f"{v:.5g}") for v in numbers]
                cells.setdefault((question, name, P, Q, estimator), []).append(rounded)
            if args.minutes and time.time() - start > 60 * args.minutes:
                break
            if args.output != "-" and time.time() - saved > 30:
                save(args.output, start, args, cells)
                saved = time.time()
    save(args.output, start, args, cells)


def main():
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    commands = parser.add_subparsers(required=True)
    of_run = commands.add_parser("run")
    of_run.add_argument("--quick", action="store_true", help="four processes, one size, few seeds")
    of_run.add_argument("--seeds", type=int, default=400, help="draws a cell for moments and dimension")
    of_run.add_argument("--spectra", type=int, default=40, help="draws a cell for everything else")
    of_run.add_argument("--first", type=int, default=0, help="number of the first draw")
    of_run.add_argument("--only", help="names of processes, with commas between them")
    of_run.add_argument("--estimator", help="this one alone")
    of_run.add_argument("--minutes", type=float, help="stop after so many")
    of_run.add_argument("--jobs", type=int, default=os.cpu_count())
    of_run.add_argument("-o", "--output", default="-")
    of_run.set_defaults(call=run)
    of_page = commands.add_parser("page")
    of_page.add_argument("files", nargs="+", type=argparse.FileType())
    of_page.add_argument("--images", default="docs/images", help="folder of the pictures")
    of_page.set_defaults(call=lambda args: page([json.load(f) for f in args.files], args.images))
    args = parser.parse_args()
    args.call(args)


if __name__ == "__main__":
    sys.exit(main())
