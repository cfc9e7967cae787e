"""Compares the tool with reference values: golden.py KSPEC GOLDEN_JSON.

The matrices are made from the generator that the file describes, and go to the tool as npy and as csv.
"""
import json
import os
import subprocess
import sys

import numpy as np

# value in the file, options of the tool, estimator it answers for, relative tolerance
CHECKS = [
    ("naive", ["--estimator", "naive"], "naive", 1e-12),
    ("kv-row", ["--estimator", "kv-row"], "kv-row", 1e-10),
    ("kv-col", ["--estimator", "kv-col"], "kv-col", 1e-10),
    ("path", ["--estimator", "path", "--side", "given"], "path", 1e-10),
    ("path_transposed", ["--estimator", "path", "--side", "transposed"], "path", 1e-10),
    ("exact", ["--estimator", "exact"], "exact", 1e-10),
]
# the same for two trials: which comes first
TRIALS = [
    ("path_order_12", ["a.npy", "b.npy", "--estimator", "path", "--side", "given"], "path"),
    ("path_order_21", ["b.npy", "a.npy", "--estimator", "path", "--side", "given"], "path"),
    ("exact", ["a.npy", "b.npy", "--estimator", "exact"], "exact"),
    ("exact", ["b.npy", "a.npy", "--estimator", "exact"], "exact"),
]


def matrix(seed, P, Q):
    """s = s*6364136223846793005 + 1442695040888963407 mod 2^64; u = (s>>11)/2^53; 2u - 1 + 0.25, by rows"""
    s, entries = seed, []
    for _ in range(P * Q):
        s = (s * 6364136223846793005 + 1442695040888963407) % 2**64
        entries.append(2 * ((s >> 11) / 2**53) - 1 + 0.25)
    return np.array(entries).reshape(P, Q)


def differences(kspec, options, estimator, want, tolerance, what):
    """How many of the estimates that the tool gives differ from those wanted."""
    nmax = len(want)
    failures = 0
    for threads in "1", "2", "3":
        for isa in "generic", "avx2", "avx512", "neon":
            command = [kspec, "moments", *options, "-n", str(nmax), "--threads", threads, "--json", "--quiet",
                       "--no-stderr"]
            run = subprocess.run(command, capture_output=True, env={**os.environ, "KSPEC_ISA": isa})
            if run.returncode == 2 and b"this processor has" in run.stderr:
                continue
            got = json.loads(run.stdout)["estimates"]
            assert [(e["estimator"], e["n"]) for e in got] == [(estimator, n + 1) for n in range(nmax)]
            for e, w in zip(got, want):
                if not abs(e["value"] - w) <= tolerance * abs(w):
                    failures += 1
                    print(f"{what} {isa} {threads} threads m({e['n']}): {e['value']!r} is not {w!r}")
    return failures


def main(kspec, golden):
    failures = count = 0
    golden = json.load(open(golden))
    for case in golden["trials"]:
        for name, seed in zip(("a", "b"), case["seeds"]):
            np.save(name + ".npy", matrix(seed, case["P"], case["Q"]))
        for key, options, estimator in TRIALS:
            count += len(case[key])
            failures += differences(kspec, options, estimator, case[key], 1e-10, key)
    for case in golden["moments"]:
        a = matrix(case["seed"], case["P"], case["Q"])
        np.save("a.npy", a)
        np.savetxt("a.csv", a, delimiter=",", fmt="%.17g")
        for key, options, estimator, tolerance in CHECKS:
            want = case["estimates"][key]
            for name in "a.npy", "a.csv":
                count += len(want)
                what = f"{case['P']} x {case['Q']} {name} {key}"
                failures += differences(kspec, [name, *options], estimator, want, tolerance, what)
    print(f"{count} values, {failures} differ")
    return failures > 0 or count == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
