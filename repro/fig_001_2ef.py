#!/usr/bin/env python3
"""Figure 2 (e), (f): nystrom and rff-nystrom against the share r/n of the rows that they use, on Crime and
Wine.

The first r rows, five updates, 50 features on Crime and 150 on Wine, 100 trials (quick: 40). "Both methods
converge to the baseline as the ratio increases. Both convergence rates are similar"; "we do not observe
larger variance on the performance than in other experiments". Converging: within 5% of the norm at r = n, and
nystrom nearer at 0.8 than at 0.2. Similar: the two, each divided by its value at r = n, are within 5% at
every ratio. The variance is compared with that at r = n, which is rff-power's.
"""
from harness import mean, standard_error, variance
from paper001 import CASES, MINMAX, PRINTED, WINE, Norms, close, panel, span

figure = Norms("001-2ef", "Nyström norm estimates against the share of the rows")
RATIOS = [0.2, 0.4, 0.6, 0.8, 1]
METHODS = ["nystrom", "rff-nystrom"]
FIRST, RANDOM = ("--sample-first",), ()
FEW = "five products, one for each update, are too few (2ab)"
ABOVE = "rff-nystrom converges to rff-power, which exceeds the norm (2cd)"
SCATTER = "with few rows the features' floor scatters more, and n/r multiplies the scatter"
IDENTITY = "K is near the identity. nystrom falls with its floor n/r; the features' floor n/q is constant"


def one(job):
    (setting, data), ratio, rows = job
    options = ("--updates", 5, "--features", data.features, "--sample", round(ratio * data.rows), *rows)
    return figure.draws(setting, data, METHODS, *options, trials=(1, figure.pick(40, 100)))


jobs = [(case, r, FIRST) for case in CASES for r in RATIOS]
jobs += [(case, r, RANDOM) for case in CASES if case[0] == MINMAX for r in RATIOS[:4]]
values = dict(zip(jobs, figure.map(one, jobs)))
panels = []
for case, letter in zip(CASES, "efefefef"):
    setting, data = case
    norm = figure.baseline(*case)
    first = {m: [values[case, r, FIRST][m] for r in RATIOS] for m in METHODS}
    own, features = ([mean(v) for v in first[m]] for m in METHODS)
    off = [abs(v / norm - 1) for v in own]
    figure.judge(case, "nystrom converges to the norm",
                 f"{off[0]:.2%} off at r/n = 0.2, {off[3]:.2%} at 0.8, {off[4]:.2%} at 1",
                 off[4] <= 0.05 and off[3] < off[0], FEW if case == (PRINTED, WINE) else None)
    figure.judge(case, "rff-nystrom converges to the norm",
                 f"{features[-1] / norm:.4g} times the norm at r/n = 1",
                 close([features[-1] / norm]), None if case == (MINMAX, WINE) else ABOVE)
    apart = [(b / features[-1]) / (a / own[-1]) for a, b in zip(own, features)]
    figure.judge(case, "nystrom and rff-nystrom converge alike (within 5% at every ratio)", span(apart),
                 close(apart), IDENTITY if setting == PRINTED else None)
    spread = [variance(v) ** 0.5 for v in first["rff-nystrom"]]
    figure.judge(case, "rff-nystrom has no larger variance than in other experiments (deviation at most 1.5 "
                 "times rff-power's)", f"{max(spread) / spread[-1]:.2f} times",
                 max(spread) <= 1.5 * spread[-1], SCATTER if setting == PRINTED else None)
    if setting == MINMAX:
        low = [(mean(v) - norm) / standard_error(v)
               for v in (values[case, r, RANDOM]["nystrom"] for r in RATIOS[:4])]
        figure.expect(f"{data.name}, {setting}: with random rows nystrom is not lower than the norm on "
                      "average (4 standard errors)",
                      f"lowest {min(low):+.1f} standard errors, highest {max(low):+.1f}", min(low) > -4)
    panels.append(panel(case, letter, "share of the rows r/n", RATIOS, [norm] * len(RATIOS), first))
figure.draw(panels)
figure.finish()
