#!/usr/bin/env python3
"""Figure 2: the decay of the singular values of polynomial and Gaussian kernel matrices of the (normalized)
MNIST images.

"For appropriate datasets, such as those normalized ones that live on the unit sphere", there is "numerical
evidence to show that the feature matrix has eigenvalues [that] decay fast (for instance, algebraically)". The
paper states neither the images nor the kernels' parameters. Taken here: the first 2000 test images (full:
6000), each of length 1, (x.y + 1)^3 and exp(-|x-y|^2/2), and other parameters besides. Algebraic is taken as:
log s_k against log k is a line, with a correlation above 0.99, of slope below -1/2, from k = 10 to half of
the images (the last values of a finite sample fall faster than those of the kernel).
"""
import math

from harness import Figure, mean, slope
from paper003 import IMAGES, PAPER, decay

figure = Figure("003-2", PAPER, "Decay of the singular values of kernel matrices of MNIST")
images, rows = figure.data(IMAGES), figure.pick(2000, 6000)
POLYNOMIAL = {"(x·y + 1)³": 3, "(x·y + 1)²": 2, "(x·y + 1)⁵": 5}  # the degree
GAUSSIAN = {"exp(−‖x−y‖²/2)": 1, "exp(−‖x−y‖²/0.5)": 0.5, "exp(−‖x−y‖²/8)": 2}  # sigma
DRAWN = ("(x·y + 1)³", "exp(−‖x−y‖²/2)")


def one(label):
    kernel = (["polynomial", "--degree", POLYNOMIAL[label]] if label in POLYNOMIAL
              else ["gaussian", "--sigma", GAUSSIAN[label]])
    return decay(figure, images, rows, *kernel)["singular_values"]


labels = [*POLYNOMIAL, *GAUSSIAN]
values = dict(zip(labels, figure.map(one, labels)))
for label, s in values.items():
    k = range(10, rows // 2)
    x, y = [math.log(j) for j in k], [math.log(s[j - 1]) for j in k]
    zeta, mx, my = -slope(k, [s[j - 1] for j in k]), mean(x), mean(y)
    correlation = abs(sum((a - mx) * (b - my) for a, b in zip(x, y))) / math.sqrt(
        sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y))
    (figure.claim if label in DRAWN else figure.expect)(
        f"{label}: the singular values decay algebraically",
        f"k^−{zeta:.2f}, correlation {correlation:.4f}; the 100th is {s[99] / s[0]:.1e} of the first",
        zeta > 0.5 and correlation > 0.99)
    trace = rows * 2 ** POLYNOMIAL.get(label, 0)
    figure.expect(f"{label}: the singular values sum to n k(x, x)", f"{math.fsum(s):.8g}, expected {trace}",
                  abs(math.fsum(s) / trace - 1) < 1e-9)

index = sorted({round(10 ** (i / 40)) for i in range(int(40 * math.log10(rows)) + 1)} | {rows})
panels = []
for title, kernels in (("polynomial kernels", POLYNOMIAL), ("Gaussian kernels", GAUSSIAN)):
    lines = [{"label": label, "x": index, "y": [values[label][k - 1] for k in index], "style": "line"}
             for label in kernels]
    panels.append({"title": title, "xlabel": "index", "ylabel": "singular value", "xscale": "log",
                   "yscale": "log", "series": lines})
figure.picture("", panels)
figure.finish()
