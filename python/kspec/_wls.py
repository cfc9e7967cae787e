"""kspec.wls: the command without a verb when it is called, its verbs as attributes."""

from . import _functions as f


class _Wls:
    """Weighted least squares: kspec.wls(grid=64, ...), kspec.wls.fit(y, ...) and the other verbs of the
    command"""

    __call__ = staticmethod(f.wls)
    bound = staticmethod(f.wls_bound)
    decay = staticmethod(f.wls_decay)
    features = staticmethod(f.wls_features)
    fit = staticmethod(f.wls_fit)
    select = staticmethod(f.wls_select)
    theory = staticmethod(f.wls_theory)


wls = _Wls()
