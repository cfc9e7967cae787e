"""Compares the tool with reference values of moments: centred.py KSPEC CENTRED_JSON.

Remakes every matrix that the file describes, and checks each by a value that it alone decides.
"""
import json
import subprocess
import sys

import numpy as np

from golden import matrix


def matrices(case):
    """A, its second trial B, another matrix C of the same rows, and the mask"""
    seed, P, Q, s = (case[k] for k in ("seed", "P", "Q", "signal"))
    u = matrix(seed + 4000, P, 1) - 0.25
    A = matrix(seed, P, Q) + s * u * matrix(seed + 5000, 1, Q)
    B = matrix(seed + 1000, P, Q) + s * u * matrix(seed + 5000, 1, Q)
    C = matrix(seed + 2000, P, Q + 2) + s * u * matrix(seed + 6000, 1, Q + 2)
    return A, B, C, matrix(seed + 3000, P, Q) > -0.55


def covariance(A, B):
    """Unbiased, of the columns of two trials; its mean is the centred m(1)"""
    return ((A - A.mean(0)) * (B - B.mean(0))).sum(0) / (len(A) - 1)


def cross(A, C):
    """Mean product of the two kernels' entries off the diagonal"""
    P = len(A)
    K = (A @ A.T / A.shape[1]) * (C @ C.T / C.shape[1])
    return (K.sum() - np.trace(K)) / (P * (P - 1))


def moments(kspec, trials, n, *options, estimator="exact"):
    for k, X in enumerate(trials):
        np.save(f"{k}.npy", X)
    files = [f"{k}.npy" for k in range(len(trials))]
    options = ["--estimator", estimator, "-n", str(n), "--json", "--quiet", *options]
    run = subprocess.run([kspec, "moments", *files, *options], capture_output=True, check=True)
    return [e["value"] for e in json.loads(run.stdout)["estimates"]]


def exact(kspec, case, A, B):
    """All values that the estimator has itself, with error bars and without"""
    wide = "--population-rows", "30"
    for key, trials, options in [("centred", [A], ["--center"]),
                                 ("centred_two_trials", [A, B], ["--center=rows"]),
                                 ("population_30_20", [A], [*wide, "--population-cols", "20"]),
                                 ("population_30_inf_centred", [A], ["--center", *wide])]:
        want = case[key]
        for bars in [], ["--no-stderr"]:
            got = moments(kspec, trials, len(want), *options, *bars)
            yield from ((f"{key}, n = {n}", g, w) for n, (g, w) in enumerate(zip(got, want, strict=True), 1))
        # the same of the transpose
        turned = [{"--center": "--center=cols", "--center=rows": "--center=cols",
                   "--population-rows": "--population-cols",
                   "--population-cols": "--population-rows"}.get(o, o) for o in options]
        got = moments(kspec, [X.T for X in trials], len(want), *turned)
        yield from ((f"{key}, transposed, n = {n}", g, w) for n, (g, w) in enumerate(zip(got, want), 1))


def dependent(kspec, case, A, mask):
    """Groups of two neighbours, the last one alone where their number is odd, and missing entries"""
    P, Q = A.shape
    np.savetxt("rows.txt", np.arange(P) // 2, fmt="%d")
    np.savetxt("cols.txt", np.arange(Q) // 2, fmt="%d")
    np.savetxt("alone.txt", np.arange(Q), fmt="%d")
    rows = "--groups", "rows.txt"
    path = "--side", "given", "--permutations", "1"
    for key, estimator, X, options in [
            ("groups_of_2_path", "path", A, [*rows, "--col-groups", "cols.txt", *path]),
            ("row_groups_of_2_path", "path", A, [*rows, "--col-groups", "alone.txt", *path]),
            ("row_groups_of_2_exact_m2", "exact", A, rows),
            ("row_groups_of_2_exact_m2_centred", "exact", A, [*rows, "--center"]),
            ("missing_exact", "exact", np.where(mask, A, np.nan), ["--nan", "pairwise"])]:
        want = case[key]
        n = len(want) if isinstance(want, list) else 2
        for bars in [], ["--no-stderr"]:
            got = moments(kspec, [X], n, *options, *bars, estimator=estimator)
            if n == 2:
                yield key, got[1], want
            else:
                yield from ((f"{key}, n = {k}", g, w)
                            for k, (g, w) in enumerate(zip(got, want, strict=True), 1))


def main(kspec, path):
    failures = count = 0
    for case in json.load(open(path))["cases"]:
        A, B, C, mask = matrices(case)
        m1, m2 = moments(kspec, [A], 2, "--no-stderr")
        checks = [("m(1)", m1, case["population_30_20"][0]),
                  ("second trial", covariance(A, B).mean(), case["centred_two_trials"][0]),
                  ("mask", (A[mask] ** 2).mean(), case["missing_exact"][0]),
                  ("other matrix", cross(A, C), case["cross"])]
        if case["dimension"]:
            checks.append(("m(2)", m2, case["square_of_trace"] / case["dimension"]))
        checks.extend(exact(kspec, case, A, B))
        checks.extend(dependent(kspec, case, A, mask))
        for what, got, want in checks:
            count += 1
            if not abs(got - want) <= 1e-8 * abs(want):
                failures += 1
                print(f"seed {case['seed']}, {what}: {got!r} is not {want!r}")
    print(f"{count} values, {failures} differ")
    return failures > 0 or count == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
