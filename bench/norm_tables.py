#!/usr/bin/python3
"""The tables of docs/norm.md, made by the tool.

usage: bench/norm_tables.py [SECTION...]     (run in the source directory, after make; all sections take about 10 minutes)

Each section is written between its markers in docs/norm.md. The data (UCI wine quality and communities, Fashion-MNIST) are
looked for where repro/harness.py does.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../repro"))
from harness import find_data, no_data


def need(path):
    return find_data(path) or sys.exit(no_data(path))


KSPEC = "build/kspec"
WINE = [need("wine/winequality-white.csv"), "--select-cols", "0-10"]
CRIME = [need("communities/communities.data"), "--select-cols", "5-100,118-120,125"]
FASHION = [need("fashion/t10k-images-idx3-ubyte.gz"), "--select-rows", "0-1499"]


def norm(data, **options):
    """One run of kspec norm: its results by method."""
    command = [KSPEC, "norm", *data, "--json", "--quiet"]
    for key, value in options.items():
        command += ["--" + key.replace("_", "-")] + ([] if value is True else [str(value)])
    answer = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return {r["method"]: r for r in answer["results"]}


def generated(rows, name):
    """Normal points in 11 dimensions, as .npy"""
    path = os.path.join(name, "%d.npy" % rows)
    if not os.path.exists(path):
        subprocess.run([KSPEC, "generate", "linear", "--rows", str(rows), "--cols", "11", "--dim", "11", "--seed", "1", "-o", path], check=True,
                       stdout=subprocess.DEVNULL)
    return [path]


def table(head, rows):
    return ["| " + " | ".join(map(str, head)) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(map(str, r)) + " |" for r in rows]


def slope(x, y):
    u, v = [math.log(a) for a in x], [math.log(b) for b in y]
    mu, mv = sum(u) / len(u), sum(v) / len(v)
    return sum((a - mu) * (b - mv) for a, b in zip(u, v)) / sum((a - mu) ** 2 for a in u)


def pm(r):
    return "%.4g ± %.2g" % (r["value"], r["spread"])


def methods():
    rows = []
    for name, data, n, q, paper in (("wine", WINE, 4898, 150, 0.1), ("communities", CRIME, 1994, 50, 0.5)):
        for scale in ("standardize", "minmax"):
            for sigma in (paper, 1):
                r = norm(data, method="eigen,power,rff-power,nystrom,rff-nystrom,rff-debiased", sigma=sigma, features=q, sample=round(0.8 * n),
                         sample_first=True, updates=5, repeat=20, **{scale: True})
                d = r["rff-debiased"]
                ratio = r["rff-power"]["value"] / r["eigen"]["value"]
                rows.append([name, scale, sigma, q, "%.4f" % r["eigen"]["value"], "%.4f" % r["power"]["value"], pm(r["rff-power"]), "%.2f" % ratio,
                             "%.4g" % r["nystrom"]["value"], pm(r["rff-nystrom"]), pm(d), "%.4g … %.4g" % (d["ci_low"], d["ci_high"])])
    return table(["data", "scaling", "σ", "q", "eigen", "power, t = 5", "rff-power, t = 5", "rff / eigen", "nystrom", "rff-nystrom", "rff-debiased",
                  "its mean interval"], rows)


def coverage():
    with tempfile.TemporaryDirectory() as name:
        normal = generated(1000, name)
        settings = [("wine, min–max", WINE, dict(minmax=True, sigma=0.1, features=150)), ("wine, min–max", WINE, dict(minmax=True, sigma=1, features=150)),
                    ("communities, min–max", CRIME, dict(minmax=True, sigma=0.5, features=50)),
                    ("communities, min–max", CRIME, dict(minmax=True, sigma=1, features=50)),
                    ("wine, standardised", WINE, dict(standardize=True, sigma=1, features=200)),
                    ("Fashion-MNIST, 1500 images", FASHION, dict(minmax=True, sigma=8, features=60)),
                    ("normal, 1000 × 11", normal, dict(sigma=8, features=40)), ("normal, 1000 × 11", normal, dict(sigma=4, features=100)),
                    ("wine, min–max, Laplace", WINE, dict(minmax=True, sigma=1, kernel="laplace", features=100)),
                    ("wine, min–max, Cauchy", WINE, dict(minmax=True, sigma=1, kernel="cauchy", features=60))]
        rows = []
        for label, data, options in settings:
            K = norm(data, method="lanczos", **{k: v for k, v in options.items() if k != "features"})["lanczos"]["value"]
            cells = []
            for seed in (0, 1000):
                r = norm(data, method="rff-power,rff-debiased", repeat=100, draws=True, seed=seed, **options)
                d = r["rff-debiased"]
                cells.append(sum(x["ci_low"] <= K <= x["ci_high"] for x in d["draws"]))
            rows.append([label, options["sigma"], options["features"], "%.4g" % K, pm(r["rff-power"]), pm(d), "%.4g … %.4g" % (d["ci_low"], d["ci_high"])] +
                        ["%d%%" % c for c in cells])
    return table(["data", "σ", "q", "norm", "rff-power", "rff-debiased", "mean interval", "covered, seed 0", "covered, seed 1000"], rows)


def scaling():
    with tempfile.TemporaryDirectory() as name:
        sizes = {"eigen": [500, 1000, 2000, 4000], "power": [500, 1000, 2000, 4000, 8000, 16000],
                 "rff-power": [500, 1000, 2000, 4000, 8000, 16000, 64000, 256000]}
        times = {}
        for method, ns in sizes.items():
            for n in ns:
                data = generated(n, name)
                times[method, n] = min(norm(data, method=method, sigma=4, features=150, updates=5, threads=1)[method]["seconds"] for _ in range(3))
    every = sorted({n for ns in sizes.values() for n in ns})
    rows = [[m] + ["%.3g" % times[m, n] if (m, n) in times else "" for n in every] +
            ["%.2f" % slope([n for n in ns if n >= 1000], [times[m, n] for n in ns if n >= 1000])] for m, ns in sizes.items()]
    return table(["seconds, one thread; n ="] + every + ["slope, n ≥ 1000"], rows)


def updates():
    rows = []
    for name, data, q in (("wine", WINE, 150), ("communities", CRIME, 50)):
        K = norm(data, method="lanczos", sigma=1, minmax=True)["lanczos"]["value"]
        for method in ("power", "rff-power"):
            rows.append([name, "%.5g" % K, method] +
                        ["%.5g" % norm(data, method=method, sigma=1, minmax=True, features=q, updates=t, repeat=20)[method]["value"] for t in (1, 2, 3, 5, 10)])
    return table(["data (min–max, σ = 1)", "norm", "method", "t = 1", "2", "3", "5", "10"], rows)


def features():
    qs, rows = [25, 50, 100, 200, 400], []
    for name, data in (("wine", WINE), ("communities", CRIME)):
        K = norm(data, method="lanczos", sigma=1, minmax=True)["lanczos"]["value"]
        errors = []
        for q in qs:
            draws = norm(data, method="rff-power", sigma=1, minmax=True, features=q, repeat=40, draws=True)["rff-power"]["draws"]
            errors.append(math.sqrt(sum((d["value"] / K - 1) ** 2 for d in draws) / len(draws)))
        rows.append([name] + ["%.3f" % e for e in errors] + ["%.2f" % slope(qs, errors)])
    return table(["relative error of rff-power (root mean square); q ="] + qs + ["slope"], rows)


def sampling():
    rows = []
    for name, data, n, q in (("wine", WINE, 4898, 150), ("communities", CRIME, 1994, 50)):
        K = norm(data, method="lanczos", sigma=1, minmax=True)["lanczos"]["value"]
        for first in (True, False):
            options = dict(sample_first=True) if first else {}
            r = [norm(data, method="nystrom,rff-nystrom", sigma=1, minmax=True, features=q, sample=round(f * n), repeat=20, **options)
                 for f in (0.2, 0.4, 0.6, 0.8, 1)]
            for m in ("nystrom", "rff-nystrom"):
                rows.append([name, "%.5g" % K, m, "first" if first else "random"] + ["%.5g" % x[m]["value"] for x in r])
    return table(["data (min–max, σ = 1)", "norm", "method", "rows", "r/n = 0.2", "0.4", "0.6", "0.8", "1"], rows)


SECTIONS = dict(methods=methods, coverage=coverage, scaling=scaling, updates=updates, features=features, sampling=sampling)


def main():
    for name in sys.argv[1:] or SECTIONS:
        lines = SECTIONS[name]()
        print("\n".join(lines), flush=True)
        text = open("docs/norm.md").read()
        begin, end = "<!-- %s: bench/norm_tables.py -->\n" % name, "<!-- end -->"
        head, rest = text.split(begin)
        with open("docs/norm.md", "w") as f:
            f.write(head + begin + "\n".join(lines) + "\n" + rest[rest.index(end):])


if __name__ == "__main__":
    main()
