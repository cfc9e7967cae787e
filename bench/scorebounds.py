"""What was asked of kspec's intervals, and whether the answers reach it."""

import numpy as np

from contenders import AS_ONE, BEFORE, INTERVALS, RARE
from processes import BENIGN, NOISES
from scorecells import covered, percent, table, unaware

HARD = ("topics", "topics1", "shared")  # word counts, and noise that is shared along rows
HEAD = """## Requirements and results

A bound is **met** if the result reaches it. It is missed **within error** if the result falls short by less
than two Monte-Carlo errors. Otherwise it is **missed**. Intervals that contain the truth **too often** are
too wide. The table lists the worst cells of each requirement, up to twelve. The earlier version is the last
one before today's intervals. It checked the data, but did not test for a signal. Times include the whole
call. Without checks and test, a call takes at most 1.04 times as long as with the earlier interval
([measurements](measurements/moments.md#what-an-interval-costs)).

If each of 40 rows is outlying with a probability of 5%, then 13% of all draws contain no outlying row.
Nothing in such a draw reveals that outlying rows exist, and its eigenvalues are 2.75 times too small. For
outlying rows, a coverage of λ₁ above 87% is therefore chance.
"""


MOST = 12  # cells that a line lists


def size_of(P, Q):
    return f"{P} × {Q}"


class Line:
    """One demand: cells with a figure and its Monte-Carlo error, all of which should be in [low, high]"""

    def __init__(self, what, low=-np.inf, high=np.inf, unit="%"):
        self.what, self.low, self.high, self.unit, self.cells = what, low, high, unit, []

    def add(self, cell, figure, error, low=None):
        bound = self.low if low is None else low
        beyond = max(bound - figure, figure - self.high)
        self.cells.append((beyond, cell, figure, error, bound))

    def share(self, cell, part, whole, low=None):
        if whole:
            p, q = part / whole, (part + 2) / (whole + 4)  # not 0 where all are in, or none is
            self.add(cell, 100 * p, 100 * np.sqrt(q * (1 - q) / (whole + 4)), low)

    def verdict(self, beyond, figure, error):
        if beyond <= 1e-9:
            return "met"
        if beyond <= 2 * error:
            return "within error"
        return "too often" if self.low > -np.inf and figure > self.high else "**missed**"

    def bound(self, low):
        number = lambda x: f"{x:g}{self.unit}"
        if np.isinf(low):
            return f"≤ {number(self.high)}"
        return f"≥ {number(low)}" if np.isinf(self.high) else f"{low:g} to {number(self.high)}"

    def rows(self):
        self.cells.sort(key=lambda c: -c[0])
        counts = {}
        for beyond, _, figure, error, _ in self.cells:
            word = self.verdict(beyond, figure, error)
            counts[word] = counts.get(word, 0) + 1
        total = ", ".join(f"{count} {word}" for word, count in counts.items()) or "no answers"
        shown = [c for k, c in enumerate(self.cells) if k == 0 or c[0] > 1e-9]
        if len(shown) > MOST:
            shown = shown[:MOST]
        for k, (beyond, cell, figure, error, low) in enumerate(shown):
            reached = f"{figure:.1f} ± {error:.1f}%" if self.unit else f"{figure:.2f} ± {error:.2f}"
            yield [self.what if k == 0 else "", total if k == 0 else "", cell, self.bound(low), reached,
                   self.verdict(beyond, figure, error)]


def base_of(name):
    return name.split(",")[0]


def known_cells(cells, question, estimator="kspec"):
    for key in sorted(cells):
        if key[0] == question and key[4] == estimator and not unaware(key[1]):
            yield key[1], key[2], key[3], cells[key]


# ---- intervals of moments and of the dimension ----


def least(name, question, P, Q):
    if base_of(name).startswith("topics"):
        return 70
    if base_of(name) == "outliers" and question == "m2" and (P, Q) == (40, 60):
        return 72
    return 80 if (P, Q) == (40, 60) else 86


def of_intervals(cells):
    every = Line("m(1), m(2), dimension: coverage")
    benign = Line("m(1), m(2), dimension: coverage, benign processes", 93, 99)
    for question in INTERVALS:
        for name, P, Q, a in known_cells(cells, question):
            there, held = covered(a)
            cell = f"{question}, {name}, {size_of(P, Q)}"
            every.share(cell, held, there, least(name, question, P, Q))
            if name in BENIGN:
                benign.share(cell, held, there)
    yield every
    yield benign
    yield of_ratio("m(1), m(2), dimension: width, benign processes, relative to the earlier version",
                   cells, BENIGN, lengths, 1.2)
    warned = Line("dependent rows, unknown to kspec: doubted", 90)
    for (question, name, P, Q, estimator), a in sorted(cells.items()):
        if question in INTERVALS and estimator == "kspec" and unaware(name):
            warned.share(f"{question}, {name}, {size_of(P, Q)}", a[:, 3].sum(), len(a))
    yield warned
    yield of_ratio("time, relative to the earlier version", cells, None, seconds, 1.2)


def lengths(a, question):
    """On the logarithm's scale where that is finite, else as they are"""
    with np.errstate(divide="ignore", invalid="ignore"):
        length = np.log(a[:, 2] / a[:, 1])
    return np.where(a[:, 1] > 0, length, np.inf)


def seconds(a, question):
    return np.where(np.isnan(a[:, 0]), np.nan, a[:, 4])  # a refusal takes no time


def of_ratio(what, cells, names, number, most):
    """Ratios of medians of kspec's to the earlier version's, of the same draws"""
    line = Line(what, high=most, unit="")
    for question in INTERVALS:
        for name, P, Q, a in known_cells(cells, question):
            b = cells.get((question, name, P, Q, BEFORE))
            if b is None or (names is not None and name not in names) or len(a) != len(b):
                continue
            x, y = number(a, question), number(b, question)
            there = np.isfinite(x) & np.isfinite(y)
            if there.sum() < 5:
                continue
            x, y, rng = x[there], y[there], np.random.default_rng(0)
            draws = rng.integers(len(x), size=(200, len(x)))
            spread = np.std(np.median(x[draws], axis=1) / np.median(y[draws], axis=1))
            line.add(f"{question}, {name}, {size_of(P, Q)}", np.median(x) / np.median(y), spread)
    return line


def misses(cells):
    """How often a miss carries a doubt, and how often an interval that holds does, process by process"""
    rows, all_of = [], {}
    for question in INTERVALS:
        for name, P, Q, a in known_cells(cells, question):
            there = ~np.isnan(a[:, 1])
            held = there & (a[:, 1] <= 1) & (1 <= a[:, 2])
            for key in (name, "all"):
                of = all_of.setdefault(key, np.zeros(4, int))
                missed, doubted = there & ~held, a[:, 3] > 0
                of += [missed.sum(), (missed & doubted).sum(), held.sum(), (held & doubted).sum()]
    for name, (missed, doubted, held, alarms) in all_of.items():
        rows.append([name, f"{missed} of {missed + held}", percent(doubted, missed), percent(alarms, held)])
    yield (
        "The next table counts the intervals of m(1), m(2) and the dimension that miss the truth. "
        "The\ntable also shows how many of these intervals, and how many of the other intervals, "
        "carry a doubt.\n"
    )
    yield table(["process", "misses", "misses doubted, %", "others doubted, %"], rows)


# ---- spectra ----


def of_spectra(cells):
    for question, bound, what in (("lambda1", 88, "λ₁"), ("lambda2", 80, "λ₂"), ("lambda5", 80, "λ₅")):
        line = Line(f"{what} of two trials: coverage", bound)
        for name, P, Q, a in known_cells(cells, question):
            there, held = covered(a)
            if base_of(name) not in HARD:
                line.share(f"{name}, {size_of(P, Q)}", held, there)
        yield line
    line = Line("λ₁, λ₂, λ₅ of word counts and shared noise: misses with a doubt", 80)
    missed, doubted = {}, {}
    for question in ("lambda1", "lambda2", "lambda5"):
        for name, P, Q, a in known_cells(cells, question):
            if base_of(name) in HARD:
                bad = ~np.isnan(a[:, 1]) & ~((a[:, 1] <= 1) & (1 <= a[:, 2]))
                missed[base_of(name)] = missed.get(base_of(name), 0) + bad.sum()
                doubted[base_of(name)] = doubted.get(base_of(name), 0) + np.sum(bad & (a[:, 3] > 0))
    for name in missed:
        line.share(f"{name}, {missed[name]} misses", doubted[name], missed[name])
    yield line
    yield from of_errors(cells)


def of_errors(cells):
    """Mean total errors on the draws that all were asked about"""
    what = "total error of two trials, relative to the better of the earlier fit and the mean as one trial"
    line = Line(what, high=1.1, unit="")
    for name, P, Q, a in known_cells(cells, "spectrum"):
        one = cells.get(("spectrum", name, P, Q, AS_ONE))
        if one is None or len(one) != len(a) or np.isnan(one[:, 0]).all():
            continue
        before = cells.get(("spectrum", name, P, Q, BEFORE))
        two, others = a[:, 0] - 1, [one[:, 0] - 1]
        means = [np.nanmean(two), np.nanmean(others[0])]
        if before is not None:  # asked less often: in proportion to kspec's own error of the same draws
            same = two[::RARE][: len(before)]
            means.append(np.nanmean(before[: len(same), 0] - 1) / np.nanmean(same) * means[0])
        rng = np.random.default_rng(0)
        draws = rng.integers(len(two), size=(400, len(two)))
        spread = np.std(two[draws].mean(axis=1) / others[0][draws].mean(axis=1)) * means[1] / min(means[1:])
        line.add(f"{name}, {size_of(P, Q)}", means[0] / min(means[1:]), spread)
    yield line


# ---- is there a signal? ----


def of_presence(cells):
    noises = Line("pure noise: no signal reported", 95)
    signals = Line("median z above 5: no signal reported", high=2)
    for (question, name, P, Q, _), a in sorted(cells.items()):
        if not question.startswith("signal"):
            continue
        cell = f"{name}, {size_of(P, Q)}, {question.removeprefix('signal, ')}"
        none = np.sum(a[:, 0] == 0)
        if name in NOISES:
            noises.share(cell, none, len(a))
        elif np.nanmedian(a[:, 1]) > 5:
            signals.share(cell, none, len(a))
    yield noises
    yield signals


def bounds(cells):
    yield HEAD
    rows = []
    for line in (*of_intervals(cells), *of_spectra(cells), *of_presence(cells)):
        if line.cells:
            rows.extend(line.rows())
    yield table(["requirement", "cells", "worst cell, and all that miss", "bound", "result", ""], rows)
    yield from misses(cells)
