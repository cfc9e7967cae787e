"""Spectra that are known in closed form."""

from ._functions import theory_linear as linear
from ._functions import theory_rbf as rbf
from ._functions import theory_sphere as sphere

__all__ = ["linear", "rbf", "sphere"]
