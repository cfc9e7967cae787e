"""What comes out: attributes, tables, frames, pictures."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import re
import sys
import threading
import types
from typing import Any

import numpy as np
import pytest

import kspec


def test_attributes_are_keys(x: Any) -> None:
    r = kspec.moments(x, n=3, estimator="naive,exact", bound=True)
    keys = r.to_dict()
    assert r.estimates.value.tolist() == [e["value"] for e in keys["estimates"]]
    assert r.estimates.estimator == ("naive",) * 3 + ("exact",) * 3
    assert r.estimates[4] == keys["estimates"][4] and len(r.estimates[1:3]) == 2
    assert r.population_rows is None  # a key that is no field
    assert r.kspec == kspec.__version__
    with pytest.raises(AttributeError, match="no attribute 'estimate'"):
        r.estimate
    with pytest.raises(AttributeError, match="no column 'values'; there are estimator"):
        r.estimates.values
    with pytest.raises(dataclasses.FrozenInstanceError):
        r.rows = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        r.estimates.value[0] = 1
    assert "participation_ratio" in dir(r) and "value" in dir(r.estimates)


def test_nothing_known_is_nan(x: Any) -> None:
    r = kspec.moments(x, n=2, no_stderr=True)
    assert math.isnan(r.participation_ratio_stderr) and np.isnan(r.estimates.stderr).all()
    assert r.correlation.shape == (0,)
    assert kspec.moments(x, n=3).correlation.shape == (3, 3)


def test_text(x: Any) -> None:
    r = kspec.dimension(x)
    assert repr(r).startswith("dimension (rows centred) 13.2 (95% interval") and str(r) == repr(r)
    assert r._repr_html_().startswith("<pre>dimension") and "×" in r._repr_html_()
    assert float(r) == r.dimension
    r.to_dict()["rows"] = 0  # a copy
    assert r.to_dict()["rows"] == 40


def test_frames(x: Any) -> None:
    pytest.importorskip("pandas")
    m = kspec.moments(x, n=3)
    assert m.to_dataframe()["value"].tolist() == m.estimates.value.tolist()
    s = kspec.spectrum(x)
    frame = s.to_dataframe()
    assert list(frame) == ["eigenvalues", "stderr", "ci_low", "ci_high"] and frame.index[0] == 1
    d = kspec.dimension(x)
    assert d.to_dataframe()["dimension"][0] == d.dimension
    assert kspec.theory.rbf(eta=1.0, eigenvalues=8).to_dataframe()["eigenvalues"].size == 8
    assert len(kspec.norm(x, method="eigen,power", sigma=1.0).to_dataframe()) == 2


def test_batches_are_compared(x: Any) -> None:
    pandas = pytest.importorskip("pandas")
    layers = np.stack([x[:, :15], x[:, 15:], x[:, 5:20]])
    r = kspec.compare(layers, axes="batch,rows,cols", sampled="rows")
    one = kspec.compare(layers[0], layers[2], sampled="rows")
    assert r.alignments[0, 2] == pytest.approx(one.alignment, rel=1e-12)
    assert r.alignments.shape == (3, 3) and (r.alignments == r.alignments.T).all()
    frame = r.to_dataframe()
    assert isinstance(frame, pandas.DataFrame) and frame[["first", "second"]].values.tolist() == [
        ["0", "1"],
        ["0", "2"],
        ["1", "2"],
    ]
    both = kspec.compare(layers, layers[:2], axes="batch,rows,cols", sampled="rows")
    square = both.to_dataframe().pivot(index="first", columns="second", values="alignment")
    assert square.shape == (3, 2) and square.loc["2", "0"] == both.alignments[2, 0]
    assert square.loc["1", "1"] == pytest.approx(1, abs=1e-12)


def test_pictures(x: Any, trials: Any) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    y = np.sin(x[:, 0])
    for result in (
        kspec.moments(x),
        kspec.dimension(x, curve=True),
        kspec.compare(x[:, :15], x[:, 15:]),
        kspec.spectrum(x),
        kspec.norm(x, method="eigen,rff-debiased", sigma=2.0),
        kspec.ridge(x, target=y, features=[5, 10, 20], lambda_=[0.1]),
        kspec.wls.theory(grid=16, learn=range(2, 30, 3), modes=32, alpha=1.0, beta=1.0),
        kspec.theory.rbf(eta=1.0, dim=2, eigenvalues=9),
        kspec.compare(x[:, :10], x[:, 10:20], x[:, 20:]),
        kspec.compare(np.stack([x, x[::-1]]), np.stack([x] * 3), axes="batch,rows,cols"),
    ):
        axes = result.plot()
        assert len(axes) >= 1 and (axes[0].get_xlabel() or axes[0].get_ylabel() or axes[0].texts)
        axes[0].figure.canvas.draw()
        plt.close("all")
    figure, ax = plt.subplots()
    m = kspec.moments(x, n=3)
    assert m.plot(ax) is ax and ax.get_ylabel() == "m(n)"
    points = ax.get_lines()[0].get_ydata()
    assert points.tolist() == m.estimates.value.tolist()
    assert ax.get_lines()[0].get_color() == "#0072B2"
    plt.close("all")


def test_pictures_hide_nothing(x: Any) -> None:
    """The title begins with the answer and fits, legends cover no data, an axis of a decade has names"""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    tracker = kspec.Tracker()
    for step in range(4):
        tracker.update("layer", x[:, : 8 + 6 * step], step)
    for result, answer in (
        (kspec.dimension(x, curve=True), "dimension "),
        (kspec.moments(x, estimator="all"), "dimension "),
        (kspec.compare(x[:, :15], x[:, 15:]), "alignment "),
        (kspec.spectrum(x), r"\d+ eigenvalues? resolved"),
        (kspec.norm(x, method="eigen,rff-debiased", sigma=2.0), "spectral norm "),
        (kspec.smooth(x[:, 0]), "curve known to ± "),
        (tracker, "dimension of layer "),
    ):
        axes = result.plot()
        figure = axes[0].figure
        figure.canvas.draw()
        title = figure._suptitle
        assert re.match(answer, title.get_text()), title.get_text()
        box = title.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= figure.bbox.width, answer
        for ax in axes:
            if ax.get_legend():
                legend, panel = ax.get_legend().get_window_extent(), ax.get_window_extent()
                assert legend.x0 >= panel.x1 or legend.y1 <= panel.y0, answer
                assert legend.x1 <= figure.bbox.width + 1, answer
            if ax.get_yscale() == "log":
                low, high = ax.get_ylim()
                names = [t.get_text() for t in ax.get_yticklabels() if low <= t.get_position()[1] <= high]
                assert len([n for n in names if n]) >= 2, (answer, names)
        plt.close("all")


def test_files(tool: Any, x: Any) -> None:
    np.save("x.npy", x)
    np.savez("x.npz", a=x, b=x[:3])
    np.savetxt("x.csv", x[:5, :3], delimiter=",", header="u,v,w", comments="")
    got = kspec.read("x.npy")
    assert np.array_equal(got, x) and not got.flags.writeable
    assert np.array_equal(kspec.read("x.npz:b"), x[:3])
    table, names = kspec.read("x.csv", names=True)
    assert np.allclose(table, x[:5, :3]) and names == ["u", "v", "w"]
    assert np.array_equal(kspec.read("x.npy", select_rows=[3, 1], select_cols="0-4"), x[[3, 1], :5])
    with pytest.raises(kspec.FileError, match="nowhere"):
        kspec.read("nowhere.npy")
    with pytest.raises(kspec.FileError, match="no array 'c'; the archive holds 2 arrays: a, b"):
        kspec.read("x.npz:c")
    holes = x.copy()
    holes[2, 2] = np.nan
    np.save("h.npy", holes)
    assert np.isnan(kspec.read("h.npy")).sum() == 1
    assert kspec.read("h.npy", nan="omit-rows").shape == (39, 30)
    with pytest.raises(kspec.FileError, match="1 missing value"):
        kspec.read("h.npy", nan="error")


def test_hdf5_by_other_libraries(tool: Any, x: Any, monkeypatch: Any) -> None:
    """Without kspec-hdf5, as in the wheel: h5py and scipy read what it would."""
    h5py = pytest.importorskip("h5py")
    io = pytest.importorskip("scipy.io")
    with h5py.File("x.h5", "w") as f:
        f["deep/x"] = x
        f["y"] = x[:2]
    io.savemat("x.mat", {"x": x})
    monkeypatch.setenv("KSPEC_LIBEXEC", "/nonexistent")
    assert np.array_equal(kspec.read("x.h5:/deep/x"), x)
    assert np.array_equal(kspec.read("x.mat"), x)
    assert np.array_equal(kspec.read("x.mat:x", select_rows="1"), x[1:2])
    with pytest.raises(kspec.FileError, match="holds several arrays: deep/x, y"):
        kspec.read("x.h5")
    assert kspec.dimension("x.h5:/deep/x").dimension == kspec.dimension(x).dimension
    monkeypatch.undo()
    monkeypatch.chdir(tool.folder)
    if kspec.config().hdf5_sandbox:
        assert np.array_equal(kspec.read("x.h5:/deep/x"), x)
        assert np.array_equal(kspec.read("x.mat"), x)


def test_features_and_gram(x: Any, tmp_path: Any) -> None:
    z, more = kspec.features(x, 64, gamma=0.2, seed=3), kspec.features(x, 128, gamma=0.2, seed=3)
    assert np.allclose(z * np.sqrt(64), more[:, :64] * np.sqrt(128))
    K = kspec.gram(x, gamma=0.2)
    d = ((x[:, None] - x[None]) ** 2).sum(-1)
    assert np.allclose(K, np.exp(-0.2 * d), rtol=1e-12, atol=1e-300)
    np.save(tmp_path / "x.npy", x)
    assert np.array_equal(kspec.gram(tmp_path / "x.npy", gamma=0.2), K)
    assert np.array_equal(kspec.features(str(tmp_path / "x.npy"), 64, gamma=0.2, seed=3), z)
    many = kspec.features(x, 40_000, gamma=0.2)
    assert np.abs(many @ many.T - K).max() < 6 / np.sqrt(40_000)  # 800 entries of variance below 1/q


def test_tracker(tool: Any, x: Any) -> None:
    t = kspec.Tracker(n=3)
    for k in range(3):
        t.update("hidden", x[:, : 10 + 5 * k])
        t.update("out", x[:, 20:])
    assert t.names == ["hidden", "out"] and [r["step"] for r in t.records] == [0, 0, 1, 1, 2, 2]
    assert t.records[4]["dimension"] == kspec.dimension(x[:, :20]).dimension
    assert (
        t.records[0]["moments"]
        == kspec.moments(x[:, :10], n=3, center=True, normalize=True).estimates.value.tolist()
    )
    t.save("t.json")
    figure = tool.json("plot", "t.json")
    assert [p["title"] for p in figure["panels"]] == ["dimension", "m(2), normalized", "m(3), normalized"]
    assert [s["label"] for s in figure["panels"][0]["series"]] == ["hidden", "out"]
    assert len(t.to_dict()["records"]) == 6
    assert t.update("small", x[:20, :9], step=7.5)["step"] == 7.5


def test_tracker_takes_other_frameworks(x: Any) -> None:
    jax = pytest.importorskip("jax")
    t = kspec.Tracker(n=2)
    t.update("layer", jax.numpy.asarray(x.astype("f4")))
    assert t.records[0]["dimension"] == kspec.dimension(x.astype("f4")).dimension


def test_two_moments_obey_the_options(x: Any) -> None:
    moments = kspec.Tracker(n=2, normalize=False).update("layer", x)["moments"]
    assert moments == [row["value"] for row in kspec.moments(x, n=2, center=True).estimates]


def test_track_needs_known_layers() -> None:
    with pytest.raises(ValueError, match="'conv' is not a module of the model; there are layer0"):
        kspec.track(Model(Layer(None)), ["conv"], None)


class Tensor(np.ndarray):
    """As much of a tensor as track() asks for"""

    def detach(self) -> Any:
        return self

    def clone(self) -> Any:
        return self.copy()

    def to(self, device: str) -> Any:
        return self

    def double(self) -> Any:
        return self

    def flatten(self, start: int) -> Any:  # type: ignore[override]
        return np.asarray(self).reshape(len(self), -1)


class Layer:
    """A linear layer with forward hooks, and a model of two of them"""

    def __init__(self, weights: Any) -> None:
        self.weights, self.hooks, self.training = weights, {}, True

    def register_forward_hook(self, hook: Any) -> Any:
        self.hooks[hook] = None
        return type("Handle", (), {"remove": lambda _self: self.hooks.pop(hook)})()

    def __call__(self, x: Any) -> Any:
        out = (x @ self.weights).view(Tensor)
        for hook in self.hooks:
            hook(self, (x,), out)
        return out


class Model:
    def __init__(self, *layers: Layer) -> None:
        self.layers, self.training, self.modes = layers, True, []

    def named_modules(self) -> Any:
        return [("", self), *[(f"layer{k}", layer) for k, layer in enumerate(self.layers)]]

    def eval(self) -> None:
        self.train(False)

    def train(self, mode: bool) -> None:
        for _, module in self.named_modules():
            module.training = mode
        self.modes.append(mode)

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


def test_track_sets_and_removes_hooks(x: Any, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(no_grad=contextlib.nullcontext))
    random = np.random.default_rng(0)
    model = Model(Layer(random.normal(size=(30, 20))), Layer(random.normal(size=(20, 10))))
    follow = kspec.track(model, ["layer0", "layer1"], x.view(Tensor), n=2)
    follow.epoch()
    model.layers[1].weights = random.normal(size=(20, 10))
    follow.epoch(step=5)
    assert [(r["name"], r["step"]) for r in follow.records] == [
        ("layer0", 0),
        ("layer1", 0),
        ("layer0", 5),
        ("layer1", 5),
    ]
    assert follow.records[0]["dimension"] == follow.records[2]["dimension"]
    alone = kspec.dimension(x @ model.layers[0].weights, sampled="rows")
    assert follow.records[0]["dimension"] == alone.dimension
    assert model.modes == [False, False] and model.training and not any(layer.hooks for layer in model.layers)
    lines = repr(follow).splitlines()
    assert lines[0].split() == ["step", "dimension", "95%", "interval", "layer"] and len(lines) == 5
    assert lines[4].split()[0] == "5" and lines[4].split()[-1] == "layer1"
    assert repr(kspec.Tracker()) == "no records yet"


def test_track_leaves_frozen_layers_as_they_are(x: Any, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(no_grad=contextlib.nullcontext))
    model = Model(Layer(np.eye(30)), Layer(np.eye(30)))
    model.layers[1].training = False
    kspec.track(model, ["layer0"], x.view(Tensor), n=2).epoch()
    assert [layer.training for layer in model.layers] == [True, False]
    model.layers, unused = model.layers[:1], model.layers[1]
    modules = [("", model), ("layer0", model.layers[0]), ("unused", unused)]
    monkeypatch.setattr(model, "named_modules", lambda: modules)
    with pytest.raises(ValueError, match="does not call 'unused'"):
        kspec.track(model, ["unused"], x.view(Tensor), n=2).epoch()
    assert not unused.hooks


def test_track_of_tokens(x: Any, monkeypatch: Any) -> None:
    """(batch, tokens, units) and tuples: tokens are rows, and each sequence is a group"""
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(no_grad=contextlib.nullcontext))

    class Attention(Layer):
        def __call__(self, x: Any) -> Any:
            out = (np.tanh(x @ self.weights).view(Tensor), None)
            for hook in self.hooks:
                hook(self, (x,), out)
            return out[0]

    random = np.random.default_rng(4)
    model = Model(Attention(random.normal(size=(30, 8))))
    tokens = random.normal(size=(25, 6, 30)) + random.normal(size=(25, 1, 30))
    follow = kspec.track(model, ["layer0"], tokens.view(Tensor))
    follow.epoch()
    rows = np.tanh(tokens @ model.layers[0].weights).reshape(150, 8)
    want = kspec.dimension(rows, groups=np.repeat(np.arange(25), 6), sampled="rows")
    record = follow.records[0]
    assert (record["rows"], record["cols"]) == (150, 8)
    for key in ("dimension", "ci_low", "ci_high"):
        assert record[key] == pytest.approx(getattr(want, key), rel=1e-7)
    assert record["moments"][0] == 1 and 0 < record["moments"][1] < 1
    assert [p["title"] for p in follow.to_dict()["panels"]] == ["dimension", "m(2), normalized"]
    with pytest.raises(kspec.ArgumentError, match="'cols' is not for sequences of tokens"):
        kspec.Tracker(center="cols").update("layer", tokens)
    with pytest.raises(kspec.ArgumentError, match="2 groups so far are too few: 5 are needed"):
        kspec.Tracker().update("layer", tokens[:2])


def test_track_measures_beside_the_training(x: Any, monkeypatch: Any) -> None:
    """epoch() returns before the measurement ends; failures are raised where the records are read"""
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(no_grad=contextlib.nullcontext))
    model = Model(Layer(np.eye(30)))
    follow = kspec.track(model, ["layer0"], x.view(Tensor))
    free = threading.Event()
    measure = follow._record

    def late(*arguments: Any) -> Any:
        assert free.wait(60)
        return measure(*arguments)

    monkeypatch.setattr(follow, "_record", late)
    first = follow.epoch()
    model.layers[0].weights[:] = 0  # a copy is measured
    assert follow._records == []
    free.set()
    want = kspec.dimension(x, sampled="rows")
    assert first[0]["dimension"] == want.dimension and len(first) == 1
    assert first[0]["moments"] == [1, 1 / want.dimension]
    assert first[0]["moments_ci_low"][1] == 1 / want.ci_high
    model.layers[0].weights = np.full((30, 30), np.nan)
    follow.epoch(step=9)
    with pytest.raises(kspec.DataError, match="1200 missing values"):
        follow.records
    assert [r["step"] for r in follow.records] == [0]


def test_track(x: Any) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(30, 12), torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Linear(12, 2)
    )
    probe = torch.tensor(x, dtype=torch.float32)
    follow = kspec.track(model, ["0", "1"], probe, n=2)
    follow.epoch()
    follow.epoch()
    assert model.training and follow.names == ["0", "1"]
    assert follow.records[0]["dimension"] == follow.records[2]["dimension"]
    assert not any(m._forward_hooks for m in model.modules())
