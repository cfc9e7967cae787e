#!/usr/bin/env python3
"""Figure 4: training and test error at 2N = n = 512 against the variance σ² of the noise that turns training
rows into test rows, MNIST 3 versus 7, λ = 1e-7, mean of 30 runs.

Left open by the paper: the range of σ² (here 1e-11 to 1) and the scaling of pixels, which decides what σ²
means. Taken here: "coincide" is a test error below twice the training error, "close to zero" is below 0.05
(targets are -1 and 1).
"""
import math

from harness import Figure, slope
from paper002 import MNIST, PAPER, curves, grid, ridge

figure = Figure("002-4", PAPER, "Training-test similarity at 2N = n: MNIST 3 v 7, λ = 1e-7")
LAMBDA, P = 1e-7, 784
variances = [10.0**k for k in range(-11, 1)]


def noisy(variance):
    return ridge(figure, (MNIST[0], None), "3,7", 256, [256], [LAMBDA], "--test-noise",
                 repr(math.sqrt(variance)), "--empirical", figure.pick(20, 30), "--threads", 1)


results = [noisy(variances[0])] + figure.map(noisy, variances[1:])
points = [r["points"][0] for r in results]
train, test = grid(points, "empirical_train_mse"), grid(points, "empirical_test_mse")
at = {round(math.log10(v)): i for i, v in enumerate(variances)}
excess = [max(b - a, 1e-300) for a, b in zip(train, test)]  # for its logarithm
grows = slope(variances[at[-9]:at[-5] + 1], excess[at[-9]:at[-5] + 1])
crossing = LAMBDA * train[0] / excess[at[-7]]  # the excess is proportional to σ²

figure.claim("“below the threshold σ² = λ … both are close to zero”",
             f"test at most {max(test[:at[-7]]):.2g}, training {max(train):.2g}",
             max(test[:at[-7]] + train) < 0.05)
below = test[at[-8]] / train[at[-8]]
figure.claim("“below the threshold σ² = λ = 1e-7, test error coincides with the training error”",
             f"test/training {below:.0f} at σ² = λ/10", below < 2,
             "the difference has no threshold at λ: it is proportional to σ² from the start. It reaches the "
             f"training error at σ² = {crossing:.1g}, where the noise of all pixels, pσ² = "
             f"{P * crossing:.1g}, has the size of λ. On a linear axis the errors look alike up to σ² = λ")
above = test[at[-6]] / train[at[-6]]
figure.claim("“as soon as σ² > λ, the test error diverges from the training error”",
             f"test/training {above:.0f} at σ² = 10λ", above > 100)
figure.claim("“and grows large as the noise level increases”",
             f"from {test[at[-7]]:.2g} at σ² = λ to {test[at[-2]]:.0f} at 0.01, where a test row is mostly "
             "noise (pσ² = 8, |x|² = 1)",
             all(b > a for a, b in zip(test[at[-7]:at[-2]], test[at[-6]:at[-1]])) and test[at[-2]] > 10)
figure.expect("test error minus training error is proportional to σ² from 1e-9 to 1e-5, below and above λ",
              f"slope {grows:.3f}", abs(grows - 1) < 0.02)
figure.expect("test and training error coincide if pσ² is well below λ",
              f"test/training {test[0] / train[0]:.2f} at σ² = 1e-11", test[0] < 2 * train[0])
z = max(abs(p["test_mse"] - p["empirical_test_mse"]) / p["empirical_test_sd"] * math.sqrt(r["draws"])
        for p, r in zip(points, results))
figure.expect("the predicted test error (not in the figure) is within 4 standard errors",
              f"at most {z:.1f} SE", z < 4)

j = results[0]
both = curves(j, points, variances, "train", "training", 0) + curves(j, points, variances, "test", "test", 1)
figure.picture("", [{"xlabel": "variance of the noise, σ²", "ylabel": "mean squared error", "xscale": "log",
                     "yscale": "log", "series": both,
                     "marks": [{"axis": "x", "at": LAMBDA, "label": "σ² = λ"},
                               {"axis": "x", "at": LAMBDA / P, "label": "pσ² = λ"}]}])
figure.finish()
