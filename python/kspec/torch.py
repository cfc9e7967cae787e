"""Dimension and alignment as metrics of torchmetrics, which Lightning, wandb and TensorBoard log.

    >>> dimension = kspec.torch.Dimension(512)                                    # doctest: +SKIP
    >>> for batch in loader: dimension.update(layer(batch))                       # doctest: +SKIP
    >>> dimension.compute()                                                       # doctest: +SKIP

Import it by name, `import kspec.torch`: it needs PyTorch and torchmetrics. Between processes the states
travel as bytes and are merged; torch.distributed gathers them.
"""

from __future__ import annotations

from typing import Any

import torch
import torchmetrics

from ._accumulator import Accumulator


class _Accumulated(torchmetrics.Metric):
    """A metric whose state is an accumulator. compute() is its number, result() all of it."""

    is_differentiable = False
    full_state_update = False

    def __init__(self, features: int, other_features: int | None, options: dict[str, Any]) -> None:
        keywords = {k: options.pop(k) for k in list(options) if k in _OF_METRIC}
        super().__init__(**keywords)
        self._settings = (features, other_features, {"sampled": "rows", **options})
        self._rows = self._new()
        # what torchmetrics gathers from all processes, as a list
        self.add_state("states", default=[], dist_reduce_fx=None)

    def _new(self) -> Accumulator:
        features, other, options = self._settings
        return Accumulator(features, other, **options)

    def _pack(self) -> None:
        state = bytearray(self._rows.to_bytes())
        self.states = [torch.frombuffer(state, dtype=torch.uint8).to(self.device)]

    def sync(self, *arguments: Any, **keywords: Any) -> None:
        self._pack()
        super().sync(*arguments, **keywords)

    def unsync(self, *arguments: Any, **keywords: Any) -> None:
        super().unsync(*arguments, **keywords)
        self.states = []

    def reset(self) -> None:
        super().reset()
        self._rows = self._new()

    def forward(self, *batch: Any, **keywords: Any) -> Any:
        """Adds a batch; the value of what has come so far, NaN while that is too little."""
        self.update(*batch, **keywords)
        self._computed = None
        return self.compute() if self._rows.rows >= 5 else torch.tensor(float("nan"))

    def result(self) -> Any:
        """The Dimension or Compare, with its interval: of this process, and of all within compute()"""
        if not self.states:
            return self._rows.result()
        packed = self.states if isinstance(self.states, (list, tuple)) else [self.states]
        whole = None
        for state in packed:
            other = Accumulator.from_bytes(bytes(state.cpu().numpy().tobytes()))
            whole = other if whole is None else whole.merge(other)
        assert whole is not None
        return whole.result()

    def compute(self) -> Any:
        return torch.tensor(float(self.result()), dtype=torch.float64)


_OF_METRIC = (
    "compute_on_cpu",
    "dist_sync_on_step",
    "process_group",
    "dist_sync_fn",
    "distributed_available_fn",
    "sync_on_compute",
    "compute_with_cache",
)


class Dimension(_Accumulated):
    """The dimension of a layer of so many units. Options are those of kspec.Accumulator; sampled is "rows"
    unless it is given: all units of the layer are there."""

    higher_is_better = None

    def __init__(self, features: int, **options: Any) -> None:
        super().__init__(features, None, options)

    def update(self, activations: Any) -> None:
        """Rows and units; of more axes the last are units, and all others rows."""
        self._rows.update(_rows_of(activations))


class Alignment(_Accumulated):
    """The alignment (CKA) of two layers with the same rows, without the bias of small batches."""

    higher_is_better = None

    def __init__(self, features: int, other_features: int, **options: Any) -> None:
        super().__init__(features, other_features, options)

    def update(self, activations: Any, other: Any) -> None:
        """Rows and units of both; of more axes the last are units, and all others rows."""
        self._rows.update(_rows_of(activations), _rows_of(other))


def _rows_of(x: Any) -> Any:
    return x.detach().reshape(-1, x.shape[-1]) if x.ndim > 2 else x
