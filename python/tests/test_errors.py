"""What goes wrong: the tool's own sentence, and the right type of exception."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kspec
from kspec._errors import in_python

A = np.arange(20.0).reshape(5, 4) ** 1.5
NAN = np.where(A == A[2, 1], np.nan, A)
INF = np.where(A == A[2, 1], -np.inf, A)
CASES = [
    # call, the tool's words, exception
    (lambda x: kspec.moments(x, n=9), ["moments", "x", "-n", 9], A, ValueError),
    (lambda x: kspec.moments(x, n=-1), ["moments", "x", "-n", -1], A, ValueError),
    (lambda x: kspec.moments(x, n=10**30), ["moments", "x", "-n", 10**30], A, ValueError),
    (lambda x: kspec.moments(x, estimator="best"), ["moments", "x", "--estimator", "best"], A, ValueError),
    (lambda x: kspec.moments(x), ["moments", "x"], NAN, ValueError),
    (lambda x: kspec.moments(x), ["moments", "x"], INF, ValueError),
    (lambda x: kspec.moments(x), ["moments", "x"], np.empty((0, 3)), ValueError),
    (lambda x: kspec.moments(x), ["moments", "x"], np.ones((7, 3, 2)), ValueError),
    (
        lambda x: kspec.moments(x, axes="rows,cols"),
        ["moments", "x", "--axes", "rows,cols"],
        np.ones((2, 3, 2)),
        ValueError,
    ),
    (lambda x: kspec.moments(x, threads=2000), ["moments", "x", "--threads", 2000], A, ValueError),
    (lambda x: kspec.moments(x, seed=-1), ["moments", "x", "--seed", -1], A, ValueError),
    (lambda x: kspec.moments(x, effort=float("nan")), ["moments", "x", "--effort", "nan"], A, ValueError),
    (lambda x: kspec.moments(x, select_cols="7"), ["moments", "x", "--select-cols", 7], A, ValueError),
    (lambda x: kspec.dimension(x, center="both"), ["dimension", "x", "--center=both"], A, ValueError),
    (lambda x: kspec.spectrum(x), ["spectrum", "x"], A[:3], ValueError),
    (lambda x: kspec.spectrum(), ["spectrum"], A, ValueError),
    (
        lambda x: kspec.norm(x, method="eigen", sigma=-1.0),
        ["norm", "x", "--method", "eigen", "--sigma", -1.0],
        A,
        ValueError,
    ),
    (
        lambda x: kspec.norm(x, method="eigen", gram=True),
        ["norm", "x", "--method", "eigen", "--gram"],
        A[:4],
        ValueError,
    ),
    (
        lambda x: kspec.ridge(x, features=3, lambda_=1),
        ["ridge", "x", "--features", 3, "--lambda", 1],
        A,
        ValueError,
    ),
    (
        lambda x: kspec.theory.sphere(kernel="ntk", dim=1),
        ["theory", "sphere", "--kernel", "ntk", "--dim", 1],
        A,
        ValueError,
    ),
    (lambda x: kspec.moments("nowhere.npy"), ["moments", "nowhere.npy"], A, OSError),
    (lambda x: kspec.spectrum(moments="1,-"), ["spectrum", "--moments", "1,-"], A, ValueError),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_the_tools_sentence(tool: Any, case: int) -> None:
    call, words, data, kind = CASES[case]
    tool.put(x=data)
    with pytest.raises(kspec.Error) as caught:
        call(data)
    assert isinstance(caught.value, kind)
    assert str(caught.value) == in_python(tool.error(*words))


def test_keywords_for_flags() -> None:
    assert in_python("--lambda: -1 is below 0") == "lambda_: -1 is below 0"
    assert in_python("-n: 9 exceeds 8 (--select-cols)") == "n: 9 exceeds 8 (select_cols)"
    assert in_python("a-n/--x: 1e-3 -- odd (--nan omit-rows)") == "a-n/--x: 1e-3 -- odd (nan='omit-rows')"
    with pytest.raises(kspec.DataError, match=r"omit-rows leaves 4 of 5 rows.* \(nan='omit-rows'\)$"):
        kspec.moments(NAN)
    with pytest.raises(kspec.DataError, match=r"is 7 x 3 x 2.* \(axes='cols,rows,trials'\)$"):
        kspec.moments(np.ones((7, 3, 2)))
    with pytest.raises(kspec.ArgumentError, match="^threads: 2000 is not between"):
        kspec.moments(A, threads=2000)
    with pytest.warns(kspec.KspecWarning, match=r"smallest double.*scale the data \(normalize\)"):
        kspec.moments(np.random.default_rng(0).normal(size=(40, 30)) * 1e-41)


def test_axes_of_an_array() -> None:
    with pytest.raises(ValueError, match="x has 0 axes; 1 to 3 are expected"):
        kspec.moments(np.float64(3))
    with pytest.raises(ValueError, match="x has 4 axes; 1 to 3 are expected"):
        kspec.moments(np.ones((2, 2, 2, 2)))
    with pytest.raises(ValueError, match="rows of different lengths"):
        kspec.moments([[1.0, 2.0], [3.0]])
    with pytest.raises(kspec.DataError, match=r"trial 2 \(x\[1\]\) is 3 x 4, trial 1 \(x\[0\]\) is 5 x 4"):
        kspec.moments([A, A[:3]])


@pytest.mark.parametrize(
    "options", [{"n": 2.5}, {"n": True}, {"n": "2"}, {"seed": 1.0}, {"effort": "much"}, {"normalize": 1}]
)
def test_types_of_options(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=next(iter(options))):
        kspec.moments(A, **options)


def test_unknown_options() -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        kspec.moments(A, order=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        kspec.moments(A, 3)  # type: ignore[misc]


def test_out_of_memory() -> None:
    with pytest.raises(MemoryError) as caught:
        kspec.ridge(np.zeros((99_999, 1)), target=np.zeros(99_999), features=10, lambda_=1.0)
    assert isinstance(caught.value, kspec.Error) and "are available" in str(caught.value)


def test_generate() -> None:
    with pytest.raises(ValueError, match="eta"):
        kspec.generate.rff(3, 3, eta=-1.0)
    with pytest.raises(ValueError, match="rows: 0 is below 1"):
        kspec.generate.rff(0, 3)
    with pytest.raises(kspec.ArgumentError, match="20000|20,000"):
        kspec.generate.gaussian(30_000, 1)
    with pytest.raises(kspec.DataError, match="positive"):
        kspec.generate.rff(3, 3, sigma=-np.eye(2))


def test_features() -> None:
    with pytest.raises(ValueError, match="sigma"):
        kspec.features(A, 3, sigma=-1.0)
    with pytest.raises(ValueError, match="NaN"):
        kspec.features(NAN, 3)
    with pytest.raises(ValueError, match="kernel"):
        kspec.features(A, 3, kernel="linear")  # type: ignore[arg-type]


def test_warnings(x: Any) -> None:
    with pytest.warns(kspec.KspecWarning, match="centre the data to see what varies around them") as seen:
        result = kspec.moments(x + 5, n=2)
    assert seen[0].filename == __file__
    told = [in_python(w) for w in result.to_dict()["warnings"]]
    assert [str(w.message) for w in seen] == told
    assert [d["text"] for d in result.doubts if d["severity"] != "note"] == told
    assert "means-dominate" in {d["code"] for d in result.doubts}


def test_notes_are_doubts_without_a_warning(x: Any) -> None:
    result = kspec.dimension(x)
    assert {"code": "one-trial", "severity": "note"}.items() <= result.doubts[-1].items()


def test_nothing_is_printed(x: Any, capfd: Any) -> None:
    kspec.moments(x)
    with pytest.raises(kspec.Error):
        kspec.moments(x, n=99)
    assert capfd.readouterr() == ("", "")
