"""Predicted against measured errors of `kspec ridge`: every kind of features, three data sets of 1000 rows.

    KSPEC_DATA=... python3 bench/activations.py prepare FOLDER     (needs NumPy)
    python3 bench/activations.py run FOLDER KSPEC PROCESSES > cells.jsonl
    python3 bench/activations.py table cells.jsonl > table.md
    python3 bench/activations.py normal FOLDER KSPEC [KIND...] > normal.md   (needs NumPy)

`run` and `table` need no package. MNIST has ten classes, 100 rows of each for training and 100 for testing;
wine quality and communities are regressions. Each cell has 40 draws for N up to 1000 and 16 above.

`normal` separates two reasons for wine's errors at lambda = 10^-3. It also replaces the features by normal
vectors with the same kernel. The theory depends on the kernel alone. So normal draws that agree with it leave
the shape of the features' distribution as the reason, and normal draws that disagree leave the size.
"""

import concurrent.futures
import json
import os
import subprocess
import sys

SEED = 20261119
FEATURES = [200, 500, 1000, 2000, 5000]
LAMBDA = [1e-3, 1e-2, 0.1, 1]
KINDS = ["fourier", "relu", "leaky", "erf", "sign", "abs", "cos", "quadratic", "matern 0.5", "matern 2.5"]
CLASSES = ["--classes", "all", "--per-class", "100", "--test-per-class", "100"]
DATA = {
    "mnist": CLASSES + ["--center", "--scale"],
    "wine": ["--center-target=yes", "--standardize", "--sigma", "3"],
    "communities": ["--center-target=yes", "--standardize", "--sigma", "10"],
}


def prepare(folder):
    import gzip

    import numpy as np

    data = os.environ["KSPEC_DATA"]
    wine = np.genfromtxt(os.path.join(data, "wine", "winequality-white.csv"), delimiter=";", skip_header=1)
    with open(os.path.join(data, "communities", "communities.data")) as f:
        rows = [[np.nan if v == "?" else float(v) for v in line.split(",")[5:]] for line in f]
    communities = np.array(rows)[:, ~np.isnan(np.array(rows)).any(axis=0)]
    rng = np.random.default_rng(SEED)
    for name, xy in (("wine", wine), ("communities", communities)):
        x, y = xy[:, :-1], xy[:, -1]
        rows = rng.permutation(len(x))[:2000]
        half = len(rows) // 2
        for part, take in (("", rows[:half]), ("-test", rows[half:])):
            np.save(os.path.join(folder, f"{name}{part}-x.npy"), x[take].astype(np.float32))
            np.save(os.path.join(folder, f"{name}{part}-y.npy"), y[take].astype(np.float32))
    parts = []
    for what, skip in (("images", 16), ("labels", 8)):
        path = os.path.join(os.environ["KSPEC_DATA"], "mnist", f"train15k-{what}-idx{skip // 5}-ubyte.gz")
        with gzip.open(path) as f:
            parts.append(np.frombuffer(f.read()[skip:], np.uint8))
    labels, images = parts[1], parts[0].reshape(len(parts[1]), -1)
    order = rng.permutation(len(labels))
    keep = np.concatenate([order[labels[order] == k][:200] for k in range(10)])
    np.save(os.path.join(folder, "mnist-x.npy"), images[keep])
    np.save(os.path.join(folder, "mnist-y.npy"), labels[keep])


def cell(folder, kspec, data, kind, n):
    at = [os.path.join(folder, f"{data}{part}.npy") for part in ("-x", "-y", "-test-x", "-test-y")]
    test = [] if data == "mnist" else ["--test", at[2], "--test-target", at[3]]
    draws = 40 if n <= 1000 else 16
    features = ["--kernel", "matern", "--nu", kind[7:]] if kind[:6] == "matern" else ["--activation", kind]
    command = [kspec, "ridge", at[0], "--target", at[1], *test, *DATA[data], "--features", str(n), "--lambda",
               ",".join(str(x) for x in LAMBDA), "--empirical", str(draws), "--seed", str(SEED),
               "--threads", "1", "--json", *features]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    if out.returncode:
        raise RuntimeError(f"{' '.join(command)}: {out.stderr}")
    keep = ["features", "lambda", "test_mse", "empirical_test_mse", "empirical_test_sd", "train_mse",
            "empirical_train_mse", "empirical_train_sd", "iterations", "state", "classification_error",
            "empirical_classification_error"]
    return [{"data": data, "kind": kind, "draws": draws, **{k: p[k] for k in keep if k in p}}
            for p in json.loads(out.stdout)["points"]]


def run(folder, kspec, processes):
    """A line of JSON for each cell as soon as it is there; the small ones first, and Matern kernels last."""
    jobs = [(d, k, n) for matern in (False, True) for n in FEATURES for d in DATA for k in KINDS
            if (k[:6] == "matern") == matern]
    with concurrent.futures.ThreadPoolExecutor(int(processes)) as pool:
        for done in concurrent.futures.as_completed([pool.submit(cell, folder, kspec, *j) for j in jobs]):
            for p in done.result():
                print(json.dumps(p), flush=True)


def ratio(p):
    return p["test_mse"] / p["empirical_test_mse"] - 1


def percent(p):
    error = p["empirical_test_sd"] / p["empirical_test_mse"] / p["draws"] ** 0.5
    return f"{100 * ratio(p):+.1f} ± {100 * error:.1f}"


def table(path):
    with open(path) as f:
        cells = [json.loads(line) for line in f]
    for data in DATA:
        here = [p for p in cells if p["data"] == data]
        good = sum(abs(ratio(p)) <= 0.05 for p in here)
        print(f"\n**{data}**: test error within 5% in {good} of {len(here)} cells, steps at most "
              f"{max(p['iterations'] for p in here)}.\n")
        print("| features | λ | " + " | ".join(f"N = {n}" for n in FEATURES) + " |")
        print("|---|---|" + "---|" * len(FEATURES))
        for kind in [k for k in KINDS if any(p["kind"] == k for p in here)]:
            for lam in LAMBDA:
                row = [[p for p in here if (p["kind"], p["lambda"], p["features"]) == (kind, lam, n)]
                       for n in FEATURES]
                text = [percent(p[0]) if p else "" for p in row]
                print(f"| {kind} | {lam:g} | " + " | ".join(text) + " |")
    classes = [p for p in cells if "classification_error" in p]
    off = [p["classification_error"] / p["empirical_classification_error"] - 1 for p in classes]
    good = sum(abs(x) <= 0.05 for x in off)
    print(f"\nShare of wrong classes (ten, MNIST): within 5% in {good} of {len(off)} cells; "
          f"from {100 * min(off):+.1f}% to {100 * max(off):+.1f}%.")


def kernels(kind, x):
    """The kernels of the features' independent parts on the rows of x"""
    import numpy as np

    g, r = x @ x.T, (x * x).sum(axis=1)
    if kind == "erf":
        return [2 / np.pi * np.arcsin(2 * g / np.sqrt(np.outer(1 + 2 * r, 1 + 2 * r)))]
    minus, plus = (np.exp(-(r[:, None] + r - 2 * sign * g) / 2) for sign in (1, -1))
    return [(minus + plus) / 2, (minus - plus) / 2][:2 if kind == "fourier" else 1]


def normal(folder, kspec, *kinds):
    import numpy as np

    x, y, xt, yt = (np.load(os.path.join(folder, f"wine{p}.npy")).astype(float)
                    for p in ("-x", "-y", "-test-x", "-test-y"))
    n, rng, lam = len(x), np.random.default_rng(SEED), LAMBDA[0]
    mean, sd = x.mean(axis=0), x.std(axis=0)
    rows = np.concatenate([(x - mean) / sd, (xt - mean) / sd]) / 3
    y, yt = y - y.mean(), yt - y.mean()
    print("| features | N | predicted | their draws | normal draws |\n|---|---|---|---|---|", flush=True)
    for kind in kinds or ("fourier", "cos", "erf"):
        roots = []
        for k in kernels(kind, rows):
            values, vectors = np.linalg.eigh(k)
            roots.append(vectors * np.sqrt(np.maximum(values, 0)))
        for N in FEATURES:
            def one_draw(roots=roots, N=N):
                s = np.concatenate([a @ rng.standard_normal((2 * n, N)) for a in roots], axis=1)
                v = np.linalg.solve(s[:n] @ s[:n].T / n + lam * np.eye(n), y) / n
                return ((yt - s[n:] @ (s[:n].T @ v)) ** 2).mean()

            found = next(p for p in cell(folder, kspec, "wine", kind, N) if p["lambda"] == lam)
            errors = [one_draw() for _ in range(found["draws"])]
            as_normal = {**found, "empirical_test_mse": np.mean(errors),
                         "empirical_test_sd": np.std(errors, ddof=1)}
            print(f"| {kind} | {N} | {found['test_mse']:.4g} | {percent(found)} | {percent(as_normal)} |",
                  flush=True)


if __name__ == "__main__":
    {"prepare": prepare, "run": run, "table": table, "normal": normal}[sys.argv[1]](*sys.argv[2:])
