"""Compares the tool with reference values: golden.py KSPEC GOLDEN_JSON.

The matrices are made from the generator that the file describes, and go to the tool as npy and as csv.
"""
import json
import subprocess
import sys

import numpy as np

# value in the file, options of the tool, estimator it answers for, relative tolerance
CHECKS = [
    ("naive", ["--estimator", "naive"], "naive", 1e-12),
    ("kv-row", ["--estimator", "kv-row"], "kv-row", 1e-10),
    ("kv-col", ["--estimator", "kv-col"], "kv-col", 1e-10),
]


def matrix(seed, P, Q):
    """s = s*6364136223846793005 + 1442695040888963407 mod 2^64; u = (s>>11)/2^53; entry 2u - 1 + 0.25, row by row"""
    s, entries = seed, []
    for _ in range(P * Q):
        s = (s * 6364136223846793005 + 1442695040888963407) % 2**64
        entries.append(2 * ((s >> 11) / 2**53) - 1 + 0.25)
    return np.array(entries).reshape(P, Q)


def moments(kspec, name, nmax, options):
    command = [kspec, "moments", name, "-n", str(nmax), "--json", "--quiet", "--no-stderr", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["estimates"]


def main(kspec, golden):
    failures = count = 0
    for case in json.load(open(golden))["moments"]:
        a = matrix(case["seed"], case["P"], case["Q"])
        np.save("a.npy", a)
        np.savetxt("a.csv", a, delimiter=",", fmt="%.17g")
        for key, options, estimator, tolerance in CHECKS:
            want = case["estimates"][key]
            for name in "a.npy", "a.csv":
                got = moments(kspec, name, len(want), options)
                assert [(e["estimator"], e["n"]) for e in got] == [(estimator, n + 1) for n in range(len(want))]
                for e, w in zip(got, want):
                    count += 1
                    if not abs(e["value"] - w) <= tolerance * abs(w):
                        failures += 1
                        print(f"{case['P']} x {case['Q']} {name} {key} m({e['n']}): {e['value']!r} is not {w!r}")
    print(f"{count} values, {failures} differ")
    return failures > 0 or count == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
