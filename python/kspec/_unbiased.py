"""kspec.unbiased and kspec.jackknife: `kspec estimate` in einsum's notation."""

from __future__ import annotations

import ctypes
import itertools
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _header as h
from ._call import Progress, Rule, run
from ._errors import error_of
from ._library import library
from ._results import Estimate

_RULES: dict[str, Rule] = {
    "center": Rule("--center", "word", True, None),
    "complete": Rule("--complete", "words", False, None),
    "population": Rule("--population", "word", False, None),
    "same_cols": Rule("--same-cols", "words", False, None),
    "splits": Rule("--splits", "int", False, None),
    "no_stderr": Rule("--no-stderr", "flag", False, None),
    "leave_one_out": Rule("--leave-one-out", "flag", False, None),
    "explain": Rule("--explain", "flag", False, None),
    "device": Rule("--device", "word", False, None),
    "seed": Rule("--seed", "u64", False, None),
    "threads": Rule("--threads", "int", False, None),
}


def _named(subscripts: str, operands: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    """ "ia,ib" and arrays as "A[i,a] B[i,b]" and its matrices; the same array has one name"""
    words = [word.strip() for word in subscripts.split(",")]
    if len(words) != len(operands):
        raise ValueError(f"{subscripts!r} has {len(words)} entries, and there are {len(operands)} arrays")
    names: dict[int, str] = {}
    letters = itertools.chain(string.ascii_uppercase, (f"M{k}_" for k in itertools.count()))
    matrices: dict[str, Any] = {}
    entries = []
    for word, operand in zip(words, operands):
        if len(word) != 2 or not word.isalpha() or not word.isascii():
            raise ValueError(f"{word!r} in {subscripts!r} is not two letters, a row's and a column's index")
        if id(operand) not in names:
            names[id(operand)] = next(letters)
            matrices[names[id(operand)]] = operand
        entries.append(f"{names[id(operand)]}[{word[0]},{word[1]}]")
    return " ".join(entries), matrices


def unbiased(
    expression: str,
    *operands: Any,
    center: str | bool | None = None,
    complete: str | Sequence[str] | None = None,
    population: Mapping[str, int] | None = None,
    same_cols: str | Sequence[str] | None = None,
    splits: int | None = None,
    stderr: bool = True,
    explain: bool = False,
    device: str | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Estimate:
    """The mean of a product of matrix entries over distinct indices, without bias, with its interval.

        >>> kspec.unbiased("ia,ja,jb,ib", x, x, x, x)                         # doctest: +SKIP
        >>> kspec.unbiased("ia,ib,ja,jb", x, y, x, y, center="rows")          # doctest: +SKIP
        >>> kspec.unbiased("X[i,a] X[i,a] - X[i,a] X[j,a]", {"X": x})         # doctest: +SKIP

    Parameters
    ----------
    expression : two letters for each array as in numpy.einsum, or the expression of `kspec estimate`
    operands : an array for each entry, or one dict of arrays by name; a list of arrays, or one with three
        axes, is trials, whose halves are X1 and X2
    center : axes whose mean is removed: "rows", "cols", "both", or names of indices, "i,a"
    complete : axes that are all there is: coincidences are allowed
    population : sizes of populations from which axes are samples, {"i": 1000}
    same_cols : names of matrices whose columns are the same features
    splits : random halves of more than two trials to average over
    stderr : False for the value alone
    explain : True for the plan, in `plan`

    Returns
    -------
    Estimate, with value, stderr, ci_low, ci_high, and axes with the values without each index
    """
    if len(operands) == 1 and isinstance(operands[0], Mapping) and not hasattr(operands[0], "iloc"):
        text, matrices = expression, dict(operands[0])
    else:
        text, matrices = _named(expression, operands)
    sizes = None if population is None else ",".join(f"{k}={int(n)}" for k, n in population.items())
    options = {
        "center": center or None,
        "complete": complete,
        "population": sizes,
        "same_cols": same_cols,
        "splits": splits,
        "no_stderr": not stderr,
        "leave_one_out": True,
        "explain": explain,
        "device": device,
        "seed": seed,
        "threads": threads,
    }
    result = Estimate._of(run(["estimate", text], (matrices,), "x", _RULES, options, progress))
    object.__setattr__(result, "_matrices", matrices)
    return result


def jackknife(function: Callable[..., float], *estimates: Estimate) -> Estimate:
    """A function of several estimates, with the standard error and interval that follow from their data.

        >>> kspec.jackknife(lambda xy, xx, yy: xy / (xx * yy) ** 0.5, u_xy, u_xx, u_yy)  # doctest: +SKIP

    An axis that several estimates share, since they were made from the same arrays, is left out of all of
    them together.
    """
    axes: list[dict[str, Any]] = []
    for k, u in enumerate(estimates):
        for axis in u.axes:
            if axis.get("without") is None:
                continue
            sides = {
                (id(u._matrices[name]), side)
                for name, side in (word.split(":") for word in axis["sides"].split())
            }
            same = [a for a in axes if a["sides"] & sides and a["size"] == axis["size"]]
            if not same:
                axes.append({"sides": set(), "size": axis["size"], "share": 1.0, "without": {}})
                same = axes[-1:]
            same[0]["sides"] |= sides
            same[0]["without"][k] = axis["without"]
            if axis["population"] is not None:
                same[0]["share"] = 1 - axis["size"] / axis["population"]
    values = [u.value for u in estimates]
    value = float(function(*values))
    lists = [
        np.array(
            [
                function(*(a["without"][k][i] if k in a["without"] else v for k, v in enumerate(values)))
                for i in range(a["size"])
            ],
            dtype=float,
        )
        for a in axes
    ]
    bar = _interval(value, lists, [a["share"] for a in axes])
    names = ("value", "stderr", "ci_low", "ci_high")
    return Estimate._made(dict(zip(names, (value, *bar)), axes=[], expression="a function of estimates"))


def _interval(value: float, lists: list[Any], shares: list[float]) -> tuple[float, float, float]:
    if not lists:
        return (float("nan"),) * 3
    pointers = (ctypes.POINTER(ctypes.c_double) * len(lists))(
        *(a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in lists)
    )
    sizes = (ctypes.c_size_t * len(lists))(*(a.size for a in lists))
    share = (ctypes.c_double * len(lists))(*shares)
    out = (ctypes.c_double * 3)()
    err = h.kspec_error()
    status = library().kspec_jackknife(value, pointers, sizes, share, len(lists), out, ctypes.byref(err))
    if status:
        raise error_of(status, err.msg.decode())
    return out[0], out[1], out[2]
