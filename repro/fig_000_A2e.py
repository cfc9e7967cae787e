#!/usr/bin/env python3
"""Figure A2e: estimates, mean-square error, bias and variance for the RBF kernel, P = 75, Q = 15, d = 3,
Sigma = I/4 (eta = 4): two trials with correlated standard normal noise, (r_i + c_a)/sqrt(2) drawn anew in
each, between which the estimators alternate.
"""
from harness import Figure
from paper000 import (NEARLY_ALL, OURS, PAPER, claim_lowest_variance, error_figure, expect_biased, is_biased,
                      is_unbiased, noisy)

figure = Figure("000-A2e", PAPER,
                "Bias and variance of the estimators, P = 75, Q = 15: correlated noise, two trials")
sample = noisy(figure, "e")
figure.claim("“with only two trials T = 2, our estimator is still unbiased even when … corrupted by "
             "correlated noise”", *is_unbiased([sample], OURS))
figure.expect("the same check sees the bias of one trial (n = 2 to 4)",
              *is_biased([noisy(figure, "c")], OURS, range(2, 5)))
expect_biased(figure, sample, ("naive", "kv-row"), range(2, 4))
claim_lowest_variance(figure, sample, NEARLY_ALL)
error_figure(figure, sample)
figure.finish()
