"""The page and the pictures of the scoreboard, from the answers that calibration.py has written."""

import os
from textwrap import fill

import numpy as np

from contenders import BEFORE, INTERVALS, QUESTIONS
from processes import BENIGN, processes
from scorebounds import bounds
from scorecells import covered, merge, percent, table, unaware

INTRO = """# Calibration: estimators against known truth

`bench/processes.py` defines {count} processes with known eigenvalues: spike counts, rectified fields,
networks, place cells, word counts, series. `bench/contenders.py` has one function for each estimator that
people use. `bench/calibration.py` draws matrices, asks every estimator every question and compares the
answers with the truth.

    KSPEC_DATA=... PYTHONPATH=build/python python3 bench/calibration.py run --jobs 2 -o answers.json
    PYTHONPATH=build/python python3 bench/calibration.py page answers.json > docs/calibration.md

The command `page` wrote this page from the answers of `run {options}`. The run took {where} with seed
{seed}. Each cell has at least {intervals} draws for m(1), m(2) and the dimension, {others} for kspec's
spectra, and {seldom} for slow estimators other than kspec. For a process without noise, both trials are
equal. A full run, with 400 and 40 draws, takes about {full:.1f} hours of one core. `run --quick` (four
processes, one size) takes less than two minutes. To add an estimator, write a function with
`@answers(question, name)`. To add a process, write a class.

- **Bias** is (mean answer)/truth − 1, and **error** is the root mean square of answer/truth − 1.
- **Coverage** is the share of 95% intervals that contain the truth, ± its Monte-Carlo error.
- A **doubt** is a warning in the result about its own reliability.
"""

COVERAGE = """## Intervals of moments and of the dimension

The first table shows coverage in per cent for P × Q = {sizes}. kspec uses one trial, or two if noise is
shared along a row. In this table, kspec knows which rows depend on each other. The last table of this
section shows the coverage if kspec does not know these rows. A star marks benign processes, in which no row
or column dominates.

No interval can reliably cover word counts with Zipf's exponent 1. The most frequent of 3000 words makes 61%
of the noise-free m(1), and 2% of the samples of 60 columns contain it. Samples without this word cannot
reveal it.
"""


# ---- coverage, process by process ----


def coverage(cells, sizes):
    names = sorted({key[1] for key in cells if key[0] == "m2"}, key=order_of)
    known = [name for name in names if not unaware(name)]
    yield COVERAGE.format(sizes=", ".join(f"{P} × {Q}" for P, Q in sizes))
    head = ["process"] + [f"{label} {P}×{Q}" for label in ("m(1)", "m(2)", "dim.") for P, Q in sizes]
    rows = []
    for name in known:
        row = [name + (" *" if name in BENIGN else "")]
        for question in INTERVALS:
            for P, Q in sizes:
                there, held = covered(cells[question, name, P, Q, "kspec"])
                row.append(percent(held, there))
        rows.append(row)
    yield table(head, rows)
    yield from by_kind(cells, sizes, known)
    yield from dependent(cells, sizes, names)


def plain_of(cells, *cell):
    """kspec's answers with the interval of ± 1.96 standard errors"""
    return next(rows for key, rows in cells.items() if key[:4] == cell and "±" in key[4])


def width(a, plain, question):
    """Median length on the logarithm's scale, in units of the plain interval; infinite where it reaches 0"""
    with np.errstate(divide="ignore", invalid="ignore"):
        length = np.where(a[:, 1] > 0, np.log(a[:, 2] / a[:, 1]), np.inf)
        unit = np.log(plain[:, 2] / plain[:, 1])
        if question != "dimension":
            unit = (plain[:, 2] - plain[:, 1]) / plain[:, 0]
        ratio = (length / unit)[~np.isnan(a[:, 1]) & ~np.isnan(plain[:, 1])]
    return np.median(ratio) if len(ratio) else np.nan


def by_kind(cells, sizes, names):
    """Width against the plain interval, and doubts of those that miss, for benign and other processes"""
    yield (
        "The width is log(high/low), in units of 2 · 1.96 standard errors of the logarithm. Each process\n"
        "contributes its median over draws to this table. The table shows the median and the maximum over\n"
        "processes. The last columns count the intervals that miss the truth. "
        "The last columns also show how\n"
        "many of these intervals, and how many of the others, carry a doubt.\n"
    )
    rows, benign = [], [n for n in names if n in BENIGN]
    kinds = (("benign", benign), ("others", [n for n in names if n not in BENIGN]))
    for question in INTERVALS:
        for kind, chosen in kinds:
            for P, Q in sizes:
                widths, held, missed, doubted, alarms = [], 0, 0, 0, 0
                for name in chosen:
                    a = cells[question, name, P, Q, "kspec"]
                    b = plain_of(cells, question, name, P, Q)
                    widths.append(width(a, b, question))
                    good = (a[:, 1] <= 1) & (1 <= a[:, 2])
                    bad = ~np.isnan(a[:, 1]) & ~good
                    held, missed = held + good.sum(), missed + bad.sum()
                    doubted, alarms = doubted + np.sum(a[bad, 3]), alarms + np.sum(a[good, 3])
                rows.append([question, kind, f"{P} × {Q}",
                             f"{np.nanmedian(widths):.2f}", f"{np.nanmax(widths):.2f}",
                             f"{missed} of {missed + held}", f"{100 * doubted / max(missed, 1):.0f}%",
                             f"{100 * alarms / max(held, 1):.0f}%"])
    head = ["", "processes", "P × Q", "width", "largest", "misses", "misses doubted", "others doubted"]
    yield table(head, rows)


def dependent(cells, sizes, names):
    yield (
        "In the next table, kspec does not know which rows depend on each other. The last column of this\n"
        "table is the share of draws with a doubt.\n"
    )
    rows = []
    for name in filter(unaware, names):
        for question in INTERVALS:
            for P, Q in sizes:
                a = cells[question, name, P, Q, "kspec"]
                there, held = covered(a)
                warned = f"{100 * a[:, 3].mean():.0f}%"
                rows.append([name, question, f"{P} × {Q}", percent(held, there), warned])
    yield table(["process", "", "P × Q", "coverage", "doubted"], rows)


# ---- is there a signal? ----


def presence(cells):
    """Shares of the three words, of noise and of every process"""
    yield (
        "## Is there a signal?\n\nThe table shows, in per cent, how often kspec reports no signal, "
        "a weak signal or a clear signal. The table\nalso shows the median z.\n"
    )
    rows = []
    keys = [key for key in cells if key[0].startswith("signal")]
    for key in sorted(keys, key=lambda key: (order_of(key[1]), key)):
        a = cells[key]
        shares = [f"{100 * np.mean(a[:, 0] == word):.1f}" for word in range(3)]
        _, trials, center = key[0].split(", ")
        rows.append([key[1], f"{key[2]} × {key[3]}", trials.split()[1], center.split()[1], str(len(a)),
                     *shares, f"{np.nanmedian(a[:, 1]):.1f}"])
    yield table(["", "P × Q", "trials", "centred", "draws", "none", "weak", "clear", "z"], rows)


# ---- one table and one picture for each question ----


def order_of(name):
    base, names = name.split(",")[0], list(processes())
    return names.index(base) if base in names else len(names), name


def summary(cells, question, sizes):
    """One row per estimator and size: medians over the processes, the worst, and the range of coverage"""
    estimators = dict.fromkeys(key[4] for key in cells if key[0] == question)
    for estimator in sorted(estimators, key=lambda e: (not e.startswith("kspec"), e)):
        for P, Q in sizes:
            found = {key[1]: rows for key, rows in cells.items()
                     if key[0] == question and key[2:] == (P, Q, estimator) and not unaware(key[1])}
            if not found:
                continue
            bias, error, shares, unanswered = [], [], {}, 0
            for name, rows in found.items():
                value = rows[:, 0]
                unanswered += np.isnan(value).sum()
                if np.isnan(value).all():
                    continue
                bias.append(np.nanmean(value) - 1)
                error.append(np.sqrt(np.nanmean((value - 1) ** 2)))
                there, held = covered(rows)
                if there:
                    shares[name] = held / there
            if not error:
                continue
            least = min(shares, key=shares.get) if shares else ""
            time = np.median(np.concatenate([rows[:, 4] for rows in found.values()]))
            yield [estimator, f"{P} × {Q}", f"{np.median(np.abs(bias)):.2f}", f"{np.median(error):.2f}",
                   f"{max(error):.3g}",
                   f"{100 * np.median(list(shares.values())):.0f}%" if shares else "",
                   f"{100 * shares[least]:.0f}% ({least})" if shares else "",
                   f"{unanswered}" if unanswered else "",
                   "" if "±" in estimator else f"{1000 * time:.2g} ms"]


def questions(cells, sizes, images):
    yield (
        "## Question by question\n\nThe tables show medians over the processes of |bias|, of the "
        "error and of the coverage. The tables also\nshow the worst error, and the lowest coverage with "
        "its process. The pictures show the error for every process. If\ntwo questions share a result, the "
        "estimator's time counts for one of them and is almost zero for the other.\n"
    )
    for question, what in QUESTIONS.items():
        rows = list(summary(cells, question, sizes))
        if not rows:
            continue
        heading = what if what[1] == "(" else what[0].upper() + what[1:]
        file = f"calibration-{question}.svg"
        with open(os.path.join(images, file), "w") as f:
            f.write(picture(cells, question, sizes))
        yield f"### {heading}\n\n![Errors by process and estimator](images/{file})\n"
        head = ["estimator", "P × Q", "bias", "error", "worst", "coverage", "lowest", "no answer", "time"]
        yield table(head, rows)


COLORS = ("#c0392b", "#2471a3", "#1e8449", "#7d3c98", "#b9770e")


def picture(cells, question, sizes):
    """Errors on a logarithmic axis: panels for sizes, lines for processes, dots for estimators"""
    estimators = [e for e in dict.fromkeys(key[4] for key in cells if key[0] == question) if "±" not in e]
    estimators.sort(key=lambda e: (not e.startswith("kspec"), e))
    names = sorted({key[1] for key in cells if key[0] == question and not unaware(key[1])}, key=order_of)
    errors = {}
    for key, rows in cells.items():
        known = rows[~np.isnan(rows[:, 0]), 0]
        if key[0] == question and key[4] in estimators and key[1] in names and len(known):
            errors[key[1:]] = max(1e-4, np.sqrt(np.mean((known - 1) ** 2)))
    powers = np.log10(list(errors.values()))
    low, high = np.floor(powers.min()), np.ceil(powers.max())
    left, panel, line, top = 110, 220, 16, 46
    width, height = left + len(sizes) * panel + 10, top + line * len(names) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           'font-family="sans-serif" font-size="11">',
           f'<rect width="{width}" height="{height}" fill="white"/>']

    def text(x, y, words, more=""):
        out.append(f'<text x="{x:.0f}" y="{y:.0f}" {more}>{words}</text>')

    at = left
    for e, color in zip(estimators, COLORS):
        out.append(f'<circle cx="{at}" cy="12" r="4" fill="{color}"/>')
        text(at + 8, 16, e)
        at += 30 + 6 * len(e)
    for k, name in enumerate(names):
        text(left - 8, top + line * k + 4, name, 'text-anchor="end"')
    for p, (P, Q) in enumerate(sizes):
        start, room = left + p * panel, panel - 25

        def x_of(value, start=start, room=room):
            return start + room * (value - low) / max(high - low, 1)

        text(start + room / 2, 36, f"{P} × {Q}", 'text-anchor="middle" font-weight="bold"')
        for power in range(int(low), int(high) + 1):
            x, end = x_of(power), top + line * (len(names) - 1) + 8
            out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 6}" y2="{end}" stroke="#ddd"/>')
            text(x, end + 14, f"{10.0**power:g}", 'text-anchor="middle"')
        for k, name in enumerate(names):
            for e, color in zip(estimators, COLORS):
                if (name, P, Q, e) in errors:
                    x = x_of(np.log10(errors[name, P, Q, e]))
                    y = top + line * k
                    out.append(f'<circle cx="{x:.1f}" cy="{y}" r="3.5" fill="{color}" fill-opacity="0.75"/>')
    whole = question == "spectrum"
    text(left, height - 4, "sum of |error| / trace" if whole else "root mean square of answer/truth − 1")
    return "\n".join(out + ["</svg>"]) + "\n"


def page(runs, images):
    cells = merge(runs)
    sizes = sorted({key[2:4] for key in cells})
    counts, seconds = {}, [0, 0]  # seconds of moments and dimension, of the others
    for key, rows in cells.items():
        kind = "intervals" if key[0] in INTERVALS else "others"
        if key[0] in QUESTIONS and key[4] != BEFORE:
            seconds[kind == "others"] += rows[:, 4].mean()
        if key[0] in QUESTIONS and key[4] in ("kspec", "linear program"):
            counts.setdefault("seldom" if key[4] != "kspec" else kind, []).append(len(rows))
    hours = sum(run["seconds"] * run["jobs"] for run in runs) / 3600
    where = f"{hours:.1f} hours of processor time on {runs[0]['jobs']} cores"
    seed = ", ".join(sorted({str(run.get("seed", "?")) for run in runs}))
    full = (400 * seconds[0] + 40 * seconds[1]) / 3600
    options = "; ".join(run.get("options", "?") for run in runs)
    intro = INTRO.format(count=len(processes()), where=where, seed=seed, full=full, options=options,
                         **{kind: min(counts[kind]) for kind in counts})
    start = "The command `page`"
    print("\n\n".join(fill(part, 108) if part.startswith(start) else part for part in intro.split("\n\n")))
    for part in (*bounds(cells), *coverage(cells, sizes), *presence(cells), *questions(cells, sizes, images)):
        print(part)
