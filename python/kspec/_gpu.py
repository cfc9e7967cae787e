"""Arrays in the memory of a GPU, seen through CUDA's array interface or DLPack: where they are, so that the
library can use them there."""

from __future__ import annotations

import ctypes
import math
import warnings
from typing import Any


class OnDevice:
    """A float64 array on a GPU, as np.ndarray names its properties, and the array-like that it was made of"""

    def __init__(self, address: int, shape: Any, strides: Any, keep: Any) -> None:
        self.address = address
        self.shape = tuple(int(n) for n in shape)
        self.ndim = len(self.shape)
        self.strides = tuple(int(s) for s in strides)  # in bytes
        self.keep = keep
        self.original: Any = None


def is_there(x: Any) -> bool:
    """Is this an array in the memory of a GPU? Memory that is pinned for one is the host's."""
    device = x.__dlpack_device__()[0] if hasattr(x, "__dlpack_device__") else 1
    return int(device) not in (1, 3) or hasattr(x, "__cuda_array_interface__")


def _row_major(shape: Any) -> list[int]:
    return [8 * math.prod(shape[k + 1 :]) for k in range(len(shape))]


# What was queued on the array's stream is waited for by the library, which waits for the whole GPU.


def _by_interface(x: Any) -> OnDevice | None:
    a = x.__cuda_array_interface__
    if a["typestr"] not in ("<f8", "=f8") or a.get("mask") is not None:
        return None
    shape = a["shape"]
    return OnDevice(a["data"][0] or 0, shape, a.get("strides") or _row_major(shape), x)


# ---- DLPack: the structs of dlpack.h before its version 1.0, which is what is given unless asked otherwise


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_CUDA, _CUDA_MANAGED, _FLOAT = 2, 13, 2
_open_capsule = ctypes.pythonapi.PyCapsule_GetPointer
_open_capsule.restype = ctypes.c_void_p
_open_capsule.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _by_dlpack(x: Any) -> OnDevice | None:
    if int(x.__dlpack_device__()[0]) not in (_CUDA, _CUDA_MANAGED):
        return None
    capsule = x.__dlpack__()  # it is only looked at: its own end releases what it holds
    at = _open_capsule(capsule, b"dltensor")
    assert at is not None
    t = _Tensor.from_address(at)
    if (t.code, t.bits, t.lanes) != (_FLOAT, 64, 1):
        return None
    shape = t.shape[: t.ndim]
    strides = [8 * s for s in t.strides[: t.ndim]] if t.strides else _row_major(shape)
    return OnDevice((t.data or 0) + t.byte_offset, shape, strides, capsule)


def _look(x: Any) -> OnDevice | None:
    try:
        at = _by_interface(x) if hasattr(x, "__cuda_array_interface__") else _by_dlpack(x)
    except Exception:  # an array that its library does not show, such as one on several GPUs
        return None
    if at is None or not at.address or 0 in at.shape or any(s % 8 for s in at.strides):
        return None
    return at


def _as_float64(x: Any) -> Any:
    """The array as float64, made on the GPU by its own library; None where that does not do it"""
    try:
        if hasattr(x, "double"):  # PyTorch
            return x.double()
        with warnings.catch_warnings():  # JAX warns where it is not allowed 64 bits, and stays at 32
            warnings.simplefilter("ignore")
            return x.astype("float64")  # CuPy, JAX
    except (AttributeError, TypeError, RuntimeError, MemoryError):
        return None


def find(x: Any) -> OnDevice | None:
    """Where the library can take an array from a GPU's memory: that of x, or of a copy there as float64. None
    where it must come by way of the host, which also says what is wrong with complex numbers and the like."""
    kind = str(getattr(x, "dtype", "float64"))
    if "float64" in kind:
        at = _look(x)
    elif any(word in kind for word in ("float", "int", "bool")):
        copy = _as_float64(x)
        at = None if copy is None else _look(copy)
    else:
        at = None
    if at is not None:
        at.original = x
    return at
