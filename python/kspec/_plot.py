"""Pictures by matplotlib. The tool makes the figure of a result, with its labels and colours; this draws
it."""

from __future__ import annotations

import contextlib
import json
import math
import re
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._call import memory_file, run_line

# the palette of Okabe and Ito, and the order in which series take their colours, as in cli/plot/gnuplot.c
COLORS = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")
ORDER = (5, 6, 3, 1, 7, 2, 0, 4)
MARKS = "os^Dv8P*"
DASHES = ("-", "--", "-.", (0, (3, 1, 1, 1, 1, 1)))
FEW = 60
WIDTH = 1.6


def figure_of(results: Sequence[Any]) -> dict[str, Any]:
    """The figure of results, as `kspec plot --json` gives it: panels of series"""
    with contextlib.ExitStack() as stack:
        paths = [stack.enter_context(memory_file(r.to_json())) for r in results]
        figure: dict[str, Any] = json.loads(run_line(["plot", *paths, "--json"]).json)
    return figure


def _text(words: str | None) -> str:
    """m(n)^{1/n}: what is raised and lowered, as matplotlib writes it"""
    return re.sub(
        r"([\^_])\{([^}]*)\}", lambda m: f"${m[1]}{{\\mathrm{{{m[2]}}}}}$", (words or "").replace("$", r"\$")
    )


def _numbers(series: dict[str, Any], key: str, count: int) -> Any:
    values = series.get(key)
    if values is None:
        return np.full(count, math.nan)
    return np.array([math.nan if v is None else v for v in values], dtype=float)


def _draw_series(ax: Any, s: dict[str, Any], turn: int) -> int:
    """Draws one series; returns the turn of the next one that has no colour of its own"""
    style = s.get("style", "linespoints")
    y = _numbers(s, "y", len(s.get("x", s.get("y", []))))
    x = _numbers(s, "x", len(y)) + s.get("shift", 0) if "x" in s else np.arange(1, len(y) + 1)
    low, high = _numbers(s, "low", len(y)), _numbers(s, "high", len(y))
    color = s.get("color", -1)
    mine = ORDER.index(color) if color >= 0 else turn
    look: dict[str, Any] = {
        "color": COLORS[color if color >= 0 else ORDER[turn % len(ORDER)]],
        "label": _text(s.get("label")) or "_nolegend_",
        "linewidth": WIDTH,
    }
    mark = MARKS[mine % len(MARKS)]
    if style == "tiles":
        for cx, cy, value in zip(x, y, low):
            if math.isfinite(value):
                ax.add_patch(_tile(cx, cy, value))
                ax.text(cx, cy, f"{value:.2f}", ha="center", va="center")
        return turn
    if style == "bars":
        ax.barh(y, x, color=look["color"], height=0.6, label=look["label"])
    elif style == "band":
        ax.fill_between(x, low, high, color=look["color"], alpha=0.2, linewidth=0)
        ax.plot(x, y, linestyle=DASHES[mine % len(DASHES)], **look)
    elif style == "levels":
        ax.hlines(y, x - 0.3, x + 0.3, **look)
    elif style == "steps":
        ax.step(x, y, where="post", **look)
    elif style in ("dashed", "dotted"):
        ax.plot(x, y, linestyle="--" if style == "dashed" else ":", **look)
    else:
        marks = style == "points" or (style == "linespoints" and len(y) <= FEW)
        line = "none" if style == "points" else "-" if marks or color == 0 else DASHES[mine % len(DASHES)]
        ax.plot(
            x, y, linestyle=line, marker=mark if marks else None, markersize=5 if len(y) <= FEW else 3, **look
        )
    if style not in ("band", "bars") and np.isfinite(low).any():
        ax.vlines(x, low, high, color=look["color"], linewidth=1)
    return turn + int(color < 0)


def _tile(x: float, y: float, value: float) -> Any:
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    shade = LinearSegmentedColormap.from_list("kspec", ["#f7f7f7", "#56b4e9"])(value)
    return Rectangle((x - 0.5, y - 0.5), 1, 1, color=shade)


def _draw_panel(ax: Any, panel: dict[str, Any]) -> None:
    turn = 0
    for s in panel.get("series", []):
        turn = _draw_series(ax, s, turn)
    for axis in "xy":
        scale, limits = panel.get(axis + "scale"), panel.get(axis + "range")
        if scale in ("linear", "log"):
            getattr(ax, f"set_{axis}scale")(scale, **({"nonpositive": "mask"} if scale == "log" else {}))
        if limits and None not in limits:
            getattr(ax, f"set_{axis}lim")(limits)
        getattr(ax, f"set_{axis}label")(_text(panel.get(axis + "label")))
    for name, axis in ((panel.get("names"), "y"), (panel.get("xnames"), "x")):
        if name:
            getattr(ax, f"set_{axis}ticks")(range(len(name)), [_text(n) for n in name])
    for mark in panel.get("marks", []):
        (ax.axvline if mark["axis"] == "x" else ax.axhline)(
            mark["at"],
            color="#555555",
            linewidth=1.2,
            linestyle=":",
            label=_text(mark.get("label")) or "_nolegend_",
        )
    if log := [axis for axis in (ax.xaxis, ax.yaxis) if axis.get_scale() == "log"]:
        _name_ticks(log)
    ax.set_title(_text(panel.get("title")), fontsize="medium")
    ax.grid(color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _name_ticks(axes: Sequence[Any]) -> None:
    """An axis of less than two decades has names at 1, 2 and 5 times powers of ten, a short one at all"""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis in axes:
        low, high = axis.get_view_interval()
        decades = math.log10(high / low)
        if decades >= 2:
            continue
        axis.set_major_locator(LogLocator(subs=range(1, 10) if decades < 0.8 else (1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def _legend(ax: Any, beside: bool) -> None:
    """Beside the panel, where it covers no data; in the caller's axes, whose figure is not ours, below it"""
    if len(ax.get_legend_handles_labels()[0]) < 2:
        return
    place = ("upper left", (1.01, 1.0)) if beside else ("upper center", (0.5, -0.16))
    ax.legend(frameon=False, fontsize="small", loc=place[0], bbox_to_anchor=place[1], borderaxespad=0)


def _labels(ax: Any) -> list[str]:
    labels: list[str] = ax.get_legend_handles_labels()[1]
    return labels


def _title(words: str | None, inches: float, points: float = 12) -> str:
    """In as many lines as the width needs; a letter is about 0.55 of its font's size wide"""
    return "\n".join(textwrap.wrap(_text(words), max(20, int(72 * inches / (0.55 * points)))))


def draw(results: Sequence[Any], ax: Any = None) -> Any:
    """Draws all panels, in a figure of their own, or the first of them on `ax`; returns the axes."""
    figure = figure_of(results)
    panels = figure["panels"]
    if ax is not None:
        _draw_panel(ax, panels[0])
        _legend(ax, beside=False)
        if not panels[0].get("title"):
            ax.set_title(
                _title(figure.get("title"), ax.get_position().width * ax.figure.get_figwidth(), 10),
                fontsize="medium",
            )
        return ax
    import matplotlib.pyplot as plt

    columns = figure.get("columns") or min(len(panels), 2)
    rows = -(-len(panels) // columns)
    width = 5 * columns + 1.5
    picture, grid = plt.subplots(
        rows, columns, figsize=(width, 3.6 * rows), squeeze=False, layout="constrained"
    )
    axes = list(grid.flat)
    for a, panel in zip(axes, panels):
        _draw_panel(a, panel)
    for k, a in enumerate(axes[: len(panels)]):  # a panel has the legend of its right neighbour
        last = (k + 1) % columns == 0 or k + 1 == len(panels)
        if last or not set(_labels(a)) <= set(_labels(axes[k + 1])):
            _legend(a, beside=True)
    for a in axes[len(panels) :]:
        a.set_visible(False)
    picture.suptitle(_title(figure.get("title"), width), fontsize="large")
    return np.array(axes[: len(panels)])
