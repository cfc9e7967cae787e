"""kspec.Accumulator: the numbers of one call with all rows, from batches of whatever kind."""

from __future__ import annotations

import concurrent.futures
import copy
import pathlib
import pickle
from typing import Any

import numpy as np
import pytest

import kspec


@pytest.fixture(name="x")
def _x() -> Any:
    rng = np.random.default_rng(1)
    signal = rng.normal(size=(700, 5)) @ rng.normal(size=(5, 20))
    return signal + 0.4 * rng.normal(size=(700, 20)) + 1e5


def test_the_numbers_of_one_call(x: Any) -> None:
    for options in ({}, {"sampled": "rows"}, {"center": False}, {"sampled": "cols", "center": False}):
        acc = kspec.Accumulator(20, **options)
        for i in range(0, 700, 90):
            acc.update(x[i : i + 90])
            if i:
                assert acc.result().rows == i + min(90, 700 - i)
        mine, whole = acc.result(), kspec.dimension(x, **options)
        assert isinstance(mine, kspec.Dimension) and float(acc) == mine.dimension
        for key in ("dimension", "ci_low", "ci_high", "naive"):
            assert getattr(mine, key) == pytest.approx(getattr(whole, key), rel=1e-9, nan_ok=True)
        assert mine.to_dict()["sampled"] == options.get("sampled", "both")


def test_two_matrices(x: Any) -> None:
    y = np.tanh(x - 1e5)[:, :12]
    acc = kspec.Accumulator(20, 12, sampled="rows")
    acc.update(x[:300], y[:300]).update(x[300:], y[300:])
    mine, whole = acc.result(), kspec.compare(x, y, sampled="rows")
    assert isinstance(mine, kspec.Compare)
    for key in ("alignment", "alignment_ci_low", "alignment_ci_high", "dimension", "other_dimension"):
        assert getattr(mine, key) == pytest.approx(getattr(whole, key), rel=1e-7)
    assert [d["what"] for d in mine.differences] == ["dimension", "moment", "moment"]


def test_workers_merge(x: Any) -> None:
    parts = np.array_split(x, 7)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda part: kspec.Accumulator(20).update(part), parts))
    whole = done[0]
    for other in done[1:]:
        whole.merge(pickle.loads(pickle.dumps(other)))
    assert whole.rows == 700
    assert whole.result().dimension == pytest.approx(kspec.dimension(x).dimension, rel=1e-10)


def test_bytes(x: Any, tmp_path: pathlib.Path) -> None:
    acc = kspec.Accumulator(20, reservoir=50).update(x[:200])
    path = tmp_path / "state"
    acc.save(path)
    for other in (kspec.Accumulator.load(path), copy.deepcopy(acc)):
        again = kspec.Accumulator.load(path).update(x[200:])
        assert other.update(x[200:]).result().ci_low == again.result().ci_low
        with pytest.raises(kspec.ArgumentError, match="both accumulators have rows of stream"):
            acc.merge(other)
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(kspec.DataError, match="state: .*checksum"):
        kspec.Accumulator.load(path)
    assert [p.name for p in tmp_path.iterdir()] == ["state"]


def test_streams_make_runs_equal(x: Any) -> None:
    results = {
        kspec.Accumulator(20, reservoir=50, stream=stream).update(x).result().ci_low for stream in (3, 3, 4)
    }
    assert len(results) == 2


def test_refusals(x: Any) -> None:
    acc = kspec.Accumulator(20)
    for batch, words in (
        (x[:, :7], "7 columns, the accumulator 20"),
        (x[:0], "0 rows"),
        (x.reshape(7, 100, 20), r"3 axes; .*batch.reshape\(-1, units\)"),
        (np.where(x == x[3, 2], np.nan, x), r"row 3, column 2 .* is NaN \(nan='omit'"),
    ):
        with pytest.raises(ValueError, match=words):
            acc.update(batch)
    with pytest.raises(kspec.ArgumentError, match="0 rows so far are too few: 5 are needed"):
        acc.result()
    with pytest.raises(kspec.ArgumentError, match="different settings: reservoir"):
        acc.merge(kspec.Accumulator(20, reservoir=7))
    with pytest.raises(TypeError, match="not an Accumulator"):
        acc.merge(x)
    for bad in ({"sampled": "none"}, {"nan": "keep"}, {"reservoir": 1}, {"stream": 0}):
        with pytest.raises(kspec.ArgumentError, match=f"^{next(iter(bad))}: "):
            kspec.Accumulator(20, **bad)
    with pytest.raises(kspec.OutOfMemory, match="10000000 x 10000000 products"):
        kspec.Accumulator(10**7)
    assert acc.rows == 0 and acc.update(x).rows == 700


def test_rows_with_nan(x: Any) -> None:
    holes = x.copy()
    holes[::9, 4] = np.nan
    acc = kspec.Accumulator(20, nan="omit").update(holes)
    whole = kspec.dimension(holes, nan="omit-rows")
    assert acc.omitted == 78 and acc.result().dimension == pytest.approx(whole.dimension, rel=1e-10)


@pytest.mark.parametrize(
    "module, make",
    [
        ("numpy", lambda m, x, path: x.astype(np.float32)),
        ("numpy", lambda m, x, path: np.lib.format.open_memmap(_save(path, x), mode="r")),
        ("pandas", lambda m, x, path: m.DataFrame(x)),
        ("scipy.sparse", lambda m, x, path: m.csc_matrix(x)),
        ("h5py", lambda m, x, path: m.File(path, "w").create_dataset("x", data=x, chunks=(64, 20))),
        ("zarr", lambda m, x, path: m.array(x, chunks=(64, 20))),
        ("anndata", lambda m, x, path: m.AnnData(__import__("scipy.sparse").sparse.csr_matrix(x))),
        ("torch", lambda m, x, path: m.from_numpy(x).float()),
        ("jax", lambda m, x, path: m.numpy.asarray(x)),
    ],
)
def test_any_kind_of_batch(module: str, make: Any, x: Any, tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    m = pytest.importorskip(module)
    monkeypatch.setattr("kspec._accumulator._SLICE", 3000)  # many slices
    x = x - 1e5  # which float32 holds
    acc = kspec.Accumulator(20).update(make(m, x, tmp_path / "file"))
    assert acc.rows == 700
    assert acc.result().dimension == pytest.approx(kspec.dimension(x).dimension, rel=1e-5)


def _save(path: pathlib.Path, x: Any) -> pathlib.Path:
    with open(path, "wb") as f:
        np.save(f, x)
    return path


def test_groups(x: Any) -> None:
    """Documents of tokens: labels, one group a batch, and batches of three axes give what one call gives"""
    y, labels = x[:, :8] - 1e5, np.repeat([f"document {k}" for k in range(70)], 10)
    want = kspec.dimension(y, groups=labels, sampled="rows")
    by_label = kspec.Accumulator(8, sampled="rows", groups=True)
    order = np.random.default_rng(2).permutation(350)
    by_label.update(y[:350][order], groups=labels[:350][order]).update(y[350:], groups=list(labels[350:]))
    alone = kspec.Accumulator(8, sampled="rows", groups=True)
    for i in range(0, 700, 10):
        alone.update(y[i : i + 10])
    cube = kspec.Accumulator(8, sampled="rows", groups=True)
    for i in range(0, 70, 14):
        cube.update(y.reshape(70, 10, 8)[i : i + 14])
    for acc in (by_label, alone, cube, pickle.loads(pickle.dumps(by_label))):
        assert (acc.rows, acc.groups) == (700, 70)
        mine = acc.result()
        for key in ("dimension", "ci_low", "ci_high"):
            assert getattr(mine, key) == pytest.approx(getattr(want, key), rel=1e-7)
        assert mine.to_dict()["groups"] == 70
    halves = [kspec.Accumulator(8, 3, groups=True) for _ in range(2)]
    for k, acc in enumerate(halves):
        part = slice(350 * k, 350 * (k + 1))
        acc.update(y[part], np.tanh(y[part, :3]), groups=labels[part])
    mine = halves[0].merge(halves[1]).result()
    whole = kspec.compare(y, np.tanh(y[:, :3]), groups=labels)
    assert mine.alignment == pytest.approx(whole.alignment, rel=1e-8)
    assert mine.alignment_ci_low == pytest.approx(whole.alignment_ci_low, rel=1e-6)


def test_groups_are_refused_in_words(x: Any) -> None:
    with pytest.raises(kspec.ArgumentError, match=r"Accumulator\(..., groups=True\) takes them"):
        kspec.Accumulator(20).update(x, groups=np.zeros(700))
    with pytest.raises(TypeError, match="groups: ndarray is not True or False"):
        kspec.Accumulator(20, groups=np.zeros(700))  # type: ignore[arg-type]
    acc = kspec.Accumulator(20, groups=True, reservoir=100)
    with pytest.raises(kspec.ArgumentError, match=r"groups: \(699,\) labels for 700 rows"):
        acc.update(x, groups=np.zeros(699))
    with pytest.raises(kspec.ArgumentError, match="a group of 700 rows exceeds the 100 rows"):
        acc.update(x)
    for k in range(3):
        acc.update(x[50 * k : 50 * k + 50])
    with pytest.raises(kspec.ArgumentError, match="3 groups so far are too few: 5 are needed"):
        acc.result()
    with pytest.raises(kspec.ArgumentError, match="groups and complete rows cannot be combined"):
        kspec.Accumulator(20, groups=True, sampled="cols")
