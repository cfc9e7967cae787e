"""Reading matrices, in every format of the tool."""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any, Literal

import numpy as np

from . import _header as h
from ._errors import error_of
from ._library import library

Nan = Literal["error", "omit-rows", "omit-cols", "keep"]
_NAN = {
    "error": h.KSPEC_NAN_ERROR,
    "omit-rows": h.KSPEC_NAN_OMIT_ROWS,
    "omit-cols": h.KSPEC_NAN_OMIT_COLS,
    "keep": h.KSPEC_NAN_KEEP,
}


def _words(value: Any) -> bytes | None:
    if value is None or isinstance(value, str):
        return value.encode() if value else None
    return ",".join(str(v) for v in value).encode()


def _is_hdf5(path: str) -> bool:
    """An HDF5 or MATLAB file, or a data set in one"""
    while path and not os.path.exists(path) and ":" in path:
        path = path.rpartition(":")[0]
    try:
        with open(path, "rb") as f:
            head = f.read(520)
    except OSError:
        return False
    return head.startswith((b"\x89HDF\r\n\x1a\n", b"MATLAB 5.0")) or head[512:].startswith(
        b"\x89HDF\r\n\x1a\n"
    )


def _has_reader() -> bool:
    return library().kspec_hdf5_sandbox() is not None


def by_libraries(path: str) -> Any:
    """The array of an HDF5 or MATLAB file by h5py or scipy, where kspec's own reader is not installed"""
    if not _is_hdf5(path) or _has_reader():
        return None
    file, key = path, ""
    while not os.path.exists(file):
        file, _, tail = file.rpartition(":")
        key = f"{tail}:{key}" if key else tail
    with open(file, "rb") as f:
        head = f.read(6)
    matlab = head == b"MATLAB"
    if matlab:
        from scipy.io import loadmat

        try:
            held = {k: v for k, v in loadmat(file).items() if not k.startswith("__")}
        except NotImplementedError:  # v7.3 is HDF5, with MATLAB's axes reversed
            held = None
        if held is not None:
            return _only(file, held, key)
    import h5py

    with h5py.File(file, "r") as f:
        held = {}
        f.visititems(lambda name, o: held.__setitem__(name, o) if isinstance(o, h5py.Dataset) else None)
        data = np.asarray(_only(file, held, key.lstrip("/"))[()])
    return data.T if matlab else data


def _only(file: str, held: dict[str, Any], key: str) -> Any:
    if not key and len(held) == 1:
        return next(iter(held.values()))
    if key not in held:
        what = f"has no array '{key}'" if key else "holds several arrays"
        raise error_of(h.KSPEC_E_IO, f"{file} {what}: {', '.join(sorted(held))}")
    return held[key]


def read(
    path: str | os.PathLike[str],
    *,
    axes: str | None = None,
    select_rows: Any = None,
    select_cols: Any = None,
    nan: Nan = "keep",
    names: bool = False,
) -> Any:
    """Reads a matrix from a file of any format of the tool, as a read-only array.

    x.npy, x.npz:key, x.h5:/path, x.mat:name, idx (MNIST) and text, which is told by its content. One matrix
    is rows x cols; several trials are trials x rows x cols. axes, select_rows and select_cols are as on the
    command line; missing values stay NaN unless nan= says otherwise. names=True: also the columns' names of a
    text file's header, or None. HDF5 and MATLAB files need kspec-hdf5, or h5py and scipy.
    """
    if nan not in _NAN:
        raise ValueError(f"nan: {nan!r} must be one of {', '.join(_NAN)}")
    name = os.fspath(path)
    lib = library()
    foreign = by_libraries(name)
    options = h.kspec_read_opts(
        size=ctypes.sizeof(h.kspec_read_opts),
        axes=_words(axes),
        nan=_NAN[nan],
        select_rows=_words(select_rows),
        select_cols=_words(select_cols),
    )
    inputs = (ctypes.c_char_p * 1)(os.fsencode(name))
    out, err = ctypes.POINTER(h.kspec_dataset)(), h.kspec_error()
    borrowed = (h.kspec_array * 1)()
    if foreign is not None:
        from ._arrays import as_struct, to_array

        keep = as_struct(name, to_array(name, foreign)[0], None, borrowed[0])
        lib.kspec_borrow(borrowed, 1)
    try:
        status = lib.kspec_read(inputs, 1, ctypes.byref(options), ctypes.byref(out), ctypes.byref(err))
    finally:
        lib.kspec_borrow(None, 0)
    if status:
        raise error_of(status, err.msg.decode(errors="replace"))
    d = out.contents
    shape = (d.rows, d.cols) if d.trials == 1 else (d.trials, d.rows, d.cols)
    columns = [d.col_names[j].decode(errors="replace") for j in range(d.cols)] if d.col_names else None
    array = np.ctypeslib.as_array(d.data, shape=shape)
    array.flags.writeable = False
    if foreign is not None:  # the data may be those of the other library
        array = array.copy()
        del keep
        lib.kspec_dataset_free(out)
    else:
        weakref.finalize(array.base if array.base is not None else array, lib.kspec_dataset_free, out)
    return (array, columns) if names else array


__all__ = ["read"]
