"""What the figures of paper 000 share: draws of a process, the moments of each draw by every estimator,
statements about them.

The paper's own estimator ("ours") is `path`, on the matrix as given. The paper does not say how many draws
its figures average. A mean over draws counts as unbiased within LIMIT standard errors of the truth (normal
probability of a false alarm 6e-5) and as biased beyond them. One estimator's variance counts as larger than
another's where the logarithm of their ratio exceeds LIMIT of its standard errors (by linearisation; both have
the same draws).

A finding is a pair (number in words, whether it holds): what Figure.claim() and expect() take after the text.
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
    """The moments of `count` matrices (P x Q) of random Fourier features by every estimator. exact: its
    highest order, 4 or 5; averaged: also path averaged over 8 random orders of rows and columns"""

    def __init__(self, figure, P, Q, dim, eta, count, nmax=7, exact=4, averaged=False, noise=()):
        self.count, self.orders = count, range(2, nmax + 1)
        theory = figure.kspec("theory", "rbf", "--dim", dim, "--eta", eta, "-n", nmax, "--eigenvalues", 1)
        self.truth = dict(enumerate(theory["moments"], 1))
        self.norm = theory["eigenvalues"][0]
        generate = ["generate", "rff", "--rows", P, "--cols", Q, "--dim", dim, "--eta", eta, *noise,
                    "-o", "x.npy"]
        # exact in one command with the others goes up to n = 5, which is expensive for the larger matrices
        jobs = [(nmax, (*COMPARED, "exact"))] if exact == 5 else [(nmax, COMPARED), (exact, ("exact",))]
        if averaged:
            jobs.append((nmax, ("path",), "--permutations", 8))

        def one(seed):
            found = {}
            for n, estimators, *more in jobs:
                r = figure.kspec("moments", "x.npy", "-n", n, "--estimator", ",".join(estimators),
                                 "--side", "given", "--no-stderr", "--threads", 1, *more,
                                 after=[*generate, "--seed", seed, "--threads", 1])
                found.update({(AVERAGED if more else e["estimator"], e["n"]): e["value"]
                              for e in r["estimates"]})
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

    def lowest_bias(self):
        """At how many orders the observed bias of ours is lower than that of all others"""
        return sum(abs(self.bias(OURS, n)) < min(abs(self.bias(r, n)) for r in OTHERS) for n in self.orders)


# ---- findings ----

def is_unbiased(samples, e, orders=None):
    """In each of the samples and at each order"""
    cases = [(s, n) for s in samples for n in orders or s.orders if s.has(e, n)]
    errors = [standard_error(s.values(e, n)) / s.truth[n] for s, n in cases]
    z = max(abs(s.z(e, n)) for s, n in cases)
    span = f"{min(errors):.2g} to {max(errors):.2g} m(n)"
    return f"bias at most {z:.1f} SE in {len(cases)} cases; 1 SE is {span}", z < LIMIT


def is_biased(samples, e, orders=None):
    """Too large in each of the samples and at each order"""
    cases = [(s, n) for s in samples for n in orders or s.orders]
    sizes = [s.bias(e, n) / s.truth[n] for s, n in cases]
    z = min(s.z(e, n) for s, n in cases)
    return f"{e} by {min(sizes):.2g} to {max(sizes):.2g} m(n), at least {z:.0f} SE", z > LIMIT


def together(findings):
    """All of several findings"""
    findings = list(findings)
    return "; ".join(number for number, _ in findings), all(holds for _, holds in findings)


def undercut(sample, e, rivals=OTHERS):
    """[(order, rival)]: where a rival's variance is lower than e's beyond doubt"""
    orders = [n for n in sample.orders if sample.has(e, n)]
    return [(n, r) for n in orders for r in rivals if sample.spread_z(e, r, n) > LIMIT]


def in_words(cases):
    """[(5, kv-row), (6, kv-row)] as "kv-row at n = 5, 6" """
    rivals = [r for r in OTHERS if r in [s for _, s in cases]]
    return ", ".join(f"{r} at n = {', '.join(str(n) for n, s in cases if s == r)}" for r in rivals)


# ---- statements ----

def claim_smallest_mse(figure, sample, text, e=OURS):
    ratio, rival, n = min((sample.mse(r, n) / sample.mse(e, n), r, n) for n in sample.orders for r in OTHERS)
    figure.claim(text, f"the best rival, {rival} at n = {n}, has {ratio:.2g} times the MSE", ratio > 1)


def expect_biased(figure, sample, estimators, orders):
    figure.expect(f"other estimators are biased at n = {orders[0]} to {orders[-1]}",
                  *together(is_biased([sample], e, orders) for e in estimators))


def claim_lowest_variance(figure, sample, text):
    """Where path averaged over 8 orders was drawn as well, the claim may fail; the average must show why"""
    lower, rivals = undercut(sample, OURS), undercut(sample, "exact", (*OTHERS, OURS))
    last = max(n for n in sample.orders if sample.has("exact", n))
    n = min((n for n, _ in lower), default=last)
    sds = ", ".join(f"{e} {sample.sd(e, n):.3g}" for e in (*OTHERS, OURS, AVERAGED, "exact")
                    if sample.has(e, n))
    reason = ("path averages the increasing cycles of one order, a small share of all cycles. The "
              "average over 8 orders, or over all cycles (exact), has far less noise")
    beaten = len({n for n, _ in lower})
    found = (f"lowest at {len(sample.orders) - beaten} of {len(sample.orders)} orders; lower variance: "
             f"{in_words(lower)}"
             if lower else "no variance is lower")
    figure.claim(text, f"{found}; SD/m(n) at n = {n}: {sds}", not lower,
                 reason if sample.has(AVERAGED, 2) else None)
    if lower:
        orders = sorted({n for n, _ in lower})
        shares = [(sample.sd(AVERAGED, n) / sample.sd(OURS, n)) ** 2 for n in orders]
        figure.expect("averaging over 8 orders lowers path's variance wherever another estimator's is lower",
                      "remaining share " + ", ".join(f"{v:.2f} at n = {n}" for n, v in zip(orders, shares)),
                      max(shares) < 1)
    figure.expect(f"exact has the lowest variance (n ≤ {last})", in_words(rivals) or "no variance is lower",
                  not rivals)


# ---- panels ----

def line(label, x, y, **look):
    return {"label": label, "x": list(x), "y": y, **look}


def quartiles(label, x, values, **look):
    """A line of the means of several lists of values, with their quartiles"""
    low, high = ([quantile(v, q) for v in values] for q in (0.25, 0.75))
    return line(label, x, [mean(v) for v in values], low=low, high=high, **look)


def roots(values, n, positive=False):
    """n-th roots, -|m|^(1/n) of a negative estimate; positive: of the positive estimates alone"""
    return [math.copysign(abs(v) ** (1 / n), v) for v in values if v > 0 or not positive]


def estimates_panel(sample, estimators, root=False, positive=False):
    """Means with quartiles against n, and the truth; root: of the n-th roots, as roots() takes them"""
    truth = [sample.truth[n] ** (1 / n if root else 1) for n in sample.orders]
    series = [line("truth", sample.orders, truth, style="line", color=COLOR["truth"])]
    for e in estimators:
        orders = [n for n in sample.orders if sample.has(e, n)]
        values = [roots(sample.values(e, n), n, positive) if root else sample.values(e, n) for n in orders]
        series.append(quartiles(LABEL.get(e, e), orders, values, color=COLOR[e], style="linespoints"))
    return {"title": "mean, quartiles", "xlabel": "n", "ylabel": "m(n)^{1/n}" if root else "m(n)",
            "yscale": "linear" if root else "log", "series": series}


def error_panel(sample, estimators, title, ylabel, of):
    """of(estimator, n), a positive number, against n on a logarithmic axis"""
    series = []
    for e in estimators:
        orders = [n for n in sample.orders if sample.has(e, n)]
        series.append(line(LABEL.get(e, e), orders, [of(e, n) for n in orders], color=COLOR[e]))
    return {"title": title, "xlabel": "n", "ylabel": ylabel, "yscale": "log", "series": series}


def error_figure(figure, sample):
    """The four columns of Figures A1 and A2"""
    names = (*OTHERS, OURS, "exact")
    figure.picture("", [
        estimates_panel(sample, names),
        error_panel(sample, names, "mean-square error", "MSE", sample.mse),
        error_panel(sample, names, "bias error", "bias²", lambda e, n: sample.bias(e, n) ** 2),
        error_panel(sample, names, "variance error", "variance", sample.variance)])


# ---- Figure A2 ----

NEARLY_ALL = "“the lowest … variance error across nearly all configurations”, in this panel"
NOISE = {
    "a": (),
    "b": ("--noise", 1),
    "c": ("--noise", 1, "--noise-correlation", "both"),
    "d": ("--noise", 1, "--trials", 2),
    "e": ("--noise", 1, "--noise-correlation", "both", "--trials", 2),
}


def noisy(figure, part):
    """The draws of one of its parts"""
    return Draws(figure, 75, 15, 3, 4, figure.pick(200, 2000), averaged=part != "c", noise=NOISE[part])
