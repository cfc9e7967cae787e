#!/usr/bin/env python3
"""Figure A2c: estimates, mean-square error, bias and variance for the RBF kernel, P = 75, Q = 15, d = 3,
Sigma = I/4 (eta = 4): one trial with correlated standard normal noise.

The caption correlates entries of a row that are more than 10 columns apart. The text's (A72) has noise common
to rows and noise common to columns; this is taken here: (r_i + c_a)/sqrt(2).
"""
from harness import Figure
from paper000 import (NEARLY_ALL, OTHERS, OURS, PAPER, claim_lowest_variance, error_figure, is_biased, noisy,
                      together)

figure = Figure("000-A2c", PAPER,
                "Bias and variance of the estimators, P = 75, Q = 15: correlated noise, one trial")
sample = noisy(figure, "c")
figure.claim("one trial is not enough for correlated noise: all estimators are biased at n = 2 to 4",
             *together(is_biased([sample], e, range(2, 5)) for e in (*OTHERS, OURS)))
lowest = sample.lowest_bias()
figure.claim("“the lowest bias … across nearly all configurations”, in this panel",
             f"at {lowest} of {len(sample.orders)} orders", lowest == len(sample.orders))
claim_lowest_variance(figure, sample, NEARLY_ALL)
error_figure(figure, sample)
figure.finish()
