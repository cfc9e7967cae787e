#!/usr/bin/env python3
"""Figure 2d: moments of the RBF kernel (d = 5, eta = 4) with Q = 600 columns, by the number P of rows."""

from harness import Figure
from paper000 import OURS, PAPER
from paper000_sizes import Sizes, draw, only_ours_is_unbiased

figure = Figure("000-2d", PAPER, "Moments of an RBF kernel, Q = 600, as P grows")
grown = Sizes(figure, figure.pick([75, 150, 300], [75, 150, 300, 600, 1200, 2400]), lambda P: (P, 600))

holds, number = grown.converges(OURS)
figure.claim("“only our estimator … asymptotically converges to the true moments” as P grows", number, holds)
figure.claim(
    "“… and m̂_KV-row”",
    grown.converges("kv-row")[1],
    grown.converges("kv-row")[0],
    "by the paper's definitions KV-row averages over all columns and keeps their bias as P grows; the one that converges is KV-col",
)
holds, number = grown.converges("kv-col")
figure.expect("kv-col converges", number, holds)
biased = [grown.stays_biased(e) for e in ("naive", "kv-row")]
figure.expect("naive and kv-row stay biased", "; ".join(n for _, n in biased), all(h for h, _ in biased))
only_ours_is_unbiased(figure, grown)
draw(figure, grown, "P")
figure.finish()
