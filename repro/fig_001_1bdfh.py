#!/usr/bin/env python3
"""Figure 1 (b), (d) and (f), (h): times against the number of rows n, on Crime and Wine: of the full
decomposition, and of power and rff-power (1bd) or nystrom and rff-nystrom (1fh).

One thread, five updates, the least of several runs, the making of K or Z included. "Roughly linear" (cubic,
quadratic) is taken as: the whole 95% interval of the fitted exponent is nearer to 1 (3, 2) than to any other
power. 1bd: "RFF-Power
consistently consumes the least amount of time"; "the time of three methods have roughly cubic, quadratic and
linear dependence on data size". 1fh: "Again, we see RFF-Nystrom consistently consumes the least amount of
time"; the introduction adds that the accelerated methods' "computation time indeed scale linearly as the data
size increases, while their basic counterparts' time scale quadratically".

The scaling of the columns does not matter here; min-max is taken. The decomposition is LAPACK's of a
symmetric matrix (quick: n up to 2449). The norm of a sample's Gram matrix is by Lanczos iteration, with five
products for five updates.
"""
from harness import chosen, slope_interval
from paper001 import CRIME, METHODS, MINMAX, WINE, Norms, line, span

FIGURES = {  # title, panels, the fastest method, how the time of each method grows with n
    "001-1bd": ("Time of the norm's estimates by power iteration", "bd", "rff-power",
                {"eigen": "cubic", "power": "quadratic", "rff-power": "linear"}),
    "001-1fh": ("Time of the Nyström estimates of the norm", "fh", "rff-nystrom",
                {"eigen": "cubic", "nystrom": "quadratic", "rff-nystrom": "linear"}),
}
name, (title, letters, fastest, growth) = chosen(FIGURES)
figure = Norms(name, title)


def measure(data):
    """The least seconds by method and n, of exactly five updates. Commands run one at a time, and all sizes
    in turn: a period in which the machine is busy slows all of them"""
    least = {m: {} for m in ("eigen", *METHODS)}
    for seed in range(7):
        for n in (data.rows * k // 8 for k in figure.pick((2, 3, 4, 8), range(2, 9))):
            with_eigen = n <= figure.pick(2500, 5000) and seed < (2 if n > 1500 else 7)
            for methods in (METHODS, ["eigen"])[:1 + with_eigen]:
                r = figure.norm(MINMAX, data, methods, "--updates", 5, "--stop", 1e-300,
                                "--features", data.features, "--sample", round(0.8 * n), "--sample-first",
                                "--seed", seed, rows=n)
                for m in methods:
                    least[m][n] = min(r[m]["seconds"], least[m].get(n, r[m]["seconds"]))
    return least


panels = []
for data, letter in zip((CRIME, WINE), letters):
    times = measure(data)
    ratios = {m: [t / times[fastest][n] for n, t in times[m].items()] for m in growth if m != fastest}
    figure.claim(f"{data.name}: {fastest} “consistently consumes the least amount of time” (at every n)",
                 ", ".join(f"{m} takes {span(r, 3)} times as long" for m, r in ratios.items()),
                 min(map(min, ratios.values())) > 1)
    fits = [slope_interval(list(times[m]), list(times[m].values())) for m in growth]
    for (m, word), (found, half) in zip(growth.items(), fits):
        power = {"cubic": 3, "quadratic": 2, "linear": 1}[word]
        figure.claim(f"{data.name}: the time of {m} is “roughly” {word} in n",
                     f"n^{found:.2f} ± {half:.2f} (95%), {len(times[m])} sizes",
                     None if abs(abs(found - power) - 0.5) < half else abs(found - power) < 0.5,
                     "part of the interval is nearer to another power"
                     if abs(abs(found - power) - 0.5) < half else
                     "at these sizes the time is not yet a power of n: fixed costs and caches bend it")
    panels.append({"title": f"({letter}) {data.name}", "xlabel": "rows n", "ylabel": "seconds",
                   "xscale": "log", "yscale": "log",
                   "series": [line(m, list(times[m]), list(times[m].values())) for m in growth]})
figure.picture("", panels)
figure.finish()
