"""Coverage of the intervals of m(1) to m(4) for the processes of the scoreboard.

    KSPEC_DATA=... PYTHONPATH=build/python python3 bench/orders.py [--draws N] [--jobs N]

One trial; two if noise is shared along a row. kspec knows which rows depend on each other. The last column
is the share of the intervals that miss the truth with a doubt, among all that miss it. The table is in
docs/measurements/moments.md.
"""

import argparse
import multiprocessing
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np

from calibration import SIZES, generator, process_of, told
from contenders import doubted, kspec
from processes import BENIGN, processes
from scorecells import DEPENDENT, TWO_TRIALS, table

ORDERS = (1, 2, 3, 4)
FIRST = 500_000  # number of the first draw; the scoreboard has others


def one(job):
    """For each order: is there an interval, does it hold the truth, and is there a doubt?"""
    name, P, Q, seed = job
    process, trials = process_of(name), 2 if name in TWO_TRIALS else 1
    x = process.sample(generator(name, P, Q, seed), P, Q, 2)[:trials]
    rows = told(name, P) if name in DEPENDENT else {}
    try:
        r, out = kspec.moments(x, n=4, threads=1, **rows), []
    except kspec.DataError:  # the series is too short for blocks
        return name, P, Q, [(False, False, False)] * len(ORDERS)
    for n, e in zip(ORDERS, r.estimates, strict=True):
        truth = np.sum(process.eigenvalues**n) + (process.noise if n == trials == 1 else 0)
        there = e["ci_low"] is not None
        out.append((there, there and e["ci_low"] <= truth <= e["ci_high"], doubted(r)))
    return name, P, Q, out


def main():
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    names, cells = list(processes()), {}
    jobs = [(name, P, Q, FIRST + k) for k in range(args.draws) for name in names for P, Q in SIZES]
    with multiprocessing.Pool(args.jobs) as pool:
        for name, P, Q, out in pool.imap(one, jobs, chunksize=4):
            cells.setdefault((name, P, Q), []).append(out)
    head = ["process"] + [f"m({n}) {P}×{Q}" for n in ORDERS for P, Q in SIZES] + ["misses with a doubt"]
    lines = []
    for name in names:
        line, missed, noticed = [name + (" *" if name in BENIGN else "") + DEPENDENT.get(name, "")], 0, 0
        for k in range(len(ORDERS)):
            for P, Q in SIZES:
                there, held, doubts = np.array(cells[name, P, Q])[:, k].T.astype(bool)
                line.append(f"{100 * held[there].mean():.0f}" if there.any() else "–")
                missed += np.sum(there & ~held)
                noticed += np.sum(there & ~held & doubts)
        lines.append(line + [f"{100 * noticed / missed:.0f}%" if missed else "–"])
    print(table(head, lines))


if __name__ == "__main__":
    sys.exit(main())
