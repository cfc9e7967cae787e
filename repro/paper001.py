"""What the figures of *Approximating Gram Matrix Spectral Norm using Random Features* share: data, settings,
draws, panels.

The paper says: all features standardised, sigma = 0.5 (Crime) and 0.1 (Wine), w ~ N(0, I). It does not say
what standardised means, and that w belongs to sigma = 1. So every claim about estimates is judged under four
readings, of which none can be confirmed:

  as printed    z-scores, the printed sigma, w ~ N(0, I/sigma^2) as this kernel needs: K is near the identity
  unit rows     each row of length 1, the printed sigma
  unit columns  each column of length 1, the printed sigma
  min-max       columns scaled to 0 ... 1, sigma = 1, for which w ~ N(0, I) is right

Crime is UCI Communities and Crime: its 100 predictors without gaps, and 1993 rows as in the paper (the file
has 1994). Times are of one thread, the shortest of several. "Close" is taken as: the mean over draws is
within 5% of the norm.
"""
import collections

from harness import Figure, mean, variance

PAPER = "Approximating Gram Matrix Spectral Norm using Random Features"
CLOSE = 0.05
Data = collections.namedtuple("Data", "name file columns rows sigma features")
CRIME = Data("Crime", "communities/communities.data", "5-100,118-120,125", 1993, 0.5, 50)
WINE = Data("Wine", "wine/winequality-white.csv", "0-10", 4898, 0.1, 150)
PRINTED, MINMAX = "as printed", "min–max, σ = 1"
UNIT = {"unit rows": "rows", "unit columns": "cols"}
CASES = [(setting, data) for setting in (PRINTED, *UNIT, MINMAX) for data in (CRIME, WINE)]
METHODS = ["power", "rff-power", "nystrom", "rff-nystrom"]
COLORS = {"norm": 0, "eigen": 0, "power": 1, "nystrom": 1, "rff-power": 2, "rff-nystrom": 2}


class Norms(Figure):
    """A figure of the paper: kspec norm under one of the readings"""

    def __init__(self, name, title):
        super().__init__(name, PAPER, title)
        self.files = {d: self.data(d.file) for d in (CRIME, WINE)}

    def norm(self, setting, data, methods, *options, rows=None, sigma=None):
        """Results by method, for the first rows"""
        scale = ["--minmax", "--sigma", 1]
        if setting == PRINTED:
            scale = ["--standardize", "--sigma", sigma or data.sigma]
        elif setting in UNIT:
            scale = ["--unit", UNIT[setting], "--sigma", sigma or data.sigma]
        r = self.kspec("norm", self.files[data], "--select-cols", data.columns,
                       "--select-rows", f"0-{(rows or data.rows) - 1}", *scale,
                       "--method", ",".join(methods), "--threads", 1, *options)
        return {m["method"]: m for m in r["results"]}

    def baseline(self, setting, data, rows=None):
        """The norm: by the full decomposition, as in the paper; quick: by Lanczos iteration to 1e-10"""
        method = self.pick("lanczos", "eigen")
        return self.norm(setting, data, [method], rows=rows)[method]["value"]

    def draws(self, setting, data, methods, *options, trials, **where):
        """Values by method, one per draw; trials: commands, each with its own starts, and draws in each"""
        commands, repeat = trials
        values = {m: [] for m in methods}
        for seed in range(commands):
            r = self.norm(setting, data, methods, "--seed", seed, "--repeat", repeat, "--draws", *options,
                          **where)
            for m in methods:
                values[m] += [d["value"] for d in r[m]["draws"]]
        return values

    def against_rows(self):
        """Figure 1 (a), (c), (e), (g): for each case a list of (n, the norm, values by method)"""
        def one(job):
            (setting, data), n = job
            values = self.draws(setting, data, METHODS, "--updates", 5, "--features", data.features,
                                "--sample", round(0.8 * n), "--sample-first",
                                trials=self.pick((3, 14), (50, 1)), rows=n)
            return n, self.baseline(setting, data, n), values
        jobs = [(case, case[1].rows * k // 8) for case in CASES for k in self.pick((2, 5, 8), range(1, 9))]
        results = self.map(one, jobs)
        return {case: [r for (c, _), r in zip(jobs, results) if c == case] for case in CASES}

    def draw(self, panels):
        self.picture("", panels, note="bars: one standard deviation of the draws")

    def judge(self, case, text, number, holds, reason=None):
        """A claim in one case; reason: why it does not hold there"""
        unlike = "not under this reading" if case[0] in UNIT else None
        self.claim(f"{case[1].name}, {case[0]}: {text}", number, holds, differs=reason or unlike)


def close(ratios):
    return max(abs(r - 1) for r in ratios) <= CLOSE


def span(x, digits=4):
    """The range of several numbers"""
    return f"{min(x):.{digits}g} … {max(x):.{digits}g}"


def line(label, x, y):
    style = "line" if COLORS[label] == 0 else "linespoints"
    return {"label": label, "x": x, "y": y, "color": COLORS[label], "style": style}


def bars(label, x, values):
    """Means, with bars of one standard deviation where there are several draws"""
    s = line(label, x, [mean(v) for v in values])
    if all(len(v) > 1 for v in values):
        s["low"], s["high"] = ([mean(v) + sign * variance(v) ** 0.5 for v in values] for sign in (-1, 1))
    return s


def panel(case, letter, xlabel, x, norms, values):
    """Estimates and the norm; values: by method, a list of draws for each x"""
    setting, data = case
    return {"title": f"({letter}) {data.name}, {setting}", "xlabel": xlabel, "ylabel": "norm",
            "yscale": "log" if setting == PRINTED else "linear",
            "series": [line("norm", x, norms)] + [bars(m, x, v) for m, v in values.items()]}


def panel_against_rows(case, letter, results, methods):
    """Of Figure 1 (a), (c), (e), (g)"""
    rows, norms, values = zip(*results)
    return panel(case, letter, "rows n", rows, norms, {m: [v[m] for v in values] for m in methods})
