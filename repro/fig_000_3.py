#!/usr/bin/env python3
"""Figure 3: eigenvalues recovered from ten moments by linear programming.

Left: phi = sqrt(0.3) x.w, the eigenvalue 0.3 twenty times, P = Q = 100. Right: one-dimensional random Fourier
features with eta = 400, P = Q = 20, the largest 50 eigenvalues, which are (eta phi)^-1 (eta phi^2)^-i for
i = 0, 1, … (the caption's (eta phi)^-i is wrong).

The paper does not say whether “KV” is of rows or columns: both are shown. The error of a matrix is the sum of
|recovered - true| over the sum of the true eigenvalues. “Closely matches” and “accurately recovered” are
taken as a mean error below 0.1, “fail” and “significantly biased” as an error that exceeds ours, matrix by
matrix, by more than LIMIT standard errors."""
from harness import Figure, mean, standard_error
from paper000 import COLOR, LABEL, LIMIT, OTHERS, OURS, PAPER, line, quartiles

figure = Figure("000-3", PAPER, "Eigenvalues recovered from ten moments")
KV = OTHERS[1:]
seeds = range(1, 1 + figure.pick(30, 300))
PLAIN = ["--weights", "unit", "--no-stderr"]  # the published program: one solution, all orders weighted alike
eta400 = figure.kspec("theory", "rbf", "--eta", 400, "--eigenvalues", 50, "-n", 10)


def recover(process, rank, options):
    generate = ["generate", *process, "--threads", 1, "-o", "x.npy"]
    command = ["spectrum", "x.npy", "--rank", rank, "-n", 10, *options, "--threads", 1]
    return figure.map(lambda seed: figure.kspec(*command, after=[*generate, "--seed", seed]), seeds)


def fit(process, count):
    """kspec's default, which is told nothing: no rank, no moments, no upper end"""
    generate = ["generate", *process, "--threads", 1, "-o", "x.npy"]
    command = ["spectrum", "x.npy", "--no-center", "--count", count, "--threads", 1]
    return figure.map(lambda seed: figure.kspec(*command, after=[*generate, "--seed", seed]), seeds)


def error(found, truth):
    """A missing eigenvalue counts as 0"""
    return sum(abs(a - b) for a, b in zip([*found, *[0] * len(truth)], truth)) / sum(truth)


def one_side(process, truth, by_default=False):
    """The eigenvalues and the errors by method, one of each per matrix, and the mean upper end of the grid"""
    rank = len(truth)
    runs = {e: recover(process, rank, ["--estimator", e, "--side", "given", *PLAIN]) for e in (*KV, OURS)}
    found = {e: [r["eigenvalues"] for r in rs] for e, rs in runs.items()}
    found["SVD"] = [r["singular_values"][:rank] for r in runs[OURS]]
    if by_default:
        found["default"] = [r["eigenvalues"] for r in recover(process, rank, [])]
    found["fit"] = [r["eigenvalues"] for r in fit(process, rank)]
    errors = {m: [error(v, truth) for v in vs] for m, vs in found.items()}
    return found, errors, mean([r["upper"] for r in runs[OURS]])


def shown(errors, methods):
    return ", ".join(f"{m} {mean(errors[m]):.3f}" for m in methods)


def beyond(errors, m):
    """By how many standard errors m's error exceeds ours"""
    d = [a - b for a, b in zip(errors[m], errors[OURS])]
    return mean(d) / standard_error(d)


left, right = [0.3] * 20, eta400["eigenvalues"]
linear = ["linear", "--rows", 100, "--cols", 100, "--dim", 20, "--eigenvalue", 0.3]
found_l, errors_l, _ = one_side(linear, left)
figure.claim("left: ours “closely matches the true spectrum” (error below 0.1)", shown(errors_l, [OURS]),
             mean(errors_l[OURS]) < 0.1)
top = {e: [v[0] for v in found_l[e]] for e in KV}
figure.claim("left: “the reconstruction based on m̂_KV is significantly biased”",
             f"{shown(errors_l, (*KV, 'SVD'))}; largest eigenvalue "
             + ", ".join(f"{e} {mean(v):.2f}" for e, v in top.items()) + " instead of 0.3",
             all(beyond(errors_l, e) > LIMIT and mean(v) - 0.3 > LIMIT * standard_error(v)
                 for e, v in top.items()))

figure.expect("left: the fit, without a given rank, has an error of at most 0.05 (0.3 of a sum of 6)",
              shown(errors_l, ("fit", OURS)), mean(errors_l["fit"]) <= 0.05)

rff = ["rff", "--rows", 20, "--cols", 20, "--dim", 1, "--eta", 400]
found_r, errors_r, upper = one_side(rff, right, by_default=True)
moments = ",".join(repr(v) for v in eta400["moments"])


def from_true_moments(d):
    r = figure.kspec("spectrum", "--moments", moments, "--rank", d, "--weights", "unit", "--upper", upper)
    return error(r["eigenvalues"][:50], right)


ideal = {d: from_true_moments(d) for d in (50, 100)}
together = error([mean(v) for v in zip(*found_r[OURS])], right)
plain = recover(rff, 100, ["--estimator", OURS, "--side", "given", *PLAIN])
doubled = mean([error(r["eigenvalues"][:50], right) for r in plain])
figure.claim("right: “the largest d = 50 eigenvalues are accurately recovered using our estimator” (error "
             "below 0.1)",
             f"{shown(errors_r, [OURS])}; mean of all {len(seeds)} spectra {together:.3f}",
             mean(errors_r[OURS]) < 0.1,
             f"a 20 × 20 matrix is too noisy. With d = 100, the ten true moments leave an error of "
             f"{ideal[100]:.2f}, the ten estimated moments {doubled:.2f}. With d = 50, where 50 "
             f"quantiles hold the whole trace, the true moments leave {ideal[50]:.2f}")
figure.expect("right: doubling d removes most of the error with true moments, but not with estimated ones",
              f"true {ideal[50]:.3f} to {ideal[100]:.3f}, estimated {mean(errors_r[OURS]):.3f} to "
              f"{doubled:.3f}",
              ideal[100] < ideal[50] / 2 and doubled > 0.8 * mean(errors_r[OURS]))
figure.claim("right: “whereas other methods fail”", shown(errors_r, (*KV, "SVD")),
             all(beyond(errors_r, e) > LIMIT for e in (*KV, "SVD")))
figure.claim("right: “sensitive to the choice of parameters d and T”: d doubled, with the true moments",
             f"{ideal[100]:.3f} instead of {ideal[50]:.3f}", abs(ideal[100] - ideal[50]) > 0.1)
figure.expect("right: the weighted linear program, averaged over draws, has a smaller error than the plain "
              "solution; its weights come from the covariance of the errors",
              shown(errors_r, ("default", OURS)),
              beyond(errors_r, "default") < -LIMIT)

figure.expect("right: the fit has a smaller error than SVD, KV and the paper's own method",
              shown(errors_r, ("fit", OURS, *KV, "SVD")),
              all(mean(errors_r["fit"]) < mean(errors_r[m]) for m in (OURS, *KV, "SVD")))

METHODS = {"SVD": COLOR["naive"], **{e: COLOR[e] for e in (*KV, OURS)}, "default": COLOR["exact"],
           "fit": 4}
panels = []
for title, found, truth in (("rank 20, 0.3 each, 100 × 100", found_l, left),
                            ("Fourier features, η = 400, 20 × 20", found_r, right)):
    index = range(1, len(truth) + 1)
    series = [line("truth", index, truth, style="line", color=0)]
    for method, color in METHODS.items():
        if method in found:
            columns = list(zip(*found[method]))
            label = {**LABEL, "default": "linear program, mean of draws", "fit": "fit"}.get(method, method)
            series.append(quartiles(label, index[:len(columns)], columns, color=color))
    panels.append({"title": title, "xlabel": "i", "ylabel": "eigenvalue", "yscale": "linear",
                   "series": series})
figure.picture("", panels, note="bars: quartiles")
figure.finish()
