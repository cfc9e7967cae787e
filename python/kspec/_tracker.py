"""Moments and dimension of activations while a network learns, as a figure that the tool can plot."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

from . import _functions as f
from . import _header as h
from ._accumulator import Accumulator
from ._errors import ArgumentError


class Tracker:
    """Records the dimension and the unbiased moments of matrices that change, each under a name.

    update(name, matrix) takes inputs x features, such as the activations of a layer on a fixed batch, as an
    array of any framework, on a GPU too. Of sequences x tokens x units, tokens are the rows and each sequence
    is a group. Both are centred: center is as in kspec.dimension(), True for rows, and so is
    sampled: "rows" where you have all units of a layer. Moments are of the matrix divided by its root mean
    square. m(2) is one over the dimension and costs nothing. Other options go to kspec.moments().
    """

    def __init__(
        self,
        *,
        n: int = 4,
        center: bool | str = True,
        sampled: str = "both",
        threads: int | None = None,
        **options: Any,
    ) -> None:
        self._n = n
        self._both: Any = {"center": center, "sampled": sampled, "threads": threads}
        self._options = {"normalize": True, **options}
        self._records: list[dict[str, Any]] = []

    @property
    def records(self) -> list[dict[str, Any]]:
        """All measurements so far"""
        return self._records

    def update(self, name: str, matrix: Any, step: float | None = None) -> dict[str, Any]:
        """Measures a matrix; step is the number of this name's updates before, unless it is given."""
        record = self._record(name, matrix, self._both["threads"])
        return self._add(record, step)

    def _add(self, record: dict[str, Any], step: float | None) -> dict[str, Any]:
        if step is None:
            step = sum(r["name"] == record["name"] for r in self._records)
        record["step"] = step
        self._records.append(record)
        return record

    def _record(self, name: str, matrix: Any, threads: int | None) -> dict[str, Any]:
        """What is measured of a matrix; the step follows"""
        both = {**self._both, "threads": threads}
        moments: Any
        if len(getattr(matrix, "shape", ())) == 3:
            dimension = self._of_groups(matrix, threads)
            moments = self._of_dimension(dimension)
        else:
            dimension = f.dimension(matrix, **both)
            n = min(self._n, dimension.rows, dimension.cols)
            if n > 2 or self._options != {"normalize": True}:
                moments = f.moments(matrix, n=n, **both, **self._options).estimates
            else:
                moments = self._of_dimension(dimension)
        return {
            "name": name,
            "step": None,
            "rows": dimension.rows,
            "cols": dimension.cols,
            **{
                key: _plain(getattr(dimension, key))
                for key in ("dimension", "stderr", "ci_low", "ci_high", "naive")
            },
            "moments": [row["value"] for row in moments],
            "moments_ci_low": [row["ci_low"] for row in moments],
            "moments_ci_high": [row["ci_high"] for row in moments],
        }

    def _of_dimension(self, d: Any) -> list[dict[str, Any]]:
        """m(1) and m(2), normalized: 1 and one over the dimension"""
        inverse = [1 / v if v > 0 else None for v in (d.dimension, d.ci_high, d.ci_low)]
        both: list[list[float | None]] = [[1.0, 1.0, 1.0], inverse]
        return [dict(zip(("value", "ci_low", "ci_high"), row)) for row in both[: self._n]]

    def _of_groups(self, cube: Any, threads: int | None) -> Any:
        """The dimension of sequences x tokens x units, with each sequence as a group"""
        center = self._both["center"]
        if center not in (True, False, "rows", "none"):
            raise ArgumentError(f"center: {center!r} is not for sequences of tokens; use True or False")
        rows = int(cube.shape[0]) * int(cube.shape[1])
        tokens = Accumulator(
            int(cube.shape[2]),
            sampled=self._both["sampled"],
            center=center in (True, "rows"),
            groups=True,
            stream=1,
            reservoir=max(2, rows),
            threads=threads or 0,
        )
        return tokens.update(cube).result()

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(r["name"] for r in self.records))

    def to_dict(self) -> dict[str, Any]:
        """A figure (schema kspec-figure) of all records, which `kspec plot` draws, with the records
        themselves."""
        panels = [_panel("dimension", "dimension", self._series("dimension", "ci_low", "ci_high"))]
        orders = max((len(r["moments"]) for r in self.records), default=0)
        for k in range(1, orders):
            panels.append(
                _panel(
                    f"m({k + 1}), normalized",
                    f"m({k + 1})",
                    self._series("moments", "moments_ci_low", "moments_ci_high", k),
                )
            )
        return {
            "schema": "kspec-figure/1",
            "kspec": h.VERSION,
            "command": "figure",
            "title": self._title(),
            "panels": panels,
            "records": self.records,
        }

    def _title(self) -> str:
        """The last dimensions: of the first layers, as many as a title holds"""
        last = {r["name"]: r for r in self.records}
        said = [f"{name} {_short(r['dimension'])}" for name, r in list(last.items())[:3]]
        more = ", …" if len(last) > 3 else ""
        return f"dimension of {', '.join(said)}{more} at the last step" if said else "activations"

    def _series(self, value: str, low: str, high: str, order: int | None = None) -> list[dict[str, Any]]:
        def pick(r: dict[str, Any], key: str) -> Any:
            return r[key] if order is None else r[key][order] if order < len(r[key]) else None

        return [
            {
                "label": name,
                "style": "band",
                "x": [r["step"] for r in self.records if r["name"] == name],
                **{
                    axis: [pick(r, key) for r in self.records if r["name"] == name]
                    for axis, key in (("y", value), ("low", low), ("high", high))
                },
            }
            for name in self.names
        ]

    def __repr__(self) -> str:
        rows = [f"{'step':>8}  {'dimension':>9}  95% interval    layer"]
        for r in self.records:
            value, low, high = (_short(r[key]) for key in ("dimension", "ci_low", "ci_high"))
            rows.append(f"{r['step']:>8g}  {value:>9}  {low + ' … ' + high:<14}  {r['name']}")
        return "\n".join(rows) if self.records else "no records yet"

    def to_json(self) -> str:
        return json.dumps(self.to_dict())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the figure; `kspec plot PATH -o x.svg` draws it."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_json())

    def to_dataframe(self) -> Any:
        import pandas as pd

        return pd.DataFrame(self.records)

    def plot(self, ax: Any = None) -> Any:
        from ._plot import draw

        return draw([self], ax)


def _plain(value: float) -> float | None:
    """JSON has no NaN."""
    return value if value == value else None


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _panel(title: str, label: str, series: list[dict[str, Any]]) -> dict[str, Any]:
    return {"title": title, "xlabel": "step", "ylabel": label, "series": series}


class _Later(Sequence[Any]):
    """The records of an epoch, which are waited for when someone looks at them"""

    def __init__(self, tracking: _Tracking, futures: list[Any]) -> None:
        self._tracking, self._futures = tracking, futures

    def _all(self) -> list[Any]:
        if self._tracking._pending is self._futures:
            self._tracking._settle()
        return [future.result() for future in self._futures]

    def __getitem__(self, k: Any) -> Any:
        return self._all()[k]

    def __len__(self) -> int:
        return len(self._futures)

    def __repr__(self) -> str:
        return repr(self._all())


class _Tracking(Tracker):
    """A Tracker of the layers of a PyTorch model: epoch() measures them all, beside the training."""

    def __init__(self, model: Any, layers: Iterable[str], probe: Any, **options: Any) -> None:
        super().__init__(**{"threads": max(1, (os.cpu_count() or 1) // 4), **options})
        modules = dict(model.named_modules())
        unknown = [name for name in layers if name not in modules]
        if unknown:
            raise ValueError(
                f"layers: {unknown[0]!r} is not a module of the model; there are "
                f"{', '.join(name for name in modules if name)}"
            )
        self._model, self._probe = model, probe
        self._modules = {name: modules[name] for name in layers}
        # so many layers at once, with so many threads each
        self._at_once = max(1, min(self._both["threads"] or 1, len(self._modules)))
        self._each = max(1, (self._both["threads"] or 1) // self._at_once)
        self._workers: Any = None
        self._pending: Any = None
        self._step: float | None = None

    def epoch(self, step: float | None = None) -> Sequence[dict[str, Any]]:
        """Runs the model on the probe, in evaluation mode and without gradients, and records every layer.

        The measurements run in other threads while you train on. What is returned is a sequence of this
        epoch's records; it waits for them when you look at it, and so does .records. What went wrong is
        raised there, or by the next epoch().
        """
        self._settle()
        if self._workers is None:
            from concurrent.futures import ThreadPoolExecutor

            self._workers = ThreadPoolExecutor(self._at_once, "kspec-track")
        seen, self._step = self._look(), step
        queued = _queued(seen)
        self._pending = [
            self._workers.submit(self._measure, name, seen.pop(name), queued) for name in self._modules
        ]
        return _Later(self, self._pending)

    def _look(self) -> dict[str, Any]:
        """Copies of the layers' activations on the probe"""
        import torch

        seen: dict[str, Any] = {}

        def hook(name: str) -> Any:
            def keep(_module: Any, _inputs: Any, out: Any) -> None:
                seen[name] = _activations(name, out)

            return keep

        hooks = [module.register_forward_hook(hook(name)) for name, module in self._modules.items()]
        modes = [(module, module.training) for _, module in self._model.named_modules()]
        self._model.eval()
        try:
            with torch.no_grad():
                self._model(self._probe)
        finally:
            for module, mode in modes:  # a layer that is frozen stays so
                module.training = mode
            for handle in hooks:
                handle.remove()
        missed = [name for name in self._modules if name not in seen]
        if missed:
            raise ValueError(f"layers: the model does not call {missed[0]!r} on this probe")
        return seen

    def _measure(self, name: str, matrix: Any, queued: list[Any]) -> dict[str, Any]:
        for event in queued:
            event.synchronize()
        return self._record(name, matrix, self._each)

    def _settle(self) -> None:
        pending, self._pending = self._pending, None
        for record in [future.result() for future in pending or []]:
            self._add(record, self._step)

    @property
    def records(self) -> list[dict[str, Any]]:
        """All measurements so far, which are waited for"""
        self._settle()
        return self._records


def _queued(seen: dict[str, Any]) -> list[Any]:
    """Events after which the tensors on GPUs are there"""
    devices = {x.device for x in seen.values() if getattr(x, "is_cuda", False)}
    if not devices:
        return []
    import torch

    return [
        torch.cuda.current_stream(device).record_event(torch.cuda.Event(blocking=True)) for device in devices
    ]


def _activations(name: str, out: Any) -> Any:
    """A copy of inputs x features, or sequences x tokens x units; of more axes, all but the first are
    features."""
    while isinstance(out, (tuple, list)) and out:  # such as attention's output and its weights
        out = out[0]
    if not hasattr(out, "flatten"):
        raise TypeError(
            f"{name}: its output is a {type(out).__name__}, not a tensor; choose a layer inside it"
        )
    out = out.detach().clone()  # the next layer may change it in place
    return out if len(out.shape) == 3 else out.flatten(1)


def track(model: Any, layers: Sequence[str], probe: Any, **options: Any) -> Any:
    """Follows layers of a PyTorch model while it learns: call .epoch() on what it returns whenever you like.

    layers are names of modules (model.named_modules()), probe a batch that stays the same. Hooks are set only
    while the probe runs, and measurements run in other threads beside the training. Of an output (batch,
    tokens, units), tokens are rows and sequences are groups; of a tuple, the first part counts. Activations
    stay on their device. Options are those of Tracker; threads is a quarter of the processors unless it is
    given. All units of a layer are there, so that sampled is "rows" unless it is given. Moments end at m(2)
    unless n is given: higher ones take much longer than the dimension.
    """
    return _Tracking(model, list(layers), probe, **{"sampled": "rows", "n": 2, **options})
