#!/usr/bin/env python3
"""Figure A1: estimates of m(2) to m(7), mean-square error, bias and variance of the estimators for the RBF
kernel under standard normal inputs, in four settings with Sigma = I/eta. A1a has the setting of Figure 2a.

The paper: “our estimator achieves both the lowest bias and variance error, across all configurations that are
tested”.
"""
from fractions import Fraction

from harness import Figure, chosen
from paper000 import (OTHERS, OURS, PAPER, Draws, claim_lowest_variance, error_figure, expect_biased,
                      is_unbiased)

FIGURES = {  # P, Q, d, eta, draws (quick, full), what else is drawn
    "000-A1a": (300, 600, 5, 4, (100, 400), {}),
    "000-A1b": (300, 600, 10, 1, (100, 400), {}),
    "000-A1c": (30, 60, 10, 0.25, (250, 2000), {}),
    "000-A1d": (30, 60, 4, 4, (250, 2000), {"exact": 5, "averaged": True}),
}
name, (P, Q, dim, eta, draws, more) = chosen(FIGURES)
setting = f"P = {P}, Q = {Q}, d = {dim}, η = {Fraction(eta)}"
figure = Figure(name, PAPER, f"Bias and variance of the estimators, {setting}")
sample = Draws(figure, P, Q, dim, eta, figure.pick(*draws), **more)

number, holds = is_unbiased([sample], OURS)
figure.claim("“the lowest bias”: ours shows none",
             f"{number}; observed bias lowest at {sample.lowest_bias()} of {len(sample.orders)} orders",
             holds)
expect_biased(figure, sample, OTHERS, range(2, 5))
claim_lowest_variance(figure, sample, "“the lowest … variance error”")
figure.expect("exact is unbiased as well", *is_unbiased([sample], "exact"))
error_figure(figure, sample)
figure.finish()
