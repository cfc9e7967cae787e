"""Dimension and alignment of rows that pass by once: a network's activations, batch by batch."""

from __future__ import annotations

import contextlib
import ctypes
import os
import tempfile
import threading
import weakref
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from . import _arrays
from . import _header as h
from ._call import _whole, finished
from ._errors import ArgumentError, DataError, error_of
from ._library import library
from ._results import Compare, Dimension

_SAMPLED = {
    "both": h.KSPEC_SAMPLED_BOTH,
    "rows": h.KSPEC_SAMPLED_ROWS,
    "cols": h.KSPEC_SAMPLED_COLS,
}
# an array that is read in slices, so that it is never dense, or in memory, as a whole: so many numbers each
_SLICE = 1 << 23


def _check(status: int, err: h.kspec_error) -> None:
    if status:
        text = err.msg.decode(errors="replace")
        if err.option == b"omit_nan" and status == h.KSPEC_E_DATA:
            text += " (nan='omit' leaves such rows out)"
        raise error_of(status, text, files=False)


def _in_slices(name: str, x: Any) -> Iterator[Any]:
    """The rows of x as arrays: of a sparse matrix, a Zarr array or an HDF5 data set slice by slice"""
    x = getattr(x, "X", x) if hasattr(x, "obs") and hasattr(x, "var") else x  # AnnData
    sparse = hasattr(x, "toarray") and hasattr(x, "tocsr")
    stored = hasattr(x, "chunks") and hasattr(x, "shape") and not hasattr(x, "dask")
    if (sparse or stored or isinstance(x, np.memmap)) and len(x.shape) == 2:
        x = x.tocsr() if sparse else x
        rows = max(1, _SLICE // max(1, x.shape[1]))
        for i in range(0, x.shape[0], rows):
            yield _two_axes(name, x[i : i + rows])
        if x.shape[0]:
            return
    yield _two_axes(name, x)


def _two_axes(name: str, x: Any) -> _arrays.Array:
    a = _arrays.to_array(name, x)[0]
    if a.ndim != 2:
        raise ArgumentError(
            f"{name} has {a.ndim} axes; rows and columns are expected: {name}.reshape(-1, units)"
        )
    return a


def _labels(groups: Any, rows: int) -> Any:
    """Labels of any kind as numbers, one for each row"""
    labels = np.asarray(groups.cpu() if hasattr(groups, "cpu") else groups)
    if labels.shape != (rows,):
        raise ArgumentError(f"groups: {labels.shape} labels for {rows} rows")
    return np.ascontiguousarray(np.unique(labels, return_inverse=True)[1].reshape(-1), dtype=np.uint64)


def _on_gpu(batch: Any, other: Any) -> tuple[Any, Any] | None:
    """Where the library can take both from a GPU's memory; None: from the host's"""
    if library().kspec_gpu() is None:
        return None
    x = _arrays.on_gpu(batch)
    y = None if other is None else _arrays.on_gpu(other)
    two = x is not None and x.ndim == 2 and (other is None or (y is not None and y.ndim == 2))
    return (x, y) if two else None


class Accumulator:
    """The same estimates as kspec.dimension() and kspec.compare(), of rows that arrive in batches.

        >>> acc = kspec.Accumulator(512, sampled="rows")                          # doctest: +SKIP
        >>> for batch in loader: acc.update(layer(batch))                         # doctest: +SKIP
        >>> acc.result().dimension                                                # doctest: +SKIP

    One pass, a state of features**2 numbers, and exact: batches and merges in any order give what one call
    with all rows gives, to rounding, also where means are a million times the spread.

    Parameters
    ----------
    features : the number of columns
    other_features : that of a second matrix with the same rows; result() is then a comparison
    sampled : "both" (default), "rows" (you have all units of the layer) or "cols"
    center : True (default), or False for second moments
    reservoir : how many rows are kept for the interval (default 4096)
    seed, stream : which these are. Accumulators that are to be merged need streams of their own, and have
        them by default; with a stream that you give, results are the same in every run
    nan : "error" (default), or "omit" to leave rows with NaN out and count them in .omitted
    groups : True if rows come in groups that depend on each other, such as the tokens of a document. Each
        update() then adds whole groups, and results are those of kspec.dimension(groups=...)
    threads : default: all processors
    device : "auto" (default): batches on a GPU are added there; or "cpu"
    """

    def __init__(
        self,
        features: int,
        other_features: int | None = None,
        *,
        sampled: Literal["both", "rows", "cols"] = "both",
        center: bool = True,
        reservoir: int | None = None,
        seed: int = 0,
        stream: int | None = None,
        nan: Literal["error", "omit"] = "error",
        groups: bool = False,
        threads: int = 0,
        device: Literal["auto", "cpu"] = "auto",
    ) -> None:
        if device not in ("auto", "cpu"):
            raise ArgumentError(f"device: {device!r} must be one of auto, cpu")
        if sampled not in _SAMPLED:
            raise ArgumentError(f"sampled: {sampled!r} must be one of {', '.join(_SAMPLED)}")
        if nan not in ("error", "omit"):
            raise ArgumentError(f"nan: {nan!r} must be one of error, omit")
        if not isinstance(center, (bool, np.bool_)):
            raise TypeError(f"center: {center!r} is not True or False")
        if not isinstance(groups, (bool, np.bool_)):
            raise TypeError(
                f"groups: {type(groups).__name__} is not True or False; "
                "update(batch, groups=...) takes labels"
            )
        options = h.kspec_accumulator_opts(
            size=ctypes.sizeof(h.kspec_accumulator_opts),
            other_features=_whole("other_features", other_features or 0, 0),
            center=h.KSPEC_CENTER_ROWS if center else h.KSPEC_CENTER_NONE,
            sampled=_SAMPLED[sampled],
            reservoir=0 if reservoir is None else _whole("reservoir", reservoir, 2),
            seed=_whole("seed", seed, 0),
            stream=0 if stream is None else _whole("stream", stream, 1),
            omit_nan=nan == "omit",
            threads=_whole("threads", threads, 0, 1024),
            grouped=bool(groups),
        )
        handle, err = ctypes.c_void_p(), h.kspec_error()
        count = _whole("features", features, 1)
        _check(
            library().kspec_accumulator_open(
                count, ctypes.byref(options), ctypes.byref(handle), ctypes.byref(err)
            ),
            err,
        )
        self._take(handle)
        self._on_host = device == "cpu"

    def _take(self, handle: ctypes.c_void_p) -> None:
        self._on_host = False
        self._handle = handle
        self._lock = threading.Lock()
        weakref.finalize(self, library().kspec_accumulator_close, handle)

    # ---- rows ----

    def update(self, batch: Any, other: Any = None, *, groups: Any = None) -> Accumulator:
        """Adds rows: any array-like of two axes, on a GPU too. `other`: those of the second matrix.

        Batches on a GPU (PyTorch, JAX, CuPy; of any precision) stay there, and so does the state.
        Sparse matrices, AnnData, Zarr arrays and HDF5 data sets are read in slices of rows. A batch that is
        refused changes nothing; of one that is read in slices, the slices before the one refused stay.

        If the accumulator has groups, `groups` are labels of the rows, and every group must be whole. Without
        labels a batch of two axes is one group; of three axes (groups, rows, columns), the first counts them.
        """
        if self._shape().grouped:
            return self._add_groups(batch, other, groups)
        if groups is not None:
            raise ArgumentError("groups: this accumulator has none; Accumulator(..., groups=True) takes them")
        there = None if self._on_host else _on_gpu(batch, other)
        if there is not None:
            self._add(*there, update=library().kspec_accumulator_update_device)
            return self
        batches = _in_slices("batch", batch)
        if other is None:
            for part in batches:
                self._add(part, None)
        else:
            self._add(np.concatenate(list(batches)), np.concatenate(list(_in_slices("other", other))))
        return self

    def _add_groups(self, batch: Any, other: Any, groups: Any) -> Accumulator:
        if groups is None and len(getattr(batch, "shape", ())) == 3:
            count, rows = batch.shape[:2]
            groups = np.repeat(np.arange(count), rows)
            batch = batch.reshape(count * rows, -1)
            other = other if other is None else other.reshape(count * rows, -1)
        x = np.concatenate(list(_in_slices("batch", batch)))
        y = None if other is None else np.concatenate(list(_in_slices("other", other)))
        self._add(x, y, None if groups is None else _labels(groups, x.shape[0]))
        return self

    def _add(self, x: Any, other: Any, groups: Any = None, update: Any = None) -> None:
        err = h.kspec_error()
        second = None if other is None else ctypes.byref(_arrays.matrix(other))
        one = (self._handle, ctypes.byref(_arrays.matrix(x)), second)
        labels = None if groups is None else groups.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64))
        with self._lock:
            if update is None:
                status = library().kspec_accumulator_update(*one, labels, ctypes.byref(err))
            else:
                status = update(*one, ctypes.byref(err))
        _check(status, err)

    def merge(self, other: Accumulator) -> Accumulator:
        """Adds the rows of another accumulator with the same settings, which stays as it is."""
        if not isinstance(other, Accumulator):
            raise TypeError(f"other: {type(other).__name__} is not an Accumulator")
        err = h.kspec_error()
        with contextlib.ExitStack() as locks:
            for _, a in sorted({id(self): self, id(other): other}.items()):  # always in the same order
                locks.enter_context(a._lock)
            status = library().kspec_accumulator_merge(self._handle, other._handle, ctypes.byref(err))
        _check(status, err)
        return self

    def _shape(self) -> Any:
        return library().kspec_accumulator_describe(self._handle).contents

    @property
    def features(self) -> int:
        """The columns of the matrix"""
        return int(self._shape().features)

    @property
    def other_features(self) -> int:
        """Those of the second matrix; 0: there is none"""
        return int(self._shape().other_features)

    @property
    def rows(self) -> int:
        """How many rows there are so far"""
        return int(self._shape().rows)

    @property
    def groups(self) -> int:
        """How many groups there are so far; 0 without groups"""
        return int(self._shape().groups)

    @property
    def omitted(self) -> int:
        """How many rows were left out for NaN"""
        return int(self._shape().omitted)

    # ---- results ----

    def result(self) -> Any:
        """The Dimension of all rows so far, or the Compare of two matrices; more rows may follow."""
        with self._lock:
            outcome = finished(library().kspec_tool_accumulated(self._handle))
        return Compare._of(outcome) if self.other_features else Dimension._of(outcome)

    def __float__(self) -> float:
        return float(self.result())

    def __repr__(self) -> str:
        return f"<kspec.Accumulator of {self.rows} rows>"

    # ---- bytes ----

    def to_bytes(self) -> bytes:
        """The state, with a version and a checksum"""
        size, err = ctypes.c_size_t(), h.kspec_error()
        pack = library().kspec_accumulator_pack
        with self._lock:
            _check(pack(self._handle, None, ctypes.byref(size), ctypes.byref(err)), err)
            to = ctypes.create_string_buffer(size.value)
            _check(pack(self._handle, to, ctypes.byref(size), ctypes.byref(err)), err)
        return to.raw

    @classmethod
    def from_bytes(cls, state: bytes) -> Accumulator:
        handle, err = ctypes.c_void_p(), h.kspec_error()
        _check(
            library().kspec_accumulator_unpack(state, len(state), ctypes.byref(handle), ctypes.byref(err)),
            err,
        )
        a = cls.__new__(cls)
        a._take(handle)
        return a

    def __reduce__(self) -> Any:
        return Accumulator.from_bytes, (self.to_bytes(),)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the state; the file is whole, or as it was."""
        state, path = self.to_bytes(), os.fspath(path)
        fd, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".kspec-")
        try:
            with os.fdopen(fd, "wb") as f:
                f.write(state)
                f.flush()
                os.fsync(f.fileno())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Accumulator:
        """Reads what save() wrote."""
        with open(path, "rb") as f:
            state = f.read()
        try:
            return cls.from_bytes(state)
        except DataError as e:
            raise DataError(f"{os.fspath(path)}: {e}") from None
