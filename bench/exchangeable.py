#!/usr/bin/env python3
"""Are the neurons of a trained layer still exchangeable draws?

    python3 bench/exchangeable.py KSPEC IMAGES LABELS PROBE_IMAGES [THREADS]

The unbiased moments take the columns of Phi, the neurons of a network, for independent draws of one
distribution. If they are, the moments of two random halves of one network's neurons are independent: over
networks their correlation r is 0. If the network as a whole learned something of its own, the halves of one
network are alike, and r > 0; if they complement each other, r < 0. p is the share of 20,000 permutations of
the second halves among the networks whose r is at least as far from 0. Moments are m(n)/m(1)^n of each half,
so that no common scale enters. The difference of two halves of one network then has 1 - r times the variance
of the difference of halves of two networks, which started independently.
"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

NETWORKS, PROBE, TRAIN, EPOCHS, EVERY = 400, 300, 2000, 20, 10
kspec, images, labels, probe = sys.argv[1:5]
THREADS = int(sys.argv[5]) if len(sys.argv) > 5 else 1


def run(*args, threads=1):
    command = [kspec, *map(str, args), "--quiet", "--json", "--threads", str(threads)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def moments(columns, path):
    np.save(path, columns)
    m = {e["n"]: e["value"] for e in run("moments", path, "-n", 3, "--estimator", "exact",
                                         "--no-stderr")["estimates"]}
    path.unlink()
    return [m[n] / m[1] ** n for n in (2, 3)]


def halves_of(file, order):
    phi = np.load(file)
    return [moments(phi[:, order[k::2]], file.with_suffix(f".{k}.npy")) for k in (0, 1)]


def correlation(halves, rng):
    a, b = (halves[:, k] - halves[:, k].mean() for k in (0, 1))
    r = a @ b / np.sqrt(a @ a * (b @ b))
    null = np.array([a @ rng.permutation(b) for _ in range(20000)]) / np.sqrt(a @ a * (b @ b))
    return r, (abs(null) >= abs(r)).mean()


pool = concurrent.futures.ThreadPoolExecutor(THREADS)
print("| width | epoch | r, m(2) | p | r, m(3) | p |\n|---|---|---|---|---|---|")
for width in (32, 128):
    with tempfile.TemporaryDirectory() as name:
        folder, rng = pathlib.Path(name), np.random.default_rng(width)
        run("learn", "--images", images, "--labels", labels, "--test-images", probe, "--width", width,
            "--epochs", EPOCHS, "--every", EVERY, "--train-count", TRAIN, "--probe", PROBE,
            "--seeds", NETWORKS, "--estimator", "naive", "-n", 2, "--no-stderr", "--save-activations", folder,
            threads=THREADS)
        for epoch in range(0, EPOCHS + 1, EVERY):
            files = sorted(folder.glob(f"*epoch-{epoch:03}.npy"))
            halves = np.array(list(pool.map(halves_of, files, [rng.permutation(width) for _ in files])))
            assert len(halves) == NETWORKS, len(halves)
            cells = [c for n in (0, 1) for c in correlation(halves[:, :, n], rng)]
            r2, p2, r3, p3 = cells
            print(f"| {width} | {epoch} | {r2:+.2f} | {p2:.4f} | {r3:+.2f} | {p3:.4f} |", flush=True)
