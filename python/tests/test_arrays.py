"""What goes in: every memory order without a copy, every kind of array-like, and clear refusals."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import kspec
from kspec import _arrays, _header
from kspec._library import library


def address_seen_by_c(a: np.ndarray) -> tuple[int, list[int]]:
    """Where the library finds the first entry of each trial, and their strides, when an array is borrowed to
    it"""
    name, borrowed = _arrays.Lent("x"), (_header.kspec_array * 1)()
    keep = _arrays.as_struct(name, _arrays.to_array("x", a)[0], None, borrowed[0])
    lib, out, err = library(), ctypes.POINTER(_header.kspec_dataset)(), _header.kspec_error()
    o = _header.kspec_read_opts(size=ctypes.sizeof(_header.kspec_read_opts), in_place=1)
    lib.kspec_borrow(ctypes.byref(_header.kspec_borrowed(borrowed, 1)))
    status = lib.kspec_read(
        (ctypes.c_char_p * 1)(_arrays.in_c(name)), 1, ctypes.byref(o), ctypes.byref(out), ctypes.byref(err)
    )
    lib.kspec_borrow(None)
    assert status == 0, err.msg
    m = lib.kspec_dataset_trial(out, 0)
    found = ctypes.cast(m.data, ctypes.c_void_p).value or 0
    lib.kspec_free(out)
    del keep
    return found, [m.row_stride * 8, m.col_stride * 8]


VIEWS = {
    "C order": lambda a: a,
    "Fortran order": np.asfortranarray,
    "transposed": lambda a: a.T,
    "every second": lambda a: a[::2, 1::3],
    "backwards": lambda a: a[::-1, ::-1],
    "rows of trials": lambda a: a.reshape(5, 8, 30)[:, 3, :],
}


@pytest.mark.parametrize("view", VIEWS)
def test_no_copy(x: Any, view: str) -> None:
    a = VIEWS[view](x)
    assert address_seen_by_c(a) == (a.ctypes.data, list(a.strides))


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_gives_what_its_copy_gives(x: Any, view: str) -> None:
    a = VIEWS[view](x)
    copy = np.array(a, order="C")
    assert kspec.moments(a, n=2).to_dict()["estimates"] == kspec.moments(copy, n=2).to_dict()["estimates"]
    assert kspec.dimension(a, center=False).dimension == kspec.dimension(copy, center=False).dimension


@pytest.mark.parametrize(
    "function",
    [
        lambda a: kspec.moments(a, n=2).estimates.value,
        lambda a: [kspec.dimension(a).dimension],
        lambda a: [kspec.compare(a[:, :15], a[:, 15:]).alignment],
        lambda a: kspec.spectrum(a).eigenvalues,
        lambda a: kspec.norm(a, method="eigen", sigma=1.0).results.value,
        lambda a: kspec.ridge(a, target=a[:, 0], features=5, lambda_=1.0).points.train_mse,
        lambda a: kspec.wls.decay(a).singular_values,
        lambda a: kspec.features(a, 10).ravel(),
        lambda a: kspec.gram(a).ravel(),
    ],
)
def test_every_function_takes_every_order(x: Any, function: Any) -> None:
    want = function(x)
    assert np.array_equal(function(np.asfortranarray(x)), want)
    big = np.zeros((80, 60))
    big[::2, ::2] = x
    assert np.array_equal(function(big[::2, ::2]), want)


def test_no_second_copy_of_a_large_array() -> None:
    """The peak of the process does not grow by the array: C sees it where it lies, in Fortran order as
    well."""
    import subprocess
    import sys

    code = """
import resource, numpy as np, kspec, ctypes
from kspec import _arrays, _header
kspec.config()
a = np.asfortranarray(np.ones((4000, 2000)))
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
name, borrowed = _arrays.Lent("x"), (_header.kspec_array * 1)()
keep = _arrays.as_struct(name, _arrays.to_array("x", a)[0], None, borrowed[0])
from kspec._library import library
lib, out, err = library(), ctypes.POINTER(_header.kspec_dataset)(), _header.kspec_error()
o = _header.kspec_read_opts(size=ctypes.sizeof(_header.kspec_read_opts), in_place=1)
lib.kspec_borrow(ctypes.byref(_header.kspec_borrowed(borrowed, 1)))
names = (ctypes.c_char_p * 1)(_arrays.in_c(name))
assert lib.kspec_read(names, 1, ctypes.byref(o), ctypes.byref(out), ctypes.byref(err)) == 0
print((peak() - before) / a.nbytes)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.1


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "i8", "u4", ">f8", ">i2", "g", "?"])
def test_other_numbers_are_converted(x: Any, dtype: str) -> None:
    a = (x * 3).round().astype(dtype)
    assert kspec.dimension(a).dimension == kspec.dimension(a.astype(np.float64)).dimension


def test_unaligned(x: Any) -> None:
    packed = np.zeros(40, dtype=[("tag", "u1"), ("x", "f8", 30)])
    packed["x"] = x
    assert kspec.dimension(packed["x"]).dimension == kspec.dimension(x).dimension


def test_lists_and_vectors(x: Any) -> None:
    assert kspec.dimension(x.tolist()).dimension == kspec.dimension(x).dimension
    assert kspec.moments([[1.0, 2.0], [3.0, 4.0]], n=1).rows == 2
    assert kspec.moments(np.arange(5.0), n=1).cols == 1
    three = x[:36].reshape(2, 18, 30)
    assert kspec.moments(three.tolist(), n=1).trials == 2


def test_masked(x: Any) -> None:
    mask = np.zeros(x.shape, dtype=bool)
    mask[2, 3] = True
    a = np.ma.MaskedArray(x, mask)
    with pytest.raises(kspec.DataError, match="x: 1 missing value, the first at row 2, column 3"):
        kspec.dimension(a)
    assert kspec.dimension(a, nan="omit-rows").dimension == kspec.dimension(np.delete(x, 2, axis=0)).dimension
    assert kspec.dimension(np.ma.MaskedArray((x * 9).astype(int))).rows == 40


def test_frames(x: Any) -> None:
    pd = pytest.importorskip("pandas")
    names = [f"c{j}" for j in range(30)]
    frame = pd.DataFrame(x, columns=names)
    assert kspec.dimension(frame).dimension == kspec.dimension(x).dimension
    some = kspec.dimension(frame, select_cols=["c3", "c1", "c9", "c12"])
    assert some.dimension == kspec.dimension(x[:, [3, 1, 9, 12]]).dimension
    with pytest.raises(ValueError, match="column 'c77' is not in the header of x; did you mean 'c7'"):
        kspec.dimension(frame, select_cols="c77,c1")
    tagged = frame.assign(tag=[f"t{i // 4}" for i in range(40)])
    by_column = kspec.dimension(tagged, groups_column="tag")
    assert by_column.dimension == kspec.dimension(x, groups=np.arange(40) // 4).dimension
    with pytest.raises(TypeError, match="Python objects|strings"):
        kspec.dimension(tagged)
    frame["i"] = pd.array([1, None, *range(38)], dtype="Int64")
    with pytest.raises(kspec.DataError, match=r"1 missing value, the first at row 1, column 30 \('i'\)"):
        kspec.dimension(frame)
    assert kspec.moments(pd.Series(x[:, 0]), n=1).cols == 1


def test_labels_of_frames(x: Any) -> None:
    pd = pytest.importorskip("pandas")
    labels = pd.Series([f"t{i // 4}" for i in range(40)])
    assert (
        kspec.dimension(x, groups=labels).dimension == kspec.dimension(x, groups=np.arange(40) // 4).dimension
    )
    assert kspec.dimension(x, groups=list(labels)).dimension == kspec.dimension(x, groups=labels).dimension
    with pytest.raises(kspec.DataError, match="groups: the label of row 3 .from 0. is missing"):
        kspec.dimension(x, groups=[*labels[:3], None, *labels[4:]])
    with pytest.raises(kspec.DataError, match="groups has 39 labels, the matrix has 40 rows"):
        kspec.dimension(x, groups=np.arange(39))


def test_names_of_matrices(x: Any, trials: Any) -> None:
    """Whatever they are called: a label is not an option, a list of files or another array."""
    r = kspec.dimension({"-n": x, "@x": x[:20], "x[0]": list(trials), "é ü": x[:, :9]})
    assert [row["label"] for row in r.results] == ["-n", "@x", "x[0]", "é ü"]
    assert r.results.dimension.tolist() == [
        kspec.dimension(a).dimension for a in (x, x[:20], trials, x[:, :9])
    ]
    both = kspec.compare(list(trials), list(trials[:, :, ::2]))
    assert both.alignment == kspec.compare(trials, trials[:, :, ::2]).alignment


class OnlyDlpack:
    """As a JAX array or a tensor of another library, seen through DLPack alone"""

    def __init__(self, a: np.ndarray) -> None:
        self._a = a

    def __dlpack__(self, **options: Any) -> Any:
        return self._a.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self._a.__dlpack_device__()


class OnlyArray:
    """As an xarray.DataArray or a tensor: __array__ alone, and part of a graph"""

    def __init__(self, a: np.ndarray, attached: bool = True) -> None:
        self._a, self._attached = a, attached

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if self._attached:
            raise RuntimeError("call detach() first")
        return self._a

    def detach(self) -> OnlyArray:
        return OnlyArray(self._a, attached=False)


def test_arrays_of_other_libraries(x: Any) -> None:
    want = kspec.dimension(x).dimension
    assert kspec.dimension(OnlyDlpack(x)).dimension == want
    assert kspec.dimension(OnlyArray(x)).dimension == want
    assert np.shares_memory(_arrays.to_array("x", OnlyDlpack(x))[0], x)
    assert np.shares_memory(_arrays.to_array("x", OnlyArray(x))[0], x)


@pytest.mark.parametrize(
    "module, make",
    [
        ("torch", lambda m, x: m.tensor(x, requires_grad=True)),
        ("jax", lambda m, x: m.numpy.asarray(x)),
        ("xarray", lambda m, x: m.DataArray(x)),
    ],
)
def test_real_ones(x: Any, module: str, make: Any) -> None:
    m = pytest.importorskip(module)
    assert kspec.dimension(make(m, x.astype("f4"))).dimension == kspec.dimension(x.astype("f4")).dimension


@pytest.mark.parametrize(
    "bad, words",
    [
        (np.ones((3, 3), dtype=complex), "complex entries .* take .real"),
        (np.array([[object()]]), r"Python objects .* \.astype\(float\)"),
        (np.array([["a", "b"]]), "strings"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "datetime64"),
    ],
)
def test_refused_types(bad: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        kspec.moments(bad)


def test_complex_data_of_a_fit() -> None:
    y = np.exp(1j * np.arange(16))
    fit = kspec.wls.fit(y, grid=16, learn=4, alpha=1.0)
    assert fit.to_dict()["input"]["shape"] == [16, 2]


class OnGpu:
    """As an array of PyTorch, CuPy or Numba on a GPU: its memory is not the host's, and a method copies it"""

    def __init__(self, a: np.ndarray, copy: str | None, dlpack: bool) -> None:
        self._a = a
        if copy:
            setattr(self, copy, lambda: a)
        if dlpack:
            self.__dict__["__dlpack_device__"] = lambda: (2, 0)
        else:
            where = {"shape": a.shape, "typestr": "<f8", "data": (2**62, True), "version": 3}
            self.__cuda_array_interface__ = where


@pytest.mark.parametrize("dlpack", [False, True])
def test_arrays_on_a_gpu(x: Any, dlpack: bool) -> None:
    want = kspec.moments(x, n=2).to_dict()["estimates"]
    for copy in ("cpu", "get", "copy_to_host"):
        assert kspec.moments(OnGpu(x, copy, dlpack), n=2).to_dict()["estimates"] == want
    with pytest.raises(TypeError, match="array on a GPU that cannot be copied from it.*copy it to the host"):
        kspec.moments(OnGpu(x, None, dlpack), n=2)
