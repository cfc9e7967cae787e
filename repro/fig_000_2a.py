#!/usr/bin/env python3
"""Figure 2a: moments of the RBF kernel, d = 5, Sigma_x = I, Sigma = I/4 (eta = 4), P = 300, Q = 600: estimates of m(2) to m(7)
by four estimators and their mean-square errors."""

from harness import Figure
from paper000 import (
    OTHERS,
    OURS,
    PAPER,
    Draws,
    claim_smallest_mse,
    error_panel,
    estimates_panel,
    is_biased,
    is_unbiased,
    undercut,
)

figure = Figure("000-2a", PAPER, "Moments of an RBF kernel by four estimators, P = 300, Q = 600")
sample = Draws(figure, 300, 600, 5, 4, figure.pick(100, 400))

holds, number = is_unbiased([sample], OURS)
figure.claim("“excellent agreement between our estimates and the true moments” (the mean, n = 2 to 7)", number, holds)
claim_smallest_mse(figure, sample, "“our estimator achieves the smallest mean-squared error” at every n")
spread = [max(sample.sd(OURS, n) / sample.sd(r, n) for r in OTHERS) for n in sample.orders]
figure.claim(
    "“both unbiased and has low variance”: no estimator's variance is lower",
    f"SD at most {max(spread):.3f} of another's",
    not undercut(sample, OURS),
)
figure.expect(
    "the other three are biased at every n",
    "; ".join(is_biased([sample], e)[1] for e in OTHERS),
    all(is_biased([sample], e)[0] for e in OTHERS),
)
holds, number = is_unbiased([sample], "exact")
figure.expect("the mean over all cycles of distinct rows and columns (exact, n ≤ 4) is unbiased, too", number, holds)

names = (*OTHERS, OURS)
figure.picture("", [estimates_panel(sample, names), error_panel(sample, names, "mean-square error", "MSE", sample.mse)])
figure.finish()
