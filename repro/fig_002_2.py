#!/usr/bin/env python3
"""Figure 2: training and test error against N/n, MNIST 8 versus 9, p = 784, n = n̂ = 500, λ = 1e-7, mean of
30 runs: the W-shaped double descent, "an extremely close fit".

Training errors are compared as the figure's linear axis shows them: to 0.001. Below that, beyond 2N = n, they
are of the order of λ², and the prediction is low by up to a third at n = 500; this is checked separately.
"""
from harness import Figure
from paper002 import MNIST, PAPER, curves, judge_double_descent, judge_fit, ridge

figure = Figure("002-2", PAPER, "Double descent: MNIST 8 v 9, n = 500, λ = 1e-7")
features = figure.pick([1, 25, 50, 75, 100, 150, 200, 225, 240, 250, 260, 275, 300, 400, 500, 1000],
                       [1, 10, 25, 50, 75, 100, 125, 150, 175, 200, 225, 240, 250, 260, 275, 300, 350, 400,
                        500, 625, 750, 1000, 1500, 2000])
j = ridge(figure, MNIST, "8,9", 250, features, [1e-7], "--empirical", figure.pick(20, 30))
one, points = j["points"][0], j["points"][1:]
ratio = [p["features"] / j["rows"] for p in points]
close = "“an extremely close fit … between empirical results and asymptotic predictions”"
judge_fit(figure, f"test error: {close}", j, points, "test")
judge_fit(figure, f"training error: {close}", j, points, "train", floor=1e-3)
judge_double_descent(figure, "test error", j, points)

trained = [p for p in points if 2 * p["features"] >= j["rows"]]
worst = max(p["empirical_train_mse"] for p in trained)
before = min(p["empirical_train_mse"] for p in points if 2 * p["features"] < j["rows"])
figure.claim("“perfectly fits all training data and achieves zero training error (here at N/n = 1/2)”",
             f"at most {worst:.1g} for N/n ≥ 1/2, {before:.1g} at 0.48", worst < 1e-3 < before)
figure.claim("both errors are “approximately 1 for N = 0”",
             f"training {one['empirical_train_mse']:.2f}, test {one['empirical_test_mse']:.2f} at N = 1",
             all(0.8 < one[f"empirical_{e}_mse"] < 1.05 for e in ("train", "test")))
tiny = [p for p in trained if p["features"] >= 0.6 * j["rows"]]
low = [p["train_mse"] / p["empirical_train_mse"] - 1 for p in tiny]
figure.expect("beyond N/n = 0.6 the training error is below 1e-10, and the prediction is within a "
              "third of it",
              f"{100 * min(low):+.0f}% to {100 * max(low):+.0f}%",
              all(abs(v) < 1 / 3 for v in low) and max(p["empirical_train_mse"] for p in tiny) < 1e-10)

mark = [{"axis": "x", "at": 0.5, "label": "2N = n"}]
both = curves(j, points, ratio, "train", "training", 0) + curves(j, points, ratio, "test", "test", 1)
figure.picture("", [{"title": "as in the paper", "xlabel": "N/n", "ylabel": "mean squared error",
                     "xscale": "linear", "xrange": [0, 1], "yscale": "linear", "yrange": [0, 1.5],
                     "series": both, "marks": mark},
                    {"title": "the peak", "xlabel": "N/n", "ylabel": "test error",
                     "xscale": "log", "yscale": "log",
                     "series": curves(j, points, ratio, "test", "test", 1, kernel=True), "marks": mark}])
figure.finish()
