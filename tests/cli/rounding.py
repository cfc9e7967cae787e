"""kspec moments in rational arithmetic: entries over up to 40 decades, every estimator. rounding.py KSPEC"""
import json
import subprocess
import sys
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np


def cycle(X, rows, cols, second):
    """prod_l X[i_l, a_l] X[i_(l+1), a_l]; second[l]: the row of the second half of position l"""
    value = Fraction(1)
    n = len(cols)
    for l in range(n):
        value *= X[rows[l]][cols[l]] * X[second.get((l + 1) % n, rows[(l + 1) % n])][cols[l]]
    return value


def all_of(count, k):
    return product(range(count), repeat=k)


def distinct(count, k):
    return permutations(range(count), k)


def increasing(count, k):
    return combinations(range(count), k)


def in_groups(pick, size):
    """Those tuples whose members lie in different groups, of `size` neighbours each"""
    return lambda count, k: (t for t in pick(count, k) if len({i // size for i in t}) == k)


def term(X, n, split, pick_rows, pick_cols):
    """The mean over tuples of rows and columns; the rows of the positions in `split` are in two"""
    total, count = Fraction(0), 0
    for rows in pick_rows(len(X), n + len(split)):
        second = {l: rows[n + k] for k, l in enumerate(split)}
        for cols in pick_cols(len(X[0]), n):
            total += cycle(X, rows, cols, second)
            count += 1
    return total / count


def oracle(x, n, case):
    X = [[Fraction(float(v)) for v in row] for row in x]
    sets = [B for k in range(n + 1 if case.centred else 1) for B in combinations(range(n), k)]
    return sum((-1) ** len(B) * term(X, n, B, case.rows, case.cols) for B in sets)


class Case:
    def __init__(self, options, rows, cols, shape=(4, 4), order=3, centred=False):
        self.options, self.rows, self.cols = options.split(), rows, cols
        self.shape, self.order, self.centred = shape, order, centred


CASES = {
    "exact": Case("--estimator exact", distinct, distinct),
    "centred": Case("--estimator exact --center", distinct, distinct, (5, 3), 2, True),
    "path": Case("--estimator path --side given", increasing, increasing),
    "naive": Case("--estimator naive", all_of, all_of, (3, 3)),
    "kv-row": Case("--estimator kv-row", increasing, all_of, (4, 3)),
    "kv-col": Case("--estimator kv-col", all_of, increasing, (3, 4)),
    "grouped": Case("--groups rows.csv --col-groups cols.csv", in_groups(distinct, 2), in_groups(distinct, 2),
                    (6, 6), 2),
    "grouped path": Case("--groups rows.csv --col-groups cols.csv --estimator path --side given",
                         in_groups(increasing, 2), in_groups(increasing, 2), (6, 6), 3),
    "grouped and centred": Case("--groups rows.csv --center", in_groups(distinct, 2), distinct, (10, 3), 2,
                                True),
}


def apart(rng):
    """One entry, row or column far larger than the rest costs exact few digits: how many cases are wrong"""
    wrong = 0
    for where in (2, 1), (3, slice(None)), (slice(None), 0):
        for shape, order in ((2, 2), 2), ((5, 4), 3), ((4, 4), 4):
            x = rng.normal(size=shape)
            x[tuple(k if isinstance(k, slice) else k % n for k, n in zip(where, shape))] *= 1e12
            np.save("x.npy", x)
            command = [sys.argv[1], "moments", "x.npy", "-n", str(order), "--estimator", "exact", "--json"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            e = json.loads(done.stdout)["estimates"][-1]
            truth = oracle(x, order, CASES["exact"])
            largest = float(oracle(np.abs(x), order, CASES["exact"]))
            if abs(Fraction(e["value"]) - truth) > Fraction(e["rounding"]) or e["rounding"] > 1e-6 * largest:
                wrong += 1
                print(f"{where} of {shape}: m({order}) = {e['value']}, not {float(truth)} ± {e['rounding']}")
    return wrong


def main():
    rng = np.random.default_rng(1)
    wrong = count = 0
    for trial in range(30):
        for name, case in CASES.items():
            if "grouped and" in name and trial % 5:  # 60 thousand products each
                continue
            rows, cols = case.shape
            for file, size in ("rows.csv", rows), ("cols.csv", cols):
                open(file, "w").write("".join("%d\n" % (i // 2) for i in range(size)))
            decades = [1, 5, 20][trial % 3]
            x = rng.normal(size=(rows, cols)) * 10.0 ** rng.uniform(-decades, decades, size=(rows, cols))
            np.save("x.npy", x)
            command = [sys.argv[1], "moments", "x.npy", "-n", str(case.order), "--no-stderr", "--json"]
            done = subprocess.run(command + case.options, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{name}: {done.stderr}")
            for e in json.loads(done.stdout)["estimates"]:
                truth = oracle(x, e["n"], case)
                # exact, and orders 1 and 2 of groups, tell their rounding; the others add what they
                # estimate: terms of either sign, nothing else
                allowed = e["rounding"] or 1e-13 * float(oracle(np.abs(x), e["n"], case))
                count += 1
                if abs(Fraction(e["value"]) - truth) > Fraction(allowed):
                    wrong += 1
                    print(f"{name}, {decades} decades: m({e['n']}) = {e['value']}, "
                          f"not {float(truth)} ± {allowed}")
    print(f"{count} values, {wrong} beyond their rounding")
    return wrong + apart(rng) > 0 or count < 500


sys.exit(main())
