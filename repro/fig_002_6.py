#!/usr/bin/env python3
"""Figure 6: training and test error against λ, classes 5 versus 6 of Fashion-MNIST (top) and Kannada-MNIST (bottom),
p = 784, n = n̂ = 2048, N = 512, mean of 30 runs: "a close fit between theory and practice".

The test set of Fashion-MNIST has 1000 images of a class, so that n̂ = 2000 at most. Of Kannada-MNIST only the test set is used
here, half of it to train: n = n̂ = 1000 and N = 250, about the same N/n. Quick: Fashion-MNIST at n = 1024, N = 256.
"""
from harness import Figure
from paper002 import FASHION, KANNADA, PAPER, curves, grid, judge_fit, ridge

figure = Figure("002-6", PAPER, "Fashion- and Kannada-MNIST 5 v 6: errors against λ, N = n/4")
lambdas = [10 ** (k / 2) for k in range(-8, 5, figure.pick(2, 1))]
draws = ["--empirical", figure.pick(20, 30)]
results = {"Fashion-MNIST": ridge(figure, FASHION, "5,6", figure.pick(512, 1024), [figure.pick(256, 512)], lambdas, "--test-per-class", figure.pick(512, 1000), *draws),
           "Kannada-MNIST": ridge(figure, KANNADA, "5,6", 500, [250], lambdas, "--test-per-class", 500, *draws)}
panels = []
for name, j in results.items():
    points = j["points"]
    for what, shown in ("train", "training"), ("test", "test"):
        judge_fit(figure, f"{name}, {shown} error: “a close fit between theory and practice”", j, points, what)
    panels.append({"title": f"{name}, n = {j['rows']}, N = {points[0]['features']}", "xlabel": "λ", "ylabel": "mean squared error", "xscale": "log", "yscale": "log",
                   "series": curves(j, points, grid(points, "lambda"), "train", "training", 0) + curves(j, points, grid(points, "lambda"), "test", "test", 1)})
figure.picture("", panels)
figure.finish()
