"""What Figures 2c and 2d share: the estimators' moments as one side of the matrix grows.

Apart from draws, an estimator's mean is a polynomial of degree n-1 in 1/Q (columns that coincide in a cycle), and so in
1/P. From n sizes its value at infinity follows without bias: draw by draw, the interpolating polynomial in 1/Q at 0. So
“converges to the true moments” becomes: this limit's mean is within LIMIT standard errors of the truth (n = 2 and 3;
higher orders extrapolate too much noise). The paper does not say which sizes and orders it shows; here sizes are doubled,
and n = 2, 3, 4."""

import math

from harness import mean, quantile, standard_error
from paper000 import COLOR, LABEL, LIMIT, OTHERS, OURS, Draws, is_biased, is_unbiased, line

ORDERS, LIMIT_ORDERS = (2, 3, 4), (2, 3)


class Sizes:
    def __init__(self, figure, sizes, shape):
        """shape: of a size, (P, Q)"""
        self.sizes = sizes
        self.samples = [
            Draws(figure, *shape(size), 5, 4, figure.pick(60, 400), nmax=7 if shape(size) == (300, 600) else 4)
            for size in sizes
        ]

    def limit(self, e, n):
        """(bias in units of the truth, in standard errors) for a size without end, from the n largest sizes"""
        last = list(zip(self.sizes, self.samples))[-n:]
        weights = [math.prod(q / (q - other) for other, _ in last if other != q) for q, _ in last]
        values = [sum(w * v for w, v in zip(weights, draw)) for draw in zip(*(s.values(e, n) for _, s in last))]
        bias = mean(values) - last[0][1].truth[n]
        return bias / last[0][1].truth[n], bias / standard_error(values)

    def converges(self, e):
        """(whether, in words)"""
        limits = [self.limit(e, n) for n in LIMIT_ORDERS]
        return (
            all(abs(z) < LIMIT for _, z in limits),
            "limit off by " + ", ".join(f"{b:.2g} ({z:.1f} SE)" for b, z in limits) + " m(n)",
        )

    def stays_biased(self, e):
        limits = [self.limit(e, n) for n in LIMIT_ORDERS]
        return (
            all(z > LIMIT for _, z in limits),
            f"{e}: limit too large by " + ", ".join(f"{b:.2g}" for b, _ in limits) + " m(n)",
        )


def only_ours_is_unbiased(figure, grown):
    holds, number = is_unbiased(grown.samples, OURS, ORDERS)
    others = [is_biased(grown.samples, e, ORDERS) for e in OTHERS]
    figure.claim(
        "“our estimator is the only unbiased estimator across all finite P and Q”: ours at every size", number, holds
    )
    figure.claim(
        "the same: none of the others at any size",
        "; ".join(number for _, number in others),
        all(holds for holds, _ in others),
    )
    holds, number = is_unbiased(grown.samples, "exact", ORDERS)
    figure.expect("exact is unbiased at every size, too", number, holds)


def draw(figure, grown, xlabel):
    panels = []
    for n in ORDERS:
        truth = grown.samples[0].truth[n]
        series = [line("truth", grown.sizes, [truth] * len(grown.sizes), style="line", color=COLOR["truth"])]
        for e in (*OTHERS, OURS):
            v = [s.values(e, n) for s in grown.samples]
            series.append(
                line(
                    LABEL.get(e, e),
                    grown.sizes,
                    [mean(x) for x in v],
                    [quantile(x, 0.25) for x in v],
                    [quantile(x, 0.75) for x in v],
                    color=COLOR[e],
                    style="linespoints",
                )
            )
        panels.append(
            {"title": f"n = {n}", "xlabel": xlabel, "ylabel": f"m({n})", "xscale": "log", "yscale": "log", "series": series}
        )
    figure.picture("", panels)
