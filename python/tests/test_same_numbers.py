"""Every function gives what the tool prints with --json: the same keys, the same bits, the same table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from conftest import without_time

import kspec


def check(result: kspec.Result, tool: Any, *words: Any) -> None:
    assert without_time(result.to_dict()) == without_time(tool.json(*words))
    done = tool.run(*words)
    times = ("seconds", " s)", " s,")
    assert [a for a in repr(result).splitlines() if not any(t in a for t in times)] == [
        a for a in done.stdout.rstrip("\n").splitlines() if not any(t in a for t in times)
    ]


@pytest.mark.parametrize(
    "options, words",
    [
        ({}, []),
        ({"n": 3, "estimator": "all"}, ["--estimator", "all", "-n", 3]),
        (
            {"estimator": ["naive", "path"], "permutations": 3, "seed": 7},
            ["--estimator", "naive,path", "--permutations", 3, "--seed", 7],
        ),
        ({"center": True, "normalize": True}, ["--normalize", "--center"]),
        ({"center": "cols", "no_stderr": True}, ["--no-stderr", "--center=cols"]),
        ({"bound": True, "truth": [1.0, 0.1 + 0.2]}, ["--bound", "--truth", "1.0,0.30000000000000004"]),
        (
            {"select_rows": "0-19", "select_cols": [0, 1, 2, 9]},
            ["--select-cols", "0,1,2,9", "--select-rows", "0-19"],
        ),
        ({"population_rows": 100, "threads": 2}, ["--population-rows", 100, "--threads", 2]),
    ],
)
def test_moments(tool: Any, x: Any, options: dict[str, Any], words: list[Any]) -> None:
    tool.put(x=x)
    check(kspec.moments(x, **options), tool, "moments", "x", *words)


def test_moments_of_trials(tool: Any, trials: Any) -> None:
    tool.put(x=trials, turned=trials.transpose(2, 1, 0))
    want = tool.json("moments", "x")
    check(kspec.moments(trials), tool, "moments", "x")
    listed = kspec.moments(list(trials)).to_dict()
    assert listed["estimates"] == want["estimates"]
    turned = kspec.moments(trials.transpose(2, 1, 0), axes="cols,rows,trials").to_dict()
    assert turned["estimates"] == want["estimates"]


def test_ragged_trials(tool: Any, trials: Any) -> None:
    holes = trials.copy()
    holes[2, 3:] = np.nan
    tool.put(x=holes)
    want = tool.json("dimension", "x", "--nan", "ragged-trials")
    check(kspec.dimension(holes, nan="ragged-trials"), tool, "dimension", "x", "--nan", "ragged-trials")
    rows = [trials[: 3 if i < 3 else 2, i] for i in range(20)]  # a list of trials x columns, one for each row
    assert kspec.dimension(rows, nan="ragged-trials").dimension == want["dimension"]


def test_dimension(tool: Any, x: Any) -> None:
    tool.put(x=x)
    check(kspec.dimension(x), tool, "dimension", "x")
    check(
        kspec.dimension(x, curve=True, center=False, seed=3),
        tool,
        "dimension",
        "x",
        "--no-center",
        "--curve",
        "--seed",
        3,
    )
    groups = np.repeat(np.arange(10), 4)
    tool.put(groups=groups.astype(float))
    check(kspec.dimension(x, groups=groups), tool, "dimension", "x", "--groups", "groups")
    words = np.array([f"document {g}" for g in groups])
    assert kspec.dimension(x, groups=words).dimension == kspec.dimension(x, groups=groups).dimension
    tool.put(u=x, v=x[:, ::-1])
    several = kspec.dimension({"u": x, "v": x[:, ::-1]})
    check(several, tool, "dimension", "--label", "u", "u", "--label", "v", "v")
    assert len(several.results) == 2 and math.isnan(several.dimension)


def test_pairwise(tool: Any, x: Any) -> None:
    holes = x.copy()
    holes[3, 4] = holes[5, 6] = np.nan
    tool.put(x=holes)
    check(kspec.dimension(holes, nan="pairwise"), tool, "dimension", "x", "--nan", "pairwise")
    check(kspec.moments(holes, nan="omit-rows", n=2), tool, "moments", "x", "-n", 2, "--nan", "omit-rows")


def test_compare(tool: Any, x: Any, trials: Any) -> None:
    a, b, c = x[:, :15], x[:, 15:], x[:, 5:20]
    tool.put(a=a, b=b, c=c)
    check(kspec.compare(a, b), tool, "compare", "a", "b")
    check(
        kspec.compare(a, b, n=2, center=False, paired="rows"),
        tool,
        "compare",
        "a",
        "b",
        "-n",
        2,
        "--paired",
        "rows",
        "--no-center",
    )
    check(kspec.compare(a, b, c), tool, "compare", "a", "b", "c")
    check(kspec.compare({"a": a, "b": b}), tool, "compare", "--label", "a", "a", "--label", "b", "b")


def test_spectrum(tool: Any, x: Any, trials: Any) -> None:
    tool.put(x=x, t=trials, truth=np.array([0.5, 0.2, 0.1]))
    check(kspec.spectrum(x), tool, "spectrum", "x")
    check(
        kspec.spectrum(x, method="moments", rank=20, draws=20),
        tool,
        "spectrum",
        "x",
        "--method",
        "moments",
        "--rank",
        20,
        "--draws",
        20,
    )
    check(
        kspec.spectrum(x, noise=0.0, truth=np.array([0.5, 0.2, 0.1]), exponent="1-4"),
        tool,
        "spectrum",
        "x",
        "--noise",
        0.0,
        "--exponent",
        "1-4",
        "--truth",
        "truth",
    )
    r = kspec.spectrum(trials, method="cvpca").to_dict()
    assert r["eigenvalues"] == tool.json("spectrum", "t", "--method", "cvpca")["eigenvalues"]


def test_spectrum_of_moments(tool: Any, x: Any) -> None:
    m = [1.0, 0.3, 0.1]
    check(kspec.spectrum(moments=m, rank=5), tool, "spectrum", "--rank", 5, "--moments", "1.0,0.3,0.1")
    result = kspec.moments(x, n=3)
    (tool.folder / "m.json").write_text(result.to_json())
    by_result = kspec.spectrum(moments=result, draws=10)
    assert (
        by_result.to_dict()["eigenvalues"]
        == tool.json("spectrum", "--moments", "m.json", "--draws", 10)["eigenvalues"]
    )
    assert np.array_equal(
        kspec.spectrum(moments=result.to_dict(), draws=10).eigenvalues, by_result.eigenvalues
    )


def test_norm(tool: Any, x: Any) -> None:
    tool.put(x=x)
    result = kspec.norm(x, method=["eigen", "lanczos", "rff-debiased"], sigma="median", features=32)
    want = tool.json(
        "norm", "x", "--method", "eigen,lanczos,rff-debiased", "--sigma", "median", "--features", 32
    )
    assert without_time(result.to_dict()) == without_time(want)
    K = kspec.gram(x, sigma=2.0)
    assert kspec.norm(K, method="eigen", gram=True).results.value[0] == pytest.approx(
        np.linalg.eigvalsh(K)[-1], rel=1e-12
    )


def test_ridge_of_a_table(tool: Any, x: Any) -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(x, columns=[f"c{k}" for k in range(x.shape[1])])
    table.to_csv(tool.folder / "table.csv", index=False)
    want = tool.json("ridge", "table.csv", "--target", "c1", "--seed", 3)
    result = kspec.ridge(table, target="c1", seed=3)
    assert result.recommended["features"] == want["recommended"]["features"]
    assert result.points.test_mse == pytest.approx([p["test_mse"] for p in want["points"]], rel=1e-9)
    again = kspec.ridge(x, target=1, features=5, lambda_=0.1)
    assert again.points.test_r2[0] is None or np.isnan(again.points.test_r2[0])
    both = kspec.ridge(table, target=["c1", "c3"], features=5, lambda_=0.1, standardize=True)
    assert both.to_dict()["targets"] == 2 and both.to_dict()["standardized"]


def test_ridge(tool: Any, x: Any) -> None:
    y = np.sin(x[:, :2])
    tool.put(x=x[:30], target=y[:30], test=x[30:], test_target=y[30:])
    result = kspec.ridge(
        x[:30],
        target=y[:30],
        test=x[30:],
        test_target=y[30:],
        features=[5, 10],
        lambda_=[0.1, 1],
        empirical=3,
    )
    want = tool.json(
        "ridge",
        "x",
        "--target",
        "target",
        "--test",
        "test",
        "--test-target",
        "test_target",
        "--features",
        "5,10",
        "--lambda",
        "0.1,1",
        "--empirical",
        3,
    )
    assert without_time(result.to_dict()) == without_time(want)
    assert result.points["test_mse"].shape == (4,)


def test_density(tool: Any, x: Any) -> None:
    tool.put(x=x[:30], target=x[:30, 0])
    words = ["--features", "5", "--lambda", "0.1", "--density", "--sigma", "median"]
    result = kspec.ridge(x[:30], target=x[:30, 0], features=5, lambda_=0.1, density=True, sigma="median")
    assert without_time(result.to_dict()) == without_time(
        tool.json("ridge", "x", "--target", "target", *words)
    )
    (d,) = result.densities
    assert d["atom"] == pytest.approx(1 - 10 / 30)
    assert len(d["x"]) == len(d["density"]) == 96 and len(d["eigenvalues"]) == 30


def test_wls(tool: Any, x: Any) -> None:
    setting = dict(grid=16, learn=[4, 8], modes=32, alpha=1.0, beta=0.5, gamma=1.0)
    words = ["--grid", 16, "--learn", "4,8", "--modes", 32, "--alpha", 1.0, "--beta", 0.5, "--gamma", 1.0]
    result, want = kspec.wls.theory(**setting).to_dict(), tool.json("wls", "theory", *words)
    assert without_time(result) == without_time(want)
    assert kspec.wls(**setting).points["error_noise"].tolist() == [p["error_noise"] for p in want["points"]]
    y = x[:16, 0]
    tool.put(y=y)
    fit = kspec.wls.fit(y, grid=16, learn=4, alpha=1.0).to_dict()
    want = tool.json("wls", "fit", "y", "--grid", 16, "--learn", 4, "--alpha", 1.0)
    assert without_time(fit) == without_time(want)
    tool.put(x=x)
    check(kspec.wls.decay(x, sigma=2.0), tool, "wls", "decay", "x", "--sigma", 2.0)


def test_learn(tool: Any, x: Any) -> None:
    images, labels = kspec.generate.rff(60, 16, dim=2, seed=5), np.arange(60) % 3
    tool.put(images=images, labels=labels.astype(float), test_images=images[:20])
    result = kspec.learn(images=images, labels=labels, test_images=images[:20], width=[8], epochs=2, every=1)
    want = tool.json(
        "learn",
        "--images",
        "images",
        "--labels",
        "labels",
        "--test-images",
        "test_images",
        "--width",
        8,
        "--epochs",
        2,
        "--every",
        1,
    )

    def numbers(runs: Any) -> Any:
        return [[(e["epoch"], e["loss"], e["naive"], e["unbiased"]) for e in r["epochs"]] for r in runs]

    assert numbers(result.to_dict()["runs"]) == numbers(want["runs"])


def test_theory(tool: Any) -> None:
    check(
        kspec.theory.rbf(eta=[1.0, 0.5], n=4, eigenvalues=5),
        tool,
        "theory",
        "rbf",
        "-n",
        4,
        "--eta",
        "1.0,0.5",
        "--eigenvalues",
        5,
    )
    check(kspec.theory.linear(eigenvalue=[1.0, 2.0]), tool, "theory", "linear", "--eigenvalue", "1.0,2.0")
    check(
        kspec.theory.sphere(kernel="gaussian", dim=3, scale=0.7, check=True),
        tool,
        "theory",
        "sphere",
        "--dim",
        3,
        "--kernel",
        "gaussian",
        "--scale",
        0.7,
        "--check",
    )
    S = np.array([[2.0, 0.5], [0.5, 1.0]])
    tool.put(sigma=S)
    check(kspec.theory.rbf(sigma=S, n=3), tool, "theory", "rbf", "-n", 3, "--sigma", "sigma")


@pytest.mark.parametrize(
    "process, options, words",
    [
        ("rff", {"eta": [1.0, 0.5, 2.0]}, ["--eta", "1.0,0.5,2.0"]),
        (
            "rff",
            {"noise": 0.5, "trials": 3, "noise_correlation": "rows", "noise_share": 0.25},
            ["--noise", 0.5, "--trials", 3, "--noise-correlation", "rows", "--noise-share", 0.25],
        ),
        ("gaussian", {"eta": 0.3}, ["--eta", 0.3]),
        ("linear", {"eigenvalue": [1.0, 2.0, 3.0]}, ["--eigenvalue", "1.0,2.0,3.0"]),
    ],
)
def test_generate(tool: Any, process: str, options: dict[str, Any], words: list[Any]) -> None:
    got = getattr(kspec.generate, process)(13, 7, dim=3, seed=5, **options)
    tool.json("generate", process, "--rows", 13, "--cols", 7, "--dim", 3, "--seed", 5, *words, "-o", "g.npy")
    assert np.array_equal(got, np.load(tool.folder / "g.npy"))


def test_config(tool: Any) -> None:
    want, got = tool.json("config"), kspec.config().to_dict()
    for keys in (want, got):  # the tool may have started itself again, the package never does
        keys.pop("blas_before")
    assert without_time(got) == without_time(want)


def test_report(tool: Any, x: Any) -> None:
    """A command that writes a page takes the page's name."""
    tool.put(x=x)
    if "gnuplot" in tool.run("report", "x", "-o", "a.html").stderr:
        pytest.skip("no gnuplot")
    kspec.report(x, output="b.html")
    pages = [(tool.folder / name).read_text() for name in ("a.html", "b.html")]
    assert all("dimension" in page for page in pages) and abs(len(pages[0]) - len(pages[1])) < 200
    with pytest.raises(kspec.ArgumentError, match="output FILE is missing"):
        kspec.report(x)


def test_files(tool: Any, x: Any) -> None:
    """A file's name is an input, too."""
    np.save(tool.folder / "x.npy", x)
    assert without_time(kspec.moments("x.npy", n=2).to_dict()) == without_time(
        tool.json("moments", "x.npy", "-n", 2)
    )
    assert kspec.moments(tool.folder / "x.npy", n=2).rows == 40


def test_against_the_library_itself(x: Any) -> None:
    """The numbers of the JSON object are those of the C struct, to the last bit."""
    import ctypes

    from kspec import _header as h
    from kspec._library import library

    lib, out, err = library(), ctypes.POINTER(h.kspec_dimension_result)(), h.kspec_error()
    m = h.kspec_matrix(ctypes.cast(x.ctypes.data, ctypes.POINTER(ctypes.c_double)), 40, 30, 30, 1)
    o = h.kspec_dimension_opts(size=ctypes.sizeof(h.kspec_dimension_opts))
    assert lib.kspec_dimension(ctypes.byref(m), 1, ctypes.byref(o), ctypes.byref(out), ctypes.byref(err)) == 0
    d, c = kspec.dimension(x), out.contents
    assert (d.dimension, d.stderr, d.ci_low, d.ci_high, d.naive) == (
        c.dimension,
        c.std_error,
        c.ci_low,
        c.ci_high,
        c.naive,
    )
    lib.kspec_free(out)
