"""kspec.torch: metrics of torchmetrics, in one process and in two."""

from __future__ import annotations

import copy
import os
import pathlib
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

import kspec

torch: Any = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")


def _data() -> Any:
    rng = np.random.default_rng(2)
    return rng.normal(size=(400, 4)) @ rng.normal(size=(4, 12)) + 0.3 * rng.normal(size=(400, 12))


def test_one_process() -> None:
    import kspec.torch

    x = _data()
    whole = kspec.dimension(x, sampled="rows")
    metric = kspec.torch.Dimension(12)
    for part in np.split(x, 4):
        value = metric(torch.from_numpy(part))
    assert float(value) == pytest.approx(whole.dimension, rel=1e-9)
    assert float(metric.compute()) == pytest.approx(whole.dimension, rel=1e-9)
    assert metric.result().ci_low == pytest.approx(whole.ci_low, rel=1e-6)
    again = copy.deepcopy(metric)
    metric.reset()
    assert torch.isnan(metric(torch.from_numpy(x[:2])))
    assert float(again.compute()) == pytest.approx(whole.dimension, rel=1e-9)
    pair = kspec.torch.Alignment(12, 12)
    pair.update(*(torch.from_numpy(a.copy()).reshape(40, 10, 12) for a in (x, x[:, ::-1])))
    assert float(pair.compute()) == pytest.approx(1, abs=1e-9)


PROGRAM = """
import sys, numpy as np, torch, torch.distributed as dist, kspec.torch
rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
x = torch.from_numpy(np.load(sys.argv[3]))
metric = kspec.torch.Dimension(12)
metric.update(x[:150] if rank else x[150:])
first = float(metric.compute())
metric.update(x[:3] + rank)  # it goes on from its own rows
print(first, metric._rows.rows, float(metric.compute()))
dist.destroy_process_group()
"""


def test_two_processes(tmp_path: pathlib.Path) -> None:
    x = _data()
    np.save(tmp_path / "x.npy", x)
    words = [sys.executable, "-c", textwrap.dedent(PROGRAM)]
    path = os.pathsep.join(p for p in sys.path if p)
    running = [
        subprocess.Popen(
            [*words, str(rank), str(tmp_path / "meet"), str(tmp_path / "x.npy")],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        for rank in (0, 1)
    ]
    said = [p.communicate(timeout=120)[0].split() for p in running]
    assert [p.returncode for p in running] == [0, 0]
    both = np.concatenate([x, x[:3], x[:3] + 1])
    for rank in (0, 1):
        first, rows, last = said[rank]
        assert float(first) == pytest.approx(kspec.dimension(x, sampled="rows").dimension, rel=1e-9)
        assert int(rows) == (153 if rank else 253)
        assert float(last) == pytest.approx(kspec.dimension(both, sampled="rows").dimension, rel=1e-9)
