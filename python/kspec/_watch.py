"""What goes on beside a call: its progress, and Ctrl-C."""

from __future__ import annotations

# the functions of signal without its enums, which take longer than all else here
import _signal  # type: ignore[import-not-found]
import sys
import threading
from collections.abc import Callable
from typing import Any, Union

from . import _header as h

Progress = Union[bool, Callable[[float], object], None]  # (Python 3.9)


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
        # first: an exception of the callback may be that of a call in it, which the signal has stopped
        if self._signal is not None:
            self._replaced(*self._signal)
        if self._error is not None:
            raise self._error


_SIGINT = int(_signal.SIGINT)
_REPORT: Any = {name: kind for name, kind, *_ in h.kspec_progress._fields_}["report"]
