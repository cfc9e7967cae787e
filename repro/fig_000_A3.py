#!/usr/bin/env python3
"""Figure A3: moments of the hidden layer of networks 1024 wide while they learn: unbiased from all neurons,
unbiased and naive from 128 of them. Each matrix is divided by its own root mean square.

“The two estimates match very closely” is taken as: at every epoch and order the mean difference is below 5%,
or within LIMIT in z (paper000_learn.py). “For the naive estimator, the mean value falls outside the
confidence interval” is taken as: outside the middle half of the unbiased estimates from 128 neurons."""
from harness import Figure, mean, quantile, standard_error
from paper000 import LIMIT, PAPER
from paper000_learn import ORDERS, PIXELS, SUBSAMPLE, Training, files, paired

figure = Figure("000-A3", PAPER, "Moments of a hidden layer from 128 of its 1024 neurons")
N = 1024
trained = {pixels: Training(figure, pixels) for pixels in PIXELS}

for pixels, how in PIXELS.items():
    t = trained[pixels]
    cases, outside = [], 0
    for at in range(len(t.epochs)):
        for n in ORDERS:
            every, part, naive = (t.values(N, key, n, at)
                                  for key in ("unbiased", "unbiased_subsample", "naive_subsample"))
            d = [(b - a) / a for a, b in zip(every, part)]
            cases.append((paired(d), mean(d), n, t.epochs[at]))
            outside += not quantile(part, 0.25) <= mean(naive) <= quantile(part, 0.75)
    apart = [c for c in cases if abs(c[0]) > LIMIT and abs(c[1]) > 0.05]
    z, d, n, epoch = max(apart or cases, key=lambda c: abs(c[1]))
    m2 = mean(t.values(N, "unbiased", 2, t.last))
    reasons = [None, None]
    if pixels == "255":  # where the claims are known not to hold
        reasons = [
            "the 128 neurons are divided by their own root mean square, and a ratio of estimates is biased",
            f"networks differ from each other by more than the bias. m(2) consists mostly of one squared "
            f"eigenvalue and is {m2:.2f} of its largest possible value"]
    figure.claim(f"{how}: “in every epoch, these two estimates match very closely”",
                 f"furthest: n = {n}, epoch {epoch}, {d:+.1%} (z = {z:+.1f})"
                 + (f"; apart at {len(apart)} of {len(cases)} epochs and orders" if apart else ""),
                 not apart, reasons[0])
    figure.claim(f"{how}: naive from 128 neurons “falls outside the confidence interval”",
                 f"at {outside} of {len(cases)} epochs and orders", outside == len(cases), reasons[1])

# Before training, pixels/255: columns of the matrix that was divided by the root mean square of all 1024, as
# they are or divided by their own. The neurons are alike, so that any 128 are a random sample.
learn = ["learn", *files(figure), "--width", N, "--epochs", 1, "--train-count", 32, "--probe", 500,
         "--pixels", 255, "--estimator", "naive", "-n", 1, "--no-stderr",
         "--save-activations", ".", "--threads", 1]


def part(seed, first, *more):
    r = figure.kspec("moments", f"width-{N}-seed-{seed}-epoch-000.npy",
                     "--select-cols", f"{first}-{first + SUBSAMPLE - 1}", "-n", 4, "--estimator", "exact",
                     "--no-stderr", "--threads", 1, *more, after=[*learn, "--seed", seed])
    return r["estimates"][3]["value"]


whole = mean(trained["255"].values(N, "unbiased", 4, 0))
which = [(seed, first) for seed in range(figure.pick(8, 32)) for first in (0, SUBSAMPLE)]
for text, more, biased in (("scaled like all 1024", [], False),
                           ("divided by their own root mean square as in the paper", ["--normalize"], True)):
    v = figure.map(lambda w: part(*w, *more), which)
    z = (mean(v) - whole) / standard_error(v)
    figure.expect(f"before training, pixels/255, m(4) from 128 neurons, {text}, "
                  f"{'is biased' if biased else 'has no bias'}",
                  f"{mean(v) / whole - 1:+.0%} ({z:+.1f} SE)", z < -LIMIT if biased else abs(z) < LIMIT)

LINES = (("unbiased", "unbiased, all 1024", 0), ("unbiased_subsample", "unbiased, 128 of them", 6),
         ("naive_subsample", "naive, 128 of them", 7))
for pixels, how in PIXELS.items():
    t = trained[pixels]
    panels = [t.panel(f"n = {n}", n, [t.line(N, key, n, label, color=c) for key, label, c in LINES])
              for n in ORDERS]
    figure.picture(pixels, panels, f"All neurons and 128 of them: {how}",
                   note="bands: quartiles of the networks")
figure.finish()
