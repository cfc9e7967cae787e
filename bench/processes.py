"""Processes whose kernel is known, to measure estimators on: spike counts, networks, place cells, topics.

A process is a class with
    eigenvalues   of the kernel, decreasing; `centred` has those of the covariance over rows
    noise         the mean variance that one trial adds to an entry, and so to its m(1)
    sample(rng, P, Q, trials) -> (trials, P, Q)

To add one, write the class and a line in `processes()`; `python3 bench/processes.py` compares every truth
with a simulation.
"""

import gzip
import math
import os
import sys

import numpy as np


def decreasing(values, tiny=1e-13):
    v = np.sort(np.asarray(values, float))[::-1]
    return v[v > tiny * v[0]]


def unit_trace(values):
    return np.asarray(values, float) / np.sum(values)


def powers(count, exponent):
    return np.arange(1.0, count + 1) ** -exponent


def bessel(orders, x):
    """exp(-x) I_n(x), the Fourier coefficients of exp(x (cos - 1)), to 1e-16"""
    angle = 2 * np.pi * np.arange(256) / 256
    return np.real(np.fft.fft(np.exp(x * (np.cos(angle) - 1))))[orders] / 256


def repeated(signal, trials):
    return np.repeat(signal[None], trials, axis=0)


def noisy(rng, signal, trials, variance):
    noise = np.sqrt(variance) * rng.normal(size=(trials, *signal.shape)) if variance else 0
    return repeated(signal, trials) + noise


# ---- linear factors ----


class Linear:
    """s_i g_a sum_k sqrt(l_k) x_ik w_ka + offset_a + noise; factors are independent, E s^2 = E g^2 = 1."""

    def __init__(self, spectrum, row_gain=None, col_gain=None, factor=None, offset=None, noise=0.0):
        self.spectrum = np.asarray(spectrum, float)
        self.row_gain, self.col_gain, self.factor = row_gain, col_gain, factor
        self.offset, self.noise = offset, noise
        self.centred = decreasing(self.spectrum)
        mean_square = [offset[0] ** 2 + offset[1] ** 2] if offset else []
        self.eigenvalues = decreasing(np.r_[self.spectrum, mean_square])

    def rows(self, rng, P):
        shape = (P, len(self.spectrum))
        return self.factor(rng, shape) if self.factor else rng.normal(size=shape)

    def sample(self, rng, P, Q, trials=1):
        x = self.rows(rng, P)
        if self.row_gain:
            x = x * self.row_gain(rng, P)[:, None]
        shape = (len(self.spectrum), Q)
        w = self.factor(rng, shape) if self.factor else rng.normal(size=shape)
        if self.col_gain:
            w = w * self.col_gain(rng, Q)
        signal = (x * np.sqrt(self.spectrum)) @ w
        if self.offset:
            signal = signal + rng.normal(*self.offset, size=Q)
        return noisy(rng, signal, trials, self.noise)


def lognormal(sd):
    return lambda rng, n: np.exp(sd * rng.normal(size=n) - sd**2)


def outliers(share, factor):
    scale = (1 - share + share * factor**2) ** -0.5
    return lambda rng, n: scale * np.where(rng.random(n) < share, factor, 1.0)


def sparse(share):
    return lambda rng, shape: rng.normal(size=shape) * (rng.random(shape) < share) / np.sqrt(share)


class Autoregressive(Linear):
    """Linear factors whose rows follow each other in time, in one series or in blocks."""

    def __init__(self, spectrum, correlation, block=None):
        super().__init__(spectrum)
        self.correlation, self.block = correlation, block

    def rows(self, rng, P):
        x = rng.normal(size=(P, len(self.spectrum)))
        for t in range(1, P):
            if not self.block or t % self.block:
                x[t] = self.correlation * x[t - 1] + np.sqrt(1 - self.correlation**2) * x[t]
        return x


# ---- counts ----


class SpikeCounts:
    """Poisson counts of neurons with von Mises tuning and log-normal gains; `shared`: the variance of a gain
    that all neurons of a trial's row have in common."""

    WIDTHS = np.array([0.5, 2.0, 6.0])

    def __init__(self, gain_sd=0.8, mean=4.0, base=0.2, shared=0.0):
        self.gain_sd, self.mean, self.base, self.shared = gain_sd, mean, base, shared
        harmonics = np.array([bessel(np.arange(40), k) for k in self.WIDTHS])
        harmonics[:, 0] += base
        power = mean**2 * np.exp(gain_sd**2) * np.mean(harmonics**2, axis=0)
        self.centred = decreasing(np.repeat(power[1:], 2))
        self.eigenvalues = decreasing(np.r_[power[0], np.repeat(power[1:], 2)])
        self.noise = mean * harmonics[:, 0].mean() + shared * self.eigenvalues.sum()

    def sample(self, rng, P, Q, trials=1):
        angle, preferred = rng.uniform(0, 2 * np.pi, P), rng.uniform(0, 2 * np.pi, Q)
        width = self.WIDTHS[rng.integers(len(self.WIDTHS), size=Q)]
        gain = self.mean * np.exp(self.gain_sd * rng.normal(size=Q) - self.gain_sd**2 / 2)
        rate = repeated(gain * (self.base + np.exp(width * (np.cos(angle[:, None] - preferred) - 1))), trials)
        if self.shared:
            rate = rate * rng.gamma(1 / self.shared, self.shared, size=(trials, P, 1))
        return rng.poisson(rate).astype(float)


class Topics:
    """Word counts of documents: Poisson(length_i popularity_a topics_i . words_a), with Zipf popularity."""

    def __init__(self, exponent=0.6, words=3000, topics=8, mixing=0.3, length_sd=0.5, spread=0.3):
        popularity = powers(words, exponent)
        self.popularity = popularity / popularity.mean()
        self.topics, self.mixing, self.length_sd, self.spread = topics, mixing, length_sd, spread
        total, ones, eye = topics * mixing, np.ones((topics, topics)), np.eye(topics)
        of_rows = np.exp(length_sd**2) * (mixing**2 * ones + mixing * eye) / (total * (total + 1))
        of_cols = np.mean(self.popularity**2) * (ones + eye / spread)
        root = np.linalg.cholesky(of_cols)
        self.eigenvalues = decreasing(np.linalg.eigvalsh(root.T @ of_rows @ root))
        self.centred = decreasing(np.linalg.eigvalsh(root.T @ (of_rows - ones / topics**2) @ root))
        self.noise = 1.0

    def sample(self, rng, P, Q, trials=1):
        mixture = rng.dirichlet([self.mixing] * self.topics, P)
        length = np.exp(self.length_sd * rng.normal(size=P) - self.length_sd**2 / 2)
        words = rng.gamma(self.spread, 1 / self.spread, size=(Q, self.topics))
        popularity = self.popularity[rng.integers(len(self.popularity), size=Q)]
        return rng.poisson(repeated(length[:, None] * (mixture @ words.T) * popularity, trials)).astype(float)


# ---- nonlinear features ----


class RectifiedField:
    """relu(f - threshold) of Gaussian fields f on a torus, log-normal gains, noise like the signal."""

    def __init__(self, threshold=0.5, smoothness=3.3, order=7, gain_sd=0.5, noise_share=0.3):
        k = np.arange(-order, order + 1)
        line = bessel(np.abs(k), smoothness)
        power, waves = np.outer(line, line).ravel(), np.array([(i, j) for i in k for j in k])
        kept = power > 1e-7 * power.max()
        self.power, self.waves = power[kept] / power[kept].sum(), waves[kept]
        self.threshold, self.gain_sd, self.noise_share = threshold, gain_sd, noise_share
        n = 256
        table = np.zeros((n, n))
        np.add.at(table, (self.waves[:, 0] % n, self.waves[:, 1] % n), self.power)
        correlation = np.clip(np.real(np.fft.fft2(table)), -1, 1)
        kernel = self._kernel(correlation)
        spectrum = np.real(np.fft.fft2(kernel)).ravel() / n**2
        self.eigenvalues = decreasing(spectrum[spectrum > 0], 1e-9)
        self.centred = decreasing(spectrum[1:][spectrum[1:] > 0], 1e-9)
        self.noise = noise_share * kernel[0, 0]

    def _kernel(self, correlation):
        """E relu(f - h) relu(f' - h), integrated from correlation 0 by d/dr d/dr = the density at (h, h)."""
        h = self.threshold
        above, density = math.erfc(h / math.sqrt(2)) / 2, math.exp(-h * h / 2) / math.sqrt(2 * math.pi)
        x, weight = np.polynomial.legendre.leggauss(200)

        def at(r):
            u = np.arcsin(r)
            s = np.sin(u * (x + 1) / 2)
            rest = np.sum(weight * (r - s) * np.exp(-h * h / (1 + s + 1e-300))) * u / (4 * np.pi)
            return (density - h * above) ** 2 + above**2 * r + rest

        angles = np.linspace(-np.pi / 2, np.pi / 2, 20001)
        return np.interp(np.arcsin(correlation), angles, [at(r) for r in np.sin(angles)])

    def sample(self, rng, P, Q, trials=1):
        phase = rng.uniform(0, 2 * np.pi, (P, 2)) @ self.waves.T
        waves = np.hstack([np.cos(phase), np.sin(phase)]) * np.sqrt(np.r_[self.power, self.power])
        signal = np.maximum(waves @ rng.normal(size=(waves.shape[1], Q)) - self.threshold, 0)
        signal = signal * np.exp(self.gain_sd * rng.normal(size=Q) - self.gain_sd**2)
        share = self.noise_share
        return repeated(signal, trials) * rng.gamma(1 / share, share, size=(trials, P, Q))


class Relu:
    """relu(w . x) of a fixed set of rows, drawn with replacement: an eigenproblem gives the truth."""

    def __init__(self, rows, noise=0.0):
        self.rows, self.noise = rows, noise
        length = np.linalg.norm(rows, axis=1)
        both = np.outer(length, length)
        cosine = np.clip(rows @ rows.T / both, -1, 1)
        angle = np.arccos(cosine)
        kernel = both * (np.sqrt(1 - cosine**2) + (np.pi - angle) * cosine) / (2 * np.pi)
        self.scale = np.sqrt(np.mean(np.diag(kernel)))
        kernel /= self.scale**2 * len(rows)
        self.eigenvalues = decreasing(np.linalg.eigvalsh(kernel), 1e-12)
        means = kernel.mean(axis=0)
        self.centred = decreasing(np.linalg.eigvalsh(kernel - means - means[:, None] + kernel.mean()), 1e-12)

    def sample(self, rng, P, Q, trials=1):
        x = self.rows[rng.integers(len(self.rows), size=P)]
        signal = np.maximum(x @ rng.normal(size=(x.shape[1], Q)), 0) / self.scale
        return noisy(rng, signal, trials, self.noise)


class PlaceCells:
    """exp(-|x - c|^2 / 2 s^2), x and c uniform on the sphere: Funk and Hecke's formula gives the truth."""

    def __init__(self, width=0.5, degrees=40):
        t, weight = np.polynomial.legendre.leggauss(400)
        shape = np.exp(-(1 - t) / width**2)
        basis = np.polynomial.legendre.legvander(t, degrees - 1)
        self.width, self.scale = width, np.sqrt(np.sum(weight * shape**2) / 2)
        level = ((weight * shape) @ basis / 2 / self.scale) ** 2
        copies = 2 * np.arange(degrees) + 1
        self.eigenvalues = decreasing(np.repeat(level, copies), 1e-12)
        self.centred = decreasing(np.repeat(level[1:], copies[1:]), 1e-12)
        self.noise = 0.0

    def sample(self, rng, P, Q, trials=1):
        x, c = rng.normal(size=(P, 3)), rng.normal(size=(Q, 3))
        x, c = (v / np.linalg.norm(v, axis=1)[:, None] for v in (x, c))
        return repeated(np.exp(-(1 - x @ c.T) / self.width**2) / self.scale, trials)


# ---- the list ----


def mixture_rows(count=1500, dim=8, clusters=6):
    rng = np.random.default_rng(1)
    centres = 1.5 * rng.normal(size=(clusters, dim))
    rows = centres[rng.integers(clusters, size=count)] + 0.7 * rng.normal(size=(count, dim))
    return np.c_[rows, np.ones(count)]


def image_rows(count=1500):
    """MNIST at 14 x 14, below KSPEC_DATA; None where that is not there."""
    path = os.path.join(os.environ.get("KSPEC_DATA", ""), "mnist", "t10k-images-idx3-ubyte.gz")
    if not os.path.exists(path):
        return None
    with gzip.open(path) as f:
        pixels = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 14, 2, 14, 2)
    images = pixels[:count].mean(axis=(2, 4))
    return np.c_[images.reshape(count, -1) / 255, np.ones(count)]


# name: (what it is, how it is made)
def processes():
    images = image_rows()
    table = {
        "flat": ("20 equal eigenvalues", lambda: Linear(np.full(20, 0.05))),
        "power": ("eigenvalues 1/i, i to 40", lambda: Linear(unit_trace(powers(40, 1)))),
        "mixture": ("ReLU features of six clusters", lambda: Relu(mixture_rows())),
        "images": ("ReLU features of images, noise", lambda: Relu(images, noise=0.02)),
        "spiked": ("three large eigenvalues, a tail, noise", lambda: Linear(
            np.r_[1.0, 0.7, 0.5, 0.1 * powers(300, 1.1)], noise=0.8)),
        "place": ("place cells on a sphere", PlaceCells),
        "offset": ("column means 10 +- 3, eigenvalues 1/i^2", lambda: Linear(
            powers(40, 2), offset=(10.0, 3.0))),
        "sparse": ("sparse factors on both sides", lambda: Linear(
            unit_trace(np.exp(-np.arange(1.0, 41) / 15)), factor=sparse(0.1))),
        "field": ("rectified fields, noise like the signal", RectifiedField),
        "counts": ("spike counts, log-normal gains", SpikeCounts),
        "gains": ("log-normal gains of columns, sd 1", lambda: Linear(
            unit_trace(powers(50, 1)), col_gain=lognormal(1.0))),
        "outliers": ("5% of the rows six times larger", lambda: Linear(
            unit_trace(powers(60, 1.5)), row_gain=outliers(0.05, 6.0))),
        "topics": ("word counts, Zipf exponent 0.6", Topics),
        "topics1": ("word counts, Zipf exponent 1", lambda: Topics(exponent=1.0)),
        "shared": ("spike counts, noise shared along a row", lambda: SpikeCounts(shared=0.1)),
        "series": ("rows of a time series, correlation 0.9", lambda: Autoregressive(
            unit_trace(powers(40, 1)), 0.9)),
        "blocks": ("rows in blocks of ten, correlation 0.9", lambda: Autoregressive(
            unit_trace(powers(40, 1)), 0.9, block=10)),
    }
    if images is None:
        del table["images"]
    return table


# ---- nothing but noise ----


KINDS = ("normal", "Student t4", "unequal columns", "counts", "unequal both")
NOISES = tuple(f"noise: {kind}" for kind in KINDS)


def noise(kind, rng, trials, P, Q):
    """Entries that are independent, of mean 0"""
    shape, col, row = (trials, P, Q), rng.normal(size=Q), rng.normal(size=(P, 1))
    if kind == "noise: counts":
        return rng.poisson(np.broadcast_to(np.exp(col), shape)) - np.exp(col)
    if kind == "noise: Student t4":
        return rng.standard_t(4, size=shape)
    scales = {"noise: unequal columns": np.exp(col), "noise: unequal both": np.exp(0.7 * col + 0.5 * row)}
    return rng.normal(size=shape) * scales.get(kind, 1)


# No row and no column stands out
BENIGN = ("flat", "power", "mixture", "spiked", "place", "offset")


def check():
    """Every truth against one large pair of trials: m(1), m(2), the noise."""
    for name, (what, make) in processes().items():
        p = make()
        a, b = p.sample(np.random.default_rng(5), 1500, 1500, 2)
        gram = a @ b.T / a.shape[1]
        pairs = np.sum(gram * gram.T) - np.sum(np.diag(gram) ** 2)
        print(f"{name:9s} m(1) {p.eigenvalues.sum():9.4g} ({np.mean(a * b):9.4g})"
              f"  m(2) {np.sum(p.eigenvalues**2):9.4g} ({pairs / 1500 / 1499:9.4g})"
              f"  noise {p.noise:6.3g} ({np.mean((a - b)**2) / 2:6.3g})"
              f"  dimension {p.centred.sum()**2 / np.sum(p.centred**2):6.3g}  {what}")


if __name__ == "__main__":
    sys.exit(check())
