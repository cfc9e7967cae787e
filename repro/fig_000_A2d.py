#!/usr/bin/env python3
"""Figure A2d: estimates, mean-square error, bias and variance for the RBF kernel, P = 75, Q = 15, d = 3, Sigma = I/4 (eta = 4):
two trials with independent standard normal noise, the estimators alternating between them."""

from harness import Figure
from paper000 import OTHERS, OURS, PAPER, claim_lowest_variance, error_figure, expect_biased, is_unbiased, noisy

figure = Figure("000-A2d", PAPER, "Bias and variance of the estimators, P = 75, Q = 15: independent noise, two trials")
sample = noisy(figure, "d")
holds, number = is_unbiased([sample], OURS)
figure.claim("ours is unbiased with two trials", number, holds)
expect_biased(figure, sample, OTHERS, range(2, 4))
claim_lowest_variance(figure, sample, "“the lowest … variance error across nearly all configurations”, here")
error_figure(figure, sample)
figure.finish()
