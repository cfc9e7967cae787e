"""Reading matrices, in every format of the tool."""

from __future__ import annotations

import ctypes
import importlib
import os
import weakref
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from . import _header as h
from ._arrays import Lent, as_struct, encode, selected, to_array
from ._errors import error_of
from ._library import library
from ._watch import Watch

Nan = Literal["error", "omit-rows", "omit-cols", "keep"]
_NAN = {
    "error": h.KSPEC_NAN_ERROR,
    "omit-rows": h.KSPEC_NAN_OMIT_ROWS,
    "omit-cols": h.KSPEC_NAN_OMIT_COLS,
    "keep": h.KSPEC_NAN_KEEP,
}


def _words(name: str, value: Any) -> bytes | None:
    if value is None or isinstance(value, str):
        return encode(name, value) if value else None
    return encode(name, ",".join(str(v) for v in selected(name, value, None)))


class Hdf5:
    """Reads HDF5 and MATLAB files by h5py and scipy, for the library, where kspec-hdf5 is not installed"""

    def __init__(self) -> None:
        self._keep: list[Any] = []  # what the library borrows
        self.error: BaseException | None = None
        self.struct = h.kspec_hdf5_reader(_READ(self._read), None)

    def _read(self, ctx: Any, path: bytes, key: bytes, array: Any, err: Any) -> int:
        try:
            a = to_array(os.fsdecode(path), _by_libraries(os.fsdecode(path), key.decode()))[0]
            name = Lent("")
            self._keep.append(as_struct(name, a, None, array.contents))
            return 0
        except (OSError, KeyError, ValueError, TypeError, ImportError, NotImplementedError) as e:
            text = str(e.args[0]) if isinstance(e, KeyError) else str(e)
            err.contents.msg = " ".join(text.split()).encode()[:300]
        except BaseException as e:
            self.error = e
        return 1


_READ: Any = {name: kind for name, kind, *_ in h.kspec_hdf5_reader._fields_}["read"]


def _installed(module: str, kind: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as e:
        package = module.partition(".")[0]
        raise ImportError(f"{kind} files need {package}: pip install 'kspec[files]'") from e


def _by_libraries(file: str, key: str) -> Any:
    with open(file, "rb") as f:
        matlab = f.read(6) == b"MATLAB"
    if matlab:
        try:
            held = _installed("scipy.io", "MATLAB").loadmat(file)
            return _only({k: v for k, v in held.items() if not k.startswith("__")}, key)
        except NotImplementedError:  # v7.3 is HDF5, with MATLAB's axes reversed
            pass
    h5py = _installed("h5py", "HDF5")
    with h5py.File(file, "r") as f:
        sets: dict[str, Any] = {}
        f.visititems(lambda name, o: sets.__setitem__(name, o) if isinstance(o, h5py.Dataset) else None)
        data = np.asarray(_only(sets, key.lstrip("/"))[()])
    return data.T if matlab else data


def _only(held: dict[str, Any], key: str) -> Any:
    if not key and len(held) == 1:
        return next(iter(held.values()))
    if key not in held:
        what = f"has no array '{key}'" if key else "holds several arrays"
        raise KeyError(f"it {what}: {', '.join(sorted(held))}")
    return held[key]


def read(
    path: str | os.PathLike[str],
    *,
    axes: str | None = None,
    select_rows: Any = None,
    select_cols: Any = None,
    nan: Nan = "keep",
    fill: float | Sequence[float] = (),
    names: bool = False,
    mmap: bool = False,
) -> Any:
    """Reads a matrix from a file of any format of the tool, as a read-only array.

    x.npy, x.npz:key, x.h5:/path, x.mat:name, idx (MNIST) and text, which is told by its content. One matrix
    is rows x cols; several trials are trials x rows x cols. axes, select_rows and select_cols are as on the
    command line; missing values, and the values of fill=, are NaN unless nan= says otherwise. names=True:
    also the columns' names of a text file's header, or None. mmap=True: a large .npy file is not copied but
    mapped, so that the array changes with the file, and the process ends by SIGBUS where the file is cut
    short. HDF5 and MATLAB files need kspec-hdf5, or h5py and scipy.
    """
    if nan not in _NAN:
        raise ValueError(f"nan: {nan!r} must be one of {', '.join(_NAN)}")
    lib = library()
    marks = np.atleast_1d(np.asarray(fill, dtype=np.float64)).ravel()
    options = h.kspec_read_opts(
        size=ctypes.sizeof(h.kspec_read_opts),
        axes=_words("axes", axes),
        nan=_NAN[nan],
        select_rows=_words("select_rows", select_rows),
        select_cols=_words("select_cols", select_cols),
        fill=marks.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
        fill_count=marks.size,
    )
    inputs = (ctypes.c_char_p * 1)(encode("path", os.fsdecode(path)))
    out, err = ctypes.POINTER(h.kspec_dataset)(), h.kspec_error()
    hdf5 = Hdf5()
    with Watch(None) as watch:
        now = h.kspec_borrowed(None, 0, None, ctypes.pointer(hdf5.struct), not mmap, watch.progress)
        before = lib.kspec_borrow(ctypes.byref(now))
        try:
            status = lib.kspec_read(inputs, 1, ctypes.byref(options), ctypes.byref(out), ctypes.byref(err))
        finally:
            lib.kspec_borrow(ctypes.byref(before))
    if hdf5.error is not None:
        raise hdf5.error
    if status:
        raise error_of(status, err.msg.decode(errors="replace"))
    d = out.contents
    shape = (d.rows, d.cols) if d.trials == 1 else (d.trials, d.rows, d.cols)
    columns = [d.col_names[j].decode(errors="replace") for j in range(d.cols)] if d.col_names else None
    array = np.ctypeslib.as_array(d.data, shape=shape)
    array.flags.writeable = False
    weakref.finalize(array.base if array.base is not None else array, _free, out, hdf5)
    return (array, columns) if names else array


def _free(dataset: Any, what_it_borrows: Hdf5) -> None:
    library().kspec_free(dataset)


__all__ = ["read"]
