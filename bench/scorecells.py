"""Answers by cell, and what tables are made of."""

import numpy as np

TWO_TRIALS = ("shared",)  # noise shared along a row counts as signal in one trial
DEPENDENT = {"series": ", --block auto", "blocks": ", --groups"}


def merge(runs):
    """(question, process, P, Q, estimator) -> answers x (value, low, high, doubted, seconds)"""
    cells = {}
    for run in runs:
        for *key, rows in run["cells"]:
            cells.setdefault(tuple(key), []).extend(rows)
    return {key: np.array(rows, float) for key, rows in cells.items()}


def covered(rows):
    """How many intervals there are, and how many hold the truth, 1"""
    low, high = rows[:, 1], rows[:, 2]
    there = ~np.isnan(low)
    return there.sum(), np.sum(there & (low <= 1) & (1 <= high))


def percent(part, whole):
    if not whole:
        return "–"
    share = part / whole
    return f"{100 * share:.0f} ± {100 * np.sqrt(share * (1 - share) / whole):.0f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def unaware(name):
    """Is this a process whose dependent rows the estimator was not told of?"""
    return name in DEPENDENT
