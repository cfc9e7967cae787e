"""What the figures of paper 000 share: draws of a process, every estimator's moments of each, and what is said of them.

The estimator that the paper calls "ours" is `path`, on the matrix as given. The paper does not say over how many draws
its figures go. A mean over draws counts as unbiased within LIMIT standard errors of the truth (normal probability of a
false alarm 6e-5) and as biased beyond; an estimator's variance counts as larger than another's where the logarithm of
their ratio is beyond LIMIT of its standard errors (by linearisation; the draws are the same).
"""

import math

from harness import mean, quantile, standard_error, variance

PAPER = "Estimating the spectral moments of the kernel integral operator from finite sample matrices"
COMPARED = ("naive", "kv-row", "kv-col", "path")
OURS = "path"
OTHERS = tuple(e for e in COMPARED if e != OURS)
AVERAGED = "path, 8 orders"
LABEL = {"path": "path (ours in the paper)"}
COLOR = {"naive": 1, "kv-row": 2, "kv-col": 3, "path": 6, "exact": 5, "truth": 0}
LIMIT = 4


class Draws:
    """Moments of `count` matrices (P x Q) of random Fourier features by every estimator. exact: its highest order, 4 or 5;
    averaged: path averaged over 8 random orders of rows and columns, too"""

    def __init__(self, figure, P, Q, dim, eta, count, nmax=7, exact=4, averaged=False, noise=()):
        self.count, self.orders = count, range(2, nmax + 1)
        theory = figure.kspec("theory", "rbf", "--dim", dim, "--eta", eta, "-n", nmax, "--eigenvalues", 1)
        self.truth = dict(enumerate(theory["moments"], 1))
        self.norm = theory["eigenvalues"][0]
        generate = ["generate", "rff", "--rows", P, "--cols", Q, "--dim", dim, "--eta", eta, *noise, "-o", "x.npy"]
        # asked for together with the others, exact goes up to n = 5, which is dear for the larger matrices
        jobs = [(nmax, (*COMPARED, "exact"))] if exact == 5 else [(nmax, COMPARED), (exact, ("exact",))]
        if averaged:
            jobs.append((nmax, ("path",), "--permutations", 8))

        def one(seed):
            found = {}
            for n, estimators, *more in jobs:
                r = figure.kspec(
                    "moments",
                    "x.npy",
                    "-n",
                    n,
                    "--estimator",
                    ",".join(estimators),
                    "--side",
                    "given",
                    "--no-stderr",
                    "--threads",
                    1,
                    *more,
                    after=[*generate, "--seed", seed, "--threads", 1],
                )
                found.update({(AVERAGED if more else e["estimator"], e["n"]): e["value"] for e in r["estimates"]})
            return found

        self.all = figure.map(one, range(1, count + 1))

    def has(self, e, n):
        return (e, n) in self.all[0]

    def values(self, e, n):
        return [draw[e, n] for draw in self.all]

    def bias(self, e, n):
        return mean(self.values(e, n)) - self.truth[n]

    def z(self, e, n):
        """The bias in standard errors"""
        return self.bias(e, n) / standard_error(self.values(e, n))

    def mse(self, e, n):
        return mean([(v - self.truth[n]) ** 2 for v in self.values(e, n)])

    def variance(self, e, n):
        return variance(self.values(e, n))

    def sd(self, e, n):
        """In units of the truth"""
        return math.sqrt(self.variance(e, n)) / self.truth[n]

    def spread_z(self, a, b, n):
        """By how many standard errors the logarithm of a's variance exceeds that of b's"""
        va, vb = self.values(a, n), self.values(b, n)
        ma, mb, sa, sb = mean(va), mean(vb), variance(va), variance(vb)
        d = [(x - ma) ** 2 / sa - (y - mb) ** 2 / sb for x, y in zip(va, vb)]
        return math.log(sa / sb) / standard_error(d) if sa != sb else 0


# ---- statements about draws ----


def is_unbiased(samples, e, orders=None):
    """(whether, in words) e is unbiased in each of the samples and at each order"""
    cases = [(s, n) for s in samples for n in orders or s.orders if s.has(e, n)]
    worst = max(cases, key=lambda c: abs(c[0].z(e, c[1])))
    errors = [standard_error(s.values(e, n)) / s.truth[n] for s, n in cases]
    z = worst[0].z(e, worst[1])
    return (
        abs(z) < LIMIT,
        f"bias at most {abs(z):.1f} SE in {len(cases)} cases; 1 SE is {min(errors):.2g} to {max(errors):.2g} m(n)",
    )


def is_biased(samples, e, orders=None):
    """(whether, in words) e is too large in each of the samples and at each order"""
    cases = [(s, n) for s in samples for n in orders or s.orders]
    s, n = min(cases, key=lambda c: c[0].z(e, c[1]))
    sizes = [s.bias(e, n) / s.truth[n] for s, n in cases]
    return s.z(e, n) > LIMIT, f"{e} by {min(sizes):.2g} to {max(sizes):.2g} m(n), at least {s.z(e, n):.0f} SE"


def undercut(sample, e, rivals=OTHERS):
    """Orders at which a rival's variance is lower than e's, beyond doubt: [(order, rival)]"""
    return [(n, r) for n in sample.orders for r in rivals if sample.has(e, n) and sample.spread_z(e, r, n) > LIMIT]


def in_words(cases):
    """[(5, kv-row), (6, kv-row)] as words"""
    return ", ".join(
        f"{r} at n = {', '.join(str(n) for n, s in cases if s == r)}" for r in OTHERS if r in [s for _, s in cases]
    )


def claim_smallest_mse(figure, sample, text, e=OURS):
    ratio = min((sample.mse(r, n) / sample.mse(e, n), r, n) for n in sample.orders for r in OTHERS)
    figure.claim(text, f"the next, {ratio[1]} at n = {ratio[2]}, has {ratio[0]:.2g} times its MSE", ratio[0] > 1)


# ---- panels ----


def line(label, x, y, low=None, high=None, **more):
    s = {"label": label, "x": list(x), "y": y, **more}
    if low:
        s.update(low=low, high=high)
    return s


def estimates_panel(sample, estimators, root=False, positive=False):
    """Means with quartiles against n, beside the truth; root: of the n-th roots, signed or of positive estimates alone"""

    def values(e, n):
        v = sample.values(e, n)
        if root:
            v = roots(v, n, positive)
        return v

    series = [
        line(
            "truth",
            sample.orders,
            [sample.truth[n] ** (1 / n if root else 1) for n in sample.orders],
            style="line",
            color=COLOR["truth"],
        )
    ]
    for e in estimators:
        orders = [n for n in sample.orders if sample.has(e, n)]
        v = [values(e, n) for n in orders]
        series.append(
            line(
                LABEL.get(e, e),
                orders,
                [mean(x) for x in v],
                [quantile(x, 0.25) for x in v],
                [quantile(x, 0.75) for x in v],
                color=COLOR[e],
                style="linespoints",
            )
        )
    return {
        "title": "mean, quartiles",
        "xlabel": "n",
        "ylabel": "m(n)^{1/n}" if root else "m(n)",
        "yscale": "log" if not root else "linear",
        "series": series,
    }


def error_panel(sample, estimators, title, ylabel, of):
    """of(estimator, n), a positive number, against n on a logarithmic axis"""
    return {
        "title": title,
        "xlabel": "n",
        "ylabel": ylabel,
        "yscale": "log",
        "series": [
            line(
                LABEL.get(e, e),
                [n for n in sample.orders if sample.has(e, n)],
                [of(e, n) for n in sample.orders if sample.has(e, n)],
                color=COLOR[e],
            )
            for e in estimators
        ],
    }


def roots(values, n, positive=False):
    """n-th roots, of a negative estimate -|m|^(1/n); positive: of the positive estimates alone"""
    return [math.copysign(abs(v) ** (1 / n), v) for v in values if v > 0 or not positive]


def error_figure(figure, sample):
    """The four columns of Figures A1 and A2"""
    names = (*OTHERS, OURS, "exact")
    figure.picture(
        "",
        [
            estimates_panel(sample, names),
            error_panel(sample, names, "mean-square error", "MSE", sample.mse),
            error_panel(sample, names, "bias error", "bias²", lambda e, n: sample.bias(e, n) ** 2),
            error_panel(sample, names, "variance error", "variance", sample.variance),
        ],
    )


def bias_and_variance(figure, sample):
    """What the paper says of every part of Figure A1: ours has the lowest bias and the lowest variance"""
    lowest = sum(abs(sample.bias(OURS, n)) < min(abs(sample.bias(r, n)) for r in OTHERS) for n in sample.orders)
    holds, number = is_unbiased([sample], OURS)
    figure.claim(
        "“the lowest bias”: none to be seen in ours",
        f"{number}; observed bias lowest at {lowest} of {len(sample.orders)} orders",
        holds,
    )
    expect_biased(figure, sample, OTHERS, range(2, 5))
    claim_lowest_variance(figure, sample, "“the lowest … variance error”")
    holds, number = is_unbiased([sample], "exact")
    figure.expect("exact is unbiased, too", number, holds)
    error_figure(figure, sample)


def expect_biased(figure, sample, estimators, orders):
    found = [is_biased([sample], e, orders) for e in estimators]
    figure.expect(
        f"biased at n = {orders[0]} to {orders[-1]}",
        "; ".join(number for _, number in found),
        all(holds for holds, _ in found),
    )


def claim_lowest_variance(figure, sample, text):
    """Where path averaged over several orders was drawn, too, the claim may not hold; then the average must show why"""
    lower, rivals = undercut(sample, OURS), undercut(sample, "exact", (*OTHERS, OURS))
    last = max(n for n in sample.orders if sample.has("exact", n))
    n = min((n for n, _ in lower), default=last)
    sds = ", ".join(f"{e} {sample.sd(e, n):.3g}" for e in (*OTHERS, OURS, AVERAGED, "exact") if sample.has(e, n))
    reason = "one order's increasing cycles are a small part of all cycles: averaged over 8 orders, or over all (exact), the noise is far less"
    figure.claim(
        text,
        (f"lower: {in_words(lower)}" if lower else "none is lower") + f"; SD/m(n) at n = {n}: {sds}",
        not lower,
        reason if sample.has(AVERAGED, 2) else None,
    )
    if lower:
        orders = sorted({n for n, _ in lower})
        shares = [(sample.sd(AVERAGED, n) / sample.sd(OURS, n)) ** 2 for n in orders]
        figure.expect(
            "averaging over 8 orders lowers path's variance wherever another's is lower",
            ", ".join(f"{v:.2f} of it at n = {n}" for n, v in zip(orders, shares)),
            max(shares) < 1,
        )
    figure.expect(f"exact has the lowest variance (n ≤ {last})", in_words(rivals) or "none is lower", not rivals)


NOISE = {
    "a": (),
    "b": ("--noise", 1),
    "c": ("--noise", 1, "--noise-correlation", "both"),
    "d": ("--noise", 1, "--trials", 2),
    "e": ("--noise", 1, "--noise-correlation", "both", "--trials", 2),
}


def noisy(figure, part):
    """The draws of Figure A2's parts"""
    return Draws(figure, 75, 15, 3, 4, figure.pick(200, 2000), averaged=part != "c", noise=NOISE[part])
