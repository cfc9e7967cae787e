"""Every command that gives a dimension gives the same one, to the last digit: one_answer.py KSPEC [RECORDING]

20 matrices: with and without offsets, tall, wide, of one to five trials, with missing entries.
"""
import json
import subprocess
import sys

import numpy as np

# rows, columns, trials, what is added to each column and to each row, the share of entries that is missing
CASES = [(40, 30, 1, 0, 0, 0), (40, 30, 1, 5, 0, 0), (40, 30, 1, 0, 5, 0), (40, 30, 1, 1e6, 0, 0),
         (200, 12, 1, 0, 0, 0), (200, 12, 1, 3, 0, 0), (12, 200, 1, 0, 0, 0), (12, 200, 1, 3, 0, 0),
         (30, 40, 2, 0, 0, 0), (30, 40, 2, 4, 0, 0), (150, 10, 2, 2, 0, 0), (10, 150, 2, 2, 1, 0),
         (25, 35, 3, 0, 0, 0), (25, 35, 5, 4, 1, 0), (300, 290, 1, 1, 0, 0), (70, 65, 4, 0.5, 0, 0),
         (60, 20, 1, 0, 0, 0.02), (60, 20, 1, 4, 0, 0.02), (50, 15, 2, 3, 0, 0.01), (40, 80, 3, 1, 1, 0.002)]


def draw(seed, P, Q, trials, column, row, missing):
    """Signal of a few dimensions, noise that differs between trials, means"""
    r = np.random.default_rng(seed)
    means = column * r.normal(size=Q) + row * r.normal(size=(P, 1))
    x = r.normal(size=(P, 6)) @ r.normal(size=(6, Q)) + means + 0.7 * r.normal(size=(trials, P, Q))
    x[r.random(x.shape) < missing] = np.nan
    return x if trials > 1 else x[0]


def run(kspec, command, *words):
    done = subprocess.run([kspec, command, *words, "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command} {' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout)


def answers(kspec, name, center, nan):
    """What each command says of the dimension; with entries that are missing in pairs two of them do"""
    how = [name, f"--center={center}", *nan]
    ratio = "participation_ratio"
    yield "dimension", run(kspec, "dimension", *how), "dimension"
    yield "moments", run(kspec, "moments", *how), ratio
    yield "moments by exact", run(kspec, "moments", "--estimator", "exact", "-n", "2", *how), ratio
    if center == "rows":
        yield "dimension, nothing said", run(kspec, "dimension", name, *nan), "dimension"
    if center == "none":
        yield "moments, nothing said", run(kspec, "moments", name, *nan), ratio
        yield "moments by path", run(kspec, "moments", "--estimator", "path", "-n", "2", *how), ratio
    if "pairwise" in nan:
        return
    yield "spectrum", run(kspec, "spectrum", *how), ratio
    if center == "none":
        by_moments = run(kspec, "spectrum", name, *nan, "--rank", "5", "--no-stderr")
        yield "spectrum by moments, nothing said", by_moments, ratio
    if center == "cols":
        return
    both = run(kspec, "compare", name, *how, "--paired", "none")
    yield "compare", both, "dimension"
    yield "compare, the second", both, "other_dimension"
    if center == "none":
        return
    yield "spectrum, nothing said", run(kspec, "spectrum", name, *nan), ratio
    page = run(kspec, "report", *how, "-o", "page.html")
    yield "report, dimension", page["dimension"], "dimension"
    yield "report, moments", page["moments"], ratio
    yield "report, spectrum", page["spectrum"], ratio


def check(kspec, name, center, nan):
    found = {}
    for who, result, key in answers(kspec, name, center, nan):
        found[who] = result[key]
        if result["center"] != center:
            sys.exit(f"{name}: {who} says center {result['center']}, not {center}")
    if len(set(found.values())) != 1 or None in found.values():
        sys.exit(f"{name}, center {center}, {nan}: " + ", ".join(f"{k} {v!r}" for k, v in found.items()))
    return len(found)


def main():
    kspec, total = sys.argv[1], 0
    for seed, case in enumerate(CASES):
        name = f"{seed}.npy"
        np.save(name, draw(seed, *case))
        for nan in [["--nan", "omit-rows"], ["--nan", "pairwise"]] if case[-1] else [[]]:
            for center in ["rows", "none"] + ["cols"] * (not case[-1]):
                total += check(kspec, name, center, nan)
    for recording in sys.argv[2:]:
        for center in ["rows", "none"]:
            total += check(kspec, recording, center, ["--axes", "cols,rows,trials", "--nan", "ragged-trials"])
    print(f"{len(CASES)} matrices, {total} dimensions agree")


main()
