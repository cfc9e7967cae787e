#!/usr/bin/env python3
"""Figure 1 (b), (d): the time of the full decomposition, of power and of rff-power against the number of rows n.

One thread, five updates, the least of several runs, the making of K or Z included. "RFF-Power consistently consumes the least amount
of time"; "the time of three methods have roughly cubic, quadratic and linear dependence on data size". The scaling of the
columns plays no part, so the min-max ones are taken; the decomposition is LAPACK's of a symmetric matrix (quick: n up to 2449).
"""
from paper001 import Norms, judge_times

figure = Norms("001-1bd", "time of the norm's estimates by power iteration")
judge_times(figure, "bd", "rff-power", {"eigen": "cubic", "power": "quadratic", "rff-power": "linear"})
figure.finish()
