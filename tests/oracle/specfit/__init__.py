"""The reference program of the fit: short names, no checks of input. Needs numpy, scipy and numba.

It came first, as a study; the C program follows it line by line, and tests/oracle/make_spectrum.py makes
the values from it that the tests compare with."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
from .data import prepare
from .fit import fit
from .map import cov_logs, elasticity, forward
