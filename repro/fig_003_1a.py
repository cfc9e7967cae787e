#!/usr/bin/env python3
"""Figure 1a: singular values of L^alpha Psi over the modes p ... N-1 that are not learned; N = 1024, p = 512,
five alpha; L = diag(1 ... N), Psi_jk = e^(2 pi i jk/N).

"Even a small alpha (e.g., alpha = 0.4) can significantly impact the result" is taken as: every singular value
is at least 1.5 times sqrt(N), their common value for alpha = 0, and the largest ten times.
"""
import math

from harness import Figure
from paper003 import PAPER, singular_values

N, MODES = 1024, 512
ALPHAS = [0, 0.4, 0.6, 0.8, 1.0]
figure = Figure("003-1a", PAPER, "Singular values of the product of data weights and unlearned modes")
values = {alpha: singular_values(figure, N, MODES, alpha) for alpha in ALPHAS}
root = math.sqrt(N)
worst = max(abs(s / root - 1) for s in values[0])
figure.claim("α = 0: all the singular values are the same and equal to √N", f"within {worst:.1g}",
             worst < 1e-12)
low, high = min(values[0.4]) / root, max(values[0.4]) / root
figure.claim("even α = 0.4 has a significant impact (every value above 1.5 √N, the largest above 10 √N)",
             f"{low:.2f} … {high:.1f} √N", low > 1.5 and high > 10)
growth = [min(y / x for x, y in zip(values[a], values[b])) for a, b in zip(ALPHAS, ALPHAS[1:])]
figure.expect("every singular value grows with α",
              "by factors of at least " + ", ".join(f"{g:.2f}" for g in growth) + " from one α to the next",
              min(growth) > 1)
# The trace, and Poincaré's separation theorem: N-p dimensions out of N, in which L^α has the eigenvalues t^α
for alpha in ALPHAS:
    total = MODES * math.fsum((1 + j) ** (2 * alpha) for j in range(N))
    off = abs(math.fsum(s * s for s in values[alpha]) / total - 1)
    outside = sum(not (MODES - k) ** alpha * (1 - 1e-12) <= s / root <= (N - k) ** alpha * (1 + 1e-12)
                  for k, s in enumerate(values[alpha]))
    figure.expect(f"α = {alpha}: Σσ² = (N−p) Σ t^2α, and √N (N−p−k)^α ≤ σ_k ≤ √N (N−k)^α for k = 0, 1, …",
                  f"sum off by {off:.1g}, {outside} values outside", off < 1e-12 and outside == 0)

lines = [{"label": f"α = {a}", "x": list(range(1, MODES + 1)), "y": values[a], "style": "line", "color": i}
         for i, a in zip((0, 1, 2, 3, 5), ALPHAS)]
figure.picture("", [{"xlabel": "index", "ylabel": "singular value", "yscale": "log", "series": lines}])
figure.finish()
