"""The `kspec` command of the package: the tool itself, which the package carries."""

from __future__ import annotations

import os
import sys

from ._library import PROGRAM


def main() -> None:
    try:
        os.execv(PROGRAM, [os.fspath(PROGRAM), *sys.argv[1:]])
    except OSError as e:
        sys.exit(f"kspec: cannot run {PROGRAM}: {e.strerror}")
