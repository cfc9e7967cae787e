#!/usr/bin/env python3
"""Figure 5: test error against λ at 2N = n (top) and against N/n for different λ (bottom), MNIST 3 versus 7,
p = 784, n = n̂ = 500, mean of 30 runs; "grid search is used to find λ_opt = 0.2".

Left open by the paper: the grid (here the numbers of one digit between 0.01 and 1, and powers of ten outside)
and the other values of λ in the bottom part (here 1e-7 and 0.01).
"""
from harness import Figure
from paper002 import (ERRORS, MNIST, PAPER, curves, grid, judge_double_descent, judge_fit, ridge,
                      standard_error)

figure = Figure("002-5", PAPER, "Ridge regularisation removes the peak: MNIST 3 v 7, n = 500")
draws = figure.pick(20, 30)
lambdas = [1e-4, 1e-3, *(d * 10.0**e for e in (-2, -1) for d in range(1, 10)), 1, 10, 100]
top = ridge(figure, MNIST, "3,7", 250, [250], lambdas, "--empirical", draws)
at = {p["lambda"]: p for p in top["points"]}
lambdas = sorted(at)
best = min(lambdas, key=lambda v: at[v]["test_mse"])
figure.claim("“grid search is used to find λ_opt = 0.2”",
             f"best on the grid {best:g}; test error {at[best]['test_mse']:.4f}, "
             f"{at[0.1]['test_mse']:.4f} at 0.1 and "
             f"{at[0.3]['test_mse']:.4f} at 0.3", best == 0.2)
drawn = min(lambdas, key=lambda v: at[v]["empirical_test_mse"])
figure.expect("the best λ of the draws is the same or its neighbour on the grid", f"{drawn:g}",
              abs(lambdas.index(drawn) - lambdas.index(best)) <= 1)
judge_fit(figure, "top: theoretical and empirical test errors agree", top, top["points"], "test")

features = figure.pick([25, 50, 100, 150, 200, 240, 250, 260, 300, 400, 500, 1000],
                       [25, 50, 75, 100, 150, 200, 225, 240, 250, 260, 275, 300, 400, 500, 625, 750, 1000,
                        1500, 2000])
j = ridge(figure, MNIST, "3,7", 250, features, [1e-7, 0.01, 0.2], "--empirical", draws)
of = {v: [p for p in j["points"] if p["lambda"] == v] for v in (1e-7, 0.01, 0.2)}
judge_fit(figure, "bottom: theoretical and empirical test errors agree", j, j["points"], "test")
judge_double_descent(figure, "λ = 1e-7", j, of[1e-7])
half = features.index(250)
height = {v: p[half]["test_mse"] / p[features.index(150)]["test_mse"] for v, p in of.items()}
figure.claim("“ridge regularization with λ > 0 helps alleviate the sharp performance drop around 2N = n”",
             "test error at N/n = 0.5, divided by the error at 0.3: "
             + ", ".join(f"{h:.3g} with λ = {v:g}" for v, h in height.items()),
             height[1e-7] > height[0.01] > height[0.2])
numbers, falls = [], True
for curve, shown in (("test_mse", "prediction"), ("empirical_test_mse", "draws")):
    e = grid(of[0.2], curve)
    slack = [0.0 if shown == "prediction" else ERRORS * standard_error(j, p, "test") for p in of[0.2]]
    numbers.append(f"{shown}: from {e[0]:.3f} through {e[half]:.3f} at 2N = n to {e[-1]:.3f}")
    falls = falls and all(b < a + s for a, b, s in zip(e, e[1:], slack))
figure.claim("“no singular peak at 2N = n … the test error decreases monotonically as N grows large” with "
             "λ_opt", "; ".join(numbers), falls)

ratio = [N / j["rows"] for N in features]
look = {"ylabel": "test error", "yscale": "linear", "yrange": [0, 1]}
figure.picture("", [{"title": "2N = n", "xlabel": "λ", "xscale": "log", **look,
                     "series": curves(top, [at[v] for v in lambdas], lambdas, "test", "test", 1),
                     "marks": [{"axis": "x", "at": 0.2, "label": "λ = 0.2"}]},
                    {"title": "every N", "xlabel": "N/n", "xscale": "linear", "xrange": [0, 1], **look,
                     "series": [s for c, (v, p) in enumerate(of.items())
                                for s in curves(j, p, ratio, "test", f"λ = {v:g}", c)],
                     "marks": [{"axis": "x", "at": 0.5, "label": "2N = n"}]}])
figure.finish()
