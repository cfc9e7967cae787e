#!/usr/bin/env python3
"""Figure A1a: estimates of m(2) to m(7), mean-square error, bias and variance of the estimators for the RBF kernel under standard
normal inputs, P = 300, Q = 600, d = 5, Sigma = I/4 (eta = 4), the setting of Figure 2a.

The paper on all of Figure A1: “our estimator achieves both the lowest bias and variance error, across all configurations
that are tested”."""

from harness import Figure
from paper000 import PAPER, Draws, bias_and_variance

figure = Figure("000-A1a", PAPER, "Bias and variance of the estimators, P = 300, Q = 600, d = 5, η = 4")
bias_and_variance(figure, Draws(figure, 300, 600, 5, 4, figure.pick(100, 400)))
figure.finish()
