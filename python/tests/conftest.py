"""What the tests share: the tool beside the package, and files in a folder of their own."""

from __future__ import annotations

import json
import os

os.environ.setdefault(
    "OPENBLAS_NUM_THREADS", "1"
)  # NumPy's threads would wait for each other on few processors
import pathlib
import subprocess
from typing import Any

import numpy as np
import pytest

import kspec
from kspec._library import PROGRAM

TOOL = os.fspath(PROGRAM)  # that of the build folder, beside the library


class Tool:
    """The tool, run in the test's folder; arrays are given to it as files without a suffix."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def put(self, **arrays: Any) -> None:
        for name, a in arrays.items():
            with open(self.folder / name, "wb") as f:
                np.save(f, a)

    def run(self, *words: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run([TOOL, *map(str, words)], cwd=self.folder, capture_output=True, text=True)

    def json(self, *words: Any) -> dict[str, Any]:
        done = self.run(*words, "--json", "--quiet")
        assert done.returncode == 0, done.stderr
        keys: dict[str, Any] = json.loads(done.stdout)
        return keys

    def error(self, *words: Any) -> str:
        done = self.run(*words)
        assert done.returncode != 0
        return done.stderr.strip().removeprefix("kspec: ")


@pytest.fixture
def tool(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    monkeypatch.chdir(tmp_path)
    return Tool(tmp_path)


@pytest.fixture(scope="session")
def x() -> np.ndarray:
    return kspec.generate.rff(40, 30, dim=3, eta=0.5, seed=1)


@pytest.fixture(scope="session")
def trials() -> np.ndarray:
    return kspec.generate.rff(20, 15, dim=2, noise=0.3, trials=3, seed=2)


def without_time(keys: Any) -> Any:
    """A JSON object without what differs from run to run, or by how the words of a command line are
    written"""
    if isinstance(keys, dict):
        same = {
            k: without_time(v)
            for k, v in keys.items()
            if "second" not in k or k in ("second_moment", "second")
        }
        if "command_line" in same:
            same["command_line"] = sorted(same["command_line"].split())
        return same
    return [without_time(v) for v in keys] if isinstance(keys, list) else keys
