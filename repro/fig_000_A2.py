#!/usr/bin/env python3
"""Figure A2a, A2b, A2d: estimates, mean-square error, bias and variance for the RBF kernel, P = 75, Q = 15,
d = 3, Sigma = I/4 (eta = 4): without noise, and with independent standard normal noise on every entry of one
trial or of two trials, between which the estimators alternate.
"""
from harness import Figure, chosen
from paper000 import (NEARLY_ALL, OTHERS, OURS, PAPER, claim_lowest_variance, error_figure, expect_biased,
                      is_unbiased, noisy)

FIGURES = {  # title, the claim that ours is unbiased, up to which order the others' bias is seen
    "000-A2a": ("without noise", "“lowest bias”: ours shows none", 4),
    "000-A2b": ("independent noise, one trial",
                "“for independent noise, we only need one trial (T = 1) … to obtain an unbiased estimate”",
                4),
    "000-A2d": ("independent noise, two trials", "ours is unbiased with two trials", 3),
}
name, (title, claim, last) = chosen(FIGURES)
figure = Figure(name, PAPER, f"Bias and variance of the estimators, P = 75, Q = 15: {title}")
sample = noisy(figure, name[-1])
figure.claim(claim, *is_unbiased([sample], OURS))
expect_biased(figure, sample, OTHERS, range(2, last + 1))
claim_lowest_variance(figure, sample, NEARLY_ALL)
error_figure(figure, sample)
figure.finish()
