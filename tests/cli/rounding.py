"""kspec moments in rational arithmetic: entries over up to 40 decades. rounding.py KSPEC"""
import itertools
import json
import subprocess
import sys
from fractions import Fraction

import numpy as np


def cycle(X, rows, cols, second):
    """prod_l X[i_l, a_l] X[i_(l+1), a_l]; second[l]: the row of the second half of position l"""
    value = Fraction(1)
    n = len(cols)
    for l in range(n):
        value *= X[rows[l]][cols[l]] * X[second.get((l + 1) % n, rows[(l + 1) % n])][cols[l]]
    return value


def term(X, n, split, pick):
    """The mean over rows and columns that all differ, those of the positions in `split` in two"""
    total, count = Fraction(0), 0
    for rows in pick(range(len(X)), n + len(split)):
        second = {l: rows[n + k] for k, l in enumerate(split)}
        for cols in pick(range(len(X[0])), n):
            total += cycle(X, rows, cols, second)
            count += 1
    return total / count


def oracle(x, n, how):
    X = [[Fraction(float(v)) for v in row] for row in x]
    if how == "path":
        return term(X, n, (), itertools.combinations)
    sizes = range(n + 1) if how == "centred" else [0]
    sets = [B for k in sizes for B in itertools.combinations(range(n), k)]
    return sum((-1) ** len(B) * term(X, n, B, itertools.permutations) for B in sets)


OPTIONS = {"exact": ["--estimator", "exact"], "centred": ["--estimator", "exact", "--center"],
           "path": ["--estimator", "path", "--side", "given"]}


def main():
    rng = np.random.default_rng(1)
    wrong = count = 0
    for trial in range(90):
        how = list(OPTIONS)[trial % 3]
        rows, cols, order = (5, 3, 2) if how == "centred" else (4, 4, 3)
        decades = [1, 5, 20][trial // 3 % 3]
        x = rng.normal(size=(rows, cols)) * 10.0 ** rng.uniform(-decades, decades, size=(rows, cols))
        np.save("x.npy", x)
        done = subprocess.run([sys.argv[1], "moments", "x.npy", "-n", str(order), "--no-stderr", "--json"]
                              + OPTIONS[how], capture_output=True, text=True, check=True)
        for e in json.loads(done.stdout)["estimates"]:
            truth = oracle(x, e["n"], how)
            # path adds what it estimates: terms of either sign, nothing else
            X = np.abs(x)
            allowed = e["rounding"] if how != "path" else 1e-13 * float(oracle(X, e["n"], "path"))
            count += 1
            if abs(Fraction(e["value"]) - truth) > Fraction(allowed):
                wrong += 1
                print(f"{how}, {decades} decades: m({e['n']}) = {e['value']}, not {float(truth)} ± {allowed}")
    print(f"{count} values, {wrong} beyond their rounding")
    return wrong > 0 or count < 200


sys.exit(main())
