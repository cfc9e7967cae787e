#!/usr/bin/env python3
"""Figure 7: test error against N/n, classes 8 versus 9 of Fashion-MNIST (left) and Kannada-MNIST (right),
p = 784, n = n̂ = 500, λ = 1e-7, mean of 30 runs: double descent on both. The paper's claims about the best N
and λ are checked on a table of predictions, N from 25 to 8000 with λ from 1e-7 to 100.

Of Kannada-MNIST only the test set is used here: 250 images of a class to train and the next 250 to test.
"""
from harness import Figure
from paper002 import FASHION, KANNADA, PAPER, curves, judge_double_descent, judge_fit, ridge

figure = Figure("002-7", PAPER, "Double descent: Fashion- and Kannada-MNIST 8 v 9, n = 500, λ = 1e-7")
features = figure.pick([10, 25, 50, 75, 100, 150, 200, 225, 240, 250, 260, 275, 300, 400, 500, 1000],
                       [10, 25, 50, 75, 100, 125, 150, 175, 200, 225, 240, 250, 260, 275, 300, 350, 400, 500,
                        625, 750, 1000, 1500, 2000])
designs, powers = [25, 50, 125, 225, 300, 500, 1000, 2000, 8000], [10.0**k for k in range(-7, 3)]
panels = []
for name, files, rest in (("Fashion-MNIST", FASHION, []),
                          ("Kannada-MNIST", KANNADA, ["--test-per-class", 250])):
    j = ridge(figure, files, "8,9", 250, features, [1e-7], *rest, "--empirical", figure.pick(20, 30))
    n = j["rows"]
    judge_fit(figure, f"{name}: prediction and experiment match", j, j["points"], "test")
    judge_double_descent(figure, name, j, j["points"])

    # every N with every λ, predicted
    table = ridge(figure, files, "8,9", 250, designs, powers, *rest)["points"]
    least = [min((p for p in table if p["lambda"] == v), key=lambda p: p["test_mse"]) for v in powers]
    figure.claim(f"{name}: “for a fixed λ > 0, the minimum test error is always obtained in the "
                 "over-parametrization 2N > n regime”",
                 f"best N/n for λ from 1e-7 to 100: {min(p['features'] for p in least) / n:g} or more",
                 all(2 * p["features"] > n for p in least))
    best = min(table, key=lambda p: p["test_mse"])
    figure.claim(f"{name}: “the global optimal design (over N and λ) is achieved by highly over-parametrized "
                 "system”", f"N/n = {best['features'] / n:g} (largest tried: {designs[-1] / n:g}), "
                 f"test error {best['test_mse']:.4f}",
                 best["features"] == designs[-1])
    figure.claim(f"{name}: “with a … non-vanishing λ”",
                 f"the best λ is {best['lambda']:g}, the smallest tried",
                 best["lambda"] > powers[0],
                 "true at N/n = 1, but not at the best N. As N grows, the regression approaches kernel "
                 "regression, which is best without a ridge for these classes")
    widest = [p["kernel_test_mse"] for p in table if p["features"] == designs[-1]]
    figure.expect(f"{name}: the kernel's test error grows with λ",
                  f"from {widest[0]:.4f} at 1e-7 to {widest[powers.index(0.1)]:.4f} at 0.1 and "
                  f"{widest[-1]:.4f} at 100",
                  all(a < b for a, b in zip(widest, widest[1:])))
    square = min((p for p in table if p["features"] == n), key=lambda p: p["test_mse"])
    figure.expect(f"{name}: at N = n the best λ does not vanish",
                  f"λ = {square['lambda']:g}, test error {square['test_mse']:.4f}", square["lambda"] >= 0.01)
    ratio = [p["features"] / n for p in j["points"]]
    panels.append({"title": name, "xlabel": "N/n", "ylabel": "test error", "xscale": "linear",
                   "xrange": [0, 1], "yscale": "linear", "yrange": [0, 1],
                   "series": curves(j, j["points"], ratio, "test", "test", 1),
                   "marks": [{"axis": "x", "at": 0.5, "label": "2N = n"}]})
figure.picture("", panels)
figure.finish()
