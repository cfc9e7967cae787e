#!/usr/bin/env python3
"""The tables of docs/measurements/wls.md, on the figures of the paper: repro/doc_wls.py [TABLE...]"""
from page import Page, markdown
from paper003 import IMAGES, PAPER, decay, singular_values

page = Page("wls", f"The tables of docs/measurements/wls.md, on {PAPER}")


@page.table
def figure_1a():
    """singular values of Λ^α Ψ_{p…N−1} for N = 1024, p = 512"""
    rows = []
    for alpha in (0, 0.4, 0.6, 0.8, 1.0):
        s = singular_values(page, 1024, 512, alpha)
        rows.append([alpha, *(f"{s[k]:.4g}" for k in (0, 127, 255, 383, 511))])
    return markdown(["α", "largest", "128th", "256th", "384th", "smallest"], rows)


@page.table
def figure_1b():
    """double descent: N = 64, P = 256, γ = β = 0.3; the exact error and, in brackets, 2000 draws"""
    modes, alphas = [8, 16, 32, 48, 60, 64, 68, 80, 96, 128, 192, 256], (0, 0.3, 0.8)
    curves = [page.kspec("wls", "--grid", 64, "--learn", ",".join(map(str, modes)), "--modes", 256,
                         "--alpha", alpha, "--beta", 0.3, "--gamma", 0.3, "--empirical", 2000)["points"]
              for alpha in alphas]
    rows = [[p, *(f"{c[i]['error_noise_free']:.4f} ({c[i]['empirical']:.4f} ± {c[i]['empirical_stderr']:.4f})"
                  for c in curves)] for i, p in enumerate(modes)]
    worst = max(abs(q["empirical"] - q["error_noise_free"] - q["error_noise"]) / q["empirical_stderr"]
                for c in curves for q in c)
    return markdown(["p", *(f"α = {a}" for a in alphas)], rows) + [
        "", f"largest of {3 * len(modes)} differences, on common draws: {worst:.1f} standard errors"]


@page.table
def figure_2():
    """singular values of kernel matrices of the first 2000 MNIST test images, each of length 1"""
    kernels = {"(x·y + 1)³": ["polynomial", "--degree", 3], "exp(−‖x−y‖²/2)": ["gaussian", "--sigma", 1],
               "exp(−‖x−y‖²/0.5)": ["gaussian", "--sigma", 0.5]}
    images, rows = page.data(IMAGES), []
    for name, kernel in kernels.items():
        r = decay(page, images, 2000, *kernel)
        rows.append([name, *(f"{r['singular_values'][k - 1]:.3g}" for k in (1, 10, 100, 1000)),
                     f"{r['exponent']:.2f}"])
    return markdown(["kernel", "k = 1", "10", "100", "1000", "ζ"], rows)


page.finish()
