#!/usr/bin/env python3
"""Figure 1a: singular values of L^alpha Psi over the modes p ... N-1 that are not learned; N = 1024, p = 512, five alpha.

L = diag(1 ... N), Psi_jk = e^(2 pi i jk/N). "Even a small alpha (e.g., alpha = 0.4) can significantly impact the result" is taken as:
every singular value is at least 1.5 times sqrt(N), their common value for alpha = 0, and the largest ten times.

kspec takes real features. Turning row j by e^(-2 pi i j m/N), m the middle of the modes, and turning each pair of columns e^(if), e^(-if)
into sqrt(2) cos f, sqrt(2) sin f is unitary: the real matrix has the same singular values.
"""
import array
import math
import os
import struct
import zlib

from harness import Figure

N, MODES = 1024, 512
ALPHAS = [0, 0.4, 0.6, 0.8, 1.0]
figure = Figure("003-1a", "A Generalized Weighted Optimization Method for Computational Learning and Inversion",
                "singular values of the data weights times the modes that are not learned")


def matrix(name, cols, values):
    """A file of N rows. Its name says what is in it, and it is written once: so the results made from it are found again"""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({N}, {cols}), }}".ljust(117) + "\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + array.array("d", values).tobytes()
    path = (figure.cache / f"003-1a-{name}-{zlib.crc32(content):08x}.npy").resolve()
    if not path.exists():
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_bytes(content)
        partial.rename(path)
    return path


wave = [math.sqrt(2) * f(math.pi * m / N) for m in range(2 * N) for f in (math.cos, math.sin)]
pairs = (wave[2 * (j * odd % (2 * N)):][:2] for j in range(N) for odd in range(1, MODES, 2))  # frequencies 1/2, 3/2, ...
psi = matrix("psi", MODES, [x for pair in pairs for x in pair])
noise = matrix("ones", 1, [1] * N)  # asked for with features; plays no part here


def singular_values(alpha):
    weights = matrix(f"weights-{alpha}", 1, [(1 + j) ** alpha for j in range(N)])
    r = figure.kspec("wls", "--features", psi, "--data-weights", weights, "--noise-covariance", noise, "--threads", 1)
    return r["points"][0]["singular_values"]


values = dict(zip(ALPHAS, map(singular_values, ALPHAS)))
root = math.sqrt(N)
worst = max(abs(s / root - 1) for s in values[0])
figure.claim("α = 0: all the singular values are the same and equal to √N", f"within {worst:.1g}", worst < 1e-12)
low, high = min(values[0.4]) / root, max(values[0.4]) / root
figure.claim("even α = 0.4 has a significant impact (every value above 1.5 √N, the largest above 10 √N)", f"{low:.2f} … {high:.1f} √N",
             low > 1.5 and high > 10)
growth = [min(y / x for x, y in zip(values[a], values[b])) for a, b in zip(ALPHAS, ALPHAS[1:])]
figure.expect("every singular value grows with α", "at least " + ", ".join(f"{g:.2f}" for g in growth) + " times from one α to the next",
              min(growth) > 1)
for alpha in ALPHAS:  # the trace, and Poincaré's separation: N-p dimensions out of N, in which L^α has the eigenvalues t^α
    trace = math.fsum(s * s for s in values[alpha]) / (MODES * math.fsum((1 + j) ** (2 * alpha) for j in range(N))) - 1
    outside = sum(not (MODES - k) ** alpha * (1 - 1e-12) <= s / root <= (N - k) ** alpha * (1 + 1e-12) for k, s in enumerate(values[alpha]))
    figure.expect(f"α = {alpha}: Σσ² = (N−p) Σ t^2α, and √N (N−p−k)^α ≤ σ_k ≤ √N (N−k)^α for k = 0, 1, …",
                  f"{abs(trace):.1g} off, {outside} outside", abs(trace) < 1e-12 and outside == 0)

lines = [{"label": f"α = {a}", "x": list(range(1, MODES + 1)), "y": values[a], "style": "line", "color": i} for i, a in zip((0, 1, 2, 3, 5), ALPHAS)]
figure.picture("", [{"xlabel": "index", "ylabel": "singular value", "yscale": "log", "series": lines}])
figure.finish()
