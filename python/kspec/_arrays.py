"""From array-likes to arrays that the library can borrow: float64 as they lie, anything else converted."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from . import _gpu
from . import _header as h

_POINTER = ctypes.POINTER(ctypes.c_double)
Array = npt.NDArray[Any]


def encode(name: str, word: str) -> bytes:
    """A word as C takes it"""
    if "\0" in word:
        raise ValueError(f"{name}: {word!r} has a NUL character")
    return word.encode("utf-8", "surrogateescape")


class Lent(str):
    """A word of the command line that is the name of a borrowed array. The library knows it by its address,
    so that no file, whatever it is called, is taken for the array."""

    def __init__(self, name: str) -> None:
        self.buffer = ctypes.create_string_buffer(encode("name", name))


def in_c(word: str) -> Any:
    return ctypes.cast(word.buffer, ctypes.c_char_p) if isinstance(word, Lent) else encode("words", word)


# a borrowed array: its name, itself, and the names of its columns
Borrowed = tuple[Lent, Any, Optional[Sequence[str]]]  # (Python 3.9)


def _refuse(name: str, what: str, remedy: str) -> TypeError:
    return TypeError(f"{name}: {what} are not numbers that kspec can take; {remedy}")


def _check_dtype(name: str, a: Array) -> None:
    kind = a.dtype.kind
    if kind in "fiub":
        return
    if kind == "c":
        raise _refuse(name, "complex entries", "take .real, .imag or np.abs() of them")
    if kind == "O":
        raise _refuse(name, "Python objects", "convert them with .astype(float)")
    if kind in "SUT":
        raise _refuse(
            name, "strings", "convert them with .astype(float), or give the labels of rows as groups="
        )
    raise _refuse(name, f"entries of type {a.dtype}", "convert them to float64")


def _is_frame(x: Any) -> bool:
    return hasattr(x, "columns") and hasattr(x, "to_numpy")


def _what_is_odd(column: Any) -> str | None:
    """What a column of a frame holds instead of numbers"""
    kind = getattr(column.dtype, "kind", "O")
    if kind in "fiub":
        return None
    if kind == "c":
        return "complex numbers"
    if kind == "O":
        return "strings" if all(isinstance(v, str) for v in column if v == v) else "Python objects"
    return f"entries of type {column.dtype}"


def _from_frame(name: str, x: Any) -> tuple[Array, list[str] | None]:
    """A pandas DataFrame or Series; missing values of any kind become NaN."""
    names = [str(c) for c in x.columns] if _is_frame(x) else None
    columns = [x] if names is None else [x.iloc[:, j] for j in range(len(names))]
    for j, column in enumerate(columns):
        odd = _what_is_odd(column)
        if odd:
            which = f"column {names[j]!r} holds" if names else "it holds"
            raise TypeError(
                f"{name}: {which} {odd}, not numbers; convert with .astype(float)"
                + (", or take the others with .select_dtypes('number')" if names else "")
            )
    all_floats = all(getattr(c.dtype, "kind", "O") == "f" for c in columns)
    a = x.to_numpy() if all_floats else x.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(a), names


_ROLES = {"trial": "trials", "row": "rows", "col": "cols", "column": "cols", "columns": "cols"}


def by_dims(x: Any) -> tuple[Any, list[str] | None, bool]:
    """An xarray.DataArray with its dimensions in kspec's order, and the names of its columns, where its
    dimensions are named trials, rows and cols; one of another name is the axis that is left."""
    if not (hasattr(x, "dims") and hasattr(x, "coords") and hasattr(x, "transpose")):
        return x, None, False
    roles = {_ROLES.get(str(d).lower(), str(d).lower()): d for d in x.dims}
    order = ["trials", "rows", "cols"][-len(x.dims) :] if len(x.dims) in (2, 3) else []
    missing = [axis for axis in order if axis not in roles]
    others = [r for r in roles if r not in order]
    if not order or len(missing) > 1 or len(roles) != len(x.dims):
        return x, None, False
    if missing:
        roles[missing[0]] = roles[others[0]]
    label = x.coords[roles["cols"]].values if roles["cols"] in x.coords else np.empty(0)
    names = [str(v) for v in label] if label.dtype.kind in "UO" and len(label) else None
    return x.transpose(*(roles[axis] for axis in order)), names, True


def _detached(x: Any) -> Any:
    """A tensor that is part of a graph, without it"""
    return x.detach() if hasattr(x, "detach") else x


def on_gpu(x: Any) -> _gpu.OnDevice | None:
    """An array in the memory of a GPU as the library can take it there; None: to_array() takes it"""
    if isinstance(x, np.ndarray) or hasattr(x, "iloc") or not _gpu.is_there(x):
        return None
    return _gpu.find(_detached(x))


def _from_gpu(name: str, x: Any) -> Any:
    """An array in the memory of a GPU, copied to the host by the library it is of; others as they are."""
    if not _gpu.is_there(x):
        return x
    for copy in ("cpu", "get", "copy_to_host"):  # PyTorch, CuPy, Numba
        if callable(getattr(x, copy, None)):
            return getattr(x, copy)()
    if hasattr(x, "__array__"):  # JAX
        return np.asarray(x)
    what = "the entries of an array on a GPU that cannot be copied from it"
    raise _refuse(name, what, "copy it to the host")


def to_array(name: str, x: Any) -> tuple[Array, list[str] | None]:
    """The float64 array of an array-like, without a copy where it is one already; and its columns' names.

    bool, integers and other floats are converted: integers beyond 2**53 and long doubles are rounded to the
    nearest double. Arrays on a GPU (CUDA's interface, DLPack) are copied to the host. Masked entries become
    NaN, sparse matrices full ones. Complex numbers, objects and strings are a TypeError.
    """
    names = None
    if isinstance(x, np.ma.MaskedArray):
        _check_dtype(name, x)
        x = np.ma.filled(x.astype(np.float64), np.nan)
    elif hasattr(x, "to_numpy") and hasattr(x, "iloc"):
        x, names = _from_frame(name, x)
    elif hasattr(x, "toarray") and not hasattr(x, "__array__"):  # scipy.sparse
        x = x.toarray()
    elif not isinstance(x, np.ndarray):
        x = _from_gpu(name, _detached(x))
        if str(getattr(x, "dtype", "")) == "torch.bfloat16":  # which NumPy does not have
            x = x.double()
        if hasattr(x, "__dlpack__") and not hasattr(x, "__array__"):
            x = np.from_dlpack(x)
        else:
            try:
                x = np.asarray(x)
            except ValueError as e:
                raise ValueError(f"{name}: rows of different lengths; trials are a list of 2-D arrays") from e
    _check_dtype(name, x)
    a = x if type(x) is np.ndarray else np.asarray(x)
    if a.dtype != np.float64 or not a.dtype.isnative:
        a = a.astype(np.float64)
    elif not a.flags.aligned or any(s % 8 for s in a.strides):
        a = np.ascontiguousarray(a)
    return a, names


def pointer(a: Array) -> Any:
    """Where the first entry of a lies, for C"""
    return ctypes.cast(a.ctypes.data, _POINTER)


def matrix(a: Array | _gpu.OnDevice) -> h.kspec_matrix:
    """An array of two axes where it lies; it must live as long as what is returned."""
    at = ctypes.cast(a.address, _POINTER) if isinstance(a, _gpu.OnDevice) else pointer(a)
    return h.kspec_matrix(at, *a.shape, *(stride // 8 for stride in a.strides))


def as_struct(
    name: Any, a: Array | _gpu.OnDevice, names: Sequence[str] | None, to: h.kspec_array
) -> list[Any]:
    """Fills `to`, by the name's address (Lent.buffer); returns what must live as long as it does."""
    keep: list[Any] = [a, name]
    to.name = ctypes.cast(name.buffer, ctypes.c_char_p)
    to.data = ctypes.cast(a.address, _POINTER) if isinstance(a, _gpu.OnDevice) else pointer(a)
    to.ndim = a.ndim
    for k in range(min(a.ndim, 3)):
        to.shape[k] = a.shape[k]
        to.stride[k] = a.strides[k] // 8
    if names is not None and a.ndim == 2:
        odd = [n for n in names if "\0" in n]
        if odd:
            raise ValueError(f"{name}: the name of column {odd[0]!r} has a NUL character")
        words = (ctypes.c_char_p * len(names))(*[n.encode("utf-8", "replace") for n in names])
        to.col_names = words
        keep.append(words)
    return keep


def _is_missing(v: Any) -> bool:
    return v is None or type(v).__name__ in ("NAType", "NaTType") or (isinstance(v, float) and v != v)


def labels(name: str, x: Any) -> Array:
    """Labels of any kind as numbers: equality is all that matters of them. Missing ones become NaN."""
    values = x if isinstance(x, np.ma.MaskedArray) else np.asarray(x)
    if values.ndim != 1:
        raise ValueError(f"{name}: labels are one column, not an array of {values.ndim} axes")
    seen: dict[Any, int] = {}
    numbers = [np.nan if _is_missing(v) else seen.setdefault(v, len(seen)) for v in values.tolist()]
    return np.array(numbers, dtype=np.float64)


def selected(name: str, value: Any, length: int | None) -> Any:
    """Masks and slices as the indices that they select; anything else as it is"""
    if isinstance(value, slice):
        if length is None:
            raise ValueError(f"{name}: slices select from arrays; for files write ranges, such as '0-9,20-'")
        return range(length)[value]
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return value
    mask = np.asarray(value)
    if mask.dtype != np.bool_:
        return value
    if mask.ndim != 1 or (length is not None and len(mask) != length):
        wanted = f"{length or 'one entry for each of the'} {name.removeprefix('select_')}"
        raise ValueError(f"{name}: the mask has shape {mask.shape}, {wanted}")
    return np.flatnonzero(mask)


def pad_ragged(name: str, rows: Sequence[Any]) -> Array:
    """Row i measured T_i times, a T_i x Q array each: trials x rows x columns, NaN where there is no
    measurement."""
    arrays = [to_array(name, r)[0] for r in rows]
    widths = {a.shape[1:] for a in arrays}
    if len(widths) != 1 or any(a.ndim != 2 for a in arrays):
        raise ValueError(
            f"{name}: each row of a ragged list is an array of trials x columns, with the same columns"
        )
    out = np.full((max(len(a) for a in arrays), len(arrays), *widths.pop()), np.nan)
    for i, a in enumerate(arrays):
        out[: len(a), i] = a
    return out


def pairs(x: Any) -> Any:
    """A vector of complex numbers as two columns, real and imaginary; anything else as it is"""
    if getattr(getattr(x, "dtype", None), "kind", "") != "c" or getattr(x, "ndim", 0) != 1:
        return x
    return np.ascontiguousarray(x, dtype=np.complex128).view(np.float64).reshape(-1, 2)
