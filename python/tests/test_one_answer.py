"""One matrix has one dimension: every function and class that gives it gives the same bits."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import kspec

# rows, columns, trials, what is added to each column and to each row, the share of entries that is missing
CASES = [
    *[(40, 30, 1, c, r, 0) for c, r in ((0, 0), (5, 0), (0, 5), (1e6, 0))],
    *[(P, Q, 1, c, 0, 0) for P, Q in ((200, 12), (12, 200)) for c in (0, 3)],
    *[(30, 40, 2, 0, 0, 0), (30, 40, 2, 4, 0, 0), (150, 10, 2, 2, 0, 0), (10, 150, 2, 2, 1, 0)],
    *[(25, 35, 3, 0, 0, 0), (25, 35, 5, 4, 1, 0), (190, 180, 1, 1, 0, 0), (70, 65, 4, 0.5, 0, 0)],
    *[(60, 20, 1, 0, 0, 0.02), (60, 20, 1, 4, 0, 0.02), (50, 15, 2, 3, 0, 0.01), (40, 80, 3, 1, 1, 0.002)],
]


def draw(seed: int, P: int, Q: int, trials: int, column: float, row: float, missing: float) -> np.ndarray:
    r = np.random.default_rng(seed)
    means = column * r.normal(size=Q) + row * r.normal(size=(P, 1))
    x = r.normal(size=(P, 6)) @ r.normal(size=(6, Q)) + means + 0.7 * r.normal(size=(trials, P, Q))
    x[r.random(x.shape) < missing] = np.nan
    return np.asarray(x if trials > 1 else x[0])


@pytest.mark.filterwarnings("ignore::kspec.KspecWarning")
@pytest.mark.parametrize("seed", range(len(CASES)))
def test_one_dimension(seed: int) -> None:
    x = draw(seed, *CASES[seed])
    holes = bool(CASES[seed][-1])
    for nan in ["omit-rows", "pairwise"] if holes else [None]:
        how: dict[str, Any] = {"nan": nan}
        for center in ("rows", "none"):
            want = kspec.dimension(x, center=center, **how).dimension
            assert np.isfinite(want)
            found = [kspec.moments(x, center=center, **how), kspec.moments(x, n=2, center=center, **how)]
            assert [m.participation_ratio for m in found] == [want, want]
            assert {m.center for m in found} == {center}
            if nan != "pairwise":
                both = kspec.compare(x, x, center=center, paired="none", **how)
                assert both.dimension == both.other_dimension == want
                spectrum = kspec.spectrum(x, center=center, **how)
                assert spectrum.participation_ratio == want and spectrum.center == center
        rows = kspec.dimension(x, center="rows", **how).dimension
        none = kspec.dimension(x, center="none", **how).dimension
        assert kspec.dimension(x, **how).dimension == kspec.dimension(x, center=True, **how).dimension == rows
        assert kspec.dimension(x, center=False, **how).dimension == none
        if nan != "pairwise":
            assert kspec.spectrum(x, **how).participation_ratio == rows
            assert kspec.spectrum(x, rank=5, draws=2, **how).participation_ratio == none
        moments = kspec.moments(x, **how)
        assert moments.participation_ratio == none
        shown = rows if abs(rows - none) > 0.1 * none else np.nan
        np.testing.assert_equal(moments.dimension_centered, shown)


def test_tracker_and_estimator() -> None:
    x = draw(1, *CASES[1])
    want = kspec.dimension(x).dimension
    assert kspec.Tracker().update("layer", x)["dimension"] == want
    plain = kspec.dimension(x, center=False).dimension
    assert kspec.Tracker(center="none").update("layer", x)["dimension"] == plain
    pytest.importorskip("sklearn")
    from kspec.sklearn import KernelSpectrum

    fitted = KernelSpectrum().fit(x)
    assert fitted.dimension_ == fitted.spectrum_.participation_ratio == want
    assert KernelSpectrum(center="cols").fit(x).dimension_ == kspec.dimension(x, center="cols").dimension


def test_no_center_is_deprecated() -> None:
    x = draw(1, *CASES[1])
    with pytest.warns(DeprecationWarning, match="use center=False") as seen:
        r = kspec.dimension(x, no_center=True)
    assert seen[0].filename == __file__
    assert r.dimension == kspec.dimension(x, center=False).dimension and r.center == "none"
    with pytest.raises(ValueError, match="cannot be combined"):
        kspec.dimension(x, center="rows", no_center=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kspec.dimension(x, no_center=False)
    with pytest.raises(ValueError, match="must be one of none, rows, cols, both"):
        kspec.dimension(x, center="columns")  # type: ignore[arg-type]
