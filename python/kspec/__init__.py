"""kspec: what a finite matrix of measurements says about the infinite kernel behind it.

    >>> import kspec
    >>> x = kspec.generate.rff(300, 600, dim=10, eta=1.0)
    >>> kspec.dimension(x)                                                    # doctest: +SKIP
    >>> kspec.moments(x).plot()                                               # doctest: +SKIP

Each function is a command of the tool: the same options by the same names, the same numbers to the last bit.
"""

from __future__ import annotations

from . import generate, theory
from ._accumulator import Accumulator
from ._errors import (
    ArgumentError,
    Cancelled,
    DataError,
    Error,
    FileError,
    KspecWarning,
    NumericError,
    OutOfMemory,
)
from ._features import features, gram
from ._files import read
from ._functions import *  # noqa: F403
from ._functions import __all__ as _commands
from ._gauss_newton import gauss_newton
from ._header import VERSION as __version__
from ._results import (
    Compare,
    Config,
    Dimension,
    Estimate,
    Learn,
    Moments,
    Norm,
    Result,
    Ridge,
    Smooth,
    Spectrum,
    Table,
    Theory,
    Wls,
)
from ._smooth import smooth
from ._tracker import Tracker, track
from ._unbiased import jackknife, unbiased
from ._wls import wls

__all__ = [
    "Accumulator",
    "ArgumentError",
    "Cancelled",
    "Compare",
    "Config",
    "DataError",
    "Dimension",
    "Error",
    "Estimate",
    "FileError",
    "KspecWarning",
    "Learn",
    "Moments",
    "Norm",
    "NumericError",
    "OutOfMemory",
    "Result",
    "Ridge",
    "Smooth",
    "Spectrum",
    "Table",
    "Theory",
    "Tracker",
    "Wls",
    "__version__",
    "features",
    "gauss_newton",
    "generate",
    "gram",
    "jackknife",
    "read",
    "smooth",
    "theory",
    "track",
    "unbiased",
    "wls",
    *_commands,
]
