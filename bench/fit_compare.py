"""Two versions of the fit on the same matrices (docs/measurements/spectrum.md), and where one got worse.

    build/bench/bench_fit --seeds 50000 8 --csv > now.csv        (and the same of the earlier version)
    python3 bench/fit_compare.py now.csv before.csv

Of each size and noise: the figures of both, and the ratio of total errors with its Monte-Carlo error; below,
every cell (process, size, noise) whose error is more than a tenth larger.
"""

import csv
import sys

import numpy as np

NUMBERS = ("sample_error", "error", "sample_top", "top", "first", "ten", "width", "exponent", "dimension")
ORDER = ("50x50", "100x100", "100x300", "300x100", "300x600")


def read(name):
    """(process, size, noise, seed) -> numbers; parts of a file may each have a heading"""
    rows = {}
    with open(name) as file:
        for line in csv.reader(file):
            if line[0] == "process" or len(line) < 16:
                continue
            held = [int(digit) for digit in line[9]]
            values = [float(v) for v in line[5:9]] + [held[0], np.mean(held)]
            values += [float(v) for v in line[10:13]]
            if line[4] == "0":
                rows[tuple(line[:4])] = values
    return rows


def ratio_of(now, before):
    """Of mean errors of the same matrices, and its error by the bootstrap over them"""
    rng = np.random.default_rng(0)
    draws = rng.integers(len(now), size=(400, len(now)))
    return now.mean() / before.mean(), np.std(now[draws].mean(axis=1) / before[draws].mean(axis=1))


def main(now, before):
    a, b = read(now), read(before)
    keys = [key for key in a if key in b]
    lines = sorted({key[1:3] for key in keys}, key=lambda key: (ORDER.index(key[0]), float(key[1])))
    print("| size, noise | matrices | total error: sample, before, now | ratio | λ₁ off by: before, now |"
          " λ₁ covered | first ten covered | width | exponent covered | dimension covered |")
    print("|---" * 10 + "|")
    for size, noise in lines:
        chosen = [key for key in keys if key[1:3] == (size, noise)]
        x, y = (np.array([of[key] for key in chosen]) for of in (a, b))
        m, n = (dict(zip(NUMBERS, np.nanmean(v, axis=0))) for v in (x, y))
        ratio, error = ratio_of(x[:, 1], y[:, 1])
        both = ", ".join(f"{v['top']:.2f}" for v in (n, m))
        shares = " | ".join(f"{100 * n[k]:.0f}%, {100 * m[k]:.0f}%" for k in ("first", "ten"))
        rest = " | ".join(f"{100 * n[k]:.0f}%, {100 * m[k]:.0f}%" for k in ("exponent", "dimension"))
        print(f"| {size.replace('x', ' × ')}, {noise} | {len(chosen)} | {m['sample_error']:.2f},"
              f" {n['error']:.2f}, {m['error']:.2f} | {ratio:.2f} ± {error:.2f} | {both} | {shares} |"
              f" {np.median(y[:, 6]):.2f}, {np.median(x[:, 6]):.2f} | {rest} |")
    print()
    cells, worse = sorted({key[:3] for key in keys}), []
    for cell in cells:
        chosen = [key for key in keys if key[:3] == cell]
        ratio, error = ratio_of(*(np.array([of[key][1] for key in chosen]) for of in (a, b)))
        worse += [f"{' '.join(cell)}: {ratio:.2f} ± {error:.2f}"] if ratio > 1.1 else []
    count = f"{len(worse)} of {len(cells)} cells have a total error more than a tenth larger:"
    print(count, "; ".join(worse))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
