#!/usr/bin/env python3
"""Figure 4: moments of the hidden layer of ReLU networks, 32 to 1024 wide, while they learn Fashion-MNIST:
naive above, unbiased below. “The naive spectral moment estimates diverge across the different network widths;
in contrast, our estimator produces consistent spectral moments across the entire range of widths.”"""
from harness import Figure, mean
from paper000 import LIMIT, PAPER
from paper000_learn import CLOSE, DIFFERENT, ORDERS, PIXELS, Training

figure = Figure("000-4", PAPER, "Moments of hidden layers during training, by width")
trained = {pixels: Training(figure, pixels) for pixels in PIXELS}

for pixels, how in PIXELS.items():
    t = trained[pixels]
    naive = [t.furthest("naive", n, t.last) for n in ORDERS]
    m2 = {key: "m(2) by width: " + ", ".join(f"{mean(t.values(w, key, 2, t.last)):.3f}" for w in t.widths)
          for key in ("naive", "unbiased")}
    figure.claim(
        f"{how}: “naive … estimates diverge across the different network widths” (last epoch, n = 2, 3 or 4)",
        "; ".join(f"n = {n}: width {w} {d:+.0%} (z = {z:+.1f})" for n, (z, d, w) in zip(ORDERS, naive))
        + f"; {m2['naive']}",
        any(abs(z) > DIFFERENT for z, _, _ in naive),
        "bias and learning offset each other")
    every = range(t.last + 1)
    number, holds = t.agree("unbiased", every)
    near = {key: mean([abs(t.away(w, key, n, at)[1]) <= CLOSE
                       for w in t.widths[:-1] for n in ORDERS for at in every]) for key in m2}
    figure.claim(
        f"{how}: “our estimator produces consistent spectral moments across the entire range of widths” "
        "at every epoch",
        f"{near['unbiased']:.0%} of the unbiased means are within 10% of the widest's, {near['naive']:.0%} "
        f"of the naive; {number}; {m2['unbiased']} after {t.steps} steps", holds,
        "narrow networks learn at another pace, or learn other kernels; no estimator can hide this. "
        f"From width 128 up: {t.agree('unbiased', every, 128)[0]}. "
        f"At the end: {t.agree('unbiased', [t.last])[0]}. Before training: {t.agree('unbiased', [0])[0]}")
start = trained["unit"]
figure.expect("before training, all widths have the same kernel, and unbiased moments agree (centred "
              "images)", *start.agree("unbiased", [0]))
z, d, w = start.furthest("naive", 2, 0)
figure.expect("before training, naive moments do not agree (m(2))", f"width {w} {d:+.0%} (z = {z:+.1f})",
              z > LIMIT)

COLOR = {32: 1, 64: 2, 128: 3, 256: 7, 512: 5, 1024: 0}
for pixels, how in PIXELS.items():
    t = trained[pixels]
    panels = [t.panel(f"{key}, n = {n}", n,
                      [t.line(w, key, n, f"width {w}", color=COLOR[w]) for w in t.widths])
              for key in ("naive", "unbiased") for n in ORDERS]
    for above, below in zip(panels[:3], panels[3:]):  # the same scale for both
        ends = [v for p in (above, below) for s in p["series"] for v in (*s["low"], *s["high"])]
        wide = 0 < 10 * min(ends) < max(ends)
        above["yscale"] = below["yscale"] = "log" if wide else "linear"
        above["yrange"] = below["yrange"] = [min(ends) / 1.2 if wide else min(0, *ends), 1.05 * max(ends)]
    figure.picture(pixels, panels, f"Moments of hidden layers: {how}",
                   note="bands: quartiles of the networks")
figure.finish()
