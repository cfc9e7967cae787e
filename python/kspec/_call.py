"""A call is a command line of the tool, run inside this process with arrays for its INPUTs."""

from __future__ import annotations

import contextlib
import ctypes
import json
import operator
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from . import _arrays, _gpu
from . import _header as h
from ._arrays import Borrowed, Lent, encode, in_c
from ._errors import ArgumentError, KspecWarning, error_of, in_python
from ._files import Hdf5
from ._library import library
from ._watch import Progress as Progress
from ._watch import Watch as Watch

# an array-like, or a file as the tool names it ("x.npz:key")
Input = Any
# the same, or trials of one matrix in a list, or several matrices in a dict
Inputs = Any
Numbers = Union[Sequence[float], np.ndarray[Any, Any]]  # (Python 3.9)


class Rule(NamedTuple):
    """How an option of a function becomes words of the command line"""

    flag: str
    kind: str
    bare: bool
    off: str | None


class Outcome(NamedTuple):
    """What a command hands over: its table, and its JSON object as text"""

    table: str
    json: str


# ---- command lines ----


@contextlib.contextmanager
def memory_file(text: str) -> Iterator[str]:
    """A file in memory that holds a text; its path."""
    fd = os.memfd_create("kspec")
    try:
        with os.fdopen(fd, "w", closefd=False) as f:
            f.write(text)
        yield f"/proc/self/fd/{fd}"
    finally:
        os.close(fd)


class _Line:
    """The words of a command line, the arrays it borrows and the files open for it"""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self.arrays: list[Borrowed] = []
        self.files = False
        self.on_device = False  # arrays on a GPU may stay on it
        self.stack: contextlib.ExitStack | None = None
        self.axes: str | None = None
        self.shape: tuple[int, ...] = ()  # of the first INPUT, where it is an array
        self.named = False  # by the dimensions of an array of three axes

    def path(self, value: str | os.PathLike[str]) -> str:
        self.files = True
        path = os.fsdecode(value)
        encode("path", path)
        return "./" + path if path.startswith("-") and path != "-" else path

    def borrow(self, name: str, value: Any, names: Sequence[str] | None = None) -> str:
        """The INPUT that means an array: its name, unless that would be an option or a list"""
        word = Lent("_" + name if name.startswith(("-", "@")) or not name else name)
        self.arrays.append((word, value, names))
        return word

    def input(self, name: str, value: Input) -> str:
        if isinstance(value, (str, os.PathLike)):
            return self.path(value)
        at = _arrays.on_gpu(value) if self.on_device and library().kspec_gpu() is not None else None
        if at is not None:
            return self.borrow(name, at)
        labels: list[str] | None = None
        if self.axes is None:
            value, labels, named = _arrays.by_dims(value)
            self.named |= named and value.ndim == 3
        a, names = _arrays.to_array(name, value)
        if a.ndim > 3:
            raise ArgumentError(
                f"{name} has {a.ndim} axes; 1 to 3 are expected: trials, rows and columns; "
                f"{name}.reshape(len({name}), -1) has rows and columns"
            )
        return self.borrow(name, a, names or labels)

    def json(self, value: Any) -> str:
        text = value if isinstance(value, str) else json.dumps(value)
        if self.stack is None:
            self.stack = contextlib.ExitStack()
        return self.stack.enter_context(memory_file(text))

    # ---- options ----

    def option(self, name: str, rule: Rule, value: Any) -> None:
        flag, kind, bare, off = rule
        if kind == "flag":
            if not isinstance(value, bool):
                raise TypeError(f"{name}: {value!r} is not True or False")
            self.words += [flag] if value else []
        elif isinstance(value, bool) and (bare or off):
            self.words += [flag] if value else [off] if off else []
        elif bare:
            self.words.append(f"{flag}={self._word(name, kind, value)}")
        else:
            self.words += [flag, self._word(name, kind, value)]

    def _word(self, name: str, kind: str, value: Any) -> str:
        if kind in ("int", "size", "u64"):
            return str(_whole(name, value))
        if kind == "double":
            return _number(name, value)
        if kind == "block":
            return value if isinstance(value, str) else str(_whole(name, value))
        if kind in ("sigma", "automatic"):
            return value if isinstance(value, str) else _number(name, value)
        if kind in ("list", "ranges"):
            return _numbers(name, value)
        if kind == "numbers":
            return self._moments(name, value)
        if kind == "input":
            if name == "target" and isinstance(value, (int, np.integer)) and not _is_bool(value):
                return str(value)  # a column by its number
            if name == "target" and isinstance(value, list) and all(isinstance(v, str) for v in value):
                return _words(name, value, False)
            if "groups" in name and not isinstance(value, (str, os.PathLike)):
                return self.borrow(name, _arrays.labels(name, value))
            if name == "bilinear" and isinstance(value, (list, tuple)):  # left and right vectors
                return ",".join(self.input(f"{name}[{k}]", v) for k, v in enumerate(value))
            return self.input(name, value)
        if kind == "path":
            return self.path(_text(name, value))
        if kind == "words" and name.startswith("select_"):
            value = _arrays.selected(name, value, self.length(name))
        if kind in ("words", "set") and not isinstance(value, (str, os.PathLike)):
            return _words(name, value, kind == "words")
        return _text(name, value)

    def length(self, name: str) -> int | None:
        """How many rows or columns there are to select from, where the INPUT is an array"""
        axes = {1: "rows", 2: "rows,cols", 3: "trials,rows,cols"}.get(len(self.shape), "")
        return dict(zip((self.axes or axes).split(","), self.shape)).get(name.removeprefix("select_"))

    def _moments(self, name: str, value: Any) -> str:
        """Moments that are known: numbers, a result of kspec, or a file of either"""
        if hasattr(value, "to_json") and not hasattr(value, "iloc"):
            return self.json(value.to_json())
        if isinstance(value, Mapping):
            return self.json(dict(value))
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        return _numbers(name, value)

    # ---- inputs ----

    def matrix(self, name: str, value: Any, ragged: bool) -> list[str]:
        """One matrix: its INPUTs, several where they are trials"""
        trials = (
            isinstance(value, (list, tuple))
            and len(value) > 0
            and not np.isscalar(value[0])
            and all(isinstance(v, (str, os.PathLike)) or getattr(v, "ndim", 0) >= 2 for v in value)
        )
        if not trials:
            return [self.input(name, value)]
        if ragged and len({getattr(v, "shape", ()) for v in value}) > 1:
            return [self.borrow(name, _arrays.pad_ragged(name, value))]
        return [self.input(f"{name}[{t}]" if len(value) > 1 else name, v) for t, v in enumerate(value)]


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _whole(name: str, value: Any, least: int | None = None, most: int = 2**64 - 1) -> int:
    """A whole number; those that C takes as they are, without the library's own check, have bounds."""
    try:
        if _is_bool(value):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r} is not a whole number") from None
    if least is not None and number < least:
        raise ArgumentError(f"{name}: {number} is below {least}")
    if least is not None and number > most:
        raise ArgumentError(f"{name}: {number} exceeds {most}")
    return number


def _float(name: str, value: Any) -> float:
    try:
        if _is_bool(value) or isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: {value!r} is not a number") from None


def above_zero(name: str, value: Any) -> float:
    """C takes 0 for a parameter that was not given."""
    number = _float(name, value)
    if not number > 0:
        raise ArgumentError(f"{name}: {number!r} is not above 0")
    return number


def _number(name: str, value: Any) -> str:
    return repr(_float(name, value))


def _numbers(name: str, value: Any) -> str:
    """Numbers, or a string that the tool takes apart"""
    if isinstance(value, str):
        return value
    if not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        value = [value]
    return ",".join(
        str(v) if isinstance(v, (int, np.integer)) and not _is_bool(v) else _number(name, v) for v in value
    )


def _text(name: str, value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name}: {value!r} is not a string")
    text = os.fsdecode(value)
    encode(name, text)
    return text


def _words(name: str, value: Any, whole: bool) -> str:
    """Names, or whole numbers where an option takes them, one or several"""
    if not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        value = [value]
    words = [str(_whole(name, v)) if whole and not isinstance(v, str) else _text(name, v) for v in value]
    if not words:
        raise ValueError(f"{name}: nothing is selected")
    return ",".join(words)


def _take_inputs(line: _Line, name: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> list[str]:
    ragged = options.get("nan") == "ragged-trials"
    if len(inputs) == 1 and isinstance(inputs[0], Mapping) and not hasattr(inputs[0], "iloc"):
        words = []
        for label, value in inputs[0].items():
            words += ["--label", str(label), *line.matrix(str(label), value, ragged)]
        return words
    if name == "matrices":  # of compare: each is a matrix of its own
        if any(isinstance(v, (list, tuple)) and getattr(v[0] if v else 0, "ndim", 0) >= 2 for v in inputs):
            return _take_inputs(line, name, [dict(zip(_letters(len(inputs)), inputs))], options)
        return [line.input(letter, v) for letter, v in zip(_letters(len(inputs)), inputs)]
    value = _arrays.pairs(inputs[0]) if name == "y" else inputs[0]
    column = options.get("groups_column")
    if column is not None and hasattr(value, "iloc") and column in getattr(value, "columns", ()):
        value = value.assign(**{column: _arrays.labels(column, value[column])})
    return line.matrix(name, value, ragged)


def _parts(value: Any) -> Iterable[Any]:
    """The arrays of an argument: those of a dict or a list, or the argument itself"""
    if isinstance(value, Mapping) and not hasattr(value, "iloc"):
        return [x for v in value.values() for x in _parts(v)]
    several = isinstance(value, (list, tuple)) and all(hasattr(v, "ndim") for v in value)
    return value if several else [value]


def _letters(count: int) -> list[str]:
    return [chr(ord("a") + k) if k < 26 else f"m{k}" for k in range(count)]


# ---- the call ----


def run(
    words: Sequence[str],
    inputs: Sequence[Any] | None,
    name: str,
    rules: Mapping[str, Rule],
    options: Mapping[str, Any],
    progress: Progress,
) -> Outcome:
    """Runs a command; warns of what it warns of, and raises what it reports."""
    if options.get("no_center"):
        if options["center"] not in (None, False):
            raise ValueError(f"center={options['center']!r} and no_center cannot be combined")
        warnings.warn("no_center is deprecated: use center=False", DeprecationWarning, _outside())
    options = {name: _scalar(value) for name, value in options.items()}
    line = _Line(words)
    line.axes = options.get("axes")
    line.on_device = "device" in rules and options.get("device") != "cpu"
    if name == "matrices" and inputs is not None:  # which are compared where all of them are
        line.on_device &= all(_gpu.is_there(x) for v in inputs for x in _parts(v))
    try:
        if inputs is not None and not (len(inputs) == 1 and inputs[0] is None):
            line.words += _take_inputs(line, name, inputs, options)
            line.shape = line.arrays[0][1].shape if line.arrays else ()
            if line.named and "axes" in rules:
                line.words += ["--axes", "trials,rows,cols"]
        for option, value in options.items():
            if value is not None:
                line.option(option, rules[option], value)
        return run_line(line.words, line.arrays, progress, line.files)
    finally:
        if line.stack is not None:
            line.stack.close()


def _scalar(value: Any) -> Any:
    """NumPy's scalars by their value; arrays of one axis or more, and all else, as they are"""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    return value.item() if isinstance(value, (np.bool_, np.str_)) else value


class _Borrowed:
    """What one call borrows, as C sees it. Arrays on a GPU are copied to the host when the command asks."""

    def __init__(self, arrays: Sequence[Borrowed]) -> None:
        self._items = arrays
        self._hdf5 = Hdf5()
        self._arrays = (h.kspec_array * len(arrays))()
        self._keep = [_arrays.as_struct(*item, self._arrays[k]) for k, item in enumerate(arrays)]
        self._error: BaseException | None = None
        there = None
        if any(isinstance(a, _gpu.OnDevice) for _, a, _ in arrays):
            which = (ctypes.c_int * len(arrays))(*[isinstance(a, _gpu.OnDevice) for _, a, _ in arrays])
            there = ctypes.pointer(h.kspec_device_array(which, _COPY(self._copy), None))
        self.struct = h.kspec_borrowed(self._arrays, len(arrays), there, ctypes.pointer(self._hdf5.struct), 1)

    @property
    def error(self) -> BaseException | None:
        """What went wrong in Python: it is raised when the library has returned"""
        return self._error or self._hdf5.error

    def _copy(self, ctx: Any, k: int, host: Any) -> int:
        try:
            name, at, names = self._items[k]
            a = _arrays.to_array(name, at.original)[0]
            self._keep.append(_arrays.as_struct(name, a, names, host.contents))
        except BaseException as e:
            self._error = e
        return int(self._error is not None)


_COPY: Any = {name: kind for name, kind, *_ in h.kspec_device_array._fields_}["copy"]


def run_line(
    words: Sequence[str],
    arrays: Sequence[Borrowed] = (),
    progress: Progress = None,
    files: bool = True,
) -> Outcome:
    argv = (ctypes.c_char_p * (len(words) + 1))(*map(in_c, words))
    borrowed = _Borrowed(arrays)
    run_tool = library().kspec_tool_run
    with Watch(progress) as watch:
        at = run_tool(
            len(words),
            argv,
            ctypes.byref(borrowed.struct),
            ctypes.byref(watch.progress),
        )
        outcome, error = _take(at, files)
    if borrowed.error is not None:
        raise borrowed.error
    if error is not None:
        raise error
    assert outcome is not None
    return outcome


def finished(at: Any) -> Outcome:
    """What a call of the tool's library gave, which reads no file"""
    outcome, error = _take(at, False)
    if error is not None:
        raise error
    assert outcome is not None
    return outcome


def _take(at: Any, files: bool) -> tuple[Outcome | None, Exception | None]:
    if not at:
        return None, error_of(h.KSPEC_E_NOMEM, "out of memory")
    r = at.contents
    try:
        if r.status == 0:
            return Outcome(r.table.decode(), r.json.decode()), None
        return None, error_of(r.code, r.message.decode(errors="replace"), status=r.status, files=files)
    finally:
        library().kspec_tool_free(at)


def warn_of(lines: Sequence[str]) -> None:
    for text in lines:
        warnings.warn(in_python(text), KspecWarning, stacklevel=_outside())


def _outside() -> int:
    """The stack level, for warnings.warn() one level up, of the first line that is not the package's own"""
    level, frame = 1, sys._getframe(1)
    package = os.path.dirname(__file__)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    return level
