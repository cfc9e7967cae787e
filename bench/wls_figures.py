"""The numbers of docs/wls.md: python3 bench/wls_figures.py BUILD/kspec [DATA]

Figure 1a (singular values of L^alpha Psi_{p...N-1}, N = 1024, p = 512), Figure 1b (double descent, N = 64, gamma = beta = 0.3,
theory and simulation), and where DATA holds MNIST, Figure 2 (singular values of kernel matrices).
"""
import glob
import json
import subprocess
import sys

import numpy as np


def run(*args):
    return json.loads(subprocess.run([*args, "--json", "--quiet"], check=True, capture_output=True).stdout)


def figure_1a():
    N, p = 1024, 512
    j = np.arange(N)
    psi = np.exp(2j * np.pi * np.outer(j, np.arange(p, N)) / N)
    print("\n| alpha | largest | 1/4 | median | 3/4 | smallest |\n|---|---|---|---|---|---|")
    for alpha in 0, 0.4, 0.6, 0.8, 1.0:
        s = np.linalg.svd((1.0 + j)[:, None] ** alpha * psi, compute_uv=False)
        print(f"| {alpha} | " + " | ".join(f"{s[k]:.4g}" for k in (0, 127, 255, 383, 511)) + " |")


def figure_1b(kspec, draws=2000):
    ps = [8, 16, 32, 48, 60, 64, 68, 80, 96, 128, 192, 256]
    print(f"\n{draws} draws\n\n| p | " + " | ".join(f"alpha {a}" for a in (0, 0.3, 0.8)) + " |\n|---|---|---|---|")
    worst, curves = 0, []
    for alpha in 0, 0.3, 0.8:
        r = run(kspec, "wls", "--grid", "64", "--learn", ",".join(map(str, ps)), "--modes", "256", "--alpha", str(alpha),
                "--beta", "0.3", "--gamma", "0.3", "--empirical", str(draws))
        curves.append(r["points"])
        for q in r["points"]:
            worst = max(worst, abs(q["empirical"] - q["error_noise_free"] - q["error_noise"]) / q["empirical_stderr"])
    for i, p in enumerate(ps):
        print(f"| {p} | " + " | ".join(f"{c[i]['error_noise_free']:.4f} ({c[i]['empirical']:.4f} ± {c[i]['empirical_stderr']:.4f})"
                                       for c in curves) + " |")
    print(f"\nlargest difference: {worst:.1f} standard errors, of {3 * len(ps)} comparisons on common draws")


def figure_2(kspec, data, rows=2000):
    found = glob.glob(data + "/mnist/t10k-images*")
    if not found:
        return
    print(f"\nthe first {rows} MNIST test images, each of length 1\n\n| kernel | k = 1 | 10 | 100 | 1000 | exponent |\n|---|---|---|---|---|---|")
    for name, options in (("(x·y + 1)³", ["--kernel", "polynomial"]), ("exp(−‖x−y‖²/2)", ["--kernel", "gaussian"]),
                          ("exp(−‖x−y‖²/0.5)", ["--kernel", "gaussian", "--sigma", "0.5"])):
        r = run(kspec, "wls", "--decay", found[0], "--select-rows", f"0-{rows - 1}", "--unit", *options)
        s = r["singular_values"]
        print(f"| {name} | " + " | ".join(f"{s[k - 1]:.3g}" for k in (1, 10, 100, 1000)) + f" | {r['exponent']:.2f} |")


if __name__ == "__main__":
    figure_1a()
    figure_1b(sys.argv[1])
    if len(sys.argv) > 2:
        figure_2(sys.argv[1], sys.argv[2])
