"""kspec.unbiased and kspec.jackknife: `kspec estimate` in einsum's notation."""

from __future__ import annotations

import ctypes
import itertools
import re
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
    "groups": Rule("--groups", "input", False, None),
    "groups_column": Rule("--groups-column", "word", False, None),
    "nan": Rule("--nan", "word", False, None),
    "splits": Rule("--splits", "int", False, None),
    "no_stderr": Rule("--no-stderr", "flag", False, None),
    "leave_one_out": Rule("--leave-one-out", "flag", False, None),
    "explain": Rule("--explain", "flag", False, None),
    "device": Rule("--device", "word", False, None),
    "seed": Rule("--seed", "u64", False, None),
    "threads": Rule("--threads", "int", False, None),
}


def _named(subscripts: str, operands: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    """ "ia,ib - ia,ja" and arrays as "A[i,a] B[i,b] - A[i,a] A[j,a]", and the array of each name"""
    if "[" in subscripts:
        raise ValueError(f"{subscripts!r} names its matrices; give one dict of arrays by name")
    subscripts, arrow, output = subscripts.partition("->")
    if output.strip():
        raise ValueError(f"the result is a number, so nothing follows '->': leave {output.strip()!r} out")
    if re.search(r"\d[eE][-+]?\d", subscripts):
        raise ValueError(f"{subscripts!r}: write a number without a power of ten, such as 0.001")
    terms = [part.strip() for part in re.split(r"([+-])", subscripts)]
    count = sum(part.count(",") + 1 for part in terms if part not in ("", "+", "-"))
    if count != len(operands):
        raise ValueError(
            f"{subscripts!r} has {count} {'entry' if count == 1 else 'entries'}, and there "
            f"{'is 1 array' if len(operands) == 1 else f'are {len(operands)} arrays'}"
        )
    names: dict[int, str] = {}
    letters = itertools.chain(string.ascii_uppercase, (f"M{k}_" for k in itertools.count()))
    matrices: dict[str, Any] = {}
    given = iter(operands)
    text = []
    for part in terms:
        if part in ("", "+", "-"):
            text.append(part)
            continue
        number, words = re.fullmatch(r"([\d./]*)(.*)", part, re.S).groups()  # type: ignore[union-attr]
        text.append(number)
        for word in (w.strip(" *") for w in words.split(",")):
            operand = next(given)
            if len(word) != 2 or not word.isalpha() or not word.isascii():
                raise ValueError(
                    f"{word!r} in {subscripts!r} is not two letters, a row's and a column's index; products "
                    'may be added, as in "ia,ia - ia,ja"'
                )
            if id(operand) not in names:
                names[id(operand)] = next(letters)
                matrices[names[id(operand)]] = operand
            text.append(f"{names[id(operand)]}[{word[0]},{word[1]}]")
    return " ".join(text).strip(), matrices


def unbiased(
    expression: str,
    *operands: Any,
    center: str | bool | None = None,
    complete: str | Sequence[str] | None = None,
    population: Mapping[str, int] | None = None,
    same_cols: str | Sequence[str] | None = None,
    groups: Any = None,
    groups_column: str | None = None,
    nan: str | None = None,
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
    expression : two letters for each array as in numpy.einsum, also sums such as "ia,ia - ia,ja"; or the
        expression of `kspec estimate`
    operands : an array for each entry, or one dict of arrays by name; a list of arrays, or one with three
        axes, is trials, whose halves are X1 and X2. Arrays on a GPU are copied to the host
    center : axes whose mean is removed: "rows", "cols", "both", or names of indices, "i,a"
    complete : axes that are all there is: coincidences are allowed
    population : sizes of populations from which axes are samples, {"i": 1000}
    same_cols : names of matrices whose columns are the same features
    groups : a label of each row: rows with one label depend on each other and never meet in a term.
        `groups_column` names a column of a table instead
    nan : missing entries: "error", "omit-rows" or "omit-cols"
    splits : random halves of more than two trials to average over
    stderr : False for the value alone
    explain : True for the plan, in `plan`
    device : where matrix products are made: "auto" (a GPU where that is faster), "cpu", "gpu" or "gpu:1"

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
        "groups": groups,
        "groups_column": groups_column,
        "nan": nan,
        "splits": splits,
        "no_stderr": not stderr,
        "leave_one_out": True,
        "explain": explain,
        "device": device,
        "seed": seed,
        "threads": threads,
    }
    if text.startswith("-"):
        text = " " + text  # which is no option
    result = Estimate._of(run(["estimate", text], (matrices,), "x", _RULES, options, progress))
    object.__setattr__(result, "_matrices", matrices)
    return result


def _identity(x: Any) -> Any:
    """Equal for two arrays that are the same entries in memory"""
    if isinstance(x, np.ndarray):
        return x.__array_interface__["data"][0], x.shape, x.strides, x.dtype.str
    return id(x)


def _sides(u: Estimate, axis: Any) -> set[Any]:
    """What an axis is: the rows or columns of these arrays"""
    words = (word.split(":") for word in axis["sides"].split())
    return {(_identity(u._matrices[name]), side) for name, side in words}


def _axes(estimates: Sequence[Estimate]) -> list[dict[str, Any]]:
    """The axes of all estimates, each once. Those that have a side in common are one."""
    axes: list[dict[str, Any]] = []
    for k, u in enumerate(estimates):
        if not hasattr(u, "_matrices"):
            raise TypeError(f"argument {k + 2} of jackknife is not a result of kspec.unbiased")
        for a in u.axes:
            new: dict[str, Any] = {"sides": _sides(u, a), "of": {k: a}}
            for old in [old for old in axes if old["sides"] & new["sides"]]:
                new["sides"] |= old["sides"]
                new["of"] = {**old["of"], **new["of"]}
                axes.remove(old)
            axes.append(new)
    for axis in axes:
        first, *others = axis["of"].values()
        for other in others:
            for key in ("size", "groups", "population"):
                if first.get(key) != other.get(key):
                    values = f"{first.get(key)} and {other.get(key)}"
                    raise ValueError(
                        f"the estimates do not share the {first['name']}: {key} is {values}; make all of "
                        "them from the same arrays with the same options"
                    )
    return axes


def jackknife(function: Callable[..., float], *estimates: Estimate) -> Estimate:
    """A function of several estimates, with the standard error and interval that follow from their data.

        >>> kspec.jackknife(lambda xy, xx, yy: xy / (xx * yy) ** 0.5, u_xy, u_xx, u_yy)  # doctest: +SKIP

    An axis that several estimates share, since they were made from the same arrays, is left out of all of
    them together. Its size, population and groups must then be the same in all. Different arrays are taken
    as independent, unless an estimate of both links them.
    """
    if not estimates:
        raise TypeError("jackknife takes a function and one estimate or more")
    values = [u.value for u in estimates]
    lists, shares = [], []
    known = True
    for axis in _axes(estimates):
        first = next(iter(axis["of"].values()))
        if first["population"] is not None and first["population"] <= first["size"]:
            continue  # complete
        without = {k: a.get("without") for k, a in axis["of"].items()}
        if any(w is None for w in without.values()):
            known = False
            continue
        lists.append(
            np.array(
                [
                    function(*(without[k][i] if k in without else v for k, v in enumerate(values)))
                    for i in range(len(next(iter(without.values()))))
                ],
                dtype=float,
            )
        )
        shares.append(1.0 if first["population"] is None else 1 - first["size"] / first["population"])
    value = float(function(*values))
    bar = _interval(value, lists, shares) if known else (float("nan"),) * 3
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
