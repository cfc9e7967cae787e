"""The notebook and the examples run; the documentation's code does, too."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_notebook(monkeypatch: Any, tmp_path: Any) -> None:
    """Its cells in order, in one namespace, the value of a last expression shown as a notebook shows it"""
    import ast

    monkeypatch.chdir(tmp_path)
    if (backend := pytest.importorskip("matplotlib", reason="no matplotlib")) is not None:
        backend.use("Agg")
    names: dict[str, Any] = {}
    shown = []
    for cell in json.loads((ROOT / "examples/first_look.ipynb").read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
    assert any("participation ratio" in s for s in shown) and len(names["axes"]) >= 1


@pytest.mark.parametrize(
    "name, words",
    [
        ("activations.py", "epoch 1000"),
        ("ridge_curve.py", "predicted"),
        ("random_feature_ridge.py", "breast cancer"),
    ],
)
def test_example(name: str, words: str, tmp_path: Any) -> None:
    if "ridge" in name:
        pytest.importorskip("sklearn")
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / name], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert words in done.stdout


def test_dask(tmp_path: Any) -> None:
    pytest.importorskip("dask.array", reason="no dask; `pip install dask` tests examples/dask_blocks.py")
    done = subprocess.run(
        [sys.executable, ROOT / "examples/dask_blocks.py"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "20000 rows" in done.stdout


def test_mpi(tmp_path: Any) -> None:
    pytest.importorskip("mpi4py", reason="no mpi4py; `pip install mpi4py` tests examples/mpi_reduce.py")
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun")
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        ["mpirun", "--oversubscribe", "-n", "3", sys.executable, ROOT / "examples/mpi_reduce.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **root},
    )
    assert done.returncode == 0, done.stderr
    assert "15000 rows" in done.stdout


def test_documentation(tmp_path: Any, monkeypatch: Any) -> None:
    """Every Python block of docs/python.md runs, one after the other."""
    pytest.importorskip("sklearn")
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.S)
    assert len(blocks) >= 5
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
