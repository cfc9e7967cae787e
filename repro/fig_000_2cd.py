#!/usr/bin/env python3
"""Figures 2c and 2d: moments of the RBF kernel (d = 5, eta = 4) by the number Q of columns, with P = 300
rows, and by the number P of rows, with Q = 600 columns.

The mean of an estimator over draws is a polynomial of degree n-1 in 1/Q (columns that coincide in a cycle),
and likewise in 1/P. So n sizes give its value at infinity without bias: the interpolating polynomial in 1/Q
at 0, draw by draw. “Converges to the true moments” is taken as: the mean of this limit is within LIMIT
standard errors of the truth (n = 2 and 3; higher orders extrapolate too much noise). The paper does not say
which sizes and orders it shows; here sizes double, and n = 2, 3, 4. It says of KV-col both that it stays
biased as Q grows and that it converges. So its names are read in two ways: as it defines them, and with row
and col exchanged.
"""
import math

from harness import Figure, chosen, mean, standard_error
from paper000 import (COLOR, LABEL, LIMIT, OTHERS, OURS, PAPER, Draws, is_biased, is_unbiased, line,
                      quartiles, together)

ORDERS, LIMIT_ORDERS = (2, 3, 4), (2, 3)
FULL = [75, 150, 300, 600, 1200, 2400]
DEFINED, EXCHANGED = "row and col as defined: ", "row and col exchanged: "
FIGURES = {  # P, Q (None: what grows), quick sizes, statements (kind, text, limits, estimators, reason)
    "000-2c": (300, None, [75, 150, 300, 600], [
        ("claim", DEFINED + "“m̂_0 and m̂_KV-col are biased even in the limit of large Q”", "biased",
         ("naive", "kv-col")),
        ("claim", EXCHANGED + "“m̂_0 and m̂_KV-col are biased even in the limit of large Q”", "biased",
         ("naive", "kv-row"), "an average over all rows converges as Q grows"),
        ("claim", "“our estimator … asymptotically converges to the true moments at large Q”", "true",
         (OURS,)),
        ("claim", DEFINED + "“… and m̂_KV-col”", "true", ("kv-col",),
         "the text calls KV-col biased in one place and convergent in another. By the paper's definitions, "
         "KV-row converges"),
        ("claim", EXCHANGED + "“… and m̂_KV-col”", "true", ("kv-row",))]),
    "000-2d": (None, 600, [75, 150, 300], [
        ("claim", "“only our estimator … asymptotically converges to the true moments” as P grows", "true",
         (OURS,)),
        ("claim", DEFINED + "“… and m̂_KV-row”", "true", ("kv-row",),
         "by the paper's definitions, KV-row averages over all columns and keeps their bias as P grows. "
         "KV-col converges"),
        ("claim", EXCHANGED + "“… and m̂_KV-row”", "true", ("kv-col",)),
        ("expect", "naive and kv-row stay biased", "biased", ("naive", "kv-row"))]),
}
name, (P, Q, quick, statements) = chosen(FIGURES)
fixed, grows = (f"P = {P}", "Q") if P else (f"Q = {Q}", "P")
figure = Figure(name, PAPER, f"Moments of an RBF kernel, {fixed}, as {grows} grows")
sizes = figure.pick(quick, FULL)


def draws(rows, cols):
    nmax = 7 if (rows, cols) == (300, 600) else 4  # 7: as in Figure 2a, whose cached draws serve
    return Draws(figure, rows, cols, 5, 4, figure.pick(60, 400), nmax=nmax)


samples = [draws(P or size, Q or size) for size in sizes]


def limit(e, n):
    """(bias in units of the truth, in standard errors) of a size without end, from the n largest sizes"""
    last = list(zip(sizes, samples))[-n:]
    weights = [math.prod(q / (q - other) for other, _ in last if other != q) for q, _ in last]
    values = [sum(w * v for w, v in zip(weights, draw)) for draw in zip(*(s.values(e, n) for _, s in last))]
    truth = samples[0].truth[n]
    return (mean(values) - truth) / truth, (mean(values) - truth) / standard_error(values)


def limits(kind, e):
    """The finding that the limits of an estimator are the true moments, or are biased"""
    found = [limit(e, n) for n in LIMIT_ORDERS]
    if kind == "biased":
        return (f"{e}: limit too large by {', '.join(f'{b:.2g}' for b, _ in found)} m(n)",
                all(z > LIMIT for _, z in found))
    return (f"limit off by {', '.join(f'{b:.2g} ({z:.1f} SE)' for b, z in found)} m(n)",
            all(abs(z) < LIMIT for _, z in found))


for kind, text, what, estimators, *reason in statements:
    getattr(figure, kind)(text, *together(limits(what, e) for e in estimators), *reason)
figure.claim("“our estimator is the only unbiased estimator across all finite P and Q”",
             *together([is_unbiased(samples, OURS, ORDERS),
                        *(is_biased(samples, e, ORDERS) for e in OTHERS)]))
figure.expect("exact is unbiased at every size as well", *is_unbiased(samples, "exact", ORDERS))

panels = []
for n in ORDERS:
    series = [line("truth", sizes, [samples[0].truth[n]] * len(sizes), style="line", color=COLOR["truth"])]
    for e in (*OTHERS, OURS):
        values = [s.values(e, n) for s in samples]
        series.append(quartiles(LABEL.get(e, e), sizes, values, color=COLOR[e], style="linespoints"))
    panels.append({"title": f"n = {n}", "xlabel": grows, "ylabel": f"m({n})", "xscale": "log",
                   "yscale": "log", "series": series})
figure.picture("", panels, note="bars: quartiles")
figure.finish()
