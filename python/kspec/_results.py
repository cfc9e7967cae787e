"""Results: the keys of the tool's JSON object as attributes, and its table as their text."""

from __future__ import annotations

import dataclasses
import html
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from ._call import Outcome, warn_of
from ._errors import in_python

Array = np.ndarray[Any, Any]
_R = TypeVar("_R", bound="Result")


class Table(Sequence[Mapping[str, Any]]):
    """A list of rows that have the same keys, such as the estimates of moments.

    table["value"], or table.value, is a column as an array; table[3] a row as a dict; len() counts rows.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._rows = tuple(rows)

    @property
    def columns(self) -> list[str]:
        """The keys, in the order in which they first appear"""
        return list(dict.fromkeys(key for row in self._rows for key in row))

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return Table(self._rows[key]) if isinstance(key, slice) else dict(self._rows[key])
        if not any(key in row for row in self._rows):
            raise KeyError(key)
        return _column([row.get(key) for row in self._rows])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            pass
        raise AttributeError(f"no column {name!r}; there are {', '.join(self.columns)}")

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return (dict(row) for row in self._rows)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.columns]

    def __repr__(self) -> str:
        return f"Table of {len(self)} rows: {', '.join(self.columns)}"

    def to_dataframe(self) -> Any:
        import pandas as pd

        return pd.DataFrame(list(self._rows), columns=self.columns)


def _frozen(a: Array) -> Array:
    a.flags.writeable = False
    return a


def _column(values: Sequence[Any]) -> Any:
    """Numbers (null is NaN), rows of numbers, words; anything else as it is"""
    kinds = {type(v) for v in values}
    if kinds <= {int}:
        return _frozen(
            np.array(values, dtype=np.int64 if all(-(2**63) <= v < 2**63 for v in values) else np.uint64)
        )
    if kinds <= {int, float, type(None)}:
        return _frozen(np.array([math.nan if v is None else v for v in values], dtype=np.float64))
    if kinds == {bool}:
        return _frozen(np.array(values))
    if kinds == {list} and len({len(v) for v in values}) == 1 and values[0]:
        inner = [_column(v) for v in values]
        if all(isinstance(v, np.ndarray) and v.dtype.kind in "fiu" for v in inner):
            return _frozen(np.array(inner))
    return tuple(values)


def _value(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    if value and all(isinstance(v, dict) for v in value):
        return Table(value)
    return _column(value) if value else _frozen(np.empty(0))


# what a field is where the object has no such key, or null
_ABSENT = {"float": math.nan, "Array": _frozen(np.empty(0)), "Table": Table(())}


_ENVELOPE = ("schema", "kspec", "command", "command_line")


def _scalars(keys: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers and words among the keys of an object, without those of every object; null is NaN"""
    kinds = (int, float, str, type(None))
    return {
        k: math.nan if v is None else v
        for k, v in keys.items()
        if isinstance(v, kinds) and k not in _ENVELOPE
    }


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Result:
    """What a call returns. Its attributes are the keys of the tool's JSON object; its text is the tool's
    table."""

    _json: str
    _table: str
    seconds: float

    # the field that to_dataframe() takes: a Table, or arrays side by side
    _rows: ClassVar[str | tuple[str, ...]] = ()

    @classmethod
    def _of(cls: type[_R], outcome: Outcome) -> _R:
        # the fields are read from the JSON object when one of them is first asked for
        result = cls.__new__(cls)
        result.__dict__.update(_json=outcome.json, _table=outcome.table)
        if '"warnings":[]' not in outcome.json:
            warn_of(result.to_dict()["warnings"])
        return result

    def _read(self) -> None:
        keys = self.to_dict()
        for name, kind in self._kinds().items():
            value = keys.get(name)
            self.__dict__[name] = _ABSENT.get(kind) if value is None else _value(value)

    @classmethod
    def _kinds(cls) -> dict[str, str]:
        kinds: dict[str, str] | None = cls.__dict__.get("_kinds_of")
        if kinds is None:
            kinds = {f.name: str(f.type) for f in dataclasses.fields(cls) if not f.name.startswith("_")}
            cls._kinds_of = kinds  # type: ignore[attr-defined]
        return kinds

    def to_json(self) -> str:
        """The JSON object, as a text that the tool reads: `kspec plot` draws it."""
        return self._json

    def to_dict(self) -> dict[str, Any]:
        """The object that the tool prints with --json."""
        keys: dict[str, Any] = json.loads(self._json)
        return keys

    @property
    def doubts(self) -> list[dict[str, Any]]:
        """What the library doubts about the result: code, severity ("note", "warning" or "serious"), text,
        and the numbers concerned. All but notes are warnings, too."""
        return [{**d, "text": in_python(d["text"])} for d in self.to_dict()["doubts"]]

    def to_dataframe(self) -> Any:
        """The rows of the result as a pandas DataFrame."""
        import pandas as pd

        if isinstance(self._rows, str) and len(getattr(self, self._rows)):
            return getattr(self, self._rows).to_dataframe()
        arrays = {k: getattr(self, k) for k in self._rows} if isinstance(self._rows, tuple) else {}
        longest = max((len(a) for a in arrays.values()), default=0)
        if longest:
            columns = {k: a for k, a in arrays.items() if len(a) == longest}
            return pd.DataFrame(columns, index=pd.RangeIndex(1, longest + 1))
        return pd.DataFrame([_scalars(self.to_dict())])

    def plot(self, ax: Any = None) -> Any:
        """Draws the picture of `kspec plot` by matplotlib. Without `ax` all panels are drawn, and an array of
        their Axes is returned, of one panel, too; on an `ax` the first is drawn, and that is returned."""
        from ._plot import draw

        return draw([self], ax)

    def __getattr__(self, name: str) -> Any:
        if name in self._kinds():
            self._read()
            return self.__dict__[name]
        # keys that have no field of their own, as arrays and tables
        if not name.startswith("_"):
            keys = self.to_dict()
            if name in keys:
                return _value(keys[name])
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.to_dict()]

    def __repr__(self) -> str:
        return in_python(self._table.rstrip("\n"), long=True)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(in_python(self._table, long=True))}</pre>"


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Moments(Result):
    """Spectral moments m(n), by estimator and order, and the dimensionality that follows from them"""

    _rows = "estimates"
    rows: int
    cols: int
    trials: int
    side: str
    seed: int
    estimates: Table
    participation_ratio: float
    participation_ratio_stderr: float
    participation_ratio_ci_low: float
    participation_ratio_ci_high: float
    participation_ratio_rounding: float
    participation_ratio_naive: float
    dimension_centered: float
    center: str
    mean_share: float
    correlation: Array

    def __float__(self) -> float:
        return self.participation_ratio


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Dimension(Result):
    """The dimensionality (participation ratio) with its 95% interval; of several matrices, a table"""

    _rows = "results"
    rows: int
    cols: int
    trials: int
    centered: bool
    center: str
    seed: int
    dimension: float
    stderr: float
    ci_low: float
    ci_high: float
    rounding: float
    row_variance: float
    col_variance: float
    naive: float
    plan: dict[str, Any]
    curve: Table
    results: Table
    targets: Table
    signal: str
    signal_z: float
    signal_share: float
    signal_share_stderr: float
    signal_share_ci_low: float
    signal_share_ci_high: float
    signal_columns: Table

    def __float__(self) -> float:
        return self.dimension


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Compare(Result):
    """The alignment of two kernels, and the differences of their dimensions and moments"""

    center: str
    alignment: float
    alignment_stderr: float
    alignment_ci_low: float
    alignment_ci_high: float
    alignment_rounding: float
    row_variance: float
    col_variance: float
    other_col_variance: float
    alignment_biased: float
    alignment_p: float
    shared_dimension: float
    shared_dimension_stderr: float
    shared_dimension_ci_low: float
    shared_dimension_ci_high: float
    dimension: float
    other_dimension: float
    differences: Table

    def to_dataframe(self) -> Any:
        """A row for each pair of matrices: their names, alignment, dimensions, and the differences with p."""
        import pandas as pd

        keys = self.to_dict()
        rows = []
        for pair in keys.get("results", [keys]):
            row = {"first": pair["first"], "second": pair["second"], **_scalars(pair)}
            for d in pair["differences"]:
                of = f"m{d['n']}" if d["n"] else d["what"]
                for key, name in (("value", ""), ("stderr", "_stderr"), ("p", "_p")):
                    row[f"{of}_difference{name}"] = d[key]
            rows.append(row)
        return pd.DataFrame(rows)

    def __float__(self) -> float:
        return self.alignment


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Estimate(Result):
    """An unbiased estimate of a product of matrix entries, with its standard error and 95% interval"""

    _rows = "axes"
    expression: str
    value: float
    stderr: float
    ci_low: float
    ci_high: float
    rounding: float
    axes: Table
    graphs: int
    products: int
    bytes: int
    plan: str

    def __float__(self) -> float:
        return self.value

    @classmethod
    def _made(cls, keys: Mapping[str, Any]) -> Estimate:
        """From numbers that are no command's own"""
        interval = f"{keys['ci_low']:.4g} … {keys['ci_high']:.4g}"
        table = f"{keys['value']:.6g} ± {keys['stderr']:.2g}, 95% interval {interval}"
        finite = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in keys.items()}
        return cls._of(Outcome(table, json.dumps({**finite, "doubts": [], "warnings": []})))


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Spectrum(Result):
    """Eigenvalues of the kernel, with their standard errors and 95% intervals"""

    _rows = ("eigenvalues", "stderr", "ci_low", "ci_high")
    method: str
    rank: int
    eigenvalues: Array
    stderr: Array
    ci_low: Array
    ci_high: Array
    singular_values: Array
    moments: Array
    moments_stderr: Array
    moments_fitted: Array
    participation_ratio: float
    participation_ratio_stderr: float
    operator_norm: float
    exponent: float
    exponent_ci_low: float
    exponent_ci_high: float
    exponent_unweighted: float
    exponent_unweighted_ci_low: float
    exponent_unweighted_ci_high: float
    cross_validated: Array
    columns_excess: float
    effective_dimension: Table
    signal: str
    signal_z: float


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Norm(Result):
    """The spectral norm of a Gram matrix, by each method"""

    _rows = "results"
    rows: int
    cols: int
    kernel: str
    sigma: float
    gamma: float
    seed: int
    results: Table


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Ridge(Result):
    """Errors of ridge regression on random features, predicted and measured; of a recommendation, too, the
    model that is `recommended` and the `curves` along each choice"""

    _rows = "points"
    rows: int
    cols: int
    sigma: float
    seed: int
    points: Table
    mean_train_mse: float
    mean_test_mse: float
    recommended: dict[str, Any]
    best: dict[str, Any]
    double_descent: dict[str, Any] | None
    curves: dict[str, Any]


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Wls(Result):
    """Weighted least squares: errors, fits, or what the verb gives"""

    _rows = "points"
    mode: str
    points: Table


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Smooth(Result):
    """A smooth curve through data: at the points its values and 95% bands, and how it was chosen"""

    _rows = "fitted"
    basis: str
    p: int
    beta: float
    beta_ci_low: float
    beta_ci_high: float
    noise: float
    noise_ci_low: float
    noise_ci_high: float
    theta: Array
    fitted: Table
    predictions: Table
    choices: Table
    curve: Table
    error: float
    under: dict[str, Any]
    over: dict[str, Any]

    def _part(self, rows: Table, key: str) -> Array:
        imag = f"{key}_imag"
        part: Array = rows[key] + 1j * rows[imag] if imag in rows.columns else rows[key]
        return part

    @property
    def value(self) -> Array:
        """The curve at the points of the data; complex where they are"""
        return self._part(self.fitted, "value")

    @property
    def ci_low(self) -> Array:
        """The lower end of its 95% band, of each part where the data are complex"""
        return self._part(self.fitted, "ci_low")

    @property
    def ci_high(self) -> Array:
        """The upper end of its 95% band"""
        return self._part(self.fitted, "ci_high")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.asarray(self.value, dtype=dtype)


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Learn(Result):
    """Moments of the kernel behind the hidden layer of networks that learn"""

    _rows = "runs"
    runs: Table

    def to_dataframe(self) -> Any:
        """A row for each width, seed and epoch."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"width": run["width"], "seed": run["seed"], **epoch}
                for run in self.runs
                for epoch in run["epochs"]
            ]
        )


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Theory(Result):
    """A spectrum that is known in closed form"""

    _rows = ("moments", "log_moments", "eigenvalues", "log_eigenvalues", "multiplicities")
    dim: int
    moments: Array
    log_moments: Array
    eigenvalues: Array
    log_eigenvalues: Array
    multiplicities: Array


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Config(Result):
    """What this build of kspec is and what it uses on this machine"""

    version: str
    isa: str
    blas: str
    lp_solver: str
    threads: int
