#!/usr/bin/env python3
"""Figure 2c: moments of the RBF kernel (d = 5, eta = 4) with P = 300 rows, by the number Q of columns."""

from harness import Figure
from paper000 import OURS, PAPER
from paper000_sizes import Sizes, draw, only_ours_is_unbiased

figure = Figure("000-2c", PAPER, "Moments of an RBF kernel, P = 300, as Q grows")
grown = Sizes(figure, figure.pick([75, 150, 300, 600], [75, 150, 300, 600, 1200, 2400]), lambda Q: (300, Q))

biased = [grown.stays_biased(e) for e in ("naive", "kv-col")]
figure.claim(
    "“m̂_0 and m̂_KV-col are biased even in the limit of large Q”",
    "; ".join(n for _, n in biased),
    all(h for h, _ in biased),
)
holds, number = grown.converges(OURS)
figure.claim("“our estimator … asymptotically converges to the true moments at large Q”", number, holds)
figure.claim(
    "“… and m̂_KV-col”",
    grown.converges("kv-col")[1],
    grown.converges("kv-col")[0],
    "the text says of KV-col that it is biased and that it converges; by its own definitions the one that converges is KV-row",
)
holds, number = grown.converges("kv-row")
figure.expect("kv-row converges", number, holds)
only_ours_is_unbiased(figure, grown)
draw(figure, grown, "Q")
figure.finish()
