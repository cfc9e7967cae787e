#!/usr/bin/env python3
"""Figure 1 (f), (h): the time of the full decomposition, of nystrom and of rff-nystrom against the number of rows n.

The runs of (b), (d). "Again, we see RFF-Nystrom consistently consumes the least amount of time." The introduction adds that
the accelerated methods' "computation time indeed scale linearly as the data size increases, while their basic counterparts'
time scale quadratically". The norm of the sample's Gram matrix is by Lanczos iteration here, five products like five updates.
"""
from paper001 import Norms, judge_times

figure = Norms("001-1fh", "time of the Nyström estimates of the norm")
judge_times(figure, "fh", "rff-nystrom", {"eigen": "cubic", "nystrom": "quadratic", "rff-nystrom": "linear"})
figure.finish()
