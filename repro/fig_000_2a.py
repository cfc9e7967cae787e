#!/usr/bin/env python3
"""Figure 2a: moments of the RBF kernel, d = 5, Sigma_x = I, Sigma = I/4 (eta = 4), P = 300, Q = 600:
estimates of m(2) to m(7) by four estimators and their mean-square errors."""
from harness import Figure
from paper000 import (OTHERS, OURS, PAPER, Draws, claim_smallest_mse, error_panel, estimates_panel, is_biased,
                      is_unbiased, together, undercut)

figure = Figure("000-2a", PAPER, "Moments of an RBF kernel by four estimators, P = 300, Q = 600")
sample = Draws(figure, 300, 600, 5, 4, figure.pick(100, 400))

figure.claim("“excellent agreement between our estimates and the true moments” (the mean, n = 2 to 7)",
             *is_unbiased([sample], OURS))
claim_smallest_mse(figure, sample, "“our estimator achieves the smallest mean-squared error” at every n")
spread = max(sample.sd(OURS, n) / sample.sd(r, n) for r in OTHERS for n in sample.orders)
figure.claim("“both unbiased and has low variance”: no estimator's variance is lower",
             f"SD at most {spread:.3f} times another estimator's", not undercut(sample, OURS))
figure.expect("the other three are biased at every n", *together(is_biased([sample], e) for e in OTHERS))
figure.expect("the mean over all cycles of distinct rows and columns (exact, n ≤ 4) is unbiased as well",
              *is_unbiased([sample], "exact"))

names = (*OTHERS, OURS)
figure.picture("", [estimates_panel(sample, names),
                    error_panel(sample, names, "mean-square error", "MSE", sample.mse)])
figure.finish()
