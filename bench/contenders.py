"""What the scoreboard compares: questions with a true answer, and for each the estimators that people use.

An estimator is a function of `Data` that returns its value, or (value, low, high), or (value, low, high,
doubted). To add one, write it and decorate it with the question that it answers:

    @answers("dimension", "my estimator")
    def mine(data):
        return my_dimension(data.trials[0])
"""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from dataclasses import dataclass, field

import numpy as np

import kspec



def earlier_version(folder):
    """The package in this folder, beside the one that is imported already; None without a folder"""
    if not folder:
        return None
    name, root = "kspec_before", os.path.join(folder, "kspec")
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(root, "__init__.py"), submodule_search_locations=[root])
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


VERSIONS = {"kspec": kspec}
BEFORE = "kspec, before"
if earlier := earlier_version(os.environ.get("KSPEC_BEFORE")):
    VERSIONS[BEFORE] = earlier
for version in VERSIONS.values():
    warnings.simplefilter("ignore", version.KspecWarning)

INTERVALS = ("m1", "m2", "dimension")  # cheap: these get many seeds
QUESTIONS = {
    "m1": "m(1) of one trial, noise included",
    "m2": "m(2) of one trial",
    "dimension": "dimension (rows centred) of one trial, noise included",
    "dimension2": "dimension (rows centred) of the signal, two trials",
    "lambda1": "largest eigenvalue of the covariance, two trials",
    "lambda2": "second eigenvalue, two trials",
    "lambda5": "fifth eigenvalue, two trials",
    "spectrum": "sum of |error| of all eigenvalues, as a share of the trace, two trials",
    "components": "number of eigenvalues, in processes with at most 60, two trials",
    "rank": "effective rank: exp of the entropy of the singular values, rows not centred",
    "alignment": "alignment of a kernel with itself from other columns, one trial",
}
CONTENDERS = {}
# slow at spectra, and asked for one draw in so many
SELDOM, RARE = {BEFORE, "linear program", "cvPCA", "parallel analysis"}, 4


@dataclass
class Data:
    trials: np.ndarray  # trials x rows x columns
    other: np.ndarray  # the same rows, other columns
    rows: dict  # what kspec is told of rows that depend on each other
    used: int = 1  # trials that moments and dimension take
    made: dict = field(default_factory=dict)  # results that several questions share

    @property
    def mean(self):
        return self.trials.mean(axis=0)

    @property
    def measured(self):
        return self.trials[: self.used].mean(axis=0)


def truths(process, trials=1):
    """The true answers; a list of eigenvalues stands for their sum of errors."""
    centred, first = process.centred, np.zeros(5)
    noise = process.noise if trials == 1 else 0  # does not repeat
    first[: min(5, len(centred))] = centred[:5]
    weight = np.sqrt(process.eigenvalues)
    weight = weight / weight.sum()
    return {
        "m1": process.eigenvalues.sum() + noise,
        "m2": np.sum(process.eigenvalues**2),
        "dimension": (centred.sum() + noise) ** 2 / np.sum(centred**2),
        "dimension2": centred.sum() ** 2 / np.sum(centred**2),
        "lambda1": centred[0],
        "lambda2": first[1],
        "lambda5": first[4],
        "spectrum": centred,
        "components": len(centred) if len(centred) <= 60 else np.nan,
        "rank": np.exp(-np.sum(weight * np.log(weight))),
        "alignment": 1.0,
    }


def answers(question, name):
    def register(function):
        CONTENDERS.setdefault(question, {})[name] = function
        return function

    return register


# ---- kspec ----

# about what was asked for, not about the interval
UNDOUBTED = {"one-trial", "means-dominate"}


def doubted(result):
    return any(d["severity"] != "note" and d["code"] not in UNDOUBTED for d in result.doubts)


def once(data, key, make):
    """A result that several answers share; the first to ask is charged its time"""
    if key not in data.made:
        data.made[key] = make()
    return data.made[key]


def moment(data, order, version="kspec"):
    call = VERSIONS[version].moments
    trials = data.trials[: data.used]
    r = once(data, (version, order), lambda: call(trials, n=order, threads=1, **data.rows))
    return r, r.estimates[-1]


for version in VERSIONS:
    for order in (1, 2):

        @answers(f"m{order}", version)
        def kspec_moment(data, order=order, version=version):
            r, e = moment(data, order, version)
            return e["value"], e["ci_low"], e["ci_high"], doubted(r)


for order in (1, 2):

    @answers(f"m{order}", "kspec, ± 1.96 stderr")
    def plain_moment(data, order=order):
        _, e = moment(data, order)
        half = 1.96 * e["stderr"]
        return e["value"], e["value"] - half, e["value"] + half


def ratio(data, trials, version="kspec"):
    trials, call = trials or data.used, VERSIONS[version].dimension
    dimension = lambda: call(data.trials[:trials], threads=1, **data.rows)
    return once(data, (version, "dimension", trials), dimension)


for trials, question in ((0, "dimension"), (2, "dimension2")):
    for version in VERSIONS:

        @answers(question, version)
        def kspec_dimension(data, trials=trials, version=version):
            r = ratio(data, trials, version)
            return r.dimension, r.ci_low, r.ci_high, doubted(r)

    @answers(question, "kspec, · exp(± 1.96 stderr)")
    def plain_dimension(data, trials=trials):
        r = ratio(data, trials)
        if r.dimension is None or r.stderr is None:
            return np.nan
        factor = np.exp(1.96 * r.stderr / r.dimension)
        return r.dimension, max(1, r.dimension / factor), max(1, r.dimension * factor)


def presence(trials, center):
    """Is there a signal? none 0, weak 1, clear 2, and z"""
    r = kspec.dimension(trials, center=center, threads=1)
    words = {"none": 0, "weak": 1, "clear": 2}
    return words.get(r.signal, np.nan), r.signal_z if r.signal_z is not None else np.nan


@answers("dimension", "dimensionality")
def dimensionality(data):
    """The formula of PyPI's package (Chun, Canatar, Chung and Lee): sums over rows and columns that differ"""
    x = centred(data.measured)
    n, G, square = len(x), x.T @ x, np.sum(x**2, axis=1)
    diagonal = np.sum(np.diag(G) ** 2)
    pairs, trace = np.sum(G**2) - diagonal, np.trace(G) ** 2 - diagonal
    fourth = n * (n - 1) * (np.sum(square**2) - np.sum(x**4))
    first = (n * n - 3 * n + 1) * trace + 2 * pairs - fourth
    return first / ((n * n - 3 * n + 2) * pairs + trace - fourth)


@answers("alignment", "kspec")
def kspec_alignment(data):
    r = kspec.compare(data.trials[0], data.other[0], n=2, threads=1)
    return r.alignment, r.alignment_ci_low, r.alignment_ci_high, doubted(r)


def from_spectrum(data, method, version="kspec", mean=False):
    """kspec.spectrum, for all questions about eigenvalues; made once. mean: of the mean of the trials"""
    if mean and np.array_equal(*data.trials):
        return None  # nothing differs between them
    call, x = VERSIONS[version].spectrum, data.mean[None] if mean else data.trials
    spectrum = lambda: call(x, method=method, center="rows", threads=1, count=x[0].size)
    return once(data, (version, method, mean), spectrum)


def eigenvalue(k, **how):
    def estimate(data):
        r = from_spectrum(data, **how)
        if r is None:
            return np.nan
        if len(r.eigenvalues) <= k:
            return 0.0
        if r.ci_low is None or r.ci_low[k] is None:
            return r.eigenvalues[k]
        return r.eigenvalues[k], r.ci_low[k], r.ci_high[k], doubted(r)

    return estimate


def all_eigenvalues(**how):
    def estimate(data):
        r = from_spectrum(data, **how)
        return np.nan if r is None else np.asarray(r.eigenvalues)

    return estimate


AS_ONE = "kspec, mean of the trials as one"
METHODS = {
    "kspec": {"method": "fit"},
    AS_ONE: {"method": "fit", "mean": True},
    "cvPCA": {"method": "cvpca"},
    "linear program": {"method": "moments"},
}
if BEFORE in VERSIONS:
    METHODS[BEFORE] = {"method": "fit", "version": BEFORE}
for name, how in METHODS.items():
    for k in (1, 2, 5):
        answers(f"lambda{k}", name)(eigenvalue(k - 1, **how))
    answers("spectrum", name)(all_eigenvalues(**how))


@answers("components", "kspec")
def resolved(data):
    return from_spectrum(data, **METHODS["kspec"]).resolved


# ---- the matrix's own eigenvalues ----


def centred(x):
    return x - x.mean(axis=0)


def naive(x):
    """Eigenvalues of the sample's kernel, decreasing"""
    return np.linalg.svd(x, compute_uv=False) ** 2 / x.size


def participation_ratio(values):
    return values.sum() ** 2 / np.sum(values**2)


@answers("m1", "naive PCA")
def naive_trace(data):
    return naive(data.measured).sum()


@answers("m2", "naive PCA")
def naive_square(data):
    return np.sum(naive(data.measured) ** 2)


@answers("dimension", "naive PCA")
def naive_dimension(data):
    return participation_ratio(naive(centred(data.measured)))


@answers("dimension2", "naive PCA")
def naive_dimension2(data):
    return participation_ratio(naive(centred(data.mean)))


@answers("rank", "RankMe")
def rank_me(data):
    share = np.sqrt(naive(data.mean))
    share = share[share > 0] / share.sum()
    return np.exp(-np.sum(share * np.log(share)))


@answers("rank", "kspec, of the fitted eigenvalues")
def fitted_rank(data):
    r = kspec.spectrum(data.trials, center="none", threads=1)
    share = np.sqrt(np.maximum(r.eigenvalues, 0))
    share = share[share > 0] / share.sum()
    return np.exp(-np.sum(share * np.log(share)))


def shrunk(x):
    """Ledoit and Wolf's analytical nonlinear shrinkage (2020), as eigenvalues of the kernel"""
    n, p = x.shape[0] - 1, x.shape[1]
    sample = np.sort(np.linalg.svd(centred(x), compute_uv=False) ** 2 / n)[-min(p, n):]
    sample = np.maximum(sample, 1e-12 * sample[-1])
    h = n ** (-1 / 3)
    width = h * sample[None]
    u = (sample[:, None] - sample[None]) / width
    density = 3 / 4 / np.sqrt(5) * np.mean(np.maximum(1 - u**2 / 5, 0) / width, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(np.abs((np.sqrt(5) - u) / (np.sqrt(5) + u)))
        hilbert = -3 / 10 / np.pi * u + 3 / 4 / np.sqrt(5) / np.pi * (1 - u**2 / 5) * log
    hilbert = np.where(np.isclose(np.abs(u), np.sqrt(5)), -3 / 10 / np.pi * u, hilbert)
    far = np.where(np.abs(u) > 1e3, u, np.inf)  # where the terms above cancel
    hilbert = np.where(np.isinf(far), hilbert, -1 / (np.pi * far))
    hilbert = np.mean(hilbert / width, axis=1)
    c = p / n
    if p <= n:
        values = sample / ((np.pi * c * sample * density) ** 2 + (1 - c - np.pi * c * sample * hilbert) ** 2)
        return np.sort(values)[::-1] / p
    root = np.sqrt(5) * h
    at_zero = 3 / 10 / h**2 + 3 / 4 / np.sqrt(5) / h * (1 - 1 / 5 / h**2) * np.log((1 + root) / (1 - root))
    at_zero *= np.mean(1 / sample) / np.pi
    rest = np.full(p - n, 1 / (np.pi * (p - n) / n * at_zero))
    values = sample / (np.pi**2 * sample**2 * (density**2 + hilbert**2))
    return np.sort(np.r_[values, rest])[::-1] / p


@answers("dimension", "Ledoit–Wolf, nonlinear")
def shrunk_dimension(data):
    return participation_ratio(shrunk(data.measured))


def of_sample(values_of, k):
    return lambda data: values_of(data)[k]


SAMPLES = {
    "naive PCA": lambda data: naive(centred(data.mean)),
    "Ledoit–Wolf, nonlinear": lambda data: shrunk(data.mean),
}
for name, values_of in SAMPLES.items():
    for k in (1, 2, 5):
        answers(f"lambda{k}", name)(of_sample(values_of, k - 1))
    answers("spectrum", name)(values_of)


# ---- the number of components ----


@answers("components", "Gavish–Donoho")
def gavish_donoho(data):
    """The hard threshold for noise of unknown level: 2.858 times the median singular value where square"""
    x = centred(data.mean)
    values = np.linalg.svd(x, compute_uv=False)
    b = min(x.shape) / max(x.shape)
    return np.sum(values > (0.56 * b**3 - 0.95 * b**2 + 1.82 * b + 1.43) * np.median(values))


@answers("components", "parallel analysis")
def parallel_analysis(data, draws=20):
    """Eigenvalues above the 95th percentile of those of data whose columns are permuted, one by one"""
    x, rng = centred(data.mean), np.random.default_rng(0)
    null = [np.linalg.svd(rng.permuted(x, axis=0), compute_uv=False) for _ in range(draws)]
    above = np.linalg.svd(x, compute_uv=False) > np.quantile(null, 0.95, axis=0)
    return len(above) if above.all() else np.argmin(above)


# ---- alignment ----


@answers("alignment", "CKA, biased")
def biased_cka(data):
    K, L = (x @ x.T for x in (centred(data.trials[0]), centred(data.other[0])))
    return np.sum(K * L) / np.sqrt(np.sum(K * K) * np.sum(L * L))


@answers("alignment", "CKA, debiased over rows")
def debiased_cka(data):
    """Song and others' unbiased HSIC in numerator and denominator: rows are a sample, columns are not"""

    def hsic(K, L):
        n = len(K)
        ends = K.sum() * L.sum() / ((n - 1) * (n - 2)) - 2 / (n - 2) * (K.sum(axis=0) @ L.sum(axis=0))
        return (np.sum(K * L) + ends) / (n * (n - 3))

    K, L = (x @ x.T for x in (data.trials[0], data.other[0]))
    np.fill_diagonal(K, 0), np.fill_diagonal(L, 0)
    return hsic(K, L) / np.sqrt(hsic(K, K) * hsic(L, L))

