"""kspec's features and Gram matrices beside scikit-learn's, one thread each.

usage: python3 bench/norm_sklearn.py         (run in the source directory, after make; needs scikit-learn)
"""
import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import json
import subprocess
import time

try:
    import numpy as np
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.metrics.pairwise import rbf_kernel
except ImportError as e:
    raise SystemExit("skip: %s" % e)

DIMENSIONS, REPEAT = (2, 11, 100, 784), 3


def best(call):
    times = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def kspec(what, rows, cols):
    command = ["build/kspec", "bench", what, "--rows", str(rows), "--cols", str(cols), "--repeat", str(REPEAT), "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["results"]


def main():
    n, q, rows = 50000, 150, 4000
    rng = np.random.default_rng(0)
    print("| | p | kspec, s | scikit-learn, s | ratio | kspec / (product + pass) | its tiles alone |\n|---|---|---|---|---|---|---|")
    for p, ours in zip(DIMENSIONS, kspec("features", n, q)):
        x = rng.normal(size=(n, p)) / np.sqrt(p)
        sampler = RBFSampler(gamma=0.5, n_components=q, random_state=0).fit(x)
        theirs = best(lambda: sampler.transform(x))
        print("| %d features of %d rows | %d | %.4f | %.4f | %.2f | %.2f | |" %
              (q, n, p, ours["seconds"], theirs, ours["seconds"] / theirs, ours["of_product_and_pass"]))
    results = kspec("norm", rows, 8)
    for p, tiles, whole in zip(DIMENSIONS, results[0::2], results[1::2]):
        x = rng.normal(size=(rows, p))
        theirs = best(lambda: rbf_kernel(x, gamma=0.5 / p))
        print("| Gram matrix of %d rows | %d | %.4f | %.4f | %.2f | %.2f | %.2f |" %
              (rows, p, whole["seconds"], theirs, whole["seconds"] / theirs, whole["of_product_and_pass"], tiles["of_product_and_pass"]))


main()
