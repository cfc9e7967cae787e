#!/usr/bin/env python3
"""Figure A1b: estimates of m(2) to m(7), mean-square error, bias and variance of the estimators for the RBF kernel under standard
normal inputs, P = 300, Q = 600, d = 10, Sigma = I (eta = 1).

The paper on all of Figure A1: “our estimator achieves both the lowest bias and variance error, across all configurations
that are tested”."""

from harness import Figure
from paper000 import PAPER, Draws, bias_and_variance

figure = Figure("000-A1b", PAPER, "Bias and variance of the estimators, P = 300, Q = 600, d = 10, η = 1")
bias_and_variance(figure, Draws(figure, 300, 600, 10, 1, figure.pick(100, 400)))
figure.finish()
