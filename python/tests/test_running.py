"""While a call runs: Ctrl-C, progress, threads, fork; and what is left behind."""

from __future__ import annotations

import concurrent.futures
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import kspec

LONG = dict(n=6, estimator="path", permutations=100_000, threads=1)  # for minutes, if it is let


@pytest.fixture(scope="module")
def large() -> np.ndarray:
    return kspec.generate.rff(300, 300, dim=5)


def test_ctrl_c(large: Any) -> None:
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    began = time.process_time()  # of one thread: as long as the clock's, whatever else the machine does
    with pytest.raises(KeyboardInterrupt):
        kspec.moments(large, **LONG)
    assert time.process_time() - began < 0.5 + 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert kspec.dimension(large).rows == 300  # and the next call works


def test_ctrl_c_in_a_script() -> None:
    code = "import kspec; x = kspec.generate.rff(300, 300, dim=5); print('on', flush=True); "
    code += f"kspec.moments(x, **{LONG})"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as p:
        assert p.stdout is not None and p.stdout.readline() == "on\n"
        time.sleep(0.3)
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=20)
    assert err.strip().endswith("KeyboardInterrupt") and "Exception ignored" not in err
    assert p.returncode == -signal.SIGINT


def test_a_signal_handler_of_the_users(large: Any) -> None:
    class Stop(Exception):
        pass

    def stop(number: int, frame: Any) -> None:
        raise Stop

    old = signal.signal(signal.SIGINT, stop)
    try:
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(Stop):
            kspec.moments(large, **LONG)
    finally:
        signal.signal(signal.SIGINT, old)


def test_progress(large: Any) -> None:
    seen: list[float] = []

    def three(fraction: float) -> None:
        seen.append(fraction)
        if len(seen) == 3:
            raise StopIteration

    with pytest.raises(StopIteration):
        kspec.moments(large, progress=three, **LONG)  # a quick call may end before it reports anything
    assert len(seen) == 3 and seen == sorted(seen) and 0 <= seen[0] and seen[-1] <= 1


def test_a_callback_that_raises(large: Any) -> None:
    def fail(fraction: float) -> None:
        raise ZeroDivisionError("enough")

    began = time.process_time()
    with pytest.raises(ZeroDivisionError, match="enough"):
        kspec.moments(large, progress=fail, **LONG)
    assert time.process_time() - began < 2
    with pytest.raises(ZeroDivisionError):
        kspec.generate.rff(3000, 3000, dim=50, progress=fail)


def test_a_bar(large: Any, capsys: Any) -> None:
    want = kspec.moments(large, n=3, threads=1)
    assert (
        kspec.moments(large, n=3, threads=1, progress=True).estimates.value.tolist()
        == want.estimates.value.tolist()
    )


def test_threads_at_once(x: Any) -> None:
    """Each call sees its own arrays, options, warnings and errors."""
    arrays = [x[: 20 + k % 7, : 10 + k % 5] for k in range(40)]
    want = [
        kspec.moments(a, n=3, center=bool(k % 2), threads=1).to_dict()["estimates"]
        for k, a in enumerate(arrays)
    ]

    def one(k: int) -> Any:
        if k % 8 == 7:
            with pytest.raises(kspec.Error, match="exceeds min"):
                kspec.moments(arrays[k], n=30)
        return kspec.moments(arrays[k], n=3, center=bool(k % 2), threads=1).to_dict()["estimates"]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(40))) == want


def test_the_lock_of_the_interpreter_is_released(large: Any) -> None:
    ticks = 0
    done = threading.Event()

    def work() -> None:
        kspec.moments(large, n=5, threads=1)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 3


def test_fork_after_use(x: Any) -> None:
    want = kspec.dimension(x).dimension
    code = """
import os, sys, numpy as np, kspec
x = np.load(sys.argv[1])
first = kspec.dimension(x, threads=2).dimension
child = os.fork()
if not child:
    os._exit(0 if kspec.dimension(x, threads=2).dimension == first else 1)
print(os.waitpid(child, 0)[1], first)
"""
    np.save("forked.npy", x)
    done = subprocess.run(
        [sys.executable, "-c", code, "forked.npy"], capture_output=True, text=True, check=True, timeout=60
    )
    status, first = done.stdout.split()
    assert (int(status), float(first)) == (0, want)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)


def test_nothing_is_left_behind(x: Any) -> None:
    files = len(os.listdir("/proc/self/fd"))
    result = kspec.moments(x, n=3)
    for _ in range(20):
        kspec.spectrum(moments=result, draws=2)
    assert len(os.listdir("/proc/self/fd")) == files

    def memory() -> int:
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * 4096

    for _ in range(300):
        kspec.dimension(x)
    before = memory()
    for _ in range(3000):
        kspec.dimension(x)
    assert memory() - before < 3_000_000  # a leak of 1 kB a call would show


def test_pickling(x: Any) -> None:
    for result in (kspec.moments(x, n=2), kspec.dimension(x, curve=True), kspec.spectrum(x)):
        again = pickle.loads(pickle.dumps(result))
        assert (
            repr(again) == repr(result)
            and again.to_dict() == result.to_dict()
            and type(again) is type(result)
        )
    e = pickle.loads(pickle.dumps(kspec.DataError("x is wrong")))
    assert isinstance(e, kspec.DataError) and str(e) == "x is wrong"


def test_clean_with_warnings_as_errors() -> None:
    code = "import kspec; x = kspec.generate.rff(20, 20, dim=2); print(kspec.dimension(x), kspec.config())"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_core_of_openblas_is_the_tools(tool: Any) -> None:
    assert kspec.config().blas == tool.json("config")["blas"]
    assert "OPENBLAS_CORETYPE" not in os.environ or kspec.config().blas
    code = "import os, kspec; print(kspec.config().blas, 'OPENBLAS_CORETYPE' in os.environ)"
    environment = {**os.environ, "OPENBLAS_CORETYPE": "Haswell"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.split()[-2:] in (["Haswell", "True"], ["Zen", "True"])


def test_the_rule_for_the_core(monkeypatch: Any) -> None:
    """Where the tool starts itself again with another core, the package opens the library with that one."""
    from kspec import _library

    answer = {"blas": "OpenBLAS 0.3.21 SkylakeX", "blas_before": "Prescott"}
    monkeypatch.setattr(
        _library.subprocess,
        "run",
        lambda *a, **k: subprocess.CompletedProcess(a, 0, json.dumps(answer).encode()),
    )
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    assert _library._core_type() == "SkylakeX"
    answer["blas_before"] = None  # type: ignore[assignment]
    assert _library._core_type() is None
    answer["blas_before"] = "Prescott"
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    assert _library._core_type() is None


def test_the_command(tmp_path: Any) -> None:
    code = "import sys; sys.argv = ['kspec', '--version']; from kspec._command import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"kspec {kspec.__version__}\n"
