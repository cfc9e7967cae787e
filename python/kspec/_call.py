"""A call is a command line of the tool, run inside this process with arrays for its INPUTs."""

from __future__ import annotations

# the functions of signal without its enums, which take longer than all else here
import _signal  # type: ignore[import-not-found]
import contextlib
import ctypes
import json
import operator
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _arrays, _gpu
from . import _header as h
from ._errors import KspecWarning, error_of, in_python
from ._files import by_libraries
from ._library import library

# an array-like, or a file as the tool names it ("x.npz:key")
Input = Any
# the same, or trials of one matrix in a list, or several matrices in a dict
Inputs = Any
Numbers = Sequence[float] | np.ndarray[Any, Any]
Progress = bool | Callable[[float], object] | None


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


# ---- progress, Ctrl-C ----


class _Bar:
    """A bar on standard error: tqdm's where it is installed."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._tqdm = None
        else:
            self._tqdm = tqdm(total=1.0, bar_format="{l_bar}{bar}| {elapsed}<{remaining}", leave=False)

    def __call__(self, fraction: float) -> None:
        if self._tqdm is not None:
            self._tqdm.n = fraction
            self._tqdm.refresh()
        else:
            full = int(fraction * 40)
            print(
                f"\r[{'=' * full}{' ' * (40 - full)}] {100 * fraction:3.0f}%",
                end="",
                file=sys.stderr,
                flush=True,
            )

    def close(self) -> None:
        if self._tqdm is not None:
            self._tqdm.close()
        else:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


class Watch:
    """Watches over one call: reports progress, and stops it for Ctrl-C or for an exception of the callback.

    The library reports several times a second from the thread that called it. Python runs a signal's handler
    there too, before any line of ours that could catch what it raises; so a handler of our own only notes the
    signal, and the handler that it replaced is called when the library has returned.
    """

    def __init__(self, progress: Progress) -> None:
        self._bar = _Bar() if progress is True else None
        self._tell = self._bar or (progress if callable(progress) else None)
        self._signal: tuple[int, Any] | None = None
        self._error: BaseException | None = None
        self._replaced: Any = None
        self.progress = h.kspec_progress(_REPORT(self._report), None)

    def _report(self, ctx: Any, fraction: float) -> int:
        if self._tell is not None and self._error is None:
            try:
                self._tell(fraction)
            except BaseException as e:  # it is raised again when the library has returned
                self._error = e
        return int(self._signal is not None or self._error is not None)

    def _note(self, number: int, frame: Any) -> None:
        self._signal = (number, frame)

    def __enter__(self) -> Watch:
        if threading.current_thread() is threading.main_thread():
            handler = _signal.getsignal(_SIGINT)
            if callable(handler):
                self._replaced = _signal.signal(_SIGINT, self._note)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._replaced is not None:
            _signal.signal(_SIGINT, self._replaced)
        if self._bar is not None:
            self._bar.close()
        if self._error is not None:
            raise self._error
        if self._signal is not None:
            self._replaced(*self._signal)


_SIGINT = int(_signal.SIGINT)
_REPORT: Any = {name: kind for name, kind, *_ in h.kspec_progress._fields_}["report"]


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
        self.arrays: dict[str, tuple[Any, Sequence[str] | None]] = {}
        self.files = False
        self.on_device = False  # arrays on a GPU may stay on it
        self.stack: contextlib.ExitStack | None = None

    def path(self, value: str | os.PathLike[str]) -> str:
        self.files = True
        path = os.fspath(value)
        return "./" + path if path in self.arrays or (path.startswith("-") and path != "-") else path

    def borrow(self, name: str, value: Any, names: Sequence[str] | None = None) -> str:
        """The INPUT that means an array: its name, unless that is taken or would be an option or a list"""
        while name in self.arrays or name.startswith(("-", "@")) or not name:
            name = "_" + name
        self.arrays[name] = (value, names)
        return name

    def input(self, name: str, value: Input) -> str:
        if isinstance(value, (str, os.PathLike)):
            path = self.path(value)
            foreign = by_libraries(path)
            return path if foreign is None else self.borrow(path, _arrays.to_array(path, foreign)[0])
        at = _arrays.on_gpu(value) if self.on_device and library().kspec_gpu() is not None else None
        return self.borrow(name, *(_arrays.to_array(name, value) if at is None else (at,)))

    def json(self, value: Any) -> str:
        text = value if isinstance(value, str) else json.dumps(value)
        if self.stack is None:
            self.stack = contextlib.ExitStack()
        return self.stack.enter_context(memory_file(text))

    # ---- options ----

    def option(self, name: str, rule: Rule, value: Any) -> None:
        flag, kind, bare, off = rule
        value = bool(value) if isinstance(value, np.bool_) else value
        if value is False and (off or kind == "flag" or bare):
            if off:
                self.words.append(off)
        elif kind == "flag":
            if not isinstance(value, bool):
                raise TypeError(f"{name}: {value!r} is not True or False")
            self.words.append(flag)
        elif bare:
            self.words.append(flag if value is True else f"{flag}={value}")
        else:
            self.words += [flag, self._word(name, kind, value)]

    def _word(self, name: str, kind: str, value: Any) -> str:
        if kind in ("int", "size", "u64"):
            return str(_whole(name, value))
        if kind == "double":
            return _number(name, value)
        if kind == "sigma":
            return str(value) if isinstance(value, str) else _number(name, value)
        if kind == "list":
            return _numbers(name, value)
        if kind == "numbers":
            return self._moments(name, value)
        if kind == "input":
            if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
                return str(value)  # a column by its number
            if isinstance(value, list) and value and all(isinstance(v, (str, int)) for v in value):
                return ",".join(str(v) for v in value)
            if "groups" in name and not isinstance(value, (str, os.PathLike)):
                return self.borrow(name, _arrays.labels(name, value))
            return self.input(name, value)
        if kind == "path":
            return self.path(value)
        if isinstance(value, os.PathLike):
            return str(os.fspath(value))
        if isinstance(value, (str, int)) or not hasattr(value, "__iter__"):
            return str(value)
        return ",".join(str(v) for v in value)

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


def _whole(name: str, value: Any) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r} is not a whole number") from None


def _number(name: str, value: Any) -> str:
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        raise TypeError(f"{name}: {value!r} is not a number") from None


def _numbers(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        value = [value]
    words = [
        str(v) if isinstance(v, (int, np.integer)) and not isinstance(v, bool) else _number(name, v)
        for v in value
    ]
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
    line = _Line(words)
    line.on_device = "device" in rules and options.get("device") != "cpu"
    try:
        if inputs is not None and not (len(inputs) == 1 and inputs[0] is None):
            line.words += _take_inputs(line, name, inputs, options)
        for option, value in options.items():
            if value is not None and (value is not False or rules[option].kind != "flag"):
                line.option(option, rules[option], value)
        return run_line(line.words, line.arrays, progress, line.files)
    finally:
        if line.stack is not None:
            line.stack.close()


class _Borrowed:
    """The arrays of one call as C sees them. Those on a GPU are copied to the host when the command asks."""

    def __init__(self, arrays: Mapping[str, tuple[Any, Sequence[str] | None]]) -> None:
        self._items = [(name, a, names) for name, (a, names) in arrays.items()]
        self.arrays = (h.kspec_array * len(arrays))()
        self._keep = [_arrays.as_struct(*item, self.arrays[k]) for k, item in enumerate(self._items)]
        self.error: BaseException | None = None
        self.on_device: Any = None
        if any(isinstance(a, _gpu.OnDevice) for _, a, _ in self._items):
            which = (ctypes.c_int * len(arrays))(*[isinstance(a, _gpu.OnDevice) for _, a, _ in self._items])
            self.on_device = ctypes.byref(h.kspec_device_array(which, _COPY(self._copy), None))

    def _copy(self, ctx: Any, k: int, host: Any) -> int:
        try:
            name, at, names = self._items[k]
            a = _arrays.to_array(name, at.original)[0]
            self._keep.append(_arrays.as_struct(name, a, names, host.contents))
        except BaseException as e:  # it is raised when the library has returned
            self.error = e
        return int(self.error is not None)


_COPY: Any = {name: kind for name, kind, *_ in h.kspec_device_array._fields_}["copy"]


def run_line(
    words: Sequence[str],
    arrays: Mapping[str, tuple[Any, Sequence[str] | None]] | None = None,
    progress: Progress = None,
    files: bool = True,
) -> Outcome:
    argv = (ctypes.c_char_p * (len(words) + 1))(*[w.encode("utf-8", "surrogateescape") for w in words])
    borrowed = _Borrowed(arrays or {})
    run_tool = library().kspec_tool_run
    with Watch(progress) as watch:
        at = run_tool(
            len(words),
            argv,
            borrowed.arrays,
            len(borrowed.arrays),
            borrowed.on_device,
            ctypes.byref(watch.progress),
        )
        outcome, error = _take(at, files)
    if borrowed.error is not None:
        raise borrowed.error
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
