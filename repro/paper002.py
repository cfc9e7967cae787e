"""What the figures of the paper on random Fourier features share: data, the judgement of a fit, curves.

Images are the first of each class in their files, jointly centred and scaled to mean |x|^2 = 1 ("jointly
centered and scaled" in the paper), with targets -1 and 1. A prediction fits where it is within 10% of the
mean over the draws, or within 4 standard errors of that mean if those are more: with 20 draws and normal
errors, 0.08% of points exceed them. The draws of one command share their columns of W, so that its points err
together. The theory is that of a large N ("ratios moderately large"): points with N < 50 are drawn, and their
misfit is stated but not judged.
"""
import math

PAPER = "Exact Asymptotics of High Dimensional Random Fourier Features"
MNIST = ("mnist/train15k", "mnist/t10k")
FASHION = ("fashion/train15k", "fashion/t10k")
KANNADA = ("kannada/test", None)
DIG = ("kannada/dig", "kannada/test")
CLOSE, ERRORS, LARGE = 0.10, 4.0, 50


def ridge(figure, files, classes, per_class, features, lambdas, *options):
    """The result of kspec ridge for two classes. The test rows, as many as the training rows, are those of
    the second file, or the next ones of the first file. lambdas, where not None: those to compute"""
    def named(stem):
        return figure.data(f"{stem}-images-idx3-ubyte.gz"), figure.data(f"{stem}-labels-idx1-ubyte.gz")
    train, test = files
    images, labels = named(train)
    command = ["ridge", images, "--target", labels, "--classes", classes, "--per-class", per_class,
               "--center", "--scale"]
    if test:
        images, labels = named(test)
        command += ["--test", images, "--test-target", labels]
    command += ["--features", listed(features)]
    if lambdas:
        command += ["--lambda", listed(lambdas)]
    return figure.kspec(*command, *options)


def listed(values):
    return ",".join(f"{v:g}" for v in values)


def grid(points, what):
    return [p[what] for p in points]


def standard_error(j, p, what):
    return p[f"empirical_{what}_sd"] / math.sqrt(j["draws"])


def misfit(j, p, what, predicted, floor=0.0):
    """|prediction - mean over the draws| over what is allowed; floor: what the figure's axis does not show"""
    mean = p[f"empirical_{what}_mse"]
    return abs(p[predicted] - mean) / max(CLOSE * mean, ERRORS * standard_error(j, p, what), floor)


def judge_fit(figure, text, j, points, what, floor=0.0, ours=False):
    """The claim that the predictions fit, or our statement; and ours that by the same measure the kernel's do
    not"""
    def worst_of(points):
        worst = max(points, key=lambda p: misfit(j, p, what, f"{what}_mse", floor))
        mean = worst[f"empirical_{what}_mse"]
        gap = worst[f"{what}_mse"] - mean
        return worst, (f"{len(points)} points, worst {100 * gap / mean:+.0f}% = "
                       f"{gap / standard_error(j, worst, what):+.1f} SE at N/n = "
                       f"{worst['features'] / j['rows']:g}, λ = {worst['lambda']:g}")
    large = [p for p in points if p["features"] >= LARGE]
    small = [p for p in points if p["features"] < LARGE]
    worst, number = worst_of(large)
    if small:
        number += f" (N below {LARGE}: {worst_of(small)[1]})"
    (figure.expect if ours else figure.claim)(text, number, misfit(j, worst, what, f"{what}_mse", floor) <= 1)
    refused = sum(misfit(j, p, what, f"kernel_{what}_mse", floor) > 1 for p in large)
    figure.expect(f"by the same measure, the kernel's {'training' if what == 'train' else what} "
                  f"errors do not fit",
                  f"at {refused} of {len(large)} points", refused >= len(large) / 3)


def judge_double_descent(figure, name, j, points, what="test"):
    """The W: down, up to a peak at N/n = 1/2, down below the first minimum; as predicted and, within its
    errors, as drawn"""
    ratios = [p["features"] / j["rows"] for p in points]
    half = next(i for i, p in enumerate(points) if 2 * p["features"] == j["rows"])
    found = []
    for curve, shown in ((f"{what}_mse", "prediction"), (f"empirical_{what}_mse", "draws")):
        e = grid(points, curve)
        slack = [0.0 if shown == "prediction" else ERRORS * standard_error(j, p, what) for p in points]
        low = min(range(half), key=e.__getitem__)
        peak = max(range(len(e)), key=e.__getitem__)
        falls = all(e[i + 1] < e[i] + math.hypot(slack[i], slack[i + 1])
                    for i in [*range(low), *range(half, len(e) - 1)])
        rises = all(e[i + 1] > e[i] - math.hypot(slack[i], slack[i + 1]) for i in range(low, half))
        found.append((
            (f"{shown}: largest at {ratios[peak]:g}, {e[half] / e[low]:.0f} times the least error before",
             peak == half and e[half] > 10 * e[low]),
            (f"{shown}: {e[low]:.3g} at {ratios[low]:g}, up to {e[half]:.3g}, down to {e[-1]:.3g}",
             0 < low < half and falls and rises),
            (f"{shown}: {e[-1]:.3g} < {e[low]:.3g}", e[-1] < e[low])))
    claims = ("“singular peak around N/n = 1/2”", "“goes down and up … then goes down monotonously”",
              "the last error is “even smaller than the minimum error in the N/n < 1/2 regime”")
    for text, findings in zip(claims, zip(*found)):
        figure.claim(f"{name}: {text}", "; ".join(number for number, _ in findings),
                     all(holds for _, holds in findings))


def curves(j, points, x, what, label, color, kernel=False):
    """The prediction as a line, draws as points ± two standard errors; kernel: also its prediction"""
    mean = grid(points, f"empirical_{what}_mse")
    error = [2 * standard_error(j, p, what) for p in points]
    series = [{"label": f"{label}, predicted", "x": x, "y": grid(points, f"{what}_mse"), "style": "line",
               "color": color},
              {"label": f"{label}, mean of {j['draws']} draws ± 2 SE", "x": x, "y": mean,
               "low": [m - e for m, e in zip(mean, error)],
               "high": [m + e for m, e in zip(mean, error)], "style": "points", "color": color}]
    if kernel:
        series.append({"label": f"{label}, kernel's (N → ∞ alone)", "x": x,
                       "y": grid(points, f"kernel_{what}_mse"), "style": "dashed", "color": 7})
    return series
