#!/usr/bin/env python3
"""Figure A2b: estimates, mean-square error, bias and variance for the RBF kernel, P = 75, Q = 15, d = 3, Sigma = I/4 (eta = 4):
one trial with independent standard normal noise added to every entry."""

from harness import Figure
from paper000 import OTHERS, OURS, PAPER, claim_lowest_variance, error_figure, expect_biased, is_unbiased, noisy

figure = Figure("000-A2b", PAPER, "Bias and variance of the estimators, P = 75, Q = 15: independent noise, one trial")
sample = noisy(figure, "b")
holds, number = is_unbiased([sample], OURS)
figure.claim("“for independent noise, we only need one trial (T = 1) … to obtain an unbiased estimate”", number, holds)
expect_biased(figure, sample, OTHERS, range(2, 5))
claim_lowest_variance(figure, sample, "“the lowest … variance error across nearly all configurations”, here")
error_figure(figure, sample)
figure.finish()
