#!/usr/bin/env python3
"""Figure A1d: estimates of m(2) to m(7), mean-square error, bias and variance of the estimators for the RBF kernel under standard
normal inputs, P = 30, Q = 60, d = 4, Sigma = I/4 (eta = 4).

The paper on all of Figure A1: “our estimator achieves both the lowest bias and variance error, across all configurations
that are tested”."""

from harness import Figure
from paper000 import PAPER, Draws, bias_and_variance

figure = Figure("000-A1d", PAPER, "Bias and variance of the estimators, P = 30, Q = 60, d = 4, η = 4")
bias_and_variance(figure, Draws(figure, 30, 60, 4, 4, figure.pick(250, 2000), exact=5, averaged=True))
figure.finish()
