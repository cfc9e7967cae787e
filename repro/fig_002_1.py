#!/usr/bin/env python3
"""Figure 1: training error of ridge regression on random Fourier features against λ, MNIST 1 versus 7,
p = 784, n = 1024, N = 512 (left) and N = 2048 (right): mean of 30 runs, the Gaussian kernel's prediction, the
high-dimensional prediction.

Left open by the paper: the range of λ (here 1e-4 to 100) and what a "huge gap" is (here a factor of 10).
"""
from harness import Figure
from paper002 import MNIST, PAPER, curves, grid, judge_fit, ridge

figure = Figure("002-1", PAPER, "Training error beyond the kernel: MNIST 1 v 7, n = 1024")
lambdas = [10 ** (k / 2) for k in range(-8, 5, figure.pick(2, 1))]
j = ridge(figure, (MNIST[0], None), "1,7", 512, [512, 2048], lambdas, "--empirical", figure.pick(20, 30))
of = {N: [p for p in j["points"] if p["features"] == N] for N in (512, 2048)}
for N, points in of.items():
    judge_fit(figure, f"N = {N}: “high dimensional predictions consistently fit empirical observations "
              "almost perfectly”", j, points, "train")
gap = {N: points[0]["empirical_train_mse"] / points[0]["kernel_train_mse"] for N, points in of.items()}
figure.claim("“a huge gap … between empirical results and the classical limiting kernel predictions”",
             f"a factor of {gap[512]:.0f} at N = 512, λ = {lambdas[0]:g}", gap[512] > 10)
figure.claim("“especially for not-too-large N”", f"at N = 2048 the factor is {gap[2048]:.1f}",
             1 < gap[2048] < gap[512])
figure.picture("", [{"title": f"N = {N}", "xlabel": "λ", "ylabel": "training error", "xscale": "log",
                     "yscale": "log", "yrange": [1e-8, 1],
                     "series": curves(j, points, grid(points, "lambda"), "train", "training", 1, kernel=True)}
                    for N, points in of.items()])
figure.finish()
