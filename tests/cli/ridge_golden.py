"""Compares kspec ridge with reference values, to 1e-8: ridge_golden.py KSPEC GOLDEN_JSON."""
import json
import os
import subprocess
import sys

import numpy as np

from golden import matrix


def data(seed, n, case):
    """Rows of the generator, shifted as the file says instead of by 0.25; labels; then scaled"""
    x = matrix(seed, n, case["p"]) - 0.25 + case["shift"]
    y = np.sign(x[:, 0] + 0.3 * x[:, 1])
    return x / np.sqrt(case["p"]), y


def main(kspec, golden):
    failures = count = 0
    for case in json.load(open(golden))["ridge"]:
        for name, seed, n in zip(("train", "test"), case["seeds"], (case["n"], case["n_test"])):
            x, y = data(seed, n, case)
            np.save(name + ".npy", x)
            np.save(name + "_y.npy", y)
        for isa in "generic", "avx2", "avx512", "neon":
            for threads in "1", "2", "3":
                command = [kspec, "ridge", "train.npy", "--target", "train_y.npy", "--test", "test.npy",
                           "--test-target", "test_y.npy", "--features", str(case["N"]),
                           "--lambda", repr(case["lambda"]), "--threads", threads, "--json"]
                run = subprocess.run(command, capture_output=True, env={**os.environ, "KSPEC_ISA": isa})
                if run.returncode == 2 and b"this processor has" in run.stderr:
                    continue
                point = json.loads(run.stdout)["points"][0]
                for key in "delta_cos", "delta_sin", "train_mse", "test_mse":
                    count += 1
                    if not abs(point[key] - case[key]) <= 1e-8 * abs(case[key]):
                        failures += 1
                        print(f"{isa} {threads} threads N {case['N']}: "
                              f"{key} {point[key]!r} is not {case[key]!r}")
    print(f"{count} values, {failures} differ")
    return failures > 0 or count == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
