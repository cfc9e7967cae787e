#!/usr/bin/env python3
"""Makes spectrum_values.inc and spectrum_parity.inc from the reference program; run by hand.

    python3 tests/oracle/make_spectrum.py [build/kspec]      needs numpy, scipy and numba

Of the first, the values of each piece of the fit: the forward map at λ_i = 1/i up to 30, 80 × 120, and the
matrix tests/golden/spectrum_matrix.npy. Of the second, 30 matrices that kspec generate makes."""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import specfit

KSPEC = sys.argv[1] if len(sys.argv) > 1 else str(HERE.parent.parent / "build" / "kspec")
COUNT = 10

# kind, rows, columns, dimension, eta, noise, trials, whether the noise is given
ROWS = [
    ("flat", 100, 100, 20, 0, 0, 1, 0),
    ("flat", 40, 60, 20, 0, 0.5, 1, 0),
    ("flat", 60, 30, 8, 0, 1, 1, 0),
    ("levels", 100, 100, 20, 0, 0, 1, 0),
    ("levels", 50, 80, 25, 0, 0.3, 1, 0),
    ("levels", 120, 40, 20, 0, 1, 1, 0),
    ("harmonic", 60, 80, 40, 0, 0.1, 1, 0),
    ("harmonic", 100, 100, 200, 0, 0, 1, 0),
    ("harmonic", 30, 200, 100, 0, 0.5, 1, 0),
    ("harmonic", 150, 90, 30, 0, 1, 1, 0),
    ("steep", 50, 50, 100, 0, 0, 1, 0),
    ("steep", 80, 120, 60, 0, 0.2, 1, 0),
    ("steep", 25, 40, 60, 0, 0.1, 1, 0),
    ("geometric", 70, 70, 40, 0, 0, 1, 0),
    ("geometric", 100, 60, 30, 0, 0.3, 1, 0),
    ("spiked", 80, 80, 100, 0, 0, 1, 0),
    ("spiked", 60, 100, 50, 0, 0.5, 1, 0),
    ("rff", 100, 100, 1, 4, 0, 1, 0),
    ("rff", 60, 90, 2, 4, 0, 1, 0),
    ("rff", 120, 120, 3, 1, 0.2, 1, 0),
    ("rff", 150, 100, 5, 4, 0, 1, 0),
    ("rff", 50, 50, 4, 1, 0, 1, 0),
    ("rff", 40, 160, 1, 400, 0.3, 1, 0),
    ("rff", 200, 150, 2, 1, 0.5, 1, 0),
    ("harmonic", 60, 60, 50, 0, 1, 2, 0),
    ("steep", 50, 70, 60, 0, 0.5, 2, 0),
    ("rff", 80, 80, 2, 4, 0.7, 2, 0),
    ("flat", 60, 60, 15, 0, 1, 2, 0),
    ("harmonic", 70, 50, 40, 0, 0.8, 1, 1),
    ("levels", 60, 60, 20, 0, 0.6, 1, 1),
]


def eigenvalues(kind, n):
    i = np.arange(1, n + 1.0)
    return {"flat": 0 * i + 0.3, "levels": np.where(i <= 5, 1.0, 0.1), "harmonic": 1 / i, "steep": i**-1.5,
            "geometric": 0.8**i, "spiked": np.where(i == 1, 4.0, np.where(i == 2, 2.0, 0.05))}[kind]


def array(name, x, each=4, kind="double"):
    text = [repr(float(v)) if kind == "double" else str(int(v)) for v in x]
    lines = ["    " + ", ".join(text[k:k + each]) + "," for k in range(0, len(text), each)]
    return "\n".join([f"static const {kind} {name}[{len(text)}] = {{", *lines, "};", ""])


def values():
    lam, w, P, Q, K = 1 / np.arange(1.0, 31), np.ones(30), 80, 120, 20
    none = np.full(K, np.nan + 0j)
    level = np.arange(K) + 0.5

    def solve(level):
        """The map stops early, with a last step of first order: started where it stopped, it is exact"""
        guess = none
        for _ in range(3):
            solution = specfit.forward(lam, w, P, Q, level, guess)
            guess = solution[2]
        return solution

    log_x, x_rho, log_kappa = solve(level)
    near = [solve(level + d)[2] for d in (-0.1, 0.1)]
    kappa, J = np.exp(log_kappa), specfit.elasticity(lam, w, log_kappa)
    V = specfit.cov_logs(lam, w, P, Q, log_kappa, *near, x_rho)
    x = np.load(HERE.parent / "golden" / "spectrum_matrix.npy")
    unit = (x**2).mean()
    d = specfit.prepare(x / np.sqrt(unit))
    parts = [("forward_log_x", log_x), ("forward_x_rho", x_rho), ("forward_kappa_re", kappa.real),
             ("forward_kappa_im", kappa.imag), ("forward_elasticity_0", J[0]), ("forward_elasticity_9", J[9]),
             ("forward_covariance", V[:6, :6].ravel()), ("matrix_s", d.s), ("matrix_pilot", d.me)]
    more = [("matrix_shift", d.dN), ("matrix_excess", d.dNx), ("matrix_ratio", d.ratio)]
    return ("/* Values of each piece of the fit, by the reference program (make_spectrum.py). */\n"
            + "".join(array(*p) for p in parts) + array("matrix_at", d.idx, 12, "int")
            + "".join(array(*p) for p in more)
            + f"static const double matrix_unit = {float(unit)!r}, matrix_common = {float(d.c0)!r};\n"
            + f"static const double matrix_share = {float(d.T)!r}, matrix_share_variance = {float(d.vT)!r};\n"
            + f"enum {{ MATRIX_USED = {d.K}, MATRIX_GROUPS = {d.Kd} }};\n")


def matrix(seed, kind, P, Q, dim, eta, noise, trials, path):
    command = [KSPEC, "generate", "rff" if kind == "rff" else "linear", "--rows", P, "--cols", Q,
               "--dim", dim, "--noise", noise, "--trials", trials, "--seed", seed, "--quiet", "-o", path]
    if kind == "rff":
        command += ["--eta", eta]
    else:
        command += ["--eigenvalue", ",".join(repr(float(v)) for v in eigenvalues(kind, dim))]
    subprocess.run([str(c) for c in command], check=True)
    return np.load(path)


def parity():
    text = """/*
 * Eigenvalues by the reference program (make_spectrum.py), of 30 matrices that kspec generate makes: kind,
 * P, Q, dimension, eta, noise, trials, whether the noise is given, seed; the first ten eigenvalues and the
 * ends of their intervals.
 */
"""
    with tempfile.TemporaryDirectory() as folder:
        for k, (kind, P, Q, dim, eta, noise, trials, given) in enumerate(ROWS):
            x, dust = matrix(500 + k, kind, P, Q, dim, eta, noise, trials, f"{folder}/x.npy"), None
            if x.ndim == 3:
                x, dust = x.mean(0), ((x[0] - x[1]) ** 2).mean() / 4
            r = specfit.fit(x, noise**2 if given else dust)
            text += f"{{{kind.upper()}, {P}, {Q}, {dim}, {eta:g}, {noise:g}, {trials}, {given}, {500 + k},\n"
            for v in (r.lam, r.lo, r.hi):
                text += " {" + ", ".join(f"{float(a):.6g}" for a in v[:COUNT]) + "},\n"
            text += "},\n"
    return text


(HERE / "spectrum_values.inc").write_text(values())
(HERE / "spectrum_parity.inc").write_text(parity())
