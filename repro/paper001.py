"""What the figures of *Approximating Gram Matrix Spectral Norm using Random Features* share: data, settings, draws, words.

The paper says: columns standardised, sigma = 0.5 (Crime) and 0.1 (Wine), w ~ N(0, I). That w belongs to sigma = 1, and the
text as it stands does not make its figures; so two settings are run, and every claim about estimates is judged in both:

  as printed    standardised, the printed sigma, w ~ N(0, I/sigma^2) as this kernel needs
  min-max       columns scaled to 0 ... 1, sigma = 1, for which w ~ N(0, I) is right

Crime is UCI Communities and Crime: its 100 predictors without gaps, and 1993 rows like the paper (the file has 1994). Times are
those of one thread, the shortest of several. "Close" is taken as: the mean over the draws is within 5% of the norm.
"""
import collections

from harness import Figure, mean, slope, variance

PAPER = "Approximating Gram Matrix Spectral Norm using Random Features"
CLOSE = 0.05
Data = collections.namedtuple("Data", "name file columns rows sigma features")
CRIME = Data("Crime", "communities/communities.data", "5-100,118-120,125", 1993, 0.5, 50)
WINE = Data("Wine", "wine/winequality-white.csv", "0-10", 4898, 0.1, 150)
PRINTED, MINMAX = "as printed", "min–max, σ = 1"
CASES = [(setting, data) for setting in (PRINTED, MINMAX) for data in (CRIME, WINE)]
COLORS = {"norm": 0, "eigen": 0, "power": 1, "nystrom": 1, "rff-power": 2, "rff-nystrom": 2}


class Norms(Figure):
    """A figure of the paper: kspec norm in one of the two settings"""

    def __init__(self, name, title):
        super().__init__(name, PAPER, title)
        self.files = {d: self.data(d.file) for d in (CRIME, WINE)}

    def norm(self, setting, data, methods, *options, rows=None, sigma=None):
        """Results by method, for the first rows"""
        scale = ["--standardize", "--sigma", sigma or data.sigma] if setting == PRINTED else ["--minmax", "--sigma", 1]
        r = self.kspec("norm", self.files[data], "--select-cols", data.columns, "--select-rows", f"0-{(rows or data.rows) - 1}", *scale,
                       "--method", ",".join(methods), "--threads", 1, *options)
        return {m["method"]: m for m in r["results"]}

    def baseline(self, setting, data, rows=None):
        """The norm: by the full decomposition, as in the paper, or sooner by Lanczos iteration to 1e-10"""
        method = self.pick("lanczos", "eigen")
        return self.norm(setting, data, [method], rows=rows)[method]["value"]

    def draws(self, setting, data, methods, *options, trials, **where):
        """Values by method, one for each draw; trials: (commands, draws in each). Each command starts its iterations anew"""
        commands, repeat = trials
        values = {m: [] for m in methods}
        for seed in range(commands):
            r = self.norm(setting, data, methods, "--seed", seed, "--repeat", repeat, "--draws", *options, **where)
            for m in methods:
                values[m] += [d["value"] for d in r[m]["draws"]]
        return values

    def against_rows(self):
        """Figure 1 (a), (c), (e), (g): for each case a list of (n, the norm, values by method)"""
        def one(job):
            (setting, data), n = job
            values = self.draws(setting, data, ["power", "rff-power", "nystrom", "rff-nystrom"], "--updates", 5, "--features", data.features,
                                "--sample", round(0.8 * n), "--sample-first", trials=self.pick((3, 14), (50, 1)), rows=n)
            return n, self.baseline(setting, data, n), values
        jobs = [(case, case[1].rows * k // 8) for case in CASES for k in self.pick((2, 5, 8), range(1, 9))]
        results = self.map(one, jobs)
        return {case: [r for (c, _), r in zip(jobs, results) if c == case] for case in CASES}

    def times(self, data):
        """Figure 1 (b), (d), (f), (h): the least seconds by method and n, of exactly five updates. One command at a time, and all sizes in
        turn: a while in which the machine has other work falls on all of them"""
        quick = ["power", "rff-power", "nystrom", "rff-nystrom"]
        least = {m: {} for m in ("eigen", *quick)}
        for seed in range(7):
            for n in (data.rows * k // 8 for k in self.pick((2, 3, 4, 8), (2, 3, 4, 6, 8))):
                with_eigen = n <= self.pick(2500, 5000) and seed < (2 if n > 1500 else 7)
                for methods in (quick, ["eigen"])[:1 + with_eigen]:
                    r = self.norm(MINMAX, data, methods, "--updates", 5, "--stop", 1e-300, "--features", data.features, "--sample", round(0.8 * n),
                                  "--sample-first", "--seed", seed, rows=n)
                    for m in methods:
                        least[m][n] = min(r[m]["seconds"], least[m].get(n, r[m]["seconds"]))
        return least

    def judge(self, case, text, number, holds, reason=None):
        """A claim in one case, and why it does not hold there"""
        self.claim(f"{case[1].name}, {case[0]}: {text}", number, holds, differs=reason)


def close(ratios):
    return max(abs(r - 1) for r in ratios) <= CLOSE


def span(x, digits=4):
    """The range of several numbers"""
    return f"{min(x):.{digits}g} … {max(x):.{digits}g}"


def line(label, x, y):
    return {"label": label, "x": x, "y": y, "color": COLORS[label], "style": "line" if COLORS[label] == 0 else "linespoints"}


def bars(label, x, values):
    """Means, with bars of one standard deviation where there are several draws"""
    s = line(label, x, [mean(v) for v in values])
    if all(len(v) > 1 for v in values):
        s["low"], s["high"] = ([mean(v) + sign * variance(v) ** 0.5 for v in values] for sign in (-1, 1))
    return s


def panel(case, letter, xlabel, lines):
    setting, data = case
    return {"title": f"({letter}) {data.name}, {setting}", "xlabel": xlabel, "ylabel": "norm",
            "yscale": "log" if setting == PRINTED else "linear", "series": lines}


def panel_against_rows(case, letter, results, methods):
    """Of Figure 1 (a), (c), (e), (g)"""
    x = [n for n, _, _ in results]
    return panel(case, letter, "rows n", [line("norm", x, [norm for _, norm, _ in results])]
                 + [bars(m, x, [values[m] for _, _, values in results]) for m in methods])


def judge_times(figure, letters, fastest, dependence):
    """Figure 1 (b), (d) and (f), (h): fastest takes the least time at every n, and times grow with n as they are said to"""
    panels = []
    for data, letter in zip((CRIME, WINE), letters):
        times = figure.times(data)
        for m in dependence:
            if m != fastest:
                ratios = [t / times[fastest][n] for n, t in times[m].items()]
                figure.claim(f"{data.name}: {fastest} takes less time than {m} at every n", f"{span(ratios, 3)} times less", min(ratios) > 1)
        exponents = [slope(list(times[m]), list(times[m].values())) for m in dependence]
        for (m, word), found in zip(dependence.items(), exponents):
            power = {"cubic": 3, "quadratic": 2, "linear": 1}[word]
            figure.claim(f"{data.name}: the time of {m} is roughly {word} in n (exponent within 0.75)", f"n^{found:.2f}", abs(found - power) < 0.75)
        apart = [a - b for a, b in zip(exponents, exponents[1:])]
        figure.claim(f"{data.name}: the three grow differently (exponents apart by 0.3)", ", ".join(f"{a:.2f}" for a in apart), min(apart) > 0.3)
        panels.append({"title": f"({letter}) {data.name}", "xlabel": "rows n", "ylabel": "seconds", "xscale": "log", "yscale": "log",
                       "series": [line(m, list(times[m]), list(times[m].values())) for m in dependence]})
    figure.picture("", panels)
