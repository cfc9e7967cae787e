"""A validation curve of RBFSampler + Ridge, predicted without training, over scikit-learn's own.

python examples/ridge_curve.py [PICTURE.png]
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from kspec.sklearn import ridge_curve

GAMMA, DRAWS = 0.2, 5
COUNTS = [50, 100, 200, 260, 300, 340, 400, 600, 1000]


def main() -> None:
    random = np.random.default_rng(0)
    X, X_test = random.normal(size=(300, 30)), random.normal(size=(200, 30))
    w = random.normal(size=30) / np.sqrt(30)
    y, y_test = np.tanh(2 * X @ w), np.tanh(2 * X_test @ w)

    predicted = ridge_curve(X, y, X_test, y_test, n_components=COUNTS, alpha=0.01, gamma=GAMMA)

    measured = np.empty((DRAWS, len(COUNTS)))
    for k, q in enumerate(COUNTS):
        for seed in range(DRAWS):
            model = make_pipeline(
                RBFSampler(gamma=GAMMA, n_components=q, random_state=seed), Ridge(alpha=0.01)
            )
            measured[seed, k] = np.mean((model.fit(X, y).predict(X_test) - y_test) ** 2)

    print("n_components  predicted  measured (mean of 5 trainings)")
    for q, a, b in zip(COUNTS, predicted.test_mse[:, 0], measured.mean(axis=0)):
        print(f"{q:12d}  {a:9.3f}  {b:8.3f}")
    if len(sys.argv) > 1:
        import matplotlib

        matplotlib.use("Agg")
        ax = predicted.plot()
        ax.plot(COUNTS, measured.mean(axis=0), "ok", label="scikit-learn, mean of 5")
        ax.legend(frameon=False)
        ax.figure.savefig(sys.argv[1])


main()
