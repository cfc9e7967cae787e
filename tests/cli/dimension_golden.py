"""Compares kspec dimension or kspec compare with reference values.

usage: dimension_golden.py COMMAND KSPEC CENTRED_JSON
"""
import json
import subprocess
import sys

import numpy as np

from centred import matrices


def run(kspec, *args):
    done = subprocess.run([kspec, *args, "--json", "--quiet"], capture_output=True, check=True)
    return json.loads(done.stdout)


def differs(what, got, want):
    if got is not None and want is not None and abs(got - want) <= 1e-8 * abs(want):
        return 0
    if got is None and want is None:
        return 0
    print(f"{what}: {got!r} is not {want!r}")
    return 1


def ratio(square, moment):
    return square / moment if square > 0 and moment > 0 else None


def dimension(kspec, case):
    one, two = case["centred"], case["centred_two_trials"]
    plain = run(kspec, "dimension", "a.npy", "--no-center")
    yield "not centred", plain["dimension"], case["dimension"]
    yield "m(1)^2, not centred", plain["trace_squared"], case["square_of_trace"]
    for files, m, end in ((["a.npy"], one, ""), (["a.npy", "b.npy"], two, "_two_trials")):
        got = run(kspec, "dimension", *files)
        square = case["square_of_trace_centred" + end]
        yield "m(1)" + end, got["trace"], m[0]
        yield "m(2)" + end, got["second_moment"], m[1]
        yield "m(1)^2" + end, got["trace_squared"], square
        yield "dimension" + end, got["dimension"], case["dimension_centred" + end]
        yield "its definition" + end, got["dimension"], ratio(square, m[1])


def compare(kspec, case):
    yield "alignment", run(kspec, "compare", "a.npy", "c.npy")["alignment"], case["cka_centred"]
    yield "not centred", run(kspec, "compare", "a.npy", "c.npy", "--no-center")["alignment"], case["cka"]
    back = run(kspec, "compare", "c.npy", "a.npy")
    yield "the other way round", back["alignment"], case["cka_centred"]
    yield "dimension of the second", back["other_dimension"], case["dimension_centred"]
    one = run(kspec, "dimension", "c.npy")
    m1, m2 = back["differences"][1:3]
    yield "m(1)", m1["value"], one["trace"] - case["centred"][0]
    yield "m(2)", m2["value"], one["second_moment"] - case["centred"][1]


def main(command, kspec, path):
    failures = count = 0
    for case in json.load(open(path))["cases"]:
        A, B, C, _ = matrices(case)
        np.save("a.npy", A), np.save("b.npy", B), np.save("c.npy", C)
        for what, got, want in {"dimension": dimension, "compare": compare}[command](kspec, case):
            count += 1
            failures += differs(f"seed {case['seed']}, {what}", got, want)
    print(f"{count} values, {failures} differ")
    return failures > 0 or count == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
