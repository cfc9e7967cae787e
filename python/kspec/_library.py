"""Finds and opens the library, once, with the BLAS that the tool would use."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import subprocess
import threading
from typing import Any

from . import _header as h

PACKAGE = pathlib.Path(__file__).resolve().parent
PROGRAM = PACKAGE / "bin" / "kspec"

_lock = threading.Lock()
_library: Any = None


def _core_type() -> str | None:
    """What OPENBLAS_CORETYPE should be: the core with which the tool starts itself again, if it does."""
    if "OPENBLAS_CORETYPE" in os.environ or not PROGRAM.exists():
        return None
    try:
        answer = subprocess.run(
            [PROGRAM, "config", "--json"], capture_output=True, check=True, timeout=60
        ).stdout
        config = json.loads(answer)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return config["blas"].split()[-1] if config["blas_before"] else None


def _open() -> Any:
    # OpenBLAS reads these when it is loaded, and never again; children should not inherit them. kspec runs
    # its own threads around single-threaded BLAS calls, so that OpenBLAS needs none.
    wanted = {"OPENBLAS_CORETYPE": _core_type(), "OPENBLAS_NUM_THREADS": "1"}
    ours = {name: value for name, value in wanted.items() if value and name not in os.environ}
    os.environ.update(ours)
    try:
        handle = ctypes.CDLL(os.fspath(PACKAGE / "libkspec_tool.so"))
    finally:
        for name in ours:
            del os.environ[name]
    for name, (result, arguments) in h.FUNCTIONS.items():
        function = getattr(handle, name)
        function.restype = result
        function.argtypes = arguments
    return handle


def library() -> Any:
    """The library, with the types of every function set. Calls release the interpreter's lock."""
    global _library
    if _library is None:
        with _lock:
            if _library is None:
                _library = _open()
    return _library
