"""What callers do that is not ideal: names that are taken, files that change, numbers out of range, calls
inside calls. The answer is exact, or an error that says what is wrong."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import kspec
from kspec import _arrays

LONG = dict(n=6, estimator="path", permutations=100_000, threads=1)  # for minutes, if it is let


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)


# ---- options by their types ----


def test_flags_of_numpy(x: Any) -> None:
    shifted = x + 3
    for no in (np.False_, np.array(False), False):
        assert kspec.dimension(shifted, no_center=no).dimension == kspec.dimension(shifted).dimension
        assert (
            kspec.dimension(shifted, center=no).dimension == kspec.dimension(shifted, center=False).dimension
        )
    assert kspec.moments(x, n=np.int8(2), seed=np.uint64(3), effort=np.float32(0.5)).seed == 3
    assert kspec.moments(x, n=np.array(2), estimator=np.str_("naive")).estimates.n.tolist() == [1, 2]


@pytest.mark.parametrize(
    "options",
    [
        {"effort": "0.5"},
        {"effort": True},
        {"estimator": 3},
        {"estimator": [1.5]},
        {"center": 1},
        {"side": None.__class__},
        {"normalize": np.ones(2)},
        {"select_cols": [0.5]},
        {"axes": 5.0},
        {"n": np.float64(2)},
    ],
)
def test_anything_else_is_a_type_error(x: Any, options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=f"^{next(iter(options))}: "):
        kspec.moments(x, **options)


def test_numbers_beyond_their_range(x: Any) -> None:
    for call in (
        lambda **o: kspec.generate.rff(3, 3, **o),
        lambda **o: kspec.features(x, 3, **o),
        lambda **o: kspec.gram(x, **o),
        lambda **o: kspec.moments(x, n=1, **o),
    ):
        for options in ({"seed": -1}, {"seed": 2**64}, {"threads": -1}, {"threads": 2**32 + 1}):
            with pytest.raises(ValueError, match=next(iter(options))):
                call(**options)
    assert not np.array_equal(kspec.generate.rff(3, 3, seed=2**64 - 1), kspec.generate.rff(3, 3, seed=2**63))
    for name in ("dim", "trials", "noise_share"):
        with pytest.raises(ValueError, match=f"{name}: 0.* is (below 1|not above 0)"):
            kspec.generate.rff(3, 3, noise=1.0, **{name: 0})
    with pytest.raises(TypeError, match="noise"):
        kspec.generate.rff(3, 3, noise="1.0")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["sigma", "gamma"])
def test_a_bandwidth_of_zero(x: Any, name: str) -> None:
    for call in (kspec.gram, lambda x, **o: kspec.features(x, 3, **o)):
        for bad in (0, 0.0, -1.0, float("nan")):
            with pytest.raises(kspec.ArgumentError, match=f"{name}: .* is not above 0"):
                call(x, **{name: bad})


def test_nul(x: Any) -> None:
    for call in (
        lambda: kspec.dimension({"a\0b": x, "c": x}),
        lambda: kspec.dimension("x.npy\0.csv"),
        lambda: kspec.read("x.npy\0.csv"),
        lambda: kspec.dimension(x, select_cols="1\0,2"),
        lambda: kspec.moments(x, estimator="naive\0"),
    ):
        with pytest.raises(ValueError, match="NUL"):
            call()
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="NUL"):
        kspec.dimension(pd.DataFrame(x[:, :3], columns=["a", "b\0", "b"]))


# ---- labels ----


def test_labels_beyond_the_doubles(x: Any) -> None:
    groups = 2**53 + np.arange(40) // 2  # as doubles, every second one is its neighbour
    assert len(set(groups.astype(float))) < 20
    want = kspec.dimension(x, groups=np.arange(40) // 2).dimension
    for labels in (groups, groups.astype(np.uint64), groups.tolist(), groups.astype(object)):
        assert kspec.dimension(x, groups=labels).dimension == want


def test_labels_that_are_missing(x: Any) -> None:
    masked = np.ma.MaskedArray(np.arange(40) // 2, np.arange(40) == 7)
    pd = pytest.importorskip("pandas")
    for labels in (masked, pd.array([None if k == 7 else k // 2 for k in range(40)], dtype="Int64")):
        with pytest.raises(kspec.DataError, match="groups: the label of row 7 .from 0. is missing"):
            kspec.dimension(x, groups=labels)


# ---- names of arrays and of files ----


def test_a_file_and_an_array_of_one_name(x: Any) -> None:
    a, b = x[:, :15], x[:, 15:]
    for name in ("b", "groups", "x", "a"):
        with open(name, "wb") as f:
            np.save(f, a)
    want = kspec.compare(a, b).alignment
    assert kspec.compare("b", b).alignment == want
    assert kspec.compare(b, "a").alignment == kspec.compare(b, a).alignment
    assert kspec.compare({"x": "a", "a": b}).alignment == want
    labels = np.arange(40) // 2
    assert kspec.dimension("groups", groups=labels).dimension == kspec.dimension(a, groups=labels).dimension
    with open("list", "w") as f:
        f.write("groups\n")
    assert float(kspec.dimension("@list", groups=labels)) == kspec.dimension(a, groups=labels).dimension
    both = kspec.dimension({"groups": b, "x": "x"})
    assert both.results["dimension"].tolist() == [kspec.dimension(v).dimension for v in (b, a)]


# ---- files that change ----


def test_what_was_read_is_a_copy(x: Any) -> None:
    big = np.tile(x, (20, 20))
    np.save("x.npy", big)
    got = kspec.read("x.npy")
    np.save("x.npy", 0 * big)
    assert np.array_equal(got, big)
    code = """
import kspec, numpy as np, os
np.save("x.npy", np.ones((800, 600)))
a = kspec.read("x.npy")
os.truncate("x.npy", 200)
assert a.sum() == a.size
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_mapped_file_is_live(x: Any) -> None:
    np.save("x.npy", x)
    got = kspec.read("x.npy", mmap=True)
    with open("x.npy", "r+b") as f:
        f.seek(-x.nbytes, os.SEEK_END)
        f.write(np.zeros_like(x).tobytes())
    assert not got.any()


def test_a_file_that_changes_while_it_is_read() -> None:
    """One process writes a file again and again, another reads it."""
    code = """
import numpy as np, sys, os
k = 0
while os.path.exists("go"):
    k += 1
    with open("x.npy", "r+b") as f:
        f.seek(128)
        f.write(np.full(500_000, float(k)).tobytes())
"""
    np.save("x.npy", np.zeros((500, 1000)))
    open("go", "w").close()
    with subprocess.Popen([sys.executable, "-c", code]):
        refused = whole = 0
        end = time.monotonic() + 20
        try:
            while refused < 3 and time.monotonic() < end:
                try:
                    a = kspec.read("x.npy")
                except kspec.FileError as e:
                    assert "x.npy changed while it was read" in str(e)
                    refused += 1
                else:
                    whole += int(a.min() == a.max())
        finally:
            os.remove("go")
    assert refused == 3


def test_a_pipe_is_read_from_its_first_byte(x: Any) -> None:
    os.mkfifo("pipe")
    text = "\n".join(",".join(f"{v:.17g}" for v in row) for row in np.tile(x, (75, 1))) + "\n"
    threading.Thread(target=lambda: open("pipe", "w").write(text)).start()
    assert kspec.read("pipe").shape == (3000, 30)
    threading.Thread(target=lambda: open("pipe", "w").write(text)).start()
    assert kspec.moments("pipe", n=1).rows == 3000


# ---- calls inside calls, and Ctrl-C ----


def test_a_call_from_a_callback(x: Any) -> None:
    large = kspec.generate.rff(300, 300, dim=5)
    want = kspec.moments(large, n=4, estimator="path", permutations=20, threads=2).to_dict()
    inside: list[Any] = []

    def call(fraction: float) -> None:
        if len(inside) > 2:
            return
        inside.append(kspec.dimension({"a": x, "b": x[:, :9]}, progress=lambda f: None).results["dimension"])
        with pytest.raises(kspec.Error, match="exceeds min"):
            kspec.moments(x, n=99)
        kspec.read(os.path.join(os.getcwd(), "x.npy"))

    np.save("x.npy", x)
    got = kspec.moments(large, n=4, estimator="path", permutations=20, threads=2, progress=call).to_dict()
    assert inside and all(np.array_equal(v, inside[0]) for v in inside)
    for key in ("estimates", "input", "command_line", "doubts"):
        assert got[key] == want[key], key


def test_ctrl_c_in_a_call_from_a_callback(x: Any) -> None:
    large = kspec.generate.rff(300, 300, dim=5)

    def call(fraction: float) -> None:
        kspec.moments(large, **LONG)

    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        kspec.moments(large, progress=call, **LONG)
    assert kspec.dimension(x).rows == 40


@pytest.mark.parametrize("how", ["a pipe nobody opens", "a pipe nobody writes to", "standard input"])
def test_ctrl_c_while_a_read_waits(how: str) -> None:
    os.mkfifo("pipe")
    name = "-" if how == "standard input" else "pipe"
    open_it = "w = os.open('pipe', os.O_RDWR);" if how == "a pipe nobody writes to" else ""
    for function in ("read", "moments"):
        code = f"import os, kspec; {open_it} kspec.theory.rbf(eta=1); print('on', flush=True); "
        code += f"kspec.{function}('{name}')"
        with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, stderr=-1, text=True) as p:
            assert p.stdout is not None and p.stdout.readline() == "on\n"
            time.sleep(0.3)
            begun = time.monotonic()
            p.send_signal(signal.SIGINT)
            p.wait(timeout=10)
            assert time.monotonic() - begun < 1 and p.returncode == -signal.SIGINT


def test_ctrl_c_while_kspec_hdf5_works(tmp_path: Any) -> None:
    reader = tmp_path / "kspec-hdf5"
    reader.write_text("#!/bin/sh\nsleep 60\n")
    reader.chmod(0o755)
    with open("x.h5", "wb") as f:
        f.write(b"\x89HDF\r\n\x1a\n" + bytes(600))
    code = "import kspec; kspec.theory.rbf(eta=1); print('on', flush=True); kspec.moments('x.h5')"
    environment = {**os.environ, "KSPEC_LIBEXEC": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=-1, stderr=-1, text=True, env=environment
    ) as p:
        assert p.stdout is not None and p.stdout.readline() == "on\n"
        time.sleep(0.3)
        begun = time.monotonic()
        p.send_signal(signal.SIGINT)
        p.wait(timeout=10)
        assert time.monotonic() - begun < 1 and p.returncode == -signal.SIGINT


# ---- kinds of inputs, and what is selected ----


def test_masks_and_slices(x: Any) -> None:
    for rows, cols in (
        (np.arange(40) % 3 > 0, slice(2, 20)),
        ([k > 5 for k in range(40)], slice(None, None, 2)),
        (slice(-20, None), np.arange(30) < 9),
        (np.r_[3:25], range(4, 28, 3)),
    ):
        want = kspec.dimension(np.ascontiguousarray(x[rows][:, cols])).dimension
        assert kspec.dimension(x, select_rows=rows, select_cols=cols).dimension == want
    with pytest.raises(ValueError, match=r"select_rows: the mask has shape \(39,\), 40 rows"):
        kspec.dimension(x, select_rows=np.ones(39, dtype=bool))
    with pytest.raises(ValueError, match="select_cols: nothing is selected"):
        kspec.dimension(x, select_cols=np.zeros(30, dtype=bool))
    np.save("x.npy", x)
    with pytest.raises(ValueError, match="slices select from arrays"):
        kspec.dimension("x.npy", select_rows=slice(3))
    assert kspec.read("x.npy", select_rows=np.arange(40) > 9).shape == (30, 30)


def test_masks_of_trials(trials: Any) -> None:
    mask = np.arange(20) > 4
    want = kspec.moments(np.ascontiguousarray(trials[:, mask]), n=2).estimates["value"]
    assert np.array_equal(kspec.moments(trials, n=2, select_rows=mask).estimates["value"], want)
    turned = trials.transpose(2, 1, 0)
    got = kspec.moments(turned, n=2, axes="cols,rows,trials", select_rows=mask).estimates["value"]
    assert np.array_equal(got, want)


def test_columns_that_are_not_numbers(x: Any) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(x[:, :3], columns=list("abc"))
    for tag, words in (
        (["u"] * 40, "strings"),
        ([object()] * 40, "Python objects"),
        (pd.date_range("2020", periods=40), "entries of type datetime64"),
    ):
        with pytest.raises(TypeError, match=f"x: column 'tag' holds {words}.*select_dtypes"):
            kspec.dimension(frame.assign(tag=tag))


def test_four_axes() -> None:
    with pytest.raises(kspec.ArgumentError, match=r"x has 4 axes; .*x\.reshape\(len\(x\), -1\)"):
        kspec.dimension(np.ones((9, 2, 2, 2)))


def test_sparse(x: Any) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    some = np.where(x > 0.5, x, 0.0)
    for kind in ("csr", "csc", "coo"):
        got = kspec.dimension(sparse.csr_array(some).asformat(kind))
        assert got.dimension == kspec.dimension(some).dimension
    assert kspec.compare(sparse.csr_matrix(some), x).alignment == kspec.compare(some, x).alignment


class DataArray:
    """As xarray's, as far as its dimensions and the names of its columns go"""

    def __init__(self, a: np.ndarray, dims: tuple[str, ...], coords: dict[str, Any] | None = None) -> None:
        self._a, self.dims, self.ndim, self.shape = a, dims, a.ndim, a.shape
        self.coords = {k: type("Coord", (), {"values": np.asarray(v)}) for k, v in (coords or {}).items()}

    def transpose(self, *dims: str) -> DataArray:
        order = [self.dims.index(d) for d in dims]
        return DataArray(self._a.transpose(order), dims)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self._a


def test_dimensions_of_xarray(x: Any, trials: Any) -> None:
    want = kspec.dimension(x).dimension
    assert kspec.dimension(DataArray(x.T, ("cols", "rows"))).dimension == want
    assert kspec.dimension(DataArray(x.T, ("unit", "row"))).dimension == want
    assert kspec.dimension(DataArray(x, ("time", "unit"))).dimension == want
    assert kspec.dimension(DataArray(x.T, ("cols", "rows")), axes="cols,rows").dimension == want
    by_trials = kspec.moments(trials, n=2).estimates["value"]
    many = DataArray(trials.transpose(1, 2, 0), ("rows", "cols", "trial"))
    assert np.array_equal(kspec.moments(many, n=2).estimates["value"], by_trials)
    repeated = DataArray(np.tile(trials, (9, 1, 1)), ("trials", "rows", "cols"))  # more trials than rows
    assert kspec.moments(repeated, n=2).trials == 27
    names = DataArray(x, ("rows", "cols"), {"cols": [f"c{j}" for j in range(30)]})
    assert kspec.dimension(names, select_cols=["c3", "c1", "c9"]).cols == 3


def test_dimensions_of_real_xarray(x: Any) -> None:
    xarray = pytest.importorskip("xarray")
    a = xarray.DataArray(x.T, dims=("cols", "rows"), coords={"cols": [f"c{j}" for j in range(30)]})
    assert kspec.dimension(a).dimension == kspec.dimension(x).dimension
    assert _arrays.by_dims(a)[1] == [f"c{j}" for j in range(30)]


# ---- results, pictures and help, in Python's terms ----


def test_a_frame_has_a_row_for_each_pair(x: Any) -> None:
    pytest.importorskip("pandas")
    three = kspec.compare({"a": x, "b": x[:, ::2], "c": x[:, 1::2]})
    frame = three.to_dataframe()
    assert list(zip(frame["first"], frame["second"])) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert frame["alignment"].tolist() == three.results["alignment"].tolist()
    two = kspec.compare({"b": x[:, ::2], "c": x[:, 1::2]})
    row = two.to_dataframe()
    assert len(row) == 1 and row["alignment"][0] == frame["alignment"][2]
    assert row["m1_difference_p"][0] == two.differences[1]["p"]
    assert not {"schema", "command", "command_line"} & set(frame.columns)


def test_plots_return_axes(x: Any) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    for result in (kspec.dimension(x), kspec.spectrum(x), kspec.compare(x[:, ::2], x[:, 1::2])):
        axes = result.plot()
        assert isinstance(axes, np.ndarray) and all(isinstance(a, plt.Axes) for a in axes)
        ax = plt.figure().add_subplot()
        assert result.plot(ax=ax) is ax
    plt.close("all")


def test_help_speaks_python() -> None:
    for module in (kspec, kspec.wls, kspec.theory):
        for name in dir(module):
            text = getattr(getattr(module, name), "__doc__", None) or ""
            if not name.startswith("_") and callable(getattr(module, name)):
                assert not re.search(r"(?<![\w-])--[a-z]|    kspec [a-z]|@FILE", text), name
    assert 'kspec.dimension("x.npy", axes="cols,rows,trials")' in (kspec.dimension.__doc__ or "")
    assert "method='moments'" in (kspec.spectrum.__doc__ or "")


def test_tables_speak_python(x: Any) -> None:
    assert "method moments (as rank implies)" in str(kspec.spectrum(x, rank=5))
