"""How the dimension of a layer changes while a network learns: kspec.Tracker with a network of NumPy alone.

    python examples/activations.py [RESULT.json]          then: kspec plot RESULT.json -o dimension.svg

With PyTorch, kspec.track(model, ["fc1"], probe) sets the hooks: call its .epoch() after each epoch.
"""

from __future__ import annotations

import sys

import numpy as np

import kspec


def main() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 20))
    y = np.sign(X[:, :1] * X[:, 1:2])
    w, a = random.normal(size=(20, 60)) / np.sqrt(20), random.normal(size=(60, 1)) / 60
    tracker = kspec.Tracker(n=2)
    for epoch in range(1001):
        hidden = np.maximum(X @ w, 0)
        if epoch % 250 == 0:
            tracker.update("hidden", hidden, step=epoch)
        error = (hidden @ a - y) / len(X)
        a, w = a - 0.2 * hidden.T @ error, w - 0.2 * X.T @ ((error @ a.T) * (hidden > 0))
    for r in tracker.records:
        print(
            f"epoch {r['step']:3d}  dimension {r['dimension']:6.2f}  ({r['ci_low']:.2f} … {r['ci_high']:.2f})"
        )
    if len(sys.argv) > 1:
        tracker.save(sys.argv[1])


main()
