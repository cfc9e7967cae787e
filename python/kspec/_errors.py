"""What can go wrong. Every message is the library's or the tool's own line, with keywords for flags."""

from __future__ import annotations

import keyword
import re

from . import _header as h


class Error(Exception):
    """Whatever kspec reports; the message is one line."""


class ArgumentError(Error, ValueError):
    """An argument or an option is out of its range."""


class DataError(Error, ValueError):
    """The data do not fit: missing or infinite entries, shapes, a matrix that is not symmetric."""


class FileError(Error, OSError):
    """A file could not be read or written, or does not hold what it should."""


class OutOfMemory(Error, MemoryError):
    """There was not enough memory."""


class NumericError(Error, ArithmeticError):
    """The computation broke down: overflow, no convergence."""


class Cancelled(Error):
    """The call was stopped."""


class KspecWarning(RuntimeWarning):
    """What the tool warns of"""


_OF_CODE: dict[int, type[Error]] = {
    h.KSPEC_E_ARG: ArgumentError,
    h.KSPEC_E_NOMEM: OutOfMemory,
    h.KSPEC_E_NUMERIC: NumericError,
    h.KSPEC_E_IO: FileError,
    h.KSPEC_E_CANCELLED: Cancelled,
    h.KSPEC_E_DATA: DataError,
}
# the tool's exit status, where it refused without calling the library
_OF_STATUS: dict[int, type[Error]] = {2: ArgumentError, 3: DataError}


# "--select-cols", "-n", and at the end of a message "(--nan omit-rows)"
_FLAG = re.compile(r"(?<![\w./-])-(?:-([a-z][a-z0-9-]+)|([a-z])\b)(?: ([^\s()]+)(?=\)))?")


def in_python(text: str, long: bool = False) -> str:
    """A sentence of the tool with Python's keywords for its flags: "(nan='omit-rows')". long: a table, in
    which only long flags are flags, and words follow them."""

    def name(flag: re.Match[str]) -> str:
        if long and flag[2]:
            return flag[0]
        word = "output" if flag[2] == "o" else (flag[1] or flag[2]).replace("-", "_")
        word += "_" if keyword.iskeyword(word) else ""
        return word if not flag[3] else f"{word} {flag[3]}" if long else f"{word}={flag[3]!r}"

    return _FLAG.sub(name, text)


def error_of(code: int, message: str, *, status: int = 1, files: bool = True) -> Error:
    """The exception of a failed call; where no file was named, its inputs are data in memory."""
    kind = _OF_CODE.get(code) or _OF_STATUS.get(status) or Error
    if kind is FileError and not files:
        kind = DataError
    if kind is Error and message == "out of memory":
        kind = OutOfMemory
    return kind(in_python(message))
