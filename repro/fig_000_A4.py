#!/usr/bin/env python3
"""Figure A4: moments of the hidden layer of networks 1024 and 128 wide while they learn, and from 128 of the
1024 neurons; unbiased and naive. “We also compare these moments to those from networks trained with smaller
sizes (N = 128), and find that the resulting kernel moments estimates also match.” To match is taken as in
Figure 4: not both more than 10% apart and different beyond doubt (paper000_learn.py)."""
from harness import Figure, mean
from paper000 import PAPER
from paper000_learn import CLOSE, DIFFERENT, ORDERS, PIXELS, Training

LINES = [(width, key, f"{kind}, {label}", color, style)
         for kind, style in (("unbiased", {}), ("naive", {"style": "dotted"}))
         for width, key, label, color in ((1024, kind, "N = 1024", 0), (128, kind, "N = 128", 5),
                                          (1024, f"{kind}_subsample", "128 of 1024", 6))]
figure = Figure("000-A4", PAPER, "Moments of hidden layers of 1024 and of 128 neurons")
for pixels, how in PIXELS.items():
    t = Training(figure, pixels)
    cases = [(*t.away(128, "unbiased", n, at)[:2], n, at) for at in range(len(t.epochs)) for n in ORDERS]
    apart = [c for c in cases if abs(c[0]) > DIFFERENT and abs(c[1]) > CLOSE]
    z, d, n, at = max(apart or cases, key=lambda c: abs(c[1]))
    before = t.away(128, "unbiased", n, 0)
    accuracy = [mean([run[t.last]["accuracy"] for run in t.runs[w]]) for w in (128, 1024)]
    reason = (f"the networks learn differently. Before training the difference is {before[1]:+.1%} "
              f"(z = {before[0]:+.1f}). At the end of training they classify {accuracy[0]:.1%} and "
              f"{accuracy[1]:.1%} of the training images correctly")
    figure.claim(f"{how}: unbiased moments of N = 128 and N = 1024 “also match”",
                 f"furthest n = {n}, epoch {t.epochs[at]}: {d:+.1%} (z = {z:+.1f})"
                 + (f"; apart at {len(apart)} of {len(cases)} epochs and orders" if apart else ""),
                 not apart, reason if pixels == "255" or not figure.full else None)
    if pixels == "unit":
        z, d, _ = t.away(128, "naive", 2, 0)
        figure.expect(f"{how}: before training, when the kernels are equal, naive m(2) is larger at "
                      "N = 128", f"{d:+.1%} (z = {z:+.1f})", z > DIFFERENT)
    panels = [t.panel(f"n = {n}", n, [t.line(width, key, n, label, color=color, **style)
                                      for width, key, label, color, style in LINES]) for n in ORDERS]
    figure.picture(pixels, panels, f"Networks of 1024 and of 128 neurons: {how}",
                   note="bands: quartiles of the networks")
figure.finish()
