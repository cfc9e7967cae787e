"""Arrays on a GPU: used where they are. Without a GPU, on the plain plugin of the tests, whose memory faults
when anything but the plugin touches it; with one, on PyTorch's and JAX's own arrays.

python test_gpu.py SIZE: how long a call takes on an array that is on a GPU, used there or copied first."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
import pytest

import kspec
from kspec import _arrays, _library

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A copy of the package with the plain plugin in the place of CUDA's"""
    folder = tmp_path_factory.mktemp("plain")
    ours = shutil.ignore_patterns("libkspec_cuda.so", "__pycache__", "bin")
    shutil.copytree(_library.PACKAGE, folder / "kspec", ignore=ours)
    plugin = folder / "kspec" / "libkspec_cuda.so"
    source = ROOT / "tests" / "help" / "plain_plugin.c"
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{ROOT}/src", "-o", plugin, source, "-lm"], check=True)
    return folder


# What a child runs: arrays of its own in the memory of the plain plugin. FAR is where that memory begins.
FAKE = '''
import ctypes, os, sys, warnings
import numpy as np
sys.path.insert(0, FOLDER)
import kspec
from kspec import _gpu, _library

FAR, NEXT = 1 << 62, 1 << 56
kspec.config()
plain = ctypes.CDLL(os.path.join(FOLDER, "kspec", "libkspec_cuda.so"))
copied = ctypes.c_size_t.in_dll(plain, "plain_copied")

class Cuda:
    """Seen through CUDA's interface; its methods are those of a library with its arrays on a GPU."""

    def __init__(self, a, device=0, stream=None):
        self.a, self.device, self.stream, self.asked = a, device, stream, 0
        self.dtype, self.ndim, self.shape = a.dtype, a.ndim, a.shape

    @property
    def __cuda_array_interface__(self):
        at = self.a.ctypes.data + FAR + self.device * NEXT
        return {"shape": self.a.shape, "strides": self.a.strides, "typestr": self.a.dtype.str,
                "data": (at, True), "version": 3, "stream": self.stream}

    def astype(self, dtype):
        return Cuda(self.a.astype(dtype), self.device)

    def get(self):
        self.asked += 1
        return self.a

class Dense(Cuda):
    """Without strides, and without an astype()"""
    astype = None

    @property
    def __cuda_array_interface__(self):
        return {k: v for k, v in super().__cuda_array_interface__.items() if k != "strides"}

class Dlpack:
    """Seen through DLPack: a capsule around the struct of the array, whose address is moved"""

    def __init__(self, a, device=2):
        self.a, self.device, self.asked = a, device, 0

    def __dlpack_device__(self):
        return (self.device, 0)

    def __dlpack__(self, **options):
        capsule = self.a.__dlpack__()
        t = _gpu._Tensor.from_address(_gpu._open_capsule(capsule, b"dltensor"))
        t.data = t.data + FAR
        return capsule

    def cpu(self):
        self.asked += 1
        return self.a

def same(there, here, function=kspec.moments, asked=0, **options):
    """The numbers of the array in the host's memory on the same device; `asked`: copied by its own library"""
    before = copied.value
    a, b = (function(y, **options, device="gpu").to_dict() for y in (there, here))
    assert (there.asked > 0) == (asked > 0), (there.asked, options)
    if function is kspec.norm:
        assert a["results"][0]["value"] == b["results"][0]["value"]
    else:
        assert a["estimates"] == b["estimates"], options
    return a, copied.value - before

rng = np.random.default_rng(1)
x = kspec.generate.rff(40, 30, dim=3, eta=0.5, seed=1)
path = {"n": 3, "estimator": "path"}
'''


def child(package: pathlib.Path, code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"FOLDER = {os.fspath(package)!r}\n{FAKE}\n{code}"],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr


def test_used_where_they_are(package: pathlib.Path) -> None:
    child(
        package,
        """
big = np.zeros((80, 90))
big[::2, ::3] = x
for make in (Cuda, Dlpack, lambda a: Cuda(a, stream=7), lambda a: Dlpack(a, 13)):
    for a in (x, np.asfortranarray(x), x.T, big[::2, ::3], x[::-1, ::-1]):
        found, count = same(make(a), a, **path)
        assert count < x.size / 2, count  # sums alone
        assert found["device"] == "gpu:0 Plain 0" and found["device_reason"] == "asked for"
auto = kspec.moments(Cuda(x), **path).to_dict()
assert auto["device"] == "gpu:0 Plain 0" and auto["device_reason"] == "the data are there"
found, count = same(Dense(x), x, **path)
assert count < x.size / 2
same(Cuda(x), x, n=3, estimator="exact")
same(Cuda(x), x, n=3)                        # auto: by the library, which makes orders on the host
same(Cuda(x), x, n=3, center=True)
same(Cuda(x), x, kspec.norm, method="lanczos", sigma=3.0)
whole = kspec.dimension(x)
for a in (Cuda(x), Dlpack(x), Cuda(x.T.copy().T)):
    found = kspec.dimension(a)
    assert a.asked == 0 and found.to_dict()["device_reason"] == "the data are there"
    assert abs(found.dimension / whole.dimension - 1) < 1e-9 and abs(found.ci_low / whole.ci_low - 1) < 1e-6
second = 2 * x + rng.normal(size=x.shape)
pair = kspec.compare(x, second)
for make in (Cuda, Dlpack):
    a, b = make(x), make(second)
    found = kspec.compare(a, b)
    assert found.to_dict()["device_reason"] == "the data are there"
    assert abs(found.alignment / pair.alignment - 1) < 1e-9
    assert abs(found.alignment_ci_low / pair.alignment_ci_low - 1) < 1e-6
a = Cuda(x)
mixed = kspec.compare(a, second)             # not both: on the host
assert a.asked == 1 and mixed.alignment == pair.alignment and mixed.to_dict()["device"] == "cpu"
layers, pairs = np.stack([x, second, x[::-1]]), {"axes": "batch,rows,cols", "sampled": "rows"}
there, here = kspec.compare(Cuda(layers), **pairs), kspec.compare(layers, **pairs)
assert np.allclose(there.alignments, here.alignments, rtol=1e-9, atol=1e-12)
assert there.results[0]["device"] == "gpu:0 Plain 0"
assert kspec.moments(Cuda(x, 1), **path).to_dict()["device"] == "gpu:1 Plain 1"
assert kspec.moments(Cuda(x, 1), **path, device="gpu").to_dict()["device"] == "gpu:1 Plain 1"
trials = np.stack([x, x + 0.1 * rng.normal(size=x.shape)])
for a in (trials, np.asfortranarray(trials), trials[::-1]):
    found, count = same(Cuda(a), a, **path)
    assert found["trials"] == 2 and count < x.size / 2
both = kspec.moments([Cuda(trials[0]), Cuda(trials[1])], **path)
assert both.to_dict()["estimates"] == kspec.moments(list(trials), **path, device="gpu").to_dict()["estimates"]
turned = np.ascontiguousarray(trials.transpose(2, 1, 0))
found, count = same(Cuda(turned), turned, **path, axes="cols,rows,trials")
assert found["trials"] == 2 and count < x.size / 2
""",
    )


def test_accumulators_there(package: pathlib.Path) -> None:
    child(
        package,
        """
y = np.concatenate([x + 0.1 * rng.normal(size=x.shape) for _ in range(20)])
whole = kspec.Accumulator(30, stream=1).update(y).result()
for make in (Cuda, Dlpack, lambda a: Cuda(np.asfortranarray(a)), lambda a: Cuda(a.astype("f4"))):
    acc, batches = kspec.Accumulator(30, stream=1), [make(y[i : i + 100]) for i in range(0, len(y), 100)]
    before = copied.value
    for b in batches:
        acc.update(b)
    assert copied.value - before < 8 * 30 * 60 + 9 * len(y)  # sums alone
    assert not any(b.asked for b in batches)
    found = acc.result()
    tolerance = 1e-5 if getattr(batches[0], "dtype", None) == "f4" else 1e-9
    assert abs(found.dimension / whole.dimension - 1) < tolerance and found.rows == len(y)
    assert abs(found.ci_high / whole.ci_high - 1) < 1e3 * tolerance
two = kspec.Accumulator(30, 20, stream=1)
two.update(Cuda(y), Cuda(y[:, :20].copy()))
same_two = kspec.Accumulator(30, 20, stream=1).update(y, y[:, :20]).result()
assert abs(two.result().alignment / same_two.alignment - 1) < 1e-9
by_host = Cuda(y)
assert kspec.Accumulator(30, stream=1, device="cpu").update(by_host).rows == len(y) and by_host.asked == 1
holes = y.copy()
holes[3, 4] = np.nan
try:
    two.update(Cuda(holes), Cuda(y[:, :20].copy()))
    raise SystemExit("NaN was taken")
except kspec.DataError as e:
    assert "row 3, column 4 (from 0) is NaN" in str(e), e
assert two.rows == len(y)
cube = np.ascontiguousarray(y.reshape(20, 40, 30))
for a in (Cuda(cube), Cuda(np.asfortranarray(cube)), Cuda(cube.astype("f4"))):
    batch = kspec.dimension(a, axes="batch,rows,cols", sampled="rows")
    alone = kspec.dimension(cube[7], sampled="rows")
    assert a.asked == 0 and abs(batch.results[7]["dimension"] / alone.dimension - 1) < 1e-4
    assert batch.results[7]["device"] == "gpu:0 Plain 0"
omit = kspec.Accumulator(30, stream=1, nan="omit").update(Cuda(holes))
assert omit.rows == len(y) - 1 and omit.omitted == 1
""",
    )


def test_other_numbers_there(package: pathlib.Path) -> None:
    child(
        package,
        """
for dtype in ("f4", "f2", "i4", "u1", "?"):
    a = (3 * x).round().astype(dtype)
    found, count = same(Cuda(a), a, **path)
    assert count < x.size / 2
    same(Dense(a), a, asked=1, **path)                   # by way of the host: its library does not convert
same(Dlpack(x.astype("f4")), x.astype("f4"), asked=1, **path)
same(Cuda(x.astype(">f8")), x.astype(">f8"), asked=1, **path)
try:
    kspec.moments(Cuda(x.astype(complex)), **path)
    raise SystemExit("complex numbers were taken")
except TypeError as e:
    assert "complex entries" in str(e), e
""",
    )


def test_by_way_of_the_host(package: pathlib.Path) -> None:
    child(
        package,
        """
def fails(kind, words, *arguments, **options):
    try:
        kspec.moments(*arguments, **options)
    except kind as e:
        assert words in str(e), e
    else:
        raise SystemExit("nothing was raised")

same(Cuda(x), x, asked=1, select_rows="0-19", **path)
same(Cuda(x), x, asked=1, nan="omit-rows", **path)
labels = np.arange(40) // 2                              # there are no groups on a GPU
grouped = [kspec.moments(a, n=2, groups=labels).to_dict() for a in (Cuda(x), x)]
assert grouped[0]["estimates"] == grouped[1]["estimates"] and grouped[0]["device"] == "cpu"
ridge = {"features": 5, "lambda_": [1.0, 0.01]}
pairs = (Cuda(x), Cuda(x[:, :1])), (x, x[:, :1])
predicted = [kspec.ridge(a, target=b, device="gpu", **ridge) for a, b in pairs]
assert predicted[0].to_dict()["points"] == predicted[1].to_dict()["points"]
assert predicted[0].to_dict()["device"] == "gpu:0 Plain 0"
on_cpu = Cuda(x)
assert kspec.moments(on_cpu, **path, device="cpu").to_dict()["device"] == "cpu" and on_cpu.asked == 1
other = Cuda(x)
gpu = kspec.dimension(x, device="gpu").dimension
assert kspec.dimension(other, curve=True).dimension == gpu and other.asked == 0
mixed = kspec.moments([Cuda(x), x], **path)              # one trial here, one there
assert mixed.to_dict()["estimates"] == kspec.moments([x, x], **path).to_dict()["estimates"]
holes = x.copy()
holes[5, 7] = np.nan
missing = "x: 1 missing value, the first at row 5, column 7 (from 0); omit-rows leaves"
fails(kspec.DataError, missing, Cuda(holes), **path)
same(Cuda(holes), holes, asked=1, nan="omit-rows", **path)
holes[5, 7] = -np.inf
fails(kspec.DataError, "x: row 5, column 7 (from 0) is minus infinite", Cuda(holes), **path)
fails(kspec.ArgumentError, "the matrix is on gpu:1, not on gpu:0", Cuda(x, 1), **path, device="gpu:0")
fails(kspec.Error, "axes", Cuda(np.ones((2, 2, 2, 2))), **path)
fails(kspec.Error, "empty", Cuda(np.ones((0, 3))), **path)

class Broken(Cuda):
    def get(self):
        raise RuntimeError("the copy failed")

fails(RuntimeError, "the copy failed", Broken(x), nan="omit-rows", **path)
fails(RuntimeError, "the copy failed", Broken(x), device="cpu", **path)

class Hidden(Cuda):                                      # such as an array that is spread over several GPUs
    @property
    def __cuda_array_interface__(self):
        raise BufferError("on two GPUs")
    def __array__(self, dtype=None, copy=None):
        return self.a
    def __dlpack_device__(self):
        return (2, 0)

same(Hidden(x), x, asked=1, **path)
os.environ["PLAIN_PLUGIN"] = "small"                     # the GPU's memory is full: the processor
with warnings.catch_warnings():
    warnings.simplefilter("ignore", kspec.KspecWarning)
    full = kspec.moments(Cuda(x), n=3, estimator="exact")
assert full.to_dict()["device"] == "cpu"
""",
    )


# ---- with a GPU ----


def on_a_gpu(module: str) -> Any:
    """PyTorch or JAX with a GPU, or a skip"""
    m = pytest.importorskip(module)
    if _library.library().kspec_gpu() is None:
        pytest.skip("there is no GPU that kspec can use")
    if module == "torch":
        if not m.cuda.is_available():
            pytest.skip("PyTorch has no GPU")
        return lambda a: m.from_numpy(np.array(a)).to("cuda")
    m.config.update("jax_enable_x64", True)
    if m.default_backend() != "gpu":
        pytest.skip("JAX has no GPU")
    return lambda a: m.numpy.asarray(a)


@pytest.mark.parametrize("module", ["torch", "jax"])
def test_real_arrays(module: str) -> None:
    make = on_a_gpu(module)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 200)) + 0.25
    for view in (lambda a: a, lambda a: a.T, lambda a: a[::2, 1:90], lambda a: a.astype("f4")):
        here, there = view(x), make(x)
        there = make(view(x)) if here.dtype == "f4" else view(there)
        assert _arrays.on_gpu(there) is not None
        for options in ({"estimator": "path"}, {"estimator": "exact"}, {"center": True}):
            a = kspec.moments(there, n=3, **options).to_dict()
            b = kspec.moments(np.ascontiguousarray(here), n=3, **options, device="gpu").to_dict()
            assert a["estimates"] == b["estimates"], options
            assert a["device_reason"] == "the data are there"


def measure(size: int) -> None:
    """Seconds of a call on an array that is on the GPU, used there and by way of the host"""
    import torch

    y = torch.randn(size, size, dtype=torch.float64, device="cuda") + 0.5
    find = _arrays.on_gpu
    for dtype in ("float64", "float32"):
        for options in ({"estimator": "path", "n": 8}, {"estimator": "exact", "n": 4}):
            x = y if dtype == "float64" else y.float()
            seconds, found = [], []
            for look in (find, find, lambda a: None):
                _arrays.on_gpu = look  # type: ignore[assignment]
                torch.cuda.synchronize()
                start = time.perf_counter()
                found.append(kspec.moments(x, no_stderr=True, device="gpu", **options).to_dict()["estimates"])
                seconds.append(time.perf_counter() - start)
            _arrays.on_gpu = find
            same = "the same bits" if found[0] == found[2] else "OTHER BITS"
            print(f"{size} {dtype} {options}: {seconds[1]:.2f} s, by the host {seconds[2]:.2f} s, {same}")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        measure(int(sys.argv[1]) if len(sys.argv) > 1 else 16000)
