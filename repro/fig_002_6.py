#!/usr/bin/env python3
"""Figure 6: training and test error against λ, classes 5 versus 6 of Fashion-MNIST (top) and Kannada-MNIST
(bottom), p = 784, n = n̂ = 2048, N = 512, mean of 30 runs: "a close fit between theory and practice".

Both test sets have 1000 images of a class, so that n̂ = 2000 at most. The training set of Kannada-MNIST is
not used here: its first panel trains on Dig-MNIST, the 10,240 images by other writers that come with it,
n = 2048, and tests on its test set; the second takes that set by halves, n = n̂ = 1000 and N = 250. Quick:
n = 1024, N = 256.
"""
from harness import Figure
from paper002 import DIG, FASHION, KANNADA, PAPER, curves, grid, judge_fit, ridge

figure = Figure("002-6", PAPER, "Fashion- and Kannada-MNIST 5 v 6: errors against λ, N = n/4")
lambdas = [10 ** (k / 2) for k in range(-8, 5, figure.pick(2, 1))]
SETS = {  # files, images of a class to train and to test, N
    "Fashion-MNIST": (FASHION, *figure.pick((512, 512, 256), (1024, 1000, 512))),
    "Kannada-MNIST": (DIG, *figure.pick((512, 512, 256), (1024, 1000, 512))),
    "Kannada-MNIST, halves of the test set": (KANNADA, 500, 500, 250),
}
panels = []
for name, (files, train, test, N) in SETS.items():
    j = ridge(figure, files, "5,6", train, [N], lambdas, "--test-per-class", test,
              "--empirical", figure.pick(20, 30))
    points = j["points"]
    x, series = grid(points, "lambda"), []
    for color, (what, shown) in enumerate((("train", "training"), ("test", "test"))):
        # the halves are a second data set for the same sentence, which is not counted again
        text = f"{name}, {shown} error: “a close fit between theory and practice”"
        judge_fit(figure, text, j, points, what, ours=files == KANNADA)
        series += curves(j, points, x, what, shown, color)
    panels.append({"title": f"{name}, n = {j['rows']}, N = {N}", "xlabel": "λ",
                   "ylabel": "mean squared error", "xscale": "log", "yscale": "log", "series": series})
figure.picture("", panels)
figure.finish()
